"""Read a call that is written as Python, `name(input="value", other=3)`; nothing is executed."""

import ast
import json
import re
import warnings
from typing import Any, ClassVar

from agents.errors import ParseError
from agents.reading.action import WrittenAction

_LIMIT = 20_000
_PARTS = re.compile(
    r"(?P<string>'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
    r"|'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\")"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<other>[^'\"()\[\]{}]++|.)",
    re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_METHODS = frozenset({"call", "run", "invoke", "execute"})


def read_python(text: str, start: int) -> tuple[WrittenAction, int]:
    """Return the call whose name begins at `start`, and where it ends; raises ParseError."""
    end = _end(text, start)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # an odd backslash is the model's slip
            written = ast.parse(text[start:end].strip(), mode="eval").body
        if not isinstance(written, ast.Call):
            raise ParseError("This is no call.")
        return WrittenAction(_name(written.func), _inputs(written)), end
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ParseError("The call cannot be read: its inputs must be literal values.") from error


def _end(text: str, start: int) -> int:
    """Return where the brackets of the call are closed."""
    opened: list[str] = []
    for part in _PARTS.finditer(text, start, start + _LIMIT):
        if part.lastgroup == "open":
            opened.append(_CLOSING[part[0]])
        elif part.lastgroup == "close":
            if not opened or opened.pop() != part[0]:
                break
            if not opened:
                return part.end()
    raise ParseError("The call breaks off.")


def _name(function: ast.expr) -> str:
    names: list[str] = []
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        raise ParseError("The call names no tool.")
    if names and names[0] in _METHODS:
        names = names[1:]
    return ".".join([function.id, *reversed(names)])


def _inputs(written: ast.Call) -> dict[str, Any] | str:
    if any(one.arg is None for one in written.keywords):
        raise ParseError("The inputs of a call must be named.")
    named = {str(one.arg): _value(one.value) for one in written.keywords}
    json.dumps(named, allow_nan=False)
    if not written.args:
        return named
    only = _value(written.args[0])
    if len(written.args) > 1 or named:
        raise ParseError("The inputs of a call must be named.")
    json.dumps(only, allow_nan=False)
    return only if isinstance(only, dict | str) else json.dumps(only)


def _value(written: ast.expr) -> Any:
    return ast.literal_eval(_Constants().visit(written))


class _Constants(ast.NodeTransformer):
    """Take JSON's constants for Python's."""

    _VALUES: ClassVar[dict[str, bool | None]] = {"true": True, "false": False, "null": None}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the constant that a name stands for, else the name."""
        if node.id in self._VALUES:
            return ast.copy_location(ast.Constant(self._VALUES[node.id]), node)
        return node
