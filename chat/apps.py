"""The Django app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ChatConfig(AppConfig):
    """Chat, transcripts, search and comparison over the engine's runs."""

    name = "chat"

    def ready(self) -> None:
        """Publish the policies of this release after every migration."""
        # Models may be imported only once all apps are loaded.
        from chat.policies import publish_seeds

        post_migrate.connect(publish_seeds, sender=self)
