"""A conversation: one person's thread of runs, in a space of their own or a team's."""

from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.urls import reverse

from chat.models.space import TEAMS_FROM, Space

TITLE_LENGTH = 120


class ConversationKind(models.TextChoices):
    """What a conversation is there for; only a chat is talked in."""

    CHAT = "chat", "chat"
    IMPORT = "import", "import"
    TRIAL = "trial", "trial"
    FORK = "fork", "fork"


class Conversation(models.Model):
    """A titled thread of runs, begun by its owner; only the owner writes in it.

    `space` says who reads it: the owner's own where no other was named, or a team's. Postgres keeps
    it there, and its kind as it is, from its first run on: what is counted and found goes by both.
    `kind` tells chats from what was brought in or is tried out, which no rail lists and no
    allowance counts. `instructions` are told to the model in every run of it. `first_message_id`
    is the client's id of the question that began it, sent twice or not; None where it was begun
    otherwise, or by a release that did not keep it.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    space = models.ForeignKey(
        Space, on_delete=models.RESTRICT, related_name="conversations", editable=False
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
    instructions = models.TextField(blank=True, default="", db_default="")
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
                condition=Q(kind__in=ConversationKind.values),
            ),
            models.CheckConstraint(
                name="conversation_is_in_own_space_or_a_teams",
                condition=Q(space=F("owner")) | Q(space__gte=TEAMS_FROM),
            ),
        ]

    def __str__(self) -> str:
        return self.title or "New conversation"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the conversation, in its owner's own space if no other was named."""
        self.space_id = self.space_id or self.owner_id
        super().save(*args, **kwargs)

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
