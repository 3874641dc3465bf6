"""Text that grows while it is shown, without space before or after it."""


class Trimmed:
    """Gather text and say at once what of it is certain, so that shown and kept text are equal."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._space: list[str] = []
        self._begins = True

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def text(self) -> str:
        """Return the text so far, without space around it."""
        return "".join(self._parts)

    def separate(self, space: str) -> None:
        """Let what follows stand apart from what there is by exactly this space."""
        self._space = [space] if self._parts else []
        self._begins = True

    def add(self, text: str) -> str:
        """Take more text; return what can be shown of it now."""
        if self._begins:
            text = text.lstrip()
        body = text.rstrip()
        if not body:
            self._space.append(text)
            return ""
        shown = "".join(self._space) + body
        self._space = [text[len(body) :]]
        self._begins = False
        self._parts.append(shown)
        return shown
