"""The borders of controls can be seen: three to one against each surface, light and dark."""

import math
import re
from itertools import product
from pathlib import Path

import pytest

TOKENS = (Path(__file__).parents[3] / "static/css/tokens.css").read_text(encoding="utf-8")
PAIR = re.compile(r"--([\w-]+): light-dark\(oklch\(([^)]+)\), oklch\(([^)]+)\)\)")
COLOURS = {name: (light, dark) for name, light, dark in PAIR.findall(TOKENS)}


def luminance(oklch: str) -> float:
    """Return the relative luminance of "64% 0.01 260", by way of OKLab and linear sRGB."""
    lightness, chroma, hue = (float(part.rstrip("%")) for part in oklch.split())
    a, b = (chroma * turn(math.radians(hue)) for turn in (math.cos, math.sin))
    long, middle, short = (
        (lightness / 100 + of_a * a + of_b * b) ** 3
        for of_a, of_b in (
            (0.3963377774, 0.2158037573),
            (-0.1055613458, -0.0638541728),
            (-0.0894841775, -1.2914855480),
        )
    )
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    ("surface", "scheme"), list(product(("paper", "paper-sunk", "paper-raised"), (0, 1)))
)
def test_the_border_of_a_control_stands_out_from_its_surface(surface: str, scheme: int) -> None:
    border, ground = (luminance(COLOURS[name][scheme]) for name in ("rule-strong", surface))

    contrast = (max(border, ground) + 0.05) / (min(border, ground) + 0.05)

    assert contrast >= 3
