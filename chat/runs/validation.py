"""What may be asked, and the words for what may not."""

from agents.text import storable

MAX_FEEDBACK = 4_000
"""The longest word to the model that goes with the answer to an approval."""
MAX_CHARACTERS = 100_000


class InvalidQuestion(ValueError):
    """Raised for a question that cannot be asked; the text is for the person who asks.

    `code` names it on the wire, `status` is that of the page which shows the words.
    """

    code = "invalid_question"
    status = 422


class TooManyQuestions(InvalidQuestion):
    """Raised for one question too many; the text says when the next one may be asked."""

    code = "too_many"
    status = 429


def checked(question: str) -> str:
    """Return the question as it is stored; raises InvalidQuestion."""
    question = storable(question.replace("\0", "")).strip()
    if not question:
        raise InvalidQuestion("Write a question first.")
    if len(question) > MAX_CHARACTERS:
        raise InvalidQuestion(
            f"This question has {len(question):,} characters; the limit is {MAX_CHARACTERS:,}."
        )
    return question
