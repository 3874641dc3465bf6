"""A conversation: one person's thread of runs."""

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models, transaction
from django.urls import reverse

if TYPE_CHECKING:
    pass

TITLE_LENGTH = 120


class ConversationKind(models.TextChoices):
    """What a conversation is there for; only a chat is talked in."""

    CHAT = "chat", "chat"
    IMPORT = "import", "import"
    TRIAL = "trial", "trial"
    FORK = "fork", "fork"


class Conversation(models.Model):
    """A titled thread of runs with one owner; only the owner writes in it.

    `kind` tells chats from what was brought in or is tried out, which no rail lists and no
    allowance counts. `first_message_id` is the client's id of the question that began it, sent
    twice or not; None where it was begun otherwise, or by a release that did not keep it.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    kind = models.CharField(
        max_length=8,
        choices=ConversationKind,
        default=ConversationKind.CHAT,
        db_default=ConversationKind.CHAT,
        editable=False,
    )
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    first_message_id = models.UUIDField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated_at", "-id"]
        indexes = [
            models.Index(
                fields=["owner", "kind", "-updated_at", "-id"], name="conversation_newest_of_kind"
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "first_message_id"], name="one_conversation_per_first_message"
            ),
            models.CheckConstraint(
                name="conversation_kind_is_known",
                condition=models.Q(kind__in=ConversationKind.values),
            ),
        ]

    def __str__(self) -> str:
        return self.title or "New conversation"

    def get_absolute_url(self) -> str:
        """Return the page of the conversation."""
        return reverse("conversation", args=[self.pk])

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the conversation with all its runs, after what is being written into them.

        Whoever writes a turn holds its run; so must who deletes it, or each would wait for what
        the other has.
        """
        with transaction.atomic():
            Conversation.objects.select_for_update().filter(pk=self.pk).first()
            list(self.runs.select_for_update().order_by("pk").values_list("pk"))
            return super().delete(*args, **kwargs)
