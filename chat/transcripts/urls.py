"""The addresses of transcripts."""

from django.urls import path

from chat.transcripts import views

urlpatterns = [
    path("runs/<int:run_id>/", views.transcript, name="transcript"),
    path(
        "runs/<int:run_id>/transcript.json",
        views.transcript_download,
        {"form": "json"},
        name="transcript_json",
    ),
    path(
        "runs/<int:run_id>/transcript.md",
        views.transcript_download,
        {"form": "md"},
        name="transcript_markdown",
    ),
    path("runs/<int:run_id>/answer.md", views.answer_source, name="answer_source"),
    path("runs/<int:run_id>/rows/", views.turn_rows, name="turn_rows"),
    path("runs/<int:run_id>/turns/<int:number>/thought.txt", views.turn_text, name="turn_text"),
    path(
        "runs/<int:run_id>/turns/<int:number>/actions/<int:action>/<slug:part>.txt",
        views.action_text,
        name="action_text",
    ),
    path(
        "runs/<int:run_id>/turns/<int:number>/actions/<int:action>/pictures/<int:picture>/",
        views.action_picture,
        name="action_picture",
    ),
    path("runs/<int:run_id>/artifacts/<slug:sha256>/<str:name>", views.artifact, name="artifact"),
    path("runs/<int:run_id>/calls/<int:number>/", views.model_call, name="model_call"),
    path(
        "runs/<int:run_id>/calls/<int:number>/request.txt",
        views.model_call_request,
        name="model_call_request",
    ),
]
