"""What a person wants of every reply, told beside what a policy tells its model."""

from collections.abc import Sequence

from agents.contracts import Message, Role

_BEGIN = "Follow these instructions as well, but keep to the form of reply that is asked for:"


def instructed(messages: Sequence[Message], instructions: str) -> Sequence[Message]:
    """Return the messages with the instructions at the end of the system's own."""
    if not instructions:
        return messages
    told = f"{_BEGIN}\n{instructions}"
    if messages and messages[0].role is Role.SYSTEM:
        first = messages[0].model_copy(update={"content": f"{messages[0].content}\n\n{told}"})
        return [first, *messages[1:]]
    return [Message(role=Role.SYSTEM, content=told), *messages]
