"""Which extensions are loaded, and why one is not: a page of the administration."""

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.cache import never_cache

from chat.extensions import extensions
from chat.models import User
from chat.people.roles import Role, role_of


@never_cache
def extension_list(request: HttpRequest) -> HttpResponse:
    """Show what this web process has loaded, to administrators; each worker says it in its log."""
    if not isinstance(request.user, User) or role_of(request.user) is not Role.ADMIN:
        raise Http404
    context = {**admin.site.each_context(request), "title": "Extensions", "found": extensions()}
    return render(request, "admin/extensions.html", context)


urlpatterns = [
    path("admin/extensions/", admin.site.admin_view(extension_list), name="extension_list"),
]
