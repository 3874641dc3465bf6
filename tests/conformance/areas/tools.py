"""The tools of all sources: how they are registered, called, shown and cleaned."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.errors import ConfigurationError, ToolFailed
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.text import unfenced
from agents.tools.calculator import calculator
from agents.tools.json_inputs import JsonInputs
from agents.tools.python_repl import python_repl_tool
from agents.tools.sandbox.choice import find_sandbox
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit
from agents.tools.web.address import web_url
from tests.conformance.tool_calls import observation_in, observation_of

Case = dict[str, Any]

OTHER_WORDS = "it is refused in words of our own, which also say what there is or what fits"
NO_VALUE = "what has no value, such as a division by zero, is told as a failure and not as a number"
BETTER = "the source gives up on it, and it is worked out here"
NO_SECRETS = "the message of an unknown exception may hold secrets: the log has it, the model not"
NO_PASSWORDS = "an address with a password in it is not opened"


def check_calculator(case: Case) -> str | None:
    """Compare the value, or the words of the failure."""
    asked, expected = case["input"], case["expected"]
    seen = observation_of(
        calculator, {"expression": asked["expression"], "variables": asked.get("scope") or {}}
    )
    if expected["status"] == "error":
        return _failed(case, seen, expected.get("error_contains", ""))
    if seen.error and str(expected["result"]).lstrip("-").lower() in (
        "infinity",
        "inf",
        "nan",
        "none",
    ):
        return NO_VALUE
    assert seen.error is None, seen.text
    _same_value(seen.text, expected["result"])
    return None


def check_system(case: Case) -> str | None:
    """Make the calls in order; each failure is a result in its place."""
    asked, expected = case["input"], case["expected"]
    enabled = asked.get("enabled")
    kit = Toolkit(_registered(asked) if enabled is None else [_echo(name) for name in enabled])
    seen = [observation_in(kit, call) for call in _calls(asked)]
    assert len(seen) == len(expected), f"{len(seen)} results"
    reason = None
    for result, wanted in zip(seen, expected, strict=True):
        status = "error" if result.error else "success"
        assert status == wanted["status"], f"{status}: {result.text}"
        words = wanted.get("error", wanted.get("error_contains", ""))
        reason = reason if words in result.text else OTHER_WORDS
    return reason


def check_register(case: Case) -> str | None:
    """Register a name twice, or what is no tool."""
    kit = Toolkit([_echo("echo")])
    entry: Any = _echo("echo") if "twice" in str(case["input"]) else object()
    wanted = case["expected"].get("message", "").replace("<name>", "echo")
    try:
        kit.register(entry)
    except ConfigurationError as error:
        return None if wanted in str(error) else OTHER_WORDS
    raise AssertionError("nothing was refused")


def check_streaming(case: Case) -> str | None:
    """Pass on the pieces as they come; a final answer is told by its event, not by markers."""
    asked, expected = case["input"], case["expected"]

    @tool(terminal=bool(asked.get("final_answer")))
    def stream() -> Iterator[str]:
        """Say the pieces."""
        yield from map(str, asked["results"])

    events = Toolkit([stream]).call(ToolCall(tool="stream", inputs={}), Control())
    pieces: list[str] = []
    while True:
        try:
            pieces.append(next(events).text)
        except StopIteration as end:
            seen: Observation = end.value
            break
    chunks = [piece for piece in expected.get("chunks", pieces) if "final_answer__>" not in piece]
    assert "".join(pieces) == "".join(chunks), f"{pieces}"
    assert seen.text == expected.get("returned", seen.text), seen.text
    assert (seen.ends is not None) is bool(asked.get("final_answer")), f"ends {seen.ends}"
    return None


def check_execution(case: Case) -> str | None:
    """Let an action fail inside a run, which goes on to its answer."""
    asked, expected = case["input"], case["expected"]
    message = asked.partition("raises ")[2] if isinstance(asked, str) else ""
    name = asked["tool"] if isinstance(asked, dict) else "fragile"

    @tool()
    def fragile() -> str:
        """Break."""
        raise RuntimeError(message)

    script = [
        {"say": f"Thought: go\nAction: {name}\nAction Input: {{}}"},
        {"say": "Final Answer: on"},
    ]
    parts = Parts(
        Model(ScriptedProvider(script), Control()), Toolkit([fragile]), Limits(max_turns=5)
    )
    state = State("Go?")
    for _ in run(build(PolicySpec(policy="explicit"), parts), state, Control()):
        pass
    seen = state.turns[0].last_observation
    assert seen is not None
    assert seen.error, seen.text
    assert (state.final_answer == "on") is expected.get("loop_continues", True)
    if expected.get("error", "") in seen.text:
        return None
    return NO_SECRETS if message else OTHER_WORDS


def check_url(case: Case) -> str | None:
    """Tell web addresses from all others."""
    address = case["input"] if isinstance(case["input"], str) else ""
    refusal = ""
    try:
        web_url(address)
    except ToolFailed as error:
        refusal = str(error)
    if refusal and case["expected"]["valid"]:
        assert "password" in refusal, f"refused: {refusal}"
        return NO_PASSWORDS
    assert refusal or case["expected"]["valid"], "taken as a web address"
    return None


def check_python(case: Case) -> str | None:
    """Run the code in the sandbox that this machine has."""
    code, expected = case["input"], case["expected"]
    if match := re.fullmatch(r"raises (\w+)", code):
        code = f"raise RuntimeError({match[1]!r})"
    sandbox = find_sandbox().sandbox
    assert sandbox is not None, "This machine has no sandbox for Python."
    said = observation_of(python_repl_tool(sandbox), {"code": code}).text.strip()
    assert expected.get("output_contains", "") in said, said
    assert said.startswith(expected.get("output_startswith", "").strip()), said
    assert said == expected.get("output", said), said
    return None


def check_cleaning(case: Case) -> str | None:
    """Free the code from the fence around it."""
    cleaned = unfenced(case["input"])
    assert cleaned == case["expected"], repr(cleaned)
    return None


AREAS: dict[str, Callable[[Case], str | None]] = {
    "calculator tool": check_calculator,
    "ToolSystem": check_system,
    "Toolkit.register_tool": check_register,
    "tool streaming": check_streaming,
    "tool execution": check_execution,
    "URL scope check": check_url,
    "python tool": check_python,
    "python tool input cleaning": check_cleaning,
}


def _failed(case: Case, seen: Observation, words: str) -> str | None:
    """Expect a failure; of what the source cannot do, more may be done here."""
    if seen.error is None:
        assert case.get("class") == "reject", f"taken as {seen.text}"
        return BETTER
    if words in seen.text:
        return None
    assert case.get("class") == "reject", seen.text
    return OTHER_WORDS


def _same_value(text: str, expected: Any) -> None:
    wanted = str(expected).removesuffix("(approx)").strip()
    try:
        difference = abs(complex(text.replace("i", "j")) - complex(wanted.replace("i", "j")))
    except ValueError:
        assert text.lower() == wanted.lower(), text
    else:
        assert difference <= 1e-12 * max(1.0, abs(complex(wanted.replace("i", "j")))), text


def _echo(name: str) -> Tool:
    inputs = JsonInputs({"type": "object", "properties": {}})
    return Tool(name=name, description="Say yes.", inputs=inputs, run=lambda **_: "yes")


def _broken(name: str, message: str) -> Tool:
    def fail(**_: Any) -> str:
        raise ToolFailed(message)

    inputs = JsonInputs({"type": "object", "properties": {}})
    return Tool(name=name, description="Fail.", inputs=inputs, run=fail)


def _registered(asked: Case) -> list[Tool]:
    if asked.get("raises"):
        return [_broken(asked["tool"], asked["raises"])]
    return [calculator, _broken("failing", "forced failure")]


def _calls(asked: Case) -> list[ToolCall]:
    if "calls" not in asked:
        default = (
            {"expression": "2+2"} if asked["tool"] == "calculator" and "raises" not in asked else {}
        )
        return [ToolCall(tool=asked["tool"], inputs=asked.get("arguments", default))]
    calls = []
    for call in asked["calls"]:
        if isinstance(call, str):
            name = call.split()[0]
            inputs = {"expression": "2+2"} if name == "calculator" else {}
            calls.append(ToolCall(tool=name, inputs=inputs))
        else:
            calls.append(ToolCall(tool=call["toolName"], inputs=call.get("arguments") or {}))
    return calls
