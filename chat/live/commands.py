"""What a watcher wishes for, whichever way it came: to ask, to stop, to allow.

Everything here is the owner's to do; a reader is refused. Whether they still are one is found out
by the caller, for each wish anew.
"""

import logging

from django.db import InterfaceError, OperationalError

from chat.live import client_frames
from chat.live.access import Access, News, Refused, news_of
from chat.models import Approval, Conversation
from chat.policies import offered_as
from chat.runs.approvals import NotOpen, decide
from chat.runs.ask import ask
from chat.runs.models_offered import chosen_model
from chat.runs.stop import stop
from chat.runs.validation import InvalidQuestion
from chat.stream import frames

logger = logging.getLogger(__name__)

UNREACHABLE = "Turnstone cannot reach its database. Try again in a moment."

Command = client_frames.Send | client_frames.Stop | client_frames.Approve
"""What changes something; a hello and a ping only concern the connection."""


def execute(command: Command, rights: Access) -> News | None:
    """Do what the owner wishes; a question's run is the answer, all else is told in the streams.

    It asks the database. Raises Refused, InvalidQuestion and Django's errors; `rejection` says what
    they mean.
    """
    if not rights.is_owner:
        raise Refused("forbidden", "Only the owner of a conversation can do this.")
    conversation = rights.conversation
    match command:
        case client_frames.Send():
            return _ask(conversation, command)
        case client_frames.Stop():
            _stop(conversation, command.run)
        case client_frames.Approve():
            _answer(conversation, command)
    return None


def rejection(error: Exception, frame: client_frames.ClientFrame | None) -> str:
    """Return the frame that tells a person why `frame`, where it could be read, was not granted."""
    asked_by = None
    if isinstance(frame, client_frames.Send):
        asked_by = str(frame.client_message_id)
    elif isinstance(error, client_frames.InvalidFrame):
        asked_by = error.client_message_id
    return frames.error(*_in_words(error), asked_by)


def _in_words(error: Exception) -> tuple[str, str]:
    """Return an error's code and what the person may know of it."""
    match error:
        case client_frames.InvalidFrame() | Refused() | InvalidQuestion():
            return error.code, str(error)
        case OperationalError() | InterfaceError():
            logger.warning("A message was refused, Postgres is away: %s", error)
            return "unavailable", UNREACHABLE
        case _:
            logger.error("A message could not be handled", exc_info=error)
            return "internal", "Something went wrong on our side. Nothing was lost; try again."


def _ask(conversation: Conversation, command: client_frames.Send) -> News:
    """Ask a question; raises Refused or InvalidQuestion."""
    policy = offered_as(command.policy)
    if policy is None:
        raise Refused("no_policy", "There is no such policy any more; choose another one.")
    parent = None
    if command.parent is not None:
        parent = conversation.runs.filter(pk=command.parent).first()
        if parent is None:
            raise Refused("not_found", "The question refers to a run that is not here.")
    run = ask(
        conversation,
        command.text,
        policy_version=policy.latest,
        client_message_id=command.client_message_id,
        parent=parent,
        model=chosen_model(command.model),
    )
    return news_of(run)


def _stop(conversation: Conversation, run_id: int) -> None:
    """Stop a run; one that has ended already stays as it is. Raises Refused."""
    run = conversation.runs.filter(pk=run_id).first()
    if run is None:
        raise Refused("not_found", "There is no such run here.")
    stop(run)


def _answer(conversation: Conversation, command: client_frames.Approve) -> None:
    """Answer an approval as the conversation's owner; raises Refused."""
    asked = Approval.objects.filter(pk=command.approval, run__conversation=conversation).first()
    if asked is None:
        raise Refused("not_found", "There is no such approval here.")
    grant = command.decision == "grant"
    try:
        decide(asked, by=conversation.owner, grant=grant, feedback=command.feedback)
    except NotOpen as error:
        raise Refused("answered", str(error)) from None
