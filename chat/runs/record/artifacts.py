"""What is too big for an action's row is put into the store of artifacts before the row is written.

That is done outside of the turn's transaction. Before each content there is a `Stray`, by which it
is found again if no row comes to name it. While the store is away, the row keeps all of it.
"""

import logging
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from django.db import connection

from agents.control import Control
from chat.artifacts import store
from chat.metrics.instruments import ARTIFACTS_AWAY
from chat.models import Action, Artifact
from chat.runs.db_retry import retrying

logger = logging.getLogger(__name__)

LONG = 100_000
"""Bytes of UTF-8; a longer observation is an artifact."""

LONGEST_LETTER = 4
"""Bytes of UTF-8."""

KEPT_SECONDS = 3600.0
"""How long a content waits for its first row; whoever comes later puts it there anew."""

TEXT = "text/plain"
SUFFIXES = {"image/gif": "gif", "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}

_EXPECT = """
INSERT INTO chat_stray (sha256, until) VALUES (%s, now() + %s * interval '1 second')
ON CONFLICT (sha256) DO UPDATE SET until = EXCLUDED.until RETURNING xmax = 0
"""


def set_apart(action: Action, control: Control | None = None) -> None:
    """Put what is too big for the row of an action into the store, and have the row name it.

    The action then brings the artifacts that must be written with it. While the store is away it
    stays as it is. Raises what `retrying` raises.
    """
    pictures, text = dict(_pictures(action)), _long_text(action)
    found = [*pictures.values(), *([text] if text is not None else [])]
    if not found or not _are_put(found, control):
        return
    if pictures:
        images = enumerate(action.images or ())
        action.images = [_named(pictures[n]) if n in pictures else image for n, image in images]
    if text is not None:
        action.shorten(text.sha256)
    action.brings = found


def hold(artifacts: Sequence[Artifact]) -> None:
    """Have nobody sweep the contents of these until the transaction ends; put anew what was swept.

    Who waited so long was frozen. Raises ArtifactsAway.
    """
    for artifact in sorted(artifacts, key=lambda artifact: artifact.sha256):
        if _expect(artifact):
            store.put(artifact.given)


def _are_put(artifacts: Sequence[Artifact], control: Control | None) -> bool:
    try:
        for artifact in artifacts:
            retrying(partial(_expect, artifact), control, in_one_statement=True)
            store.put(artifact.given)
    except store.ArtifactsAway as away:
        ARTIFACTS_AWAY.inc()
        logger.warning("An observation stays in its row, the artifacts are away: %s", away)
        return False
    return True


def _expect(artifact: Artifact) -> bool:
    """Say that a content will have a row, and tell whether nobody had said so."""
    with connection.cursor() as cursor:
        cursor.execute(_EXPECT, [artifact.sha256, KEPT_SECONDS])
        [is_news] = cursor.fetchone()
    return bool(is_news)


def _pictures(action: Action) -> Iterator[tuple[int, Artifact]]:
    """Yield the pictures that the row itself has, each with its place."""
    for place, image in enumerate(action.images or ()):
        content = _decoded(image)
        if content is not None:
            kind = image["media_type"]
            name = f"{_name(action)}-picture-{place + 1}.{SUFFIXES.get(kind, 'bin')}"
            yield place, _artifact(action, name, kind, content)


def _decoded(image: Mapping[str, str]) -> bytes | None:
    """Return the bytes of a picture; None where its text could not be made of them again."""
    data = image.get("data", "")
    try:
        content = b64decode(data, validate=True)
    except ValueError:
        return None  # a tool gave what is no picture
    return content if data and b64encode(content).decode() == data else None


def _long_text(action: Action) -> Artifact | None:
    text = action.observation or ""
    if action.whole or len(text) * LONGEST_LETTER <= LONG:
        return None
    content = text.encode()
    is_long = len(content) > LONG
    return _artifact(action, f"{_name(action)}.txt", TEXT, content) if is_long else None


def _artifact(action: Action, name: str, media_type: str, content: bytes) -> Artifact:
    artifact = Artifact(
        run=action.turn.run,
        turn=action.turn,
        name=name,
        media_type=media_type[:100],
        size=len(content),
        sha256=store.digest_of_content(content),
    )
    artifact.given = content
    return artifact


def _name(action: Action) -> str:
    return f"turn-{action.turn.number}-action-{action.number}"


def _named(artifact: Artifact) -> dict[str, str]:
    """Return what a row says of a picture that is an artifact."""
    return {
        "media_type": artifact.media_type,
        "name": artifact.name,
        "sha256": artifact.sha256,
    }
