"""Every address of Turnstone."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("project.health")),
    path("", include("project.metrics")),
    path("", include("chat.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
]
