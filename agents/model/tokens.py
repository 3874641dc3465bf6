"""How many tokens a text takes, where no server has counted them."""

import math

BYTES_PER_TOKEN = 3.5


def tokens(text: str) -> int:
    """Return about how many tokens a text takes: rather too many than too few."""
    return tokens_in(len(text.encode(errors="replace")))


def tokens_in(size: int) -> int:
    """Return about how many tokens a text of so many bytes takes."""
    return math.ceil(size / BYTES_PER_TOKEN)
