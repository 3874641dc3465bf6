"""Units are converted by exact factors, and a wrong unit is named."""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ToolFailed
from agents.tools.arithmetic.units import QUANTITIES, find_unit
from agents.tools.convert_units import convert_units


@pytest.mark.parametrize(
    ("value", "source", "target", "text"),
    [
        (26.2, "miles", "km", "26.2 mi = 42.1648128 km"),
        (10, "km", "miles", "10 km ≈ 6.21371192237 mi"),
        (3, "feet", "inches", "3 ft = 36 in"),
        (0.1, "m", "cm", "0.1 m = 10 cm"),
        (1, "stone", "pounds", "1 st = 14 lb"),
        (100, "Grams", "KG", "100 g = 0.1 kg"),
        (1, "gallon", "litres", "1 gal = 3.785411784 l"),
        (1, "imperial pint", "ml", "1 imp pt = 568.26125 ml"),
        (1, "m^3", "liters", "1 m3 = 1000 l"),
        (0, "C", "F", "0 °C = 32 °F"),
        (-40, "°F", "celsius", "-40 °F = -40 °C"),
        (37.5, "degrees celsius", "kelvin", "37.5 °C = 310.65 K"),
        (2, "days", "hours", "2 day = 48 h"),
        (60, "mph", "km/h", "60 mph = 96.56064 km/h"),
        (1, "knot", "km/h", "1 knot = 1.852 km/h"),
        (1, "acre", "square feet", "1 acre = 43560 ft2"),
        (2, "m²", "cm2", "2 m2 = 20000 cm2"),
        (5, "GB", "mb", "5 GB = 5000 MB"),
        (1, "GiB", "MB", "1 GiB = 1073.741824 MB"),
        (100, "Mb", "MB", "100 Mbit = 12.5 MB"),
        (1, "kb", "bits", "1 kB = 8000 bit"),
    ],
)
def test_a_value_is_converted(value: float, source: str, target: str, text: str) -> None:
    assert convert_units.run(value, source, target) == text


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("foo", "m", "Unknown unit 'foo'."),
        ("meterz", "km", "Did you mean meter"),
        ("m", "", "Unknown unit ''."),
        ("x" * 10_000, "m", "Unknown unit 'xxx"),
        ("kg", "m", "kg is a unit of mass and m of length: they cannot be converted."),
    ],
)
def test_a_wrong_unit_is_named(source: str, target: str, says: str) -> None:
    with pytest.raises(ToolFailed) as raised:
        convert_units.run(1, source, target)

    assert says in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "ten"])
def test_a_value_is_a_finite_number(observe: Callable[..., Any], value: object) -> None:
    seen = observe(convert_units, {"value": value, "from_unit": "m", "to_unit": "km"})

    assert seen.observation.error == "InvalidInputs"


def test_a_result_beyond_numbers_is_refused() -> None:
    with pytest.raises(ToolFailed, match="too large"):
        convert_units.run(1e308, "ly", "nm")


def test_every_symbol_names_its_own_unit() -> None:
    symbols = [symbol for units in QUANTITIES.values() for symbol in units]

    assert [unit.name for symbol in symbols if (unit := find_unit(symbol))] == symbols


PINT: pint.UnitRegistry[Fraction] = pint.UnitRegistry(non_int_type=Fraction)
PINT.define("our_acre = 4840 * yard ** 2")  # its own is of survey feet, which ended in 2022
NAMES_IN_PINT = {
    "°C": "degC",
    "°F": "degF",
    "acre": "our_acre",
    "fl oz": "fluid_ounce",
    "imp gal": "imperial_gallon",
    "imp pt": "imperial_pint",
    "st": "stone",
}


def in_pint(symbol: str) -> str:
    """Return what pint calls the unit of that symbol."""
    name = re.sub(r"(?<=[a-z])([23])$", r"**\1", symbol).replace(" ", "_")
    return NAMES_IN_PINT.get(symbol, name)


@pytest.mark.parametrize(
    ("base", "symbol"),
    [(next(iter(units)), symbol) for units in QUANTITIES.values() for symbol in units]
    + [("K", "°C"), ("K", "°F")],
)
def test_a_unit_is_exactly_what_others_take_it_for(base: str, symbol: str) -> None:
    unit = find_unit(symbol)

    theirs = PINT.Quantity(Fraction(1), in_pint(symbol)).to(in_pint(base)).magnitude

    assert unit is not None
    assert unit.factor + unit.offset == theirs


_PAIRS = st.sampled_from(sorted(QUANTITIES)).flatmap(
    lambda quantity: st.tuples(*[st.sampled_from(sorted(QUANTITIES[quantity]))] * 2)
)


@given(_PAIRS, st.floats(0.001, 1e6))
def test_there_and_back_is_the_same_value(pair: tuple[str, str], value: float) -> None:
    source, target = pair

    middle = _number(convert_units.run(value, source, target), target)
    again = _number(convert_units.run(middle, target, source), source)

    assert again == pytest.approx(value, rel=1e-9)


def _number(text: object, unit: str) -> float:
    return float(str(text).removesuffix(unit).split()[-1])
