"""Policies and their immutable, numbered versions."""

import hashlib
import json
from typing import Any

from django.conf import settings
from django.db import models

from agents.policies.makeup import makeup
from agents.policies.spec import PolicySpec


class Policy(models.Model):
    """A named policy that people choose; what it does is in its versions."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    is_offered = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "policies"

    def __str__(self) -> str:
        return self.name

    @property
    def latest(self) -> "PolicyVersion":
        """Return the version that new runs use."""
        return self.versions.order_by("-number")[0]

    def publish(self, spec: PolicySpec, *, by_release: bool = False) -> "PolicyVersion":
        """Return the latest version if it says the same and means the same, else a new one.

        `by_release` marks it as one that a later release may follow up.
        """
        made_of = makeup(spec)
        digest = digest_of(spec, made_of)
        newest = self.versions.order_by("-number").first()
        if newest is not None and newest.digest == digest:
            return newest
        return self.versions.create(
            number=newest.number + 1 if newest is not None else 1,
            content=spec.model_dump(mode="json"),
            made_of=made_of,
            digest=digest,
            is_of_release=by_release,
        )


class PolicyVersion(models.Model):
    """What a run was made by, fixed for ever; `content` is a PolicySpec as JSON.

    `made_of` has the digests of what the release added to it (see `agents.policies.makeup`), none
    for versions from before they were taken. `is_of_release` tells what a release published from
    what people did.
    """

    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    made_of = models.JSONField(default=dict, db_default={}, blank=True)
    digest = models.CharField(max_length=64)
    is_of_release = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta:
        ordering = ["policy", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["policy", "number"], name="one_version_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.policy} v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new version; refuse to change one, for runs refer to it."""
        if not self._state.adding:
            raise TypeError(f"{self} cannot change; publish a new version instead.")
        super().save(*args, **kwargs)

    @property
    def spec(self) -> PolicySpec:
        """Return the content, validated."""
        return PolicySpec.model_validate(self.content)


def digest_of(spec: PolicySpec, made_of: dict[str, str]) -> str:
    """Return the SHA-256 of a spec and of what a release adds to it, hexadecimal."""
    whole = f"{spec.model_dump_json()}\n{json.dumps(made_of, sort_keys=True)}"
    return hashlib.sha256(whole.encode()).hexdigest()
