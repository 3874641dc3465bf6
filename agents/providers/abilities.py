"""What a model can, as its server says it; None stands for what nobody has said."""

from agents.contracts import Value


class Abilities(Value):
    """How many tokens a model takes, request and reply, and what it knows beside plain text.

    `tools` are native calls, `vision` pictures in a request, `thinking` thoughts apart.
    """

    context_length: int | None = None
    tools: bool | None = None
    vision: bool | None = None
    thinking: bool | None = None

    @property
    def told(self) -> str:
        """Write what is known for a person; empty where nothing is."""
        length = "" if self.context_length is None else f"{self.context_length:,} tokens"
        words = {"native tools": self.tools, "pictures": self.vision, "thinking": self.thinking}
        said = [
            name if is_so else f"no {name}" for name, is_so in words.items() if is_so is not None
        ]
        return ", ".join(filter(None, [length, *said]))


UNKNOWN = Abilities()
