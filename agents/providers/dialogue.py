"""The messages of a request, for servers that want the rules apart and the speakers in turn."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from agents.contracts import Message, Role

_MODELS = (Role.ASSISTANT, Role.TOOL_REQUEST)


def rules_and_rest(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Split off the text of the system messages that come first.

    A later one speaks as the user does, in its place; so does the only one of all.
    """
    first = next((i for i, m in enumerate(messages) if m.role is not Role.SYSTEM), 0)
    rules = "\n\n".join(message.content for message in messages[:first])
    return rules, [
        message.model_copy(update={"role": Role.USER}) if message.role is Role.SYSTEM else message
        for message in messages[first:]
    ]


def speeches(messages: Iterable[Message]) -> list[tuple[bool, list[Message]]]:
    """Join what one side says in a row: pairs of whether the model speaks, and its messages."""
    return [(key, list(some)) for key, some in groupby(messages, lambda m: m.role in _MODELS)]
