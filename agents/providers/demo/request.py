"""What the demo model reads: the messages of a policy, as any model would."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.contracts import Purpose, Role

_MARKED = re.compile(r'(?:Question|Goal):\n<(?:question|goal) id="')
_TOOL = re.compile(r"^- ([\w-]+): ", re.MULTILINE)


@dataclass(frozen=True)
class Done:
    """A native call that the request tells of, and its result."""

    tool: str
    inputs: dict[str, Any]
    result: str


@dataclass(frozen=True)
class Request:
    """One call: what it is for, the rules, the earlier exchanges, and what is asked now.

    `offered` are the tools that may be called natively, None where the prompt tells of them; `done`
    are the calls so far.
    """

    purpose: str
    as_json: bool
    system: str
    history: tuple[tuple[str, str], ...]
    asked: str
    offered: frozenset[str] | None = None
    done: tuple[Done, ...] = ()

    @property
    def goal(self) -> str:
        """Return the question, exactly as it was asked."""
        return self._question_and_rest()[0]

    @property
    def work(self) -> str:
        """Return what stands after the question: the steps so far."""
        return self._question_and_rest()[1]

    @property
    def is_native(self) -> bool:
        """Tell whether tools are called natively, or would be if there were any."""
        return self.offered is not None or "and call nothing" in self.system

    @property
    def wants_action_json(self) -> bool:
        """Tell whether the rules ask for an action as one JSON object."""
        return 'Action: {"tool"' in self.system

    @property
    def step(self) -> str:
        """Return the instruction that a tool is wanted for."""
        return _enclosed("step", self.work)[0]

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of the tools that are offered, or that the prompt lists."""
        if self.offered is not None:
            return self.offered
        listed = self.work if self.purpose == Purpose.CHOOSE_TOOL else self.system
        section = listed.partition("<tools>")[2].partition("</tools>")[0]
        return frozenset(_TOOL.findall(section))

    def _question_and_rest(self) -> tuple[str, str]:
        name = "question" if self.asked.startswith("Question:") else "goal"
        return _enclosed(name, self.asked)


def _enclosed(name: str, text: str) -> tuple[str, str]:
    """Return what the first marks of that name enclose, and what follows them."""
    opening = re.search(rf'<({name} id="[0-9a-f]+")>\n', text)
    if opening is None:
        return "", text
    inner, _, rest = text[opening.end() :].partition(f"\n</{opening[1]}>")
    return inner, rest


def read_request(body: str) -> Request:
    """Return what a request body says; `body` is one that `DemoProvider.body` wrote."""
    said = json.loads(body)
    told = [message for message in said["messages"] if "call" not in message]
    messages = [(message["role"], message["content"]) for message in told]
    users = [number for number, (role, _) in enumerate(messages) if role == "user"]
    # A message with marks is the policy's own; what follows it is only a complaint.
    asking = next((n for n in reversed(users) if _MARKED.match(messages[n][1])), users[-1])
    earlier = [content for _, content in messages[1:asking]]
    return Request(
        purpose=said["purpose"],
        as_json=said["as_json"],
        system=messages[0][1],
        history=tuple(zip(earlier[::2], earlier[1::2], strict=False)),
        asked=messages[asking][1],
        offered=frozenset(said["tools"]) if "tools" in said else None,
        done=tuple(_done(said["messages"])),
    )


def _done(messages: list[dict[str, Any]]) -> Iterator[Done]:
    for message in messages:
        if message["role"] == Role.TOOL_RESULT:
            call = message["call"]
            yield Done(call["tool"], call["inputs"], message["content"])
