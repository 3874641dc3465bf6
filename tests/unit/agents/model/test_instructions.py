"""Instructions go with the system's own words, and without any there is nothing to tell."""

from agents.contracts import Message, Role
from agents.model.instructions import instructed

QUESTION = Message(role=Role.USER, content="Q?")


def test_without_instructions_the_messages_are_as_they_were() -> None:
    messages = [QUESTION]

    assert instructed(messages, "") is messages


def test_they_stand_at_the_end_of_the_system_s_own_words() -> None:
    first, *rest = instructed([Message(role=Role.SYSTEM, content="Rules."), QUESTION], "In Latin.")

    assert first.role is Role.SYSTEM
    assert first.content == "Rules.\n\nIn Latin."
    assert rest == [QUESTION]


def test_without_a_system_message_they_are_one() -> None:
    first, *rest = instructed([QUESTION], "In Latin.")

    assert (first.role, rest) == (Role.SYSTEM, [QUESTION])
    assert first.content == "In Latin."
