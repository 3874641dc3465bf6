"""A tool that converts between units of measure."""

import difflib
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from agents.errors import ToolFailed
from agents.tools.arithmetic.display import fraction_text, number_text
from agents.tools.arithmetic.units import Unit, all_names, find_unit, units_of
from agents.tools.spec import tool


@tool(timeout=5, doing="Converting units", may_repeat=True, reads_only=True)
def convert_units(
    value: Annotated[float, Field(allow_inf_nan=False)],
    from_unit: Annotated[str, Field(description="such as km, pounds, °F, mph, GiB")],
    to_unit: Annotated[str, Field(description="a unit of the same quantity")],
) -> str:
    """Convert a value from one unit to another: length, mass, volume, temperature, time, speed,
    area, data. Gallons, pints, cups and ounces are US customary unless called imperial.
    """
    source, target = _unit(from_unit), _unit(to_unit)
    if source.quantity != target.quantity:
        raise ToolFailed(
            f"{source.name} is a unit of {source.quantity} and {target.name} of {target.quantity}: "
            f"they cannot be converted. Units of {source.quantity}: "
            f"{', '.join(units_of(source.quantity))}."
        )
    # The value as it was typed: 0.1 is one tenth, not the nearest binary fraction.
    exact = Fraction(repr(value)) * source.factor + source.offset - target.offset
    try:
        text, is_exact = fraction_text(exact / target.factor)
    except OverflowError:
        raise ToolFailed("The result is too large to write.") from None
    sign = "=" if is_exact else "≈"
    return f"{number_text(value)} {source.name} {sign} {text} {target.name}"


def _unit(name: str) -> Unit:
    unit = find_unit(name)
    if unit is None:
        near = difflib.get_close_matches(name[:40].lower(), all_names(), n=4)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise ToolFailed(f"Unknown unit {name[:40]!r}.{hint}")
    return unit
