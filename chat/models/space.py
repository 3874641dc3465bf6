"""A space: what belongs together and who shares it, a person's own or a team's."""

from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q

TEAMS_FROM = 2**40
"""The number of the first team; a person's own space has the person's, which is below these."""

TEAM_SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class SpaceKind(models.TextChoices):
    """Whose a space is."""

    PERSON = "person", "person"
    TEAM = "team", "team"


class SpaceRole(models.TextChoices):
    """What somebody may do in a team's space; `chat.governance.door` says what each means."""

    MEMBER = "member", "member"
    REVIEWER = "reviewer", "reviewer"
    ANALYST = "analyst", "analyst"
    ADMIN = "admin", "admin"


class Space(models.Model):
    """Conversations that the same people read.

    Everybody has a space of their own: Postgres makes it with the person, names it like them and
    gives it their number, whatever way they came in by, and keeps it for as long as they are there.
    Its slug begins with a tilde, so that no team takes it; a team's is of a-z, 0-9 and hyphens.
    """

    kind = models.CharField(
        max_length=6,
        choices=SpaceKind,
        default=SpaceKind.TEAM,
        db_default=SpaceKind.TEAM,
        editable=False,
    )
    person = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="own_space",
        editable=False,
    )
    name = models.CharField(max_length=150)
    slug = models.CharField(
        max_length=151,
        unique=True,
        validators=[RegexValidator(TEAM_SLUG, "A slug is of a-z, 0-9 and single hyphens.")],
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                name="space_is_a_persons_or_a_teams",
                condition=Q(
                    kind=SpaceKind.PERSON,
                    person_id=F("id"),
                    person_id__isnull=False,
                    id__lt=TEAMS_FROM,
                    slug__startswith="~",
                )
                | Q(
                    kind=SpaceKind.TEAM,
                    person=None,
                    id__gte=TEAMS_FROM,
                    slug__regex=TEAM_SLUG,
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the space with its conversations, each after what is being written into it."""
        while (conversation := self.conversations.first()) is not None:
            conversation.delete()
        return super().delete(*args, **kwargs)


class Membership(models.Model):
    """That somebody has a part in a team's space, and which."""

    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(
        max_length=8, choices=SpaceRole, default=SpaceRole.MEMBER, db_default=SpaceRole.MEMBER
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["space", "user"]
        constraints = [
            models.UniqueConstraint(fields=["space", "user"], name="one_membership_of_a_space"),
            models.CheckConstraint(
                name="membership_role_is_known", condition=Q(role__in=SpaceRole.values)
            ),
            models.CheckConstraint(
                name="membership_is_of_a_team", condition=Q(space__gte=TEAMS_FROM)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.space}"
