"""Every address of Turnstone."""

from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.account.urls import urlpatterns as pages
from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from chat.operations.mcp_page import mcp_servers
from project.pages import favicon

# Passwords are asked for, and wrong ones counted, at one place.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

MAIL_PAGES = ("account_email", "account_confirm_email", "account_reset_password")
"""How the names of the pages begin that send mail, or are reached by one."""


def account_pages(sends_mail: bool) -> list[Any]:
    """Return allauth's pages, those of mail only where there is a server to send it."""
    return [page for page in pages if sends_mail or not page.name.startswith(MAIL_PAGES)]


urlpatterns = [
    path("", include("project.ops.health")),
    path("", include("project.ops.metrics")),
    path("", include("project.ops.extensions")),
    path("", include("chat.urls")),
    path("accounts/", include(account_pages(settings.SENDS_MAIL))),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/mcp/", admin.site.admin_view(mcp_servers), name="mcp_servers"),
    path("admin/", admin.site.urls),
    path("favicon.ico", favicon),
]
handler500 = "project.pages.server_error"
