"""Contents that no artifact has any more leave the store; a thread of each worker sees to it.

It is a thread of its own, for a store that hangs must not keep the reaper from its runs.
"""

import logging
import random
import threading
from itertools import islice

from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models.functions import Now

from chat.artifacts import store
from chat.models import Artifact, Stray
from chat.runs.db_retry import release_connection

logger = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
AT_ONCE = 500
"""Contents whose rows are asked for by one statement."""

_FOUND = """
INSERT INTO chat_stray (sha256, until)
SELECT DISTINCT digest, now() FROM unnest(%s::text[]) AS found (digest)
WHERE NOT EXISTS (SELECT FROM chat_artifact WHERE sha256 = digest)
ORDER BY digest ON CONFLICT DO NOTHING
"""


class Sweeper:
    """Sweep from its start to its end, again and again."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Sweep from now on, until it is closed."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._sweep, name="sweeper", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Sweep no more, after the content that is under way."""
        self._over.set()

    def look(self) -> None:
        """Do one round."""
        try:
            while not self._over.is_set() and sweep_one() is not None:
                pass
        except store.ArtifactsAway as away:
            logger.warning("The sweeper cannot reach the artifacts: %s", away)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("The sweeper cannot reach Postgres: %s", error)
        except Exception:
            logger.exception("The sweeper failed")
        finally:
            release_connection()

    def _sweep(self) -> None:
        # Several workers that were started at once shall not look at once.
        while not self._over.wait(LOOK_SECONDS * random.uniform(0.75, 1.25)):  # noqa: S311
            self.look()


@transaction.atomic
def sweep_one() -> bool | None:
    """Look at the next stray that is due, and tell whether its content went; None without one.

    Its row is held meanwhile, as it is by who writes the same content. Raises ArtifactsAway.
    """
    due = Stray.objects.filter(until__lte=Now()).order_by("until")
    stray = due.select_for_update(skip_locked=True).first()
    if stray is None:
        return None
    is_free = not Artifact.objects.filter(sha256=stray.sha256).exists()
    if is_free:
        store.delete(stray.sha256)
    stray.delete()
    return is_free


def find_strays() -> int:
    """Look through the whole store for what no row knows, and return how much that is.

    A restored database may know less than the store has. Raises ArtifactsAway.
    """
    count, digests = 0, store.all_digests()
    while portion := list(islice(digests, AT_ONCE)):
        with connection.cursor() as cursor:
            cursor.execute(_FOUND, [portion])
            count += cursor.rowcount
    return count
