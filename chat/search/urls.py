"""The address of the search over turns."""

from django.urls import path

from chat.search import views

urlpatterns = [path("search/", views.search, name="search")]
