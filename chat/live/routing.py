"""The addresses of the live protocol."""

from typing import Any

from django.urls import path

from chat.live.consumers import ConversationConsumer

_consumer: Any = ConversationConsumer.as_asgi()  # Django's types know of views alone

websocket_urlpatterns = [path("ws/conversations/<int:conversation_id>/", _consumer)]
