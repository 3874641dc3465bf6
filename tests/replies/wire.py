"""Run streams of model servers, as `wire.json` of a folder has them, through the real providers.

`python -m tests.replies.wire FOLDER` prints what passed by family. A case is served by a server on
this machine, event by event and then in pieces of a few bytes, and its provider reads it. What a
case holds is said in the folder's README; the readers know of none.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agents.contracts import COMPLETE_STOPS, Message, Purpose, Role, ToolCall
from agents.control import Control
from agents.errors import AgentError, ProviderError
from agents.providers.base import Finish, ModelRequest, NativeCall, Token
from agents.providers.choice import Credentials
from agents.providers.dialects import dialect
from agents.reading.action_reply import ActionReader
from agents.reading.calls import find_calls
from agents.reading.thinking import part_thinking
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.providers.wire import Wire

PIECE = 7
"""The bytes of a piece, where a stream comes in pieces."""

Case = Mapping[str, Any]


@dataclass
class Outcome:
    """What a reply comes to: calls to carry out, an answer to show, or an honest end."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    answer: str | None = None
    thought: str = ""
    is_honest_end: bool = False

    def differs(self, wanted: Case) -> str:
        """Say how this differs from what is wanted, in one line; nothing where it does not."""
        calls = [(call["name"], _plain(call["arguments"])) for call in wanted["calls"]]
        if self.is_honest_end != bool(wanted.get("honest_end")):
            return f"honest_end is {self.is_honest_end}"
        if [(name, _plain(inputs)) for name, inputs in self.calls] != calls:
            return f"calls are {self.calls}"
        if (self.answer or "").strip() != (wanted["answer"] or "").strip():
            return f"answer is {self.answer!r}"
        parts = [_plain(part) for part in (wanted["thought"] or "").split("\n\n")]
        if any(part not in _plain(self.thought) for part in parts):
            return f"thought is {self.thought!r}"
        return ""


@dataclass(frozen=True)
class Result:
    """What came of one case; `difference` is empty when it passed."""

    id: str
    family: str
    difference: str = ""


def check(folder: Path) -> Iterator[Result]:
    """Yield the result of each case of the folder's `wire.json`."""
    cases = json.loads((folder / "wire.json").read_text("utf-8"))
    for case in cases["cases"] if isinstance(cases, dict) else cases:
        wanted = [case["expect"], *case.get("also_fine", ())]
        differences = (_differs(case, parts, wanted) for parts in (_events(case), _pieces(case)))
        yield Result(case["id"], case["family"], next(filter(None, differences), ""))


def _differs(case: Case, parts: Iterable[bytes], wanted: list[Case]) -> str:
    try:
        outcome = _outcome(case, parts)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    differences = [outcome.differs(one) for one in wanted]
    return "" if "" in differences else differences[0]


def _events(case: Case) -> Iterator[bytes]:
    for chunk in case["chunks"]:
        if chunk == "[DONE]":
            yield b"data: [DONE]\n\n"
        elif isinstance(chunk, str):
            yield chunk.encode() + b"\n"
        else:
            text = json.dumps(chunk, ensure_ascii=False).encode()
            yield text + b"\n" if case["dialect"] == "ollama" else b"data: " + text + b"\n\n"


def _pieces(case: Case) -> Iterator[bytes]:
    whole = b"".join(_events(case))
    return (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))


def _outcome(case: Case, parts: Iterable[bytes]) -> Outcome:
    """Ask a server that answers so, and say what the reply comes to."""
    server = Wire()
    try:
        server.answers(Wire.STREAM, *map(Wire.part, parts), b"0\r\n\r\n")
        return _asked(case, server.base_url)
    finally:
        server.close()


def _asked(case: Case, base_url: str) -> Outcome:
    name = case["dialect"]
    credentials = Credentials(
        provider=name, base_url=base_url, api_key=SecretStr("key"), model="m", found="a case"
    )
    provider = dialect(name)(credentials)
    message = Message(role=Role.USER, content="Go on.")
    request = ModelRequest(purpose=Purpose.THINK, messages=[message])
    said: dict[str, list[str]] = {"answer": [], "reasoning": []}
    calls: list[NativeCall] = []
    is_cut = True
    try:
        for item in provider.stream(provider.body(request), Control(60, idle_seconds=10)):
            if isinstance(item, Token):
                said[item.kind].append(item.text)
            elif isinstance(item, NativeCall):
                calls.append(item)
            elif isinstance(item, Finish):
                is_cut = item.stop_reason not in COMPLETE_STOPS
    except ProviderError:
        pass
    aloud, text = "".join(said["reasoning"]), "".join(said["answer"])
    if is_cut:
        return Outcome(thought=aloud, is_honest_end=True)
    if calls:
        return _carried_out(case, [call.call for call in calls], f"{aloud}\n\n{text}")
    return _read(case, aloud, text)


def _read(case: Case, aloud: str, text: str) -> Outcome:
    """Read a complete reply as a policy does that offers these tools."""
    thoughts, text = part_thinking(text)
    thought = "\n\n".join(filter(None, (aloud, thoughts)))
    reader = ActionReader()
    for _ in (*reader.feed(text), *reader.finish()):
        pass
    calls = [ToolCall(tool=a.tool, inputs=a.inputs) for a in reader.actions if a.tool]
    if not calls:
        found = find_calls(text.strip()).calls if text.strip()[:1] in ("{", "[") else ()
        calls = [ToolCall(tool=call.tool, inputs=call.arguments or {}) for call in found or ()]
    if calls:
        return _carried_out(case, calls, f"{thought}\n\n{text}")
    is_empty = not text.strip()
    return Outcome(answer=None if is_empty else text, thought=thought, is_honest_end=is_empty)


def _carried_out(case: Case, calls: Iterable[ToolCall | None], thought: str) -> Outcome:
    """Name the calls that are carried out; one that cannot be is told to the model instead."""
    toolkit = None if case["tools"] is None else Toolkit(map(_tool, case["tools"]))
    carried: list[tuple[str, Any]] = []
    for call in calls:
        if call is None:
            return Outcome(thought=thought, is_honest_end=True)
        if toolkit is None:
            carried.append((call.tool, call.inputs))
            continue
        try:
            tool = toolkit.get(call.tool)
            inputs, _ = toolkit.prune(tool, call.inputs)
            carried.append((tool.name, toolkit.validate(tool, inputs)))
        except AgentError:
            return Outcome(thought=thought, is_honest_end=True)
    return Outcome(carried, thought=thought)


def _tool(offered: Case) -> Tool:
    return Tool(
        name=offered["name"],
        description=offered["name"],
        inputs=JsonInputs(offered.get("parameters") or {}),
        run=lambda **_: "",
    )


def _plain(value: Any) -> Any:
    """Return a value without white space around its texts, with 1 for 1.0."""
    if isinstance(value, dict):
        return {name: _plain(value[name]) for name in value}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def main() -> int:
    """Print passed and total by family, and how each case that failed differs."""
    if len(sys.argv) != 2:
        sys.stderr.write("Usage: python -m tests.replies.wire FOLDER\n")
        return 2
    results = list(check(Path(sys.argv[1])))
    total = Counter(result.family for result in results)
    passed = Counter(result.family for result in results if not result.difference)
    for family in total:
        sys.stdout.write(f"{passed[family]:4} / {total[family]:<4} {family}\n")
    sys.stdout.write(f"{passed.total():4} / {len(results):<4} all\n")
    for result in results:
        if result.difference:
            sys.stdout.write(f"{result.id}: {result.difference}\n")
    return int(passed.total() != len(results))


if __name__ == "__main__":
    sys.exit(main())
