"""People and teams in the administration; to delete one deletes all that is theirs."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as StockAdmin
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from chat.models import Membership, Space, SpaceKind, User
from chat.people.counted_deletion import CountedDeletion
from chat.people.deletion import Holdings, delete_person, delete_team, holdings, team_holdings
from chat.people.roles import LastAdministrator, keep_an_administrator

# Only the type checker knows which model an administration is of.
if TYPE_CHECKING:
    UserAdmin = StockAdmin[User]
    Inline = admin.TabularInline[Membership, Any]
else:
    UserAdmin = StockAdmin
    Inline = admin.TabularInline


class PersonAdmin(CountedDeletion, UserAdmin):
    """Accounts, roles as groups, and the end of a person with their record."""

    noun = "people"
    list_display = ("username", "email", "date_joined", "last_login", "is_active", "is_staff")
    ordering = ("username",)

    def held_by(self, obj: User) -> Holdings:
        """Count what is a person's."""
        return holdings(obj)

    def end(self, obj: User) -> Holdings:
        """Delete a person with all that is theirs."""
        return delete_person(obj)

    def kept(self, objs: list[User]) -> list[str]:
        """Name the last administrator."""
        try:
            with transaction.atomic():
                keep_an_administrator(objs)
        except LastAdministrator as error:
            return [str(error)]
        return []


class MemberInline(Inline):
    """Who belongs to a team, and as what."""

    model = Membership
    autocomplete_fields = ("user",)
    extra = 1


class TeamAdmin(CountedDeletion):
    """Teams with who belongs to them; a person's own space comes and goes with the person."""

    noun = "teams"
    list_display = ("name", "slug", "members", "created_at")
    search_fields = ("name", "=slug")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (MemberInline,)

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Space]":
        """Return the teams."""
        teams: QuerySet[Space] = super().get_queryset(request).filter(kind=SpaceKind.TEAM)
        return teams.annotate(member_count=Count("memberships"))

    @admin.display(ordering="member_count")
    def members(self, team: Any) -> int:
        """Say how many belong to it."""
        return int(team.member_count)

    def held_by(self, obj: Space) -> Holdings:
        """Count what is in a team's space."""
        return team_holdings(obj)

    def end(self, obj: Space) -> Holdings:
        """Delete a team's space with all that is in it."""
        return delete_team(obj)
