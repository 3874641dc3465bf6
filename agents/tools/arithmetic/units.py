"""Units of measure, by exact factors: the international ones, and US customary volumes."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Unit:
    """A unit of one quantity: `value * factor + offset` is the value in the base unit."""

    name: str
    quantity: str
    factor: Fraction
    offset: Fraction = Fraction(0)


def find_unit(name: str) -> Unit | None:
    """Return the unit of that symbol or name, singular or plural, None if there is none.

    Case tells apart only where it has to: Mb is a megabit, MB and mb a megabyte.
    """
    key = " ".join(name.replace("²", "2").replace("³", "3").replace("^", "").split())
    for spelling in (key, key.lower(), key.lower().removesuffix("s"), key.lower().rstrip(".")):
        if spelling in _BY_NAME:
            return _BY_NAME[spelling]
    return None


def units_of(quantity: str) -> list[str]:
    """Return the names of the units of one quantity."""
    return list(dict.fromkeys(u.name for u in _BY_NAME.values() if u.quantity == quantity))


def all_names() -> list[str]:
    """Return every spelling of every unit."""
    return list(_BY_NAME)


_PREFIXES = (("k", "kilo"), ("M", "mega"), ("G", "giga"), ("T", "tera"), ("P", "peta"))

QUANTITIES: dict[str, dict[str, tuple[str, ...]]] = {
    "length": {
        "m": ("1", "meter", "metre"),
        "km": ("1000", "kilometer", "kilometre"),
        "cm": ("0.01", "centimeter", "centimetre"),
        "mm": ("0.001", "millimeter", "millimetre"),
        "µm": ("0.000001", "um", "micron", "micrometer", "micrometre"),
        "nm": ("0.000000001", "nanometer", "nanometre"),
        "in": ("0.0254", "inch", "inches", '"'),
        "ft": ("0.3048", "foot", "feet", "'"),
        "yd": ("0.9144", "yard"),
        "mi": ("1609.344", "mile"),
        "nmi": ("1852", "nautical mile"),
        "au": ("149597870700", "astronomical unit"),
        "ly": ("9460730472580800", "light-year", "light year"),
    },
    "mass": {
        "kg": ("1", "kilogram", "kilo"),
        "g": ("0.001", "gram"),
        "mg": ("0.000001", "milligram"),
        "t": ("1000", "tonne", "metric ton"),
        "lb": ("0.45359237", "pound", "lbs"),
        "oz": ("0.028349523125", "ounce"),
        "st": ("6.35029318", "stone"),
        "short ton": ("907.18474", "ton", "us ton"),
        "long ton": ("1016.0469088", "imperial ton"),
        "ct": ("0.0002", "carat"),
    },
    "volume": {
        "l": ("1", "liter", "litre"),
        "ml": ("0.001", "milliliter", "millilitre"),
        "cl": ("0.01", "centiliter", "centilitre"),
        "dl": ("0.1", "deciliter", "decilitre"),
        "m3": ("1000", "cubic meter", "cubic metre"),
        "cm3": ("0.001", "cc", "cubic centimeter", "cubic centimetre"),
        "ft3": ("28.316846592", "cubic foot", "cubic feet"),
        "in3": ("0.016387064", "cubic inch", "cubic inches"),
        "gal": ("3.785411784", "gallon", "us gallon"),
        "qt": ("0.946352946", "quart", "us quart"),
        "pt": ("0.473176473", "pint", "us pint"),
        "cup": ("0.2365882365", "us cup"),
        "fl oz": ("0.0295735295625", "floz", "fluid ounce", "us fluid ounce"),
        "tbsp": ("0.01478676478125", "tablespoon"),
        "tsp": ("0.00492892159375", "teaspoon"),
        "imp gal": ("4.54609", "imperial gallon", "uk gallon"),
        "imp pt": ("0.56826125", "imperial pint", "uk pint"),
    },
    "time": {
        "s": ("1", "sec", "second"),
        "ms": ("0.001", "millisecond"),
        "µs": ("0.000001", "us", "microsecond"),
        "ns": ("0.000000001", "nanosecond"),
        "min": ("60", "minute"),
        "h": ("3600", "hr", "hour"),
        "day": ("86400", "d"),
        "week": ("604800", "wk"),
        "year": ("31557600", "yr", "julian year"),
    },
    "speed": {
        "m/s": ("1", "mps", "meter per second", "meters per second", "metres per second"),
        "km/h": ("5/18", "kmh", "kph", "kilometers per hour", "kilometres per hour"),
        "mph": ("0.44704", "mi/h", "mile per hour", "miles per hour"),
        "knot": ("463/900", "kn", "kt"),
        "ft/s": ("0.3048", "fps", "feet per second"),
    },
    "area": {
        "m2": ("1", "square meter", "square metre", "sqm", "sq m"),
        "km2": ("1000000", "square kilometer", "square kilometre", "sq km"),
        "cm2": ("0.0001", "square centimeter", "square centimetre", "sq cm"),
        "ha": ("10000", "hectare"),
        "acre": ("4046.8564224", "ac"),
        "ft2": ("0.09290304", "square foot", "square feet", "sqft", "sq ft"),
        "in2": ("0.00064516", "square inch", "square inches", "sq in"),
        "yd2": ("0.83612736", "square yard", "sq yd"),
        "mi2": ("2589988.110336", "square mile", "sq mi"),
    },
    "data": {
        "bit": ("1", "b"),
        "byte": ("8", "B"),
        **{
            f"{prefix}B": (str(8 * 1000**power), f"{long}byte")
            for power, (prefix, long) in enumerate(_PREFIXES, 1)
        },
        **{
            f"{prefix}bit": (str(1000**power), f"{long}bit", f"{prefix}b")
            for power, (prefix, long) in enumerate(_PREFIXES[1:], 2)
        },
        "kbit": ("1000", "kilobit"),
        **{
            f"{prefix}iB": (str(8 * 1024**power), f"{long}byte")
            for power, (prefix, long) in enumerate(
                (("K", "kibi"), ("M", "mebi"), ("G", "gibi"), ("T", "tebi"), ("P", "pebi")), 1
            )
        },
    },
}
"""Quantity -> symbol -> factor to the first unit of the quantity, and other names."""

_TEMPERATURES = (
    (Unit("K", "temperature", Fraction(1)), ("k", "kelvin")),
    (
        Unit("°C", "temperature", Fraction(1), Fraction("273.15")),
        ("C", "c", "celsius", "centigrade", "degrees celsius", "degree celsius", "degrees c"),
    ),
    (
        Unit("°F", "temperature", Fraction(5, 9), Fraction("459.67") * 5 / 9),
        ("F", "f", "fahrenheit", "degrees fahrenheit", "degree fahrenheit", "degrees f"),
    ),
)


def _named() -> dict[str, Unit]:
    """Return every spelling; a lower-case one belongs to the first unit that claims it."""
    named: dict[str, Unit] = {}
    for unit, names in _TEMPERATURES:
        named |= dict.fromkeys((unit.name, unit.name.lower(), *names), unit)
    for quantity, units in QUANTITIES.items():
        for symbol, factor_and_names in units.items():
            unit = Unit(symbol, quantity, Fraction(factor_and_names[0]))
            for name in (symbol, *factor_and_names[1:]):
                named[name] = unit
                named.setdefault(name.lower(), unit)
    return named


_BY_NAME = _named()
