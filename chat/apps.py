"""The Django app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class ChatConfig(AppConfig):
    """Chat, transcripts, search and comparison over the engine's runs."""

    name = "chat"

    def ready(self) -> None:
        """Look at the database before every migration, publish the policies after it; listen."""
        # Models may be imported only once all apps are loaded.
        from chat.policies import publish_seeds
        from chat.schema import mend
        from chat.stream import signals

        pre_migrate.connect(mend, sender=self)
        post_migrate.connect(publish_seeds, sender=self)
        signals.listen()
