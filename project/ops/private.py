"""Pages are for the person that they were made for, on their own screen and nowhere else."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

KEPT_BY_NOBODY = "no-store, private"
"""For a browser's own cache, too: who comes next to it goes back to what was seen there."""

NOT_USED = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"
"""What no page of ours asks the browser for, so that nothing put into one can."""


class PrivatePages(MiddlewareMixin):
    """Say so with everything but static files, which are served before it."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Add the headers, unless a page has said how it may be kept."""
        response.headers.setdefault("Cache-Control", KEPT_BY_NOBODY)
        response.headers.setdefault("Permissions-Policy", NOT_USED)
        return response
