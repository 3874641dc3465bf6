"""Publish, retire and offer policies: what the page and the command do alike."""

import logging

from django.db import transaction

from agents.policies.spec import PolicySpec
from chat.models import Origin, Policy, PolicyVersion, User
from chat.publishing.check import Unfit
from chat.publishing.words import Words

logger = logging.getLogger(__name__)


@transaction.atomic
def publish(
    words: Words, spec: PolicySpec, *, by: User | None = None, after: int | None = None
) -> PolicyVersion:
    """Publish a version, of a new policy where none has the slug, and offer it.

    `after` is the number of the version that the latest must still be, 0 for a new policy. Raises
    PublishedMeanwhile.
    """
    policy = _named(words, is_new=after == 0, is_offered=True)
    version = policy.publish(spec, by=by, after=after)
    Policy.objects.filter(pk=policy.pk).update(
        name=words.name, description=words.description, is_offered=True
    )
    version.policy.refresh_from_db()
    logger.info("Published %s v%d by %s", policy.slug, version.number, by or "the command")
    return version


@transaction.atomic
def try_out(words: Words, spec: PolicySpec, *, by: User, is_new: bool = False) -> PolicyVersion:
    """Store a version for trials, of a policy that is not offered yet where none has the slug."""
    return _named(words, is_new=is_new, is_offered=False).try_out(spec, by=by)


def retire(policy: Policy) -> None:
    """Take a policy off the offer; its runs and versions stay."""
    Policy.objects.filter(pk=policy.pk).update(is_offered=False)
    logger.info("Retired %s", policy.slug)


def offer(policy: Policy) -> None:
    """Offer a policy again; raises Unfit where no version of it can be run."""
    if not policy.versions.current().exists():
        raise Unfit({"": f"{policy} has no version that can be run; publish one."})
    Policy.objects.filter(pk=policy.pk, origin=Origin.OURS).update(is_offered=True)
    logger.info("Offered %s again", policy.slug)


def _named(words: Words, *, is_new: bool, is_offered: bool) -> Policy:
    policy, is_made = Policy.objects.get_or_create(
        slug=words.slug,
        origin=Origin.OURS,
        defaults={
            "name": words.name,
            "description": words.description,
            "is_offered": is_offered,
        },
    )
    if is_new and not is_made and policy.versions.current().exists():
        raise Unfit({"slug": f"There is a policy {words.slug!r} already; choose another word."})
    return policy
