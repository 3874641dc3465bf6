"""The addresses of the pages."""

from django.urls import include, path

urlpatterns = [
    path("", include("chat.conversations.urls")),
    path("", include("chat.live.urls")),
    path("", include("chat.search.urls")),
    path("", include("chat.transcripts.urls")),
    path("", include("chat.compare.urls")),
    path("policies/", include("chat.publishing.urls")),
]
