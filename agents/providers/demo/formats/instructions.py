"""The demo model's plain-language instructions, and the tool calls they stand for.

An instruction carries all its inputs, so that choosing a tool and filling its inputs need nothing
but the instruction: the model keeps nothing between calls.
"""

from collections.abc import Callable

from agents.providers.demo.formats.steps import Inputs, Step

_Call = tuple[str, Inputs]


def calculate(thought: str, expression: str) -> Step:
    """Return the step that works out an expression."""
    return _step(thought, f"Calculate: {expression}")


def convert(thought: str, value: str, from_unit: str, to_unit: str) -> Step:
    """Return the step that converts a value between units, as they were written."""
    return _step(thought, f"Convert units: {value} {from_unit} to {to_unit}")


def tell_time(thought: str, timezone: str) -> Step:
    """Return the step that asks for the date and time in a zone."""
    return _step(thought, f"Tell the current date and time in this time zone: {timezone}")


def run_python(thought: str, code: str) -> Step:
    """Return the step that runs code."""
    return _step(thought, f"Run this Python code:\n{code}")


def search(thought: str, query: str) -> Step:
    """Return the step that looks up past transcripts."""
    return _step(thought, f"Search my earlier conversations for: {query}")


def read_instruction(instruction: str) -> _Call | None:
    """Return the tool that carries out an instruction with its inputs; None if it is not ours."""
    opening, colon, rest = instruction.partition(":")
    read = _READERS.get(opening)
    return read(rest.strip()) if colon and read is not None else None


def _step(thought: str, instruction: str) -> Step:
    call = read_instruction(instruction)
    if call is None:
        raise ValueError(f"{instruction!r} is no instruction.")
    return Step(thought, instruction, *call)


def _conversion(rest: str) -> _Call:
    value, _, units = rest.partition(" ")
    from_unit, _, to_unit = units.partition(" to ")
    number = float(value)
    whole = int(number) if number.is_integer() else number
    return "convert_units", {"value": whole, "from_unit": from_unit, "to_unit": to_unit}


_READERS: dict[str, Callable[[str], _Call]] = {
    "Calculate": lambda rest: ("calculator", {"expression": rest}),
    "Convert units": _conversion,
    "Tell the current date and time in this time zone": lambda rest: (
        "current_time",
        {"timezone": rest},
    ),
    "Run this Python code": lambda rest: ("python_repl", {"code": rest}),
    "Search my earlier conversations for": lambda rest: ("search_transcripts", {"query": rest}),
}
