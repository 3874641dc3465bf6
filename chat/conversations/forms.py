"""What people send to a conversation, checked before anything is stored."""

from uuid import UUID, uuid4

from django.http import QueryDict

from chat.models import PolicyVersion
from chat.models.conversation import TITLE_LENGTH
from chat.policies import offered_as
from chat.runs.validation import InvalidQuestion


class InvalidTitle(ValueError):
    """Raised for a title that cannot be given; the text is for the person who gave it."""


def message_id(posted: QueryDict) -> UUID:
    """Return the id under which a form sent twice is one question; a new one if it has none."""
    try:
        return UUID(posted.get("client_message_id", ""))
    except ValueError:
        return uuid4()


def question(posted: QueryDict) -> str:
    """Return the text that was asked, with the line ends that were typed and not a form's."""
    return posted.get("text", "").replace("\r\n", "\n")


def policy_version(posted: QueryDict) -> PolicyVersion:
    """Return the newest version of the policy that was chosen.

    Raises InvalidQuestion for a policy that is not offered.
    """
    policy = offered_as(posted.get("policy", ""))
    if policy is None:
        raise InvalidQuestion("Choose one of the policies in the list.")
    return policy.latest


def title(posted: QueryDict) -> str:
    """Return the title that was given, on one line. Raises InvalidTitle."""
    given = " ".join(posted.get("title", "").replace("\0", "").split())
    if not given:
        raise InvalidTitle("Give it a title.")
    if len(given) > TITLE_LENGTH:
        raise InvalidTitle(f"A title has at most {TITLE_LENGTH} characters.")
    return given
