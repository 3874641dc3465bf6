"""The Django app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class ChatConfig(AppConfig):
    """Chat, transcripts, search and comparison over the engine's runs."""

    name = "chat"

    def ready(self) -> None:
        """Load the extensions; look before every migration, publish policies after it; listen."""
        # Models may be imported only once all apps are loaded.
        from chat.extensions import extensions
        from chat.policies import publish_seeds
        from chat.schema import mend
        from chat.stream import signals

        extensions()
        pre_migrate.connect(mend, sender=self)
        post_migrate.connect(publish_seeds, sender=self)
        signals.listen()
