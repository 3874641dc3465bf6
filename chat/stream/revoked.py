"""Whose session is over, or whose conversation is gone, watches no longer, from that moment on.

Web processes tell each other over one short stream in Redis, and each asks the database again for
the pages that it concerns (`chat.live.doors`); what is told only says where to look. Where Redis is
away, each page is looked at every half minute all the same.
"""

import hashlib
import logging
from functools import partial

from redis.exceptions import RedisError

from chat.stream.deferred import deferred
from chat.stream.streams import quick_client

logger = logging.getLogger(__name__)

KEY = "revoked"
KEPT_SECONDS = 60
MAX_TOLD = 1_000


def session(key: str) -> str:
    """Return how a session is called here; its own key, which signs in, is told to nobody."""
    return f"session:{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def person(number: int) -> str:
    """Return how a person is called here."""
    return f"person:{number}"


def conversation(number: int) -> str:
    """Return how a conversation is called here."""
    return f"conversation:{number}"


def revoke(name: str) -> None:
    """Have all pages of a session, a person or a conversation looked at again, soon."""
    deferred().add(partial(_tell, name))


def _tell(name: str) -> None:
    try:
        pipeline = quick_client().pipeline(transaction=False)
        pipeline.xadd(KEY, {"d": "", "of": name}, maxlen=MAX_TOLD, approximate=True)
        pipeline.expire(KEY, KEPT_SECONDS)
        pipeline.execute()
    except RedisError as error:
        logger.warning(
            "A revocation could not be announced, pages check within half a minute: %s", error
        )
