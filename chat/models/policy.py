"""Policies and their immutable, numbered versions."""

import hashlib
import json
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from agents.errors import ConfigurationError
from agents.policies.makeup import makeup
from agents.policies.spec import PolicySpec


class Origin(models.TextChoices):
    """Who works by a policy: the engine of Turnstone, or the system that a run was taken from."""

    OURS = "ours", "ours"
    FOREIGN = "foreign", "foreign"


class Policy(models.Model):
    """A named policy; what it does is in its versions.

    People choose among ours. A foreign one only says what made the runs that came from elsewhere;
    it may have the slug of one of ours, for nobody can keep others from a name.
    """

    slug = models.SlugField()
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    origin = models.CharField(
        max_length=7,
        choices=Origin,
        default=Origin.OURS,
        db_default=Origin.OURS,
        editable=False,
    )
    is_offered = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "policies"
        constraints = [
            models.UniqueConstraint(fields=["slug", "origin"], name="one_policy_per_slug"),
            models.CheckConstraint(
                name="policy_origin_is_known", condition=models.Q(origin__in=Origin.values)
            ),
            models.CheckConstraint(
                name="foreign_policy_is_not_offered",
                condition=models.Q(origin=Origin.OURS) | models.Q(is_offered=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def latest(self) -> "PolicyVersion":
        """Return the version that new runs use."""
        return self.versions.current().order_by("-number")[0]

    def publish(
        self,
        spec: PolicySpec,
        *,
        by_release: bool = False,
        by: AbstractBaseUser | None = None,
        after: int | None = None,
    ) -> "PolicyVersion":
        """Return the latest version if it says the same and means the same, else a new one.

        `by_release` marks it as one that a later release may follow up; the same version of a
        person is another one, which none follows up. `after` is the number that the latest must
        still have, 0 for none. Raises PublishedMeanwhile, or ConfigurationError for a foreign
        policy.
        """
        if self.origin != Origin.OURS:
            raise ConfigurationError(
                f"{self} is foreign: it is described, and cannot be published."
            )
        with transaction.atomic():
            # Of two who publish at once, each must see whether the other came first.
            Policy.objects.select_for_update().get(pk=self.pk)
            newest = self.versions.current().order_by("-number").first()
            if after is not None and after != (newest.number if newest is not None else 0):
                raise PublishedMeanwhile(newest)
            return self._published(spec, newest, by_release=by_release, by=by)

    def try_out(self, spec: PolicySpec, *, by: AbstractBaseUser) -> "PolicyVersion":
        """Return a version for trials: it has a number, and is never offered to anybody."""
        with transaction.atomic():
            Policy.objects.select_for_update().get(pk=self.pk)
            return self._added(spec, makeup(spec), is_trial=True, created_by=by)

    def _published(
        self,
        spec: PolicySpec,
        newest: "PolicyVersion | None",
        *,
        by_release: bool,
        by: AbstractBaseUser | None,
    ) -> "PolicyVersion":
        made_of = makeup(spec)
        digest = digest_of(spec, made_of)
        if newest is not None and newest.digest == digest and newest.is_of_release == by_release:
            return newest
        if by_release:
            # What a person took back is not brought again by the release that had published it.
            later = self.versions.filter(retired_at__isnull=False, digest=digest)
            retired = later.filter(number__gt=newest.number if newest is not None else 0)
            if newest is not None and retired.exists():
                return newest
        return self._added(spec, made_of, is_of_release=by_release, created_by=by)

    def _added(self, spec: PolicySpec, made_of: dict[str, str], **fields: Any) -> "PolicyVersion":
        last = self.versions.aggregate(last=models.Max("number", default=0))["last"]
        return self.versions.create(
            number=last + 1,
            content=spec.model_dump(mode="json"),
            made_of=made_of,
            digest=digest_of(spec, made_of),
            **fields,
        )

    def describe(self, content: dict[str, Any]) -> "PolicyVersion":
        """Return the version of a foreign policy that says this of itself, a new one if none does.

        `content` is what its source tells, in the source's own form. Runs of several versions may
        come in any order, so not only the latest is looked at. Raises ConfigurationError for one
        of ours.
        """
        if self.origin != Origin.FOREIGN:
            raise ConfigurationError(f"{self} is ours: it is published, and cannot be described.")
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        with transaction.atomic():
            # Of two who describe it at once, each must see whether the other came first.
            Policy.objects.select_for_update().get(pk=self.pk)
            known = self.versions.order_by("number").filter(digest=digest).first()
            last = self.versions.aggregate(last=models.Max("number", default=0))["last"]
            return known or self.versions.create(number=last + 1, content=content, digest=digest)


class PublishedMeanwhile(Exception):
    """Raised where somebody else published first; `newest` is what they did."""

    def __init__(self, newest: "PolicyVersion | None") -> None:
        super().__init__(f"{newest} was published meanwhile.")
        self.newest = newest


class PolicyVersionQuerySet(models.QuerySet["PolicyVersion"]):
    """Versions by whether they may be run anew."""

    def current(self) -> Self:
        """Leave out trials, and what was retired: the last of the rest is what new runs use."""
        return self.filter(is_trial=False, retired_at__isnull=True)


class PolicyVersion(models.Model):
    """What a run was made by, fixed for ever but for being retired.

    `content` is a PolicySpec as JSON; of a foreign policy it is what its source tells.

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
    is_trial = models.BooleanField(default=False, db_default=False)
    retired_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )

    objects = PolicyVersionQuerySet.as_manager()

    class Meta:
        ordering = ["policy", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["policy", "number"], name="one_version_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.policy} v{self.number}" + (" (trial)" if self.is_trial else "")

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new version; refuse to change one, for runs refer to it."""
        if not self._state.adding:
            raise TypeError(f"{self} cannot change; publish a new version instead.")
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """Return the page of the version, for those who publish."""
        return reverse("policy_version", args=[self.policy.slug, self.number])

    @property
    def publisher(self) -> str:
        """Say who published it: a release, somebody by name, or whoever cannot be named."""
        if self.is_of_release:
            return "the release"
        return str(self.created_by) if self.created_by is not None else "a person"

    def retire(self) -> None:
        """Take it from new runs, which go back to the version before it; it stays in the record."""
        now = timezone.now()
        PolicyVersion.objects.filter(pk=self.pk, retired_at=None).update(retired_at=now)
        self.refresh_from_db()

    @property
    def spec(self) -> PolicySpec:
        """Return the content, validated; raises ConfigurationError for a foreign policy."""
        if self.policy.origin != Origin.OURS:
            raise ConfigurationError(f"{self} is foreign: it is not run here.")
        return PolicySpec.model_validate(self.content)


def digest_of(spec: PolicySpec, made_of: dict[str, str]) -> str:
    """Return the SHA-256 of a spec and of what a release adds to it, hexadecimal."""
    whole = f"{spec.model_dump_json()}\n{json.dumps(made_of, sort_keys=True)}"
    return hashlib.sha256(whole.encode()).hexdigest()
