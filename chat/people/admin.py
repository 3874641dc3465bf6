"""People in the administration; to delete one deletes all that is theirs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.admin import UserAdmin as StockAdmin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from chat.models import User
from chat.people.deletion import Holdings, delete_person, holdings
from chat.people.roles import LastAdministrator, keep_an_administrator

# Only the type checker knows which model an administration is of.
if TYPE_CHECKING:
    UserAdmin = StockAdmin[User]
else:
    UserAdmin = StockAdmin


class PersonAdmin(UserAdmin):
    """Accounts, roles as groups, and the end of a person with their record.

    The stock page lists each row that would go and asks for the right to delete each kind; a run of
    a thousand calls broke it. This one counts.
    """

    list_display = ("username", "email", "date_joined", "last_login", "is_active", "is_staff")
    ordering = ("username",)

    def get_deleted_objects(
        self, objs: "Sequence[Any] | QuerySet[Any, Any]", request: HttpRequest
    ) -> tuple[list[Any], dict[Any, Any], set[Any], list[Any]]:
        """Say what would go: by the number, since it may be a million rows."""
        people = list(objs)
        held = [holdings(user) for user in people]
        counts = {name: sum(values) for name, *values in zip(Holdings._fields, *held, strict=True)}
        refused = set() if self.has_delete_permission(request) else {"person"}
        try:
            with transaction.atomic():
                keep_an_administrator(people)
        except LastAdministrator as error:
            return list(map(str, people)), counts, refused, [str(error)]
        return list(map(str, people)), {"people": len(people)} | counts, refused, []

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Delete without the stock page's one transaction, since workers may be writing."""
        response: HttpResponse = self._delete_view(request, object_id, extra_context)  # type: ignore[attr-defined]
        return response

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete a person with all that is theirs."""
        self.delete_queryset(request, [obj])

    def delete_queryset(
        self, request: HttpRequest, queryset: "QuerySet[User] | list[User]"
    ) -> None:
        """Delete people with all that is theirs, one after the other."""
        for user in list(queryset):
            held = delete_person(user)
            messages.info(request, f"With {user} went {held}.")
