"""What keeps Turnstone from starting, in words for the person at the terminal."""


class CannotStart(Exception):
    """Raised when the start cannot go on; the message is one line that says what to do."""
