"""Give a conversation another title."""

from django.db import transaction

from chat.models import Conversation
from chat.search.documents.runs import index_title


def rename(conversation: Conversation, title: str) -> None:
    """Store the title, and have the conversation's runs found by it."""
    with transaction.atomic():
        Conversation.objects.filter(pk=conversation.pk).update(title=title)
        # Whoever ends a run holds it, and reads the title then.
        list(conversation.runs.select_for_update(no_key=True).order_by("pk").values_list("pk"))
        conversation.title = title
        index_title(conversation)
