"""A release follows up what a release published, and nobody's own version."""

from typing import Any

import pytest

from agents.policies.makeup import makeup
from chat.models import Policy, PolicyVersion
from chat.policies import publish_seeds


@pytest.fixture
def explicit(transactional_db: None) -> Policy:
    """Publish the policies of this release, and nothing before."""
    PolicyVersion.objects.all().delete()  # the test before may have been of another release
    publish_seeds()
    return Policy.objects.get(slug="explicit")


@pytest.fixture
def next_release(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Migrate to a release whose prompts are others."""

    def migrate() -> None:
        monkeypatch.setattr(
            "chat.models.policy.makeup", lambda spec: makeup(spec) | {"prompts": "others"}
        )
        publish_seeds()

    return migrate


def test_a_version_that_a_person_published_stays_the_one_that_new_runs_use(
    explicit: Policy, next_release: Any
) -> None:
    spec = explicit.latest.spec.model_copy(update={"instructions": "Be brief."})
    own = explicit.publish(spec)

    next_release()

    assert explicit.latest == own
    assert Policy.objects.get(slug="rewoo").latest.number == 2


def test_a_person_who_publishes_what_the_release_says_keeps_it(
    explicit: Policy, next_release: Any
) -> None:
    own = explicit.publish(explicit.latest.spec)
    assert (own.number, own.is_of_release) == (2, False)
    assert explicit.publish(own.spec) == own

    next_release()

    assert explicit.latest == own


def test_what_a_release_published_and_a_person_retired_is_not_brought_again(
    explicit: Policy, next_release: Any
) -> None:
    next_release()
    explicit.latest.retire()

    next_release()

    assert explicit.latest.number == 1
    explicit.latest.retire()
    next_release()
    assert not explicit.versions.current().exists()


def test_a_release_follows_up_its_own_version_after_a_persons_was_retired(
    explicit: Policy, next_release: Any
) -> None:
    explicit.publish(explicit.latest.spec.model_copy(update={"tools": ()})).retire()

    next_release()

    assert (explicit.latest.number, explicit.latest.is_of_release) == (3, True)
