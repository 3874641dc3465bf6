"""Native tool calls, as a hand-written loop puts them together."""

from collections.abc import Callable
from typing import Any

QUESTION = (
    {"role": "system", "content": "You add."},
    {"role": "user", "content": "Add numbers."},
)
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
        },
    }
]


class Calls:
    """The calls of one reply, from their pieces."""

    def __init__(self) -> None:
        self._calls: dict[int, dict[str, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, index: int, call_id: str | None, name: str | None, inputs: str | None) -> None:
        """Take one piece."""
        call = self._calls.setdefault(index, {"id": "", "name": "", "inputs": ""})
        call["id"] = call_id or call["id"]
        call["name"] = name or call["name"]
        call["inputs"] += inputs or ""

    def messages(self, said: str, run_action: Callable[[str], object]) -> list[dict[str, Any]]:
        """Carry the calls out, and return the messages that tell of them."""
        requests = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["inputs"]},
            }
            for call in self._calls.values()
        ]
        results = [
            {"role": "tool", "tool_call_id": c["id"], "content": str(run_action(c["inputs"]))}
            for c in self._calls.values()
        ]
        return [{"role": "assistant", "content": said, "tool_calls": requests}, *results]
