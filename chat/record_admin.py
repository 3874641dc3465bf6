"""How the administration shows what was recorded: read-only, newest first, long texts clipped."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import models
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.contracts import EndReason
from chat.models import Run, User
from chat.templatetags.hidden import visible

# Only the type checker knows which model an administration is of.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
else:
    ModelAdmin = admin.ModelAdmin

CLIPPED = 10_000
"""Characters of one text that a page shows."""

LATEST_RUNS, MAX_PEOPLE = 500, 20


class RecordAdmin(ModelAdmin):
    """Show rows of the record; nobody makes, changes or deletes them here."""

    show_full_result_count = False
    ordering = ("-pk",)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Show texts and JSON as they can be read, and not all of what is very long."""
        return [
            _told(field) if isinstance(field, models.TextField | models.JSONField) else field.name
            for field in self.opts.fields
        ]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: records are made by runs."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: what happened stays as it was."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: a conversation is deleted by its owner."""
        return False


class PersonFilter(admin.SimpleListFilter):
    """Runs by who asked: those who asked last; all others are found by their names."""

    title = "person"
    parameter_name = "person"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the people of the latest runs, and who is chosen."""
        latest = Run.objects.order_by("-pk").values_list("owner_id", flat=True)[:LATEST_RUNS]
        owners = list(dict.fromkeys(latest))[:MAX_PEOPLE]
        chosen = self.value() or ""
        if chosen.isdecimal() and len(chosen) < 10:
            owners.append(int(chosen))
        people = User.objects.filter(pk__in=owners).order_by("username")
        return [(str(person.pk), person.get_username()) for person in people]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """Keep the runs of the person who is chosen."""
        chosen = self.value() or ""
        if not chosen:
            return queryset
        is_number = chosen.isdecimal() and len(chosen) < 10
        return queryset.filter(owner_id=int(chosen)) if is_number else queryset.none()


class ReasonFilter(admin.SimpleListFilter):
    """Runs by why they ended; Django's own list has a link without words for those that did not."""

    title = "reason"
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return every reason."""
        return [(reason.value, reason.value.replace("_", " ")) for reason in EndReason]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """Keep the runs that ended for it."""
        chosen = self.value()
        return queryset.filter(reason=chosen) if chosen else queryset


def _told(field: "models.Field[Any, Any]") -> Callable[[Model], SafeString]:
    @admin.display(description=field.verbose_name, empty_value="-")
    def tell(row: Model) -> SafeString:
        value = getattr(row, field.name)
        if value is None or value == "":
            return SafeString("-")
        is_text = isinstance(field, models.TextField)
        return _clipped(value if is_text else json.dumps(value, indent=2, ensure_ascii=False))

    tell.__name__ = field.name
    return tell


def _clipped(text: str) -> SafeString:
    if len(text) <= CLIPPED:
        return format_html('<pre class="record">{}</pre>', visible(text))
    return format_html(
        '<pre class="record">{}</pre><p>{} more characters are in the transcript.</p>',
        visible(text[:CLIPPED]),
        f"{len(text) - CLIPPED:,}",
    )
