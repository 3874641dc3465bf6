"""People, and what their role lets them see."""

from functools import cached_property

from django.contrib.auth.models import AbstractUser, Permission
from django.db import models
from django.db.models import Exists, OuterRef, Value

PUBLISHING = {"content_type__app_label": "chat", "codename": "add_policyversion"}
"""The permission by which somebody who is no administrator publishes."""


class User(AbstractUser):
    """A person who can sign in; what more than a member they are, their groups say.

    `instructions` are told to the model in every run that they ask for.
    """

    instructions = models.TextField(blank=True, default="", db_default="")

    @property
    def is_reviewer(self) -> bool:
        """Tell whether this person may read other people's transcripts."""
        return self.is_superuser or not {"reviewer", "admin"}.isdisjoint(self._rights)

    @property
    def publishes(self) -> bool:
        """Tell whether this person may publish policies, try and retire them."""
        return self.is_superuser or "admin" in self._rights or any(self._rights.values())

    @cached_property
    def _rights(self) -> dict[str, bool]:
        """Return the groups, each with whether it may publish; "" stands for the person's own."""
        permitted = Permission.objects.filter(**PUBLISHING)
        of_group = Exists(permitted.filter(group=OuterRef("pk")))
        groups = self.groups.values_list("name", of_group)
        own = permitted.filter(user=self).values_list(Value(""), Value(True))
        return dict(groups.union(own, all=True))
