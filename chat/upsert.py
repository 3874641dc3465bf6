"""Rows that are inserted, or brought up to date where they are, in a statement made once.

Django makes the text of such a statement anew for every row, at twice the cost of carrying it out.
"""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import CharField, Field, Model, TextField


class Upsert:
    """The statement for the rows of a model; a row is known again by its fields `unique`.

    `sql` has the expressions of fields that are not simply a row's value, each with one `%s` for
    that value or with none. Fields in `fixed` stay as a row was first written. The number of a row
    is the database's affair, unless it is `unique`.
    """

    def __init__(
        self,
        model: type[Model],
        *unique: str,
        sql: Mapping[str, str] | None = None,
        fixed: Collection[str] = (),
    ) -> None:
        self._model = model
        self._unique = unique
        self._fixed = {*unique, *fixed}
        self._sql = dict(sql or {})

    def statement(self, source: str = "") -> str:
        """Return the SQL; with `source`, a row is written for each row of that name."""
        return f"{self._insert}{f' FROM {source}' if source else ''} {self._on_conflict}"

    def values(self, row: Model) -> list[Any]:
        """Return the parameters of the statement for a row."""
        return [
            field.get_db_prep_save(getattr(row, field.attname), connection) for field in self._given
        ]

    @cached_property
    def _given(self) -> list["Field[Any, Any]"]:
        return [field for field in self._fields if "%s" in self._expression(field)]

    @cached_property
    def _fields(self) -> list["Field[Any, Any]"]:
        fields = self._model._meta.concrete_fields
        return [field for field in fields if field.name in self._unique or not field.primary_key]

    @cached_property
    def _insert(self) -> str:
        table = connection.ops.quote_name(self._model._meta.db_table)
        columns = ", ".join(map(column, self._fields))
        values = ", ".join(map(self._expression, self._fields))
        return f"INSERT INTO {table} ({columns}) SELECT {values}"

    @cached_property
    def _on_conflict(self) -> str:
        unique = [column(field) for field in self._fields if field.name in self._unique]
        rest = [column(field) for field in self._fields if field.name not in self._fixed]
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in rest)
        key = column(self._model._meta.pk)
        return f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {changes} RETURNING {key} AS id"

    def _expression(self, field: "Field[Any, Any]") -> str:
        return self._sql.get(field.name) or f"%s::{_type(field)}"


def column(field: "Field[Any, Any]") -> str:
    """Return the name of a field's column as SQL has it."""
    return connection.ops.quote_name(str(field.column))


def _type(field: "Field[Any, Any]") -> str:
    # A cast to a length would cut what is too long; the column refuses it.
    is_text = isinstance(field, (CharField, TextField))
    return "text" if is_text else str(field.cast_db_type(connection))
