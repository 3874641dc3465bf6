"""What a person may do beyond their own conversations."""

from enum import StrEnum

from django.contrib.auth.models import Group
from django.db import transaction

from chat.models import User


class Role(StrEnum):
    """A role, each with the rights of those before it."""

    MEMBER = "member"
    REVIEWER = "reviewer"
    ADMIN = "admin"


MEANINGS = {
    Role.MEMBER: "asks, and reads their own transcripts",
    Role.REVIEWER: "reads and searches everybody's transcripts",
    Role.ADMIN: "manages people and policies, and reads metrics",
}
GROUPS = (Role.REVIEWER, Role.ADMIN)
"""Roles that are groups of the administration; a member is in neither."""


class LastAdministrator(Exception):
    """Raised where nobody would be left to manage Turnstone."""

    def __init__(self, user: User) -> None:
        super().__init__(
            f"{user} is the last administrator. Give somebody else the role admin first."
        )


def role_of(user: User) -> Role:
    """Return the highest role of a person."""
    names = {group.name for group in user.groups.all()}
    if user.is_superuser or Role.ADMIN in names:
        return Role.ADMIN
    return Role.REVIEWER if Role.REVIEWER in names else Role.MEMBER


@transaction.atomic
def give_role(user: User, role: Role) -> None:
    """Let a person have this role and no other; raises LastAdministrator."""
    if role is not Role.ADMIN:
        keep_an_administrator([user])
    user.groups.remove(*Group.objects.filter(name__in=GROUPS))
    if role in GROUPS:
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    user.is_staff = user.is_superuser = role is Role.ADMIN
    user.save(update_fields=["is_staff", "is_superuser"])


def keep_an_administrator(users: list[User]) -> None:
    """Raise LastAdministrator if nobody could sign in to the administration without these.

    Within a transaction it holds until that ends: two who are taken away at once wait for another.
    """
    administrators = User.objects.filter(is_superuser=True, is_active=True)
    held = set(administrators.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    leaving = {(user.pk,) for user in users}
    if held & leaving and not held - leaving:
        raise LastAdministrator(next(user for user in users if (user.pk,) in held))
