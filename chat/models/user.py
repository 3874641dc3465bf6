"""People, and what their role lets them see."""

from functools import cached_property

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person who can sign in; what more than a member they are, their groups say.

    `instructions` are told to the model in every run that they ask for.
    """

    instructions = models.TextField(blank=True, default="", db_default="")

    @cached_property
    def is_reviewer(self) -> bool:
        """Tell whether this person may read other people's transcripts."""
        return self.is_superuser or self.groups.filter(name__in=("reviewer", "admin")).exists()

    @cached_property
    def publishes(self) -> bool:
        """Tell whether this person may publish policies, try and retire them."""
        is_admin = self.is_superuser or self.groups.filter(name="admin").exists()
        return is_admin or self.has_perm("chat.add_policyversion")
