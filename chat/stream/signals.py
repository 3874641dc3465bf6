"""What changes of the record mean for live pages: of people, of teams, and what is deleted."""

from functools import partial
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete, post_save, pre_delete

from chat.models import Conversation, Membership, User
from chat.stream import revoked
from chat.stream.announce import forget

NOTHING_OF_RIGHTS = {"last_login"}


def listen() -> None:
    """Look out from now on."""
    post_save.connect(_person_changed, sender=User)
    post_delete.connect(_person_deleted, sender=User)
    post_delete.connect(_part_ended, sender=Membership)
    pre_delete.connect(_conversation_deleted, sender=Conversation)


def _person_changed(
    instance: User, created: bool, update_fields: frozenset[str] | None, **_: Any
) -> None:
    """Look at a person's pages again: the password may be new, or they may not come in any more."""
    if not created and set(update_fields or ()) != NOTHING_OF_RIGHTS:
        transaction.on_commit(partial(revoked.revoke, revoked.person(instance.pk)))


def _person_deleted(instance: User, **_: Any) -> None:
    transaction.on_commit(partial(revoked.revoke, revoked.person(instance.pk)))


def _part_ended(instance: Membership, **_: Any) -> None:
    """Look again at the pages of who has left a team."""
    transaction.on_commit(partial(revoked.revoke, revoked.person(instance.user_id)))


def _conversation_deleted(instance: Conversation, **_: Any) -> None:
    """Take what is told of it out of Redis, too, and tell its pages that it is gone."""
    runs = dict(instance.runs.values_list("pk", "ended_at"))
    live = [run for run, ended_at in runs.items() if ended_at is None]
    transaction.on_commit(partial(forget, instance.pk, list(runs), live))
    transaction.on_commit(partial(revoked.revoke, revoked.conversation(instance.pk)))
