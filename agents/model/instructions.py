"""Where in a request the instructions of a run stand."""

from collections.abc import Sequence

from agents.contracts import Message, Role


def instructed(messages: Sequence[Message], instructions: str) -> Sequence[Message]:
    """Return the messages with the instructions at the end of the system's own."""
    if not instructions:
        return messages
    if messages and messages[0].role is Role.SYSTEM:
        told = f"{messages[0].content.rstrip()}\n\n{instructions}"
        return [messages[0].model_copy(update={"content": told}), *messages[1:]]
    return [Message(role=Role.SYSTEM, content=instructions), *messages]
