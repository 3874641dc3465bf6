"""The addresses of the live protocol where WebSockets do not pass."""

from django.urls import path

from chat.live import event_stream

urlpatterns = [
    path("conversations/<int:conversation_id>/events/", event_stream.events, name="events"),
    path("conversations/<int:conversation_id>/frames/", event_stream.wish, name="frames"),
]
