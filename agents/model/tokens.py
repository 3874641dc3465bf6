"""How many tokens a text takes, where no server has counted them."""

import math

BYTES_PER_TOKEN = 3.5


def tokens(text: str) -> int:
    """Return about how many tokens a text takes: rather too many than too few."""
    return math.ceil(len(text.encode(errors="replace")) / BYTES_PER_TOKEN)
