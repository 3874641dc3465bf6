"""The addresses of the live protocol."""

from typing import Any

websocket_urlpatterns: list[Any] = []
