"""Deletion in the administration of what may hold a million rows: it counts them.

The stock page lists each row that would go and asks for the right to delete each kind, all in one
transaction; a run of a thousand calls broke it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from chat.people.deletion import Holdings

# Only the type checker knows which model an administration is of.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class CountedDeletion(ModelAdmin):
    """An administration whose rows own conversations; who mixes it in says how one of them ends."""

    noun: str
    """What several of them are called."""

    def held_by(self, obj: Any) -> Holdings:
        """Count what would go with a row."""
        raise NotImplementedError

    def end(self, obj: Any) -> Holdings:
        """Delete a row with all that it holds."""
        raise NotImplementedError

    def kept(self, objs: list[Any]) -> list[str]:
        """Name those that cannot go, and why."""
        return []

    def get_deleted_objects(
        self, objs: "Sequence[Any] | QuerySet[Any, Any]", request: HttpRequest
    ) -> tuple[list[Any], dict[Any, Any], set[Any], list[Any]]:
        """Say what would go: by the number."""
        rows = list(objs)
        held = [self.held_by(row) for row in rows]
        counts = {name: sum(values) for name, *values in zip(Holdings._fields, *held, strict=True)}
        refused = set() if self.has_delete_permission(request) else {self.noun}
        kept = self.kept(rows)
        found = counts if kept else {self.noun: len(rows)} | counts
        return list(map(str, rows)), found, refused, kept

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Delete without the stock page's one transaction, since workers may be writing."""
        response: HttpResponse = self._delete_view(request, object_id, extra_context)  # type: ignore[attr-defined]
        return response

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete a row with all that it holds."""
        self.delete_queryset(request, [obj])

    def delete_queryset(
        self, request: HttpRequest, queryset: "QuerySet[Any, Any] | list[Any]"
    ) -> None:
        """Delete rows with all that they hold, one after the other."""
        for row in list(queryset):
            name = str(row)
            messages.info(request, f"With {name} went {self.end(row)}.")
