"""Evaluate an arithmetic expression from a stranger, exactly where it can be, in bounded time.

Python's own parser reads it; only the nodes and names below are carried out, and no step may make
a number of more than `MAX_BITS` bits. Integers stay exact.
"""

import ast
import cmath
import operator
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from agents.tools.arithmetic.display import Number
from agents.tools.arithmetic.functions import CONSTANTS, FUNCTIONS, MAX_BITS, TooLarge, power

_LENGTH = 10_000
_SECONDS = 2.0
_QUOTED = re.compile(r"\A([\"'`])([^\"'`]*)\1\Z")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_AS_TYPED = str.maketrans(
    {
        "^": "**",
        "\N{MULTIPLICATION SIGN}": "*",
        "\N{MIDDLE DOT}": "*",
        "\N{DIVISION SIGN}": "/",
        "\N{MINUS SIGN}": "-",
        "\N{SUPERSCRIPT TWO}": "**2",
        "\N{SUPERSCRIPT THREE}": "**3",
        "\N{GREEK SMALL LETTER PI}": " pi ",
    }
)
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: power,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Number]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class CannotEvaluate(Exception):
    """Raised for an expression without a value; the message says what is wrong with it."""


def evaluate(expression: str, variables: Mapping[str, Number]) -> Number | bool:
    """Return the expression's value; `^` is a power, as people type it. Raises CannotEvaluate."""
    tree = _parse(expression)
    try:
        value: Number | bool = _Evaluation(variables).value(tree)
    except ZeroDivisionError:
        raise CannotEvaluate("Division by zero") from None
    except (TooLarge, OverflowError):
        raise CannotEvaluate("A number in it is too large to compute") from None
    except (ArithmeticError, TypeError, ValueError) as error:
        raise CannotEvaluate(f"Not defined for these values ({error})") from None
    except RecursionError:
        raise CannotEvaluate("It is nested too deeply") from None
    return value


def _parse(expression: str) -> ast.expr:
    text = _QUOTED.sub(r"\2", " ".join(expression.split())).rstrip("=? ")
    if not text:
        raise CannotEvaluate("It is empty")
    if len(text) > _LENGTH:
        raise CannotEvaluate(f"It is longer than {_LENGTH:,} characters")
    if not text.isprintable():
        raise CannotEvaluate("It holds characters that cannot be read")
    try:
        return ast.parse(text.translate(_AS_TYPED).strip(), mode="eval").body
    except SyntaxError as error:
        raise CannotEvaluate(_misread(text, error)) from None
    except (ValueError, RecursionError, MemoryError):
        raise CannotEvaluate("It is too long or nested too deeply; try sum(...)") from None


def _misread(text: str, error: SyntaxError) -> str:
    if re.search(r"(?<![=<>!])=(?!=)", text):
        return "A definition is an unsupported type of expression; pass values as `variables`"
    for name in _CALLED.findall(text):
        if name.lower() not in FUNCTIONS:
            return f"Undefined function {name}"
    return f"Not a valid expression ({error.msg})"


class _Evaluation:
    """Walk the tree of one expression."""

    def __init__(self, variables: Mapping[str, Number]) -> None:
        self._variables = variables
        self._deadline = time.monotonic() + _SECONDS

    def value(self, node: ast.expr) -> Any:
        if time.monotonic() > self._deadline:
            raise CannotEvaluate("It takes too long to compute")
        match node:
            case ast.BinOp():
                return self._chain(node)
            case ast.Constant(value=int() | float() | complex() as number):
                return _bounded(number)
            case ast.Name() | ast.Attribute():
                return self._symbol(_name(node))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return _UNARY[type(op)](self.value(operand))
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(_name(function), arguments)
            case ast.Compare():
                return self._compare(node)
        raise _unsupported(node)

    def _chain(self, node: ast.BinOp) -> Number:
        """Go down the left operands in a loop: a long sum nests as deep as it has terms."""
        chain: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            chain.append(left)
            left = left.left
        result: Number = self.value(left)
        for link in reversed(chain):
            result = _bounded(_operate(link, result, self.value(link.right)))
        return result

    def _symbol(self, name: str) -> Number:
        for names in (self._variables, CONSTANTS):
            for spelling in (name, name.lower()):
                if spelling in names:
                    return _bounded(names[spelling])
        if name.lower() in FUNCTIONS:
            raise CannotEvaluate(f"{name} is a function and needs parentheses")
        raise CannotEvaluate(f"Undefined symbol {name}")

    def _call(self, name: str, arguments: list[ast.expr]) -> Number:
        function = FUNCTIONS.get(name.lower())
        if function is None:
            raise CannotEvaluate(f"Undefined function {name}")
        flat: list[ast.expr] = []
        for argument in arguments:
            flat += argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]
        return _bounded(function(*map(self.value, flat)))

    def _compare(self, node: ast.Compare) -> bool:
        operands = [self.value(part) for part in (node.left, *node.comparators)]
        pairs = zip(node.ops, operands, operands[1:], strict=False)
        if any(type(op) not in _COMPARE for op in node.ops):
            raise _unsupported(node)
        return all(_COMPARE[type(op)](left, right) for op, left, right in pairs)


def _operate(node: ast.BinOp, left: Any, right: Any) -> Any:
    if isinstance(node.op, ast.Div):
        exact = isinstance(left, int) and isinstance(right, int) and right and not left % right
        return left // right if exact else left / right
    if type(node.op) not in _BINARY:
        raise _unsupported(node)
    return _BINARY[type(node.op)](left, right)


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="math" | "cmath"), attr=name):
            return name
    raise _unsupported(node)


def _bounded(number: Number) -> Number:
    """Return a number that later steps can bear; raises TooLarge."""
    if isinstance(number, int):
        if number.bit_length() > MAX_BITS:
            raise TooLarge
    elif cmath.isnan(number):
        raise CannotEvaluate("The result is not defined")
    elif cmath.isinf(number):
        raise TooLarge
    return number


def _unsupported(node: ast.expr) -> CannotEvaluate:
    if isinstance(node, ast.Tuple):
        return CannotEvaluate("Write numbers without commas, and one expression at a time")
    return CannotEvaluate(f"{ast.unparse(node)[:60]} is an unsupported type of expression")
