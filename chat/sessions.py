"""Sessions in the database, as Django keeps them; the end of one ends what it watches."""

from functools import partial

from asgiref.sync import sync_to_async
from django.contrib.sessions.backends import db
from django.db import transaction

from chat.stream import revoked


class SessionStore(db.SessionStore):
    """Tell when a session is over: a socket would else outlive it by up to half a minute."""

    def delete(self, session_key: str | None = None) -> None:
        """Delete it."""
        key = session_key or self.session_key
        super().delete(session_key)
        if key:
            transaction.on_commit(partial(revoked.revoke, revoked.session(key)))

    async def adelete(self, session_key: str | None = None) -> None:
        """Delete it."""
        await sync_to_async(self.delete)(session_key)
