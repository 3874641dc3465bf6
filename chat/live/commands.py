"""What a watcher wishes for, whichever way it came: to ask, to stop, to allow.

Everything here is the owner's to do; a reader is refused. Whether they still are one is found out
by the caller, for each wish anew.
"""

import logging

from django.db import InterfaceError, OperationalError

from chat.live.access import Access, News, Refused, answer, in_database, request_stop, send
from chat.runs.validation import InvalidQuestion
from chat.stream import frames

logger = logging.getLogger(__name__)

UNREACHABLE = "Turnstone cannot reach its database. Try again in a moment."

Command = frames.Send | frames.Stop | frames.Approve
"""What changes something; a hello and a ping only concern the connection."""


async def execute(wish: Command, found: Access) -> News | None:
    """Do what the owner wishes; a question's run is the answer, all else is told in the streams.

    Raises Refused, InvalidQuestion and Django's errors; `rejection` says what they mean.
    """
    if not found.is_owner:
        raise Refused("forbidden", "Only the owner of a conversation can do this.")
    match wish:
        case frames.Send():
            return await in_database(send, found.conversation, wish)
        case frames.Stop():
            await in_database(request_stop, found.conversation, wish.run)
        case frames.Approve():
            await in_database(answer, found.conversation, wish)
    return None


def rejection(error: Exception, frame: frames.ClientFrame | None) -> str:
    """Return the frame that tells a person why `frame`, where it could be read, was not granted."""
    asked_by = None
    if isinstance(frame, frames.Send):
        asked_by = str(frame.client_message_id)
    elif isinstance(error, frames.InvalidFrame):
        asked_by = error.client_message_id
    return frames.error(*_in_words(error), asked_by)


def _in_words(error: Exception) -> tuple[str, str]:
    """Return an error's code and what the person may know of it."""
    match error:
        case frames.InvalidFrame() | Refused() | InvalidQuestion():
            return error.code, str(error)
        case OperationalError() | InterfaceError():
            logger.warning("A message was refused, Postgres is away: %s", error)
            return "unavailable", UNREACHABLE
        case _:
            logger.error("A message could not be handled", exc_info=error)
            return "internal", "Something went wrong on our side. Nothing was lost; try again."
