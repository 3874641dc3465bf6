"""The database beside what its migrations say: what early checkouts lack is mended, else refused.

On its first day `0001_initial` was edited five times, so a database that an early checkout made
lacks what came later, although that migration is recorded as applied. A later migration cannot make
up for it: those before it need what is missing. So it is looked for before any of them runs.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from django.apps.registry import Apps
from django.core.management.base import CommandError
from django.db import connections, models

ADDED_LATER = frozenset(
    (
        *("search_owner_newest", "search_tool_newest", "chat_run.woken_at"),
        *("chat_turn.observation_ends", "chat_turn.plan", "chat_turn.observation_images"),
    )
)
"""What `0001_initial` gained by edits; each has a default that is right for the older rows."""

EXISTING = """
SELECT relname || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE pg_table_is_visible(pg_class.oid) AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT relname FROM pg_class WHERE pg_table_is_visible(oid) AND relkind = 'i'
UNION ALL SELECT conname FROM pg_constraint
"""

Model = type[models.Model]
Part: TypeAlias = "models.Field[Any, Any] | models.Index | models.BaseConstraint"


def mend(using: str, apps: Apps, **_: Any) -> None:
    """Add what an early checkout's database lacks; `apps` is what its migrations made of it.

    Raises CommandError for anything else that is missing: nobody knows what it held.
    """
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute(EXISTING)
        existing = {name for (name,) in cursor.fetchall()}
    missing = {name: found for name, found in _parts(apps) if name not in existing}
    unknown = sorted(missing.keys() - ADDED_LATER)
    if unknown:
        raise CommandError(
            f"The database lacks {', '.join(unknown)}, which its migrations had made. Nothing was "
            "changed: put back what was taken away, or restore a backup (docs/operations.md)."
        )
    if missing:
        with connection.schema_editor() as editor:
            for model, part in missing.values():
                if isinstance(part, models.Index):
                    editor.add_index(model, part)
                elif isinstance(part, models.Field):
                    editor.add_field(model, part)


def _parts(apps: Apps) -> Iterator[tuple[str, tuple[Model, Part]]]:
    for model in apps.get_models():
        meta = model._meta
        if meta.app_label != "chat":
            continue
        for field in meta.local_concrete_fields:
            yield f"{meta.db_table}.{field.column}", (model, field)
        for part in (*meta.indexes, *meta.constraints):
            yield part.name, (model, part)
