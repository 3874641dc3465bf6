"""What a new password must be, beyond its length and what Django looks at."""

import re
from typing import Any

from django.core.exceptions import ValidationError

MIN_OF_ITS_OWN = 6
MIN_DIFFERENT = 5


class OfItsOwn:
    """Refuse a name written several times, and a few letters that repeat.

    Django compares the whole password with the whole name: `u2u2u2u2u2u2` is not like `u2` to it.
    """

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError with what is wrong."""
        rest = password.casefold()
        for name in _names(user):
            rest = rest.replace(name, "")
        if len(rest) < MIN_OF_ITS_OWN < len(password):
            raise ValidationError(
                "The password is little more than your own name.", code="password_is_a_name"
            )
        if len(set(password)) < MIN_DIFFERENT:
            raise ValidationError(
                f"The password has fewer than {MIN_DIFFERENT} different characters.",
                code="password_repeats",
            )

    def get_help_text(self) -> str:
        """Say what is wanted before a password is chosen."""
        return "Your password cannot be made of your name, or of a few characters that repeat."


def _names(user: Any) -> list[str]:
    """Return the user's names, and the words of an address, the longest first."""
    fields = ("username", "first_name", "last_name", "email")
    values = [str(getattr(user, field, "")).casefold() for field in fields]
    words = {*values, *(word for value in values for word in re.split(r"\W+", value))}
    return sorted((word for word in words if len(word) > 1), key=len, reverse=True)
