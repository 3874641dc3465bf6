"""What a socket reads and writes in Postgres; none of it is in the path of tokens."""

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import NamedTuple, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import auth
from django.http import HttpRequest

from chat.live import frames
from chat.live.followers import Snapshot
from chat.live.render import render_run
from chat.models import ENDED, Conversation, Run, User
from chat.policies import offered
from chat.runs.ask import ask
from chat.runs.patience import hand_back
from chat.runs.stop import stop

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MOST_RUNS = 100
"""How many runs that a page does not know yet it is sent at once, the newest."""

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
    is_owner: bool


class News(NamedTuple):
    """A run to tell a page of, and its cursor."""

    run_id: int
    cursor: str
    has_ended: bool
    frame: str


async def in_database(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Do database work in one of a few threads, so that one slow query holds up nobody else."""

    def unit() -> Result:
        try:
            return work(*args, **kwargs)
        finally:
            hand_back()

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
    conversation = Conversation.objects.readable_by(user).filter(pk=conversation_id).first()
    if conversation is None:
        return None
    return Access(conversation, is_owner=conversation.owner_id == user.pk)


def known_runs(conversation: Conversation, run_ids: Collection[int]) -> dict[int, bool]:
    """Return those of `run_ids` that are the conversation's, each with whether it has ended."""
    runs = conversation.runs.filter(pk__in=run_ids)
    return {run_id: status in ENDED for run_id, status in runs.values_list("pk", "status")}


def news(conversation: Conversation, after: int) -> list[News]:
    """Return the runs that are newer than `after`, oldest first."""
    runs = conversation.runs.filter(pk__gt=after).select_related("policy_version__policy")
    return [_news(run) for run in reversed(runs.order_by("-pk")[:MOST_RUNS])]


def stored(run_id: int) -> Snapshot | None:
    """Return a run as it is stored, None if it is gone."""
    run = Run.objects.select_related("policy_version__policy").filter(pk=run_id).first()
    if run is None:
        return None
    return Snapshot(run.stream_id, render_run(run), not run.is_live)


def ended_among(run_ids: Collection[int]) -> set[int]:
    """Return those runs that have ended, or are gone."""
    runs = Run.objects.filter(pk__in=run_ids).live()
    return set(run_ids) - set(runs.values_list("pk", flat=True))


def send(conversation: Conversation, frame: frames.Send) -> News:
    """Ask a question; raises Refused or InvalidQuestion."""
    policy = offered().filter(slug=frame.policy).first()
    if policy is None:
        raise Refused("no_policy", "There is no such policy any more; choose another one.")
    parent = None
    if frame.parent is not None:
        parent = conversation.runs.filter(pk=frame.parent).first()
        if parent is None:
            raise Refused("not_found", "The question refers to a run that is not here.")
    run = ask(
        conversation,
        frame.text,
        policy_version=policy.latest,
        client_message_id=frame.client_message_id,
        parent=parent,
    )
    return _news(run)


def request_stop(conversation: Conversation, run_id: int) -> None:
    """Stop a run; one that has ended already stays as it is. Raises Refused."""
    run = conversation.runs.filter(pk=run_id).first()
    if run is None:
        raise Refused("not_found", "There is no such run here.")
    stop(run)


def _news(run: Run) -> News:
    frame = frames.run_created(run.pk, run.client_message_id, render_run(run))
    return News(run.pk, run.stream_id, not run.is_live, frame)
