"""Who may sign up, and who may read other people's transcripts."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest

REVIEWER = "reviewer"


class Adapter(DefaultAccountAdapter):
    """Keep sign-up closed unless TURNSTONE_SIGNUP opens it."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Tell whether a stranger may make an account."""
        return bool(settings.SIGNUP_OPEN)
