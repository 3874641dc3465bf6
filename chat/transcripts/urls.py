"""The addresses of transcripts."""

from django.urls import path

from chat.transcripts import views

urlpatterns = [
    path("runs/<int:run_id>/", views.transcript, name="transcript"),
    path("runs/<int:run_id>/turns/<int:number>/<slug:part>.txt", views.turn_text, name="turn_text"),
]
