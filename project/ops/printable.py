"""Text of strangers made fit for a log and a terminal: nothing in it is a line, or an order."""

import re

UNSEEN_IN_JSON = re.compile(r"[\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    r"""Write every control character as its escape: `\n`, `\x1b`; what can be seen stays.

    So no text makes a line of its own, moves the cursor, colours a terminal or turns letters round.
    """
    if text.isprintable():
        return text
    return "".join(map(_escaped, text))


def printable_lines(text: str) -> str:
    """Do so with each line of a text that has several."""
    return "\n".join(map(printable, text.split("\n")))


def printable_json(text: str) -> str:
    """Escape in JSON what it allows as it is, though a terminal takes it for an order."""
    return UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(character: str) -> str:
    if character.isprintable() or character == "\t":
        return character
    return character.encode("unicode_escape").decode("ascii")
