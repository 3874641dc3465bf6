"""Who may sign up, who is signed in, and who may read other people's transcripts."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from chat.models import User

REVIEWER = "reviewer"


class SignedInRequest(HttpRequest):
    """A request to a view that only signed-in people reach."""

    user: User
    htmx: HtmxDetails


class Adapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth ships no types
    """Keep sign-up closed unless TURNSTONE_SIGNUP opens it."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Tell whether a stranger may make an account."""
        return bool(settings.SIGNUP_OPEN)
