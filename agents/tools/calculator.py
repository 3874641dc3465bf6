"""A tool that works out an arithmetic expression."""

from typing import Annotated

from pydantic import Field

from agents.errors import ToolFailed
from agents.tools.arithmetic import CannotEvaluate, evaluate
from agents.tools.functions import Number
from agents.tools.spec import tool

_EXACT = 1e16
_NOISE_BELOW = 1e12
_NOISE_DIGITS = 12
"""A result this short to 15 digits differs from it only by what binary fractions cannot hold."""


@tool(timeout=10)
def calculator(
    expression: Annotated[str, Field(description="for example (37 * 43 + 12) / 5 or sqrt(2) ^ 3")],
    variables: Annotated[
        dict[str, int | float], Field(description="values of the names in it")
    ] = {},  # noqa: B006 - pydantic copies it
) -> str:
    """Calculate the value of an arithmetic expression: compute, add, subtract, multiply, divide.

    Knows + - * / // % ^ and comparisons, pi, e, tau, i, and functions such as sqrt, log (natural),
    log10, exp, sin, round, factorial, gcd, lcm, comb, min, max, sum, mean, median. Integers are
    exact.
    """
    try:
        return _shown(evaluate(expression, variables))
    except CannotEvaluate as error:
        raise ToolFailed(f"Failed to evaluate expression: {error}.") from None


def _shown(number: Number | bool) -> str:
    """Write a number as a person would, without the noise of binary fractions: 0.1 + 0.2 is 0.3."""
    if isinstance(number, complex):
        return _complex(number)
    if isinstance(number, int):
        return str(number)
    if number.is_integer() and abs(number) < _EXACT:
        return str(int(number))
    short = f"{number:.15g}"
    digits = sum(map(str.isdigit, short.partition("e")[0].strip("-0.")))
    return short if digits <= _NOISE_DIGITS and abs(number) < _NOISE_BELOW else repr(number)


def _complex(number: complex) -> str:
    if not number.imag:
        return _shown(number.real)
    imaginary = _shown(abs(number.imag)) + "i"
    if not number.real:
        return f"-{imaginary}" if number.imag < 0 else imaginary
    return f"{_shown(number.real)} {'-' if number.imag < 0 else '+'} {imaginary}"
