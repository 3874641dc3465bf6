"""The addresses of an installation with a mail server."""

from django.urls import include, path

from project import urls

urlpatterns = [
    path("accounts/", include(urls.account_pages(sends_mail=True))),
    *urls.urlpatterns,
]
