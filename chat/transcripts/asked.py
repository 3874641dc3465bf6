"""What a query asks for, read without trust."""


def whole_number(text: str) -> int | None:
    """Return the number that a text is, None for any other text and for what no page has."""
    return int(text) if text.isdecimal() and len(text) < 10 else None
