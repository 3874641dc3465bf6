"""JSON that comes back as it was written."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import Json


class OrderedJSONField(models.JSONField):
    """Keep the order of an object's keys, which people read as the order of a tool's inputs.

    Postgres' `jsonb` sorts keys by length; `json` keeps the text, and cannot be searched in.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """Name the column's type."""
        return "json"

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        """Hand the value over as text in its order."""
        return None if value is None else Json(value)

    def from_db_value(self, value: Any, *_: Any) -> Any:
        """Return what psycopg has read."""
        return value
