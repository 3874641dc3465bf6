"""The addresses of the pages."""

from typing import Any

urlpatterns: list[Any] = []
