"""The address of the search over turns."""

from django.urls import path

from chat.transcripts import search_views

urlpatterns = [path("search/", search_views.search, name="search")]
