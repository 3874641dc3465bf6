"""The Django app."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    """Chat, transcripts, search and comparison over the engine's runs."""

    name = "chat"
