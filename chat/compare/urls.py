"""The addresses of comparisons."""

from django.urls import path

from chat.compare import views

urlpatterns = [
    path("runs/<int:run_id>/again/", views.ask_again, name="run_again"),
    path("runs/<int:run_id>/compare/", views.compare_with, name="compare_with"),
    path("runs/<int:run_id>/compare/<int:other_id>/", views.comparison, name="comparison"),
]
