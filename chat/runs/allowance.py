"""How much one person may ask: so many questions a minute, and so many that wait at once.

Both are counted in Postgres, under a lock on the person, so that they hold for all web processes
and while Redis is away. What is no chat counts for nobody, since it delays no chat.
"""

from datetime import timedelta
from math import ceil

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from chat.governance import door
from chat.models import Conversation, ConversationKind, Lane, User
from chat.runs.validation import InvalidQuestion, TooManyQuestions

MINUTE = timedelta(minutes=1)


def check_allowance(conversation: Conversation) -> None:
    """Make sure that the owner may ask one more question, in the transaction that stores it.

    Of two questions at once the second one waits here, and sees the first; so does one at the
    moment in which the account is closed. Raises InvalidQuestion for a closed account or a space
    in which they may not ask, and its kind TooManyQuestions; a limit of 0 is none.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=conversation.owner_id)
    if not user.is_active:
        raise InvalidQuestion("This account is closed.")
    if not door.may_ask_in(user, conversation):
        raise InvalidQuestion("You may not ask in this team's space, or not any more.")
    if conversation.kind == ConversationKind.CHAT:
        _check_limits(user)


def _check_limits(user: User) -> None:
    mine = door.asked_runs(user).filter(lane=Lane.CHAT)
    most_waiting, most = settings.WAITING_PER_USER, settings.QUESTIONS_PER_MINUTE
    if most_waiting and mine.live().count() >= most_waiting:
        raise TooManyQuestions(
            f"{most_waiting} of your questions have no answer yet, which is the most there may be. "
            "Let one of them end, or stop it, and ask again."
        )
    # By the database's clock alone, and nothing counts that is to come where that was set back.
    recent = mine.filter(created_at__range=(Now() - MINUTE, Now())).order_by("-created_at")
    age = ExpressionWrapper(Now() - F("created_at"), output_field=DurationField())
    ages = list(recent.annotate(age=age).values_list("age", flat=True)[:most])
    if most and len(ages) == most:
        seconds = max(1, ceil((MINUTE - ages[-1]).total_seconds()))
        unit = "second" if seconds == 1 else "seconds"
        raise TooManyQuestions(
            f"You can ask {most} questions a minute. Try again in {seconds} {unit}."
        )
