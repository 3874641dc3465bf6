"""How much one person may ask: so many questions a minute, and so many that wait at once.

Both are counted in Postgres, under a lock on the person, so that they hold for all web processes
and while Redis is away.
"""

from datetime import timedelta
from math import ceil

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from chat.governance import door
from chat.models import ConversationKind, User
from chat.runs.validation import InvalidQuestion, TooManyQuestions

MINUTE = timedelta(minutes=1)


def check_allowance(user: User) -> None:
    """Make sure that `user` may ask one more question, in the transaction that goes on to store it.

    Of two questions at once the second one waits here, and sees the first; so does one at the
    moment in which the account is closed. Raises InvalidQuestion for a closed account, and its kind
    TooManyQuestions; a limit of 0 is none.
    """
    if not User.objects.select_for_update(no_key=True).get(pk=user.pk).is_active:
        raise InvalidQuestion("This account is closed.")
    mine = door.own_runs(user).filter(conversation__kind=ConversationKind.CHAT)
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
