"""Every address of Turnstone."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

# Passwords are asked for, and wrong ones counted, at one place.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", include("project.health")),
    path("", include("project.metrics")),
    path("", include("chat.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
]
