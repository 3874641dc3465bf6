"""What an arithmetic expression may call, each in bounded time for any bounded input."""

import cmath
import math
import statistics
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from agents.tools.arithmetic.display import Number

MAX_BITS = 14_000
"""Bits of the largest integer, about 4,200 digits: what Python still prints."""

_MODULAR_BITS = 4_096
_LARGEST_FACTORIAL = 1_500


class TooLarge(Exception):
    """Raised rather than to begin on a number beyond all use."""


def power(base: Number, exponent: Number, modulus: Number | None = None) -> Number:
    """Return the power, modulo `modulus` if given; raises TooLarge before it computes."""
    if modulus is not None:
        wholes = [_whole(number) for number in (base, exponent, modulus)]
        _refuse_beyond(max(whole.bit_length() for whole in wholes), _MODULAR_BITS)
        return pow(*wholes)
    if isinstance(base, int) and isinstance(exponent, int):
        _refuse_beyond((abs(base).bit_length() - 1) * exponent)
    return base**exponent


def _factorial(number: Number) -> int:
    whole = _whole(number)
    if whole > _LARGEST_FACTORIAL:
        raise TooLarge
    return math.factorial(whole)


def _comb(of: Number, chosen: Number) -> int:
    n, k = _whole(of), _whole(chosen)
    _refuse_beyond(min(n, min(k, n - k) * n.bit_length()))
    return math.comb(n, k)


def _perm(of: Number, chosen: Number) -> int:
    n, k = _whole(of), _whole(chosen)
    _refuse_beyond(min(n, k) * (n.bit_length() - 1))
    return math.perm(n, k)


def _lcm(*numbers: Number) -> int:
    result = 1
    for number in numbers:
        result = math.lcm(result, _whole(number))
        _refuse_beyond(result.bit_length())
    return result


def _sqrt(number: Any) -> Number:
    if isinstance(number, int) and number >= 0 and math.isqrt(number) ** 2 == number:
        return math.isqrt(number)
    if isinstance(number, complex) or number < 0:
        return cmath.sqrt(number)
    return math.sqrt(number)


def _log(number: Any, base: Any = math.e) -> Number:
    if isinstance(number, complex) or number < 0:
        return cmath.log(number, base)
    return math.log(number) if base == math.e else _exact_log(number, base)


def _exact_log(number: float, base: float) -> float:
    if base == 2:
        return math.log2(number)
    return math.log10(number) if base == 10 else math.log(number, base)


def _round(number: Any, digits: Number = 0) -> Number:
    """Round half away from zero, on the digits as they are shown: round(2.675, 2) is 2.68."""
    places = _whole(digits)
    if abs(places) > 400:
        raise TooLarge
    if isinstance(number, complex):
        raise TypeError("a complex number cannot be rounded")
    with localcontext(prec=10_000, rounding=ROUND_HALF_UP):
        rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-places))
    return float(rounded) if places > 0 else int(rounded)


def _whole(number: Any) -> int:
    if isinstance(number, complex) or number != int(number):
        raise ValueError("a whole number is needed")
    return int(number)


def _of_all(function: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    return lambda *numbers: function(list(numbers))


def _refuse_beyond(bits: int, limit: int = MAX_BITS) -> None:
    if bits > limit:
        raise TooLarge


CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau, "i": 1j}

FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "acos": math.acos,
    "asin": math.asin,
    "atan": math.atan,
    "atan2": math.atan2,
    "cbrt": math.cbrt,
    "ceil": math.ceil,
    "comb": _comb,
    "cos": math.cos,
    "cosh": math.cosh,
    "degrees": math.degrees,
    "exp": math.exp,
    "factorial": _factorial,
    "floor": math.floor,
    "gcd": lambda *numbers: math.gcd(*map(_whole, numbers)),
    "hypot": math.hypot,
    "lcm": _lcm,
    "ln": _log,
    "log": _log,
    "log10": lambda number: _log(number, 10),
    "log2": lambda number: _log(number, 2),
    "max": _of_all(max),
    "mean": _of_all(lambda numbers: sum(numbers) / len(numbers)),
    "median": _of_all(statistics.median),
    "min": _of_all(min),
    "perm": _perm,
    "pow": power,
    "radians": math.radians,
    "round": _round,
    "sin": math.sin,
    "sinh": math.sinh,
    "sqrt": _sqrt,
    "stdev": _of_all(statistics.stdev),
    "sum": _of_all(sum),
    "tan": math.tan,
    "tanh": math.tanh,
    "trunc": math.trunc,
}
