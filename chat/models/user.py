"""People, and what their role lets them see."""

from functools import cached_property

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """A person who can sign in; what more than a member they are, their groups say."""

    @cached_property
    def is_reviewer(self) -> bool:
        """Tell whether this person may read other people's transcripts."""
        return self.is_superuser or self.groups.filter(name__in=("reviewer", "admin")).exists()
