"""Who may sign up, who is signed in, and who may read other people's transcripts."""

import logging
from smtplib import SMTPException
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as allauth_context
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from chat import password_throttle
from chat.models import User
from chat.singleton import once

logger = logging.getLogger(__name__)

REVIEWER = "reviewer"


class SignedInRequest(HttpRequest):
    """A request to a view that only signed-in people reach."""

    user: User
    htmx: HtmxDetails


class Adapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth ships no types
    """Keep sign-up closed unless TURNSTONE_SIGNUP opens it, count tries, stay on this site."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Tell whether a stranger may make an account."""
        return bool(settings.SIGNUP_OPEN)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a try before its password is looked at; raises ValidationError for one too many.

        allauth takes the count back if the password is right.
        """
        name = _name_in(credentials)
        key = self._get_login_attempts_cache_key(request, **credentials)
        try:
            super().pre_authenticate(request, **credentials)
            self._login_failed_rl_usage.usage += password_throttle.count_anywhere(request, name)
        except ValidationError as error:
            raise ValidationError(
                password_throttle.refusal(request, key, name), code=error.code
            ) from None

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that tries are counted for."""
        if "X-Forwarded-For" in request.headers and not settings.ALLAUTH_TRUSTED_PROXY_COUNT:
            warn_of_proxy()
        return str(super().get_client_ip(request))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail; where the server does not take it, the page says so instead of breaking."""
        try:
            super().send_mail(template_prefix, email, context)
        except (OSError, SMTPException) as error:
            logger.error("A mail could not be sent (EMAIL_URL): %s", error)
            page = render(allauth_context.request, "account/mail_failed.html", status=503)
            raise ImmediateHttpResponse(page) from error

    def is_safe_url(self, url: str) -> bool:
        """Tell whether a page may send one on to `url`: a page of the site that was asked.

        A health check may name the machine localhost; a visitor's localhost is another machine.
        """
        request = allauth_context.request
        return url_has_allowed_host_and_scheme(
            url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
        )

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        # Not by the name of the site, as allauth does: a server has many, and any port will do.
        return f"{_name_in(credentials)} {password_throttle.address_of(request)}"


def _name_in(credentials: dict[str, Any]) -> str:
    return str(credentials.get("email", credentials.get("username", ""))).lower()


@once
def warn_of_proxy() -> None:
    """Tell the administrator, once, that people cannot be told apart by their addresses."""
    logger.warning(
        "A request to sign in came through a proxy (X-Forwarded-For), but TURNSTONE_PROXIES is 0: "
        "the failed sign-ins of all who come through it are counted together."
    )
