"""Play a stream of a model server with its provider: event by event, and in pieces of a few bytes.

A case is served by a server on this machine, its provider reads it, and what it says is read as a
policy reads it that asks for JSON behind a label. What a case holds is said in the folder's README;
the readers know of none.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import SecretStr

from agents.contracts import COMPLETE_STOPS, Message, Purpose, Role, ToolCall
from agents.control import Control
from agents.errors import AgentError, ProviderError
from agents.providers.base import Finish, ModelRequest, NativeCall, Token
from agents.providers.choice import Credentials
from agents.providers.dialects import dialect
from agents.reading.action_reply import ActionReader
from agents.reading.markup.reader import MarkedReader
from agents.think.reply import calls_of
from agents.tools.fitting import fit_inputs
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit
from tests.replies.outcome import Outcome, wrong
from tests.unit.agents.providers.wire import Wire

PIECE = 7
"""The bytes of a piece, where a stream comes in pieces."""

Case = Mapping[str, Any]


def play(case: Case) -> dict[str, str]:
    """Return what is wrong with what its dialect makes of it, whole and then in pieces."""
    found = (wrong(_outcome(case, parts), case) for parts in (_events(case), _pieces(case)))
    return {case["dialect"]: next(filter(None, found), "")}


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
        return Outcome(thought=aloud)
    offered = case["tools"] or ()
    toolkit = Toolkit(_tool(one) for one in offered)
    if calls:
        return _carried_out([call.call for call in calls], f"{aloud}\n\n{text}", case, toolkit)
    return _read(case, toolkit, aloud, text)


def _read(case: Case, toolkit: Toolkit, aloud: str, text: str) -> Outcome:
    """Read a complete reply as a policy does that offers these tools."""
    reader = MarkedReader(ActionReader, toolkit.knows)
    for _ in (*reader.think_aloud(aloud), *reader.feed(text), *reader.finish()):
        pass
    reading = reader.reading
    if reading.actions:
        return _carried_out(calls_of(reading.actions, toolkit), reading.thought, case, toolkit)
    answer = reading.answer or reading.prose
    return Outcome(answer=answer or None, shown=answer, thought=reading.thought)


def _carried_out(
    calls: Iterable[ToolCall | None], thought: str, case: Case, toolkit: Toolkit
) -> Outcome:
    """Name the calls that are carried out; one that cannot be is told to the model instead."""
    carried: list[tuple[str, Mapping[str, Any]]] = []
    for call in calls:
        if call is None:
            return Outcome(thought=thought)
        if case["tools"] is None:
            carried.append((call.tool, call.inputs))
            continue
        try:
            tool = toolkit.get(call.tool)
            inputs = toolkit.validate(tool, fit_inputs(tool, call.inputs))
            carried.append((tool.name, inputs))
        except AgentError:
            return Outcome(thought=thought)
    return Outcome(carried, thought=thought)


def _tool(offered: Case) -> Tool:
    return Tool(
        name=offered["name"],
        description=offered["name"],
        inputs=JsonInputs(offered.get("parameters") or {}),
        run=lambda **_: "",
    )
