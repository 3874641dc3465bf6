"""What a socket reads and writes in Postgres; none of it is in the path of tokens."""

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from typing import NamedTuple, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import auth
from django.db.models.functions import Now
from django.http import HttpRequest

from chat.governance import door
from chat.live.followers import Snapshot
from chat.models import ENDED, Conversation, Run, RunStatus, User
from chat.models.run import CLAIMABLE
from chat.runs.db_retry import release_connection
from chat.runs.queue import tell_ahead
from chat.stream import frames
from chat.stream.render import render_run
from chat.stream.streams import StreamId

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MAX_RUNS = 100
"""How many runs that a page does not know yet it is sent at once, the newest."""

YOUNG = timedelta(minutes=2)
"""How long it is made sure that pages know of a new run; who comes later asks for it."""

SHOWN_WITH = ("policy_version__policy", "owner")
"""What the article of a run shows beside it."""

_THREADS = ThreadPoolExecutor(8, thread_name_prefix="live-records")


class Refused(Exception):
    """Raised for a wish that this person may not have granted; the text is for them."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotSignedIn(Exception):
    """Raised when the session has ended, its user is gone or was never signed in."""


class Access(NamedTuple):
    """What a person may do in a conversation that they may read; only its owner may write."""

    conversation: Conversation
    person: int
    is_owner: bool


class News(NamedTuple):
    """A run to tell a page of, and its cursor."""

    run_id: int
    cursor: str
    has_ended: bool
    frame: str


class Standing(NamedTuple):
    """How a run stands in the record, and the frame that a page must have read to show as much."""

    shown_by: StreamId
    has_ended: bool
    waits: bool
    is_stalled: bool


async def in_database(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Do database work in one of a few threads, so that one slow query holds up nobody else."""

    def unit() -> Result:
        try:
            return work(*args, **kwargs)
        finally:
            release_connection()

    return await sync_to_async(unit, thread_sensitive=False, executor=_THREADS)()


def access(session_key: str | None, conversation_id: int) -> Access | None:
    """Return what the session's user may do, None if the conversation is not theirs to read.

    Everything is read anew, for sockets outlive sessions. Raises NotSignedIn.
    """
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = auth.get_user(request)
    if not isinstance(user, User):
        raise NotSignedIn
    conversation = door.readable_conversations(user).filter(pk=conversation_id).first()
    if conversation is None:
        return None
    return Access(conversation, user.pk, is_owner=door.is_own(user, conversation))


def known_runs(conversation: Conversation, run_ids: Collection[int]) -> dict[int, bool]:
    """Return those of `run_ids` that are the conversation's, each with whether it has ended."""
    runs = conversation.runs.filter(pk__in=run_ids)
    return {run_id: status in ENDED for run_id, status in runs.values_list("pk", "status")}


def news(conversation: Conversation, after: int) -> list[News]:
    """Return the runs that are newer than `after`, oldest first."""
    newer = conversation.runs.filter(pk__gt=after).select_related(*SHOWN_WITH).order_by("-pk")
    runs = newer[:MAX_RUNS][::-1]
    tell_ahead(runs)
    return [_news_of(run) for run in runs]


def stored(run_id: int) -> Snapshot | None:
    """Return a run as it is stored, None if it is gone."""
    run = Run.objects.select_related(*SHOWN_WITH).filter(pk=run_id).first()
    if run is None:
        return None
    tell_ahead([run])
    now = _standing(run)
    return Snapshot(str(now.shown_by), render_run(run), now.has_ended, now.waits)


def standing(run_ids: Collection[int]) -> dict[int, Standing]:
    """Return how the runs stand in the record; those that are gone are left out."""
    fields = ("status", "attempt", "stream_id", "lease_until")
    runs = Run.objects.filter(pk__in=run_ids).only(*fields)
    return {run.pk: _standing(run) for run in runs}


def young(conversation_ids: Collection[int]) -> dict[int, set[int]]:
    """Return the ids of the runs that were asked a moment ago, by their conversation."""
    runs = Run.objects.filter(conversation_id__in=conversation_ids, created_at__gt=Now() - YOUNG)
    found: dict[int, set[int]] = {}
    for conversation_id, run_id in runs.values_list("conversation_id", "pk"):
        found.setdefault(conversation_id, set()).add(run_id)
    return found


def _standing(run: Run) -> Standing:
    # That a run was interrupted is shown by number 0 of the attempt to come, which its row does not
    # name; else a page that has read on in the old attempt would take the record for old.
    is_interrupted = run.status == RunStatus.INTERRUPTED
    shown_by = StreamId(run.attempt + 1, 0) if is_interrupted else StreamId.parse(run.stream_id)
    return Standing(shown_by, run.status in ENDED, run.status in CLAIMABLE, run.is_stalled)


def news_of(run: Run) -> News:
    """Return what a page is told of a run."""
    tell_ahead([run])
    return _news_of(run)


def _news_of(run: Run) -> News:
    frame = frames.run_created(run.pk, run.client_message_id, render_run(run))
    return News(run.pk, run.stream_id, not run.is_live, frame)
