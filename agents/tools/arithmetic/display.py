"""Numbers as a person would write them."""

from fractions import Fraction

Number = int | float | complex

_EXACT = 1e16
_NOISE_BELOW = 1e12
_NOISE_DIGITS = 12
"""A number this short to 15 digits differs from it only by what binary fractions cannot hold."""


def number_text(number: Number) -> str:
    """Return the number without the noise of binary fractions: 0.1 + 0.2 is 0.3."""
    if isinstance(number, complex):
        return _complex_text(number)
    if isinstance(number, int):
        return str(number)
    if number.is_integer() and abs(number) < _EXACT:
        return str(int(number))
    short = f"{number:.15g}"
    digits = sum(map(str.isdigit, short.partition("e")[0].strip("-0.")))
    return short if digits <= _NOISE_DIGITS and abs(number) < _NOISE_BELOW else repr(number)


def fraction_text(number: Fraction) -> tuple[str, bool]:
    """Return the number to 12 digits, and whether that is exact; raises OverflowError."""
    text = f"{float(number):.12g}"
    return text, Fraction(text) == number


def _complex_text(number: complex) -> str:
    if not number.imag:
        return number_text(number.real)
    imaginary = number_text(abs(number.imag)) + "i"
    if not number.real:
        return f"-{imaginary}" if number.imag < 0 else imaginary
    return f"{number_text(number.real)} {'-' if number.imag < 0 else '+'} {imaginary}"
