"""A foreign policy says what made a run that came from elsewhere, and is never run here."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError
from django.test import Client

from agents.errors import ConfigurationError
from agents.policies.spec import PolicySpec
from chat.models import Conversation, Origin, Policy, PolicyVersion, Run, RunStatus, User
from chat.operations.verify import Verdict, verify
from chat.policies import offered, publish_seeds
from chat.runs.ask import ask
from chat.runs.validation import InvalidQuestion
from tests.integration.here import here
from tests.integration.reading.answers import text_of

TOLD = {"agent": "SWE-agent", "version": "1.1.0", "tools": {"bash": {}, "str_replace": {}}}


@pytest.fixture
def foreign(transactional_db: None) -> Policy:
    """Make a foreign policy."""
    return Policy.objects.create(
        slug="planned", name="Somebody's planner", origin=Origin.FOREIGN, is_offered=False
    )


@pytest.fixture
def taken(foreign: Policy, tell: Callable[..., Run], ada: User) -> Run:
    """Store a run of Ada's that the foreign policy made elsewhere."""
    run = tell(ada, {"thought": "Look at the files."}, answer="Mended.")
    Run.objects.filter(pk=run.pk).update(policy_version=foreign.describe(TOLD))
    return Run.objects.get(pk=run.pk)


def test_what_says_the_same_of_itself_is_one_version(foreign: Policy) -> None:
    first = foreign.describe(TOLD)
    second = foreign.describe(TOLD | {"version": "1.2.0"})

    assert (first.number, second.number) == (1, 2)
    assert foreign.describe(dict(reversed(TOLD.items()))) == first
    assert foreign.versions.count() == 2


def test_a_release_publishes_its_own_policy_beside_one_of_the_same_name(foreign: Policy) -> None:
    foreign.describe(TOLD)

    publish_seeds()

    ours = Policy.objects.get(slug="planned", origin=Origin.OURS)
    assert ours.latest.spec.policy == "planned"
    assert foreign.latest.content == TOLD
    assert list(offered().filter(slug="planned")) == [ours]


def test_nobody_can_offer_it(foreign: Policy) -> None:
    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    fields = {"name": "Planner", "description": "", "is_offered": "on"}

    root.post(f"/admin/chat/policy/{foreign.pk}/change/", fields)

    foreign.refresh_from_db()
    assert (foreign.name, foreign.is_offered) == ("Planner", False)
    with pytest.raises(IntegrityError):
        Policy.objects.filter(pk=foreign.pk).update(is_offered=True)


def test_a_question_to_it_is_refused_in_words(foreign: Policy, conversation: Conversation) -> None:
    version = foreign.describe(TOLD)

    with pytest.raises(InvalidQuestion, match="Somebody's planner v1 is not run here"):
        ask(conversation, "Hi", policy_version=version, client_message_id=uuid4())

    assert not Run.objects.exists()


def test_a_run_of_it_that_somebody_queues_fails_in_words(
    foreign: Policy, asked: Callable[..., Run]
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    Run.objects.filter(pk=run.pk).update(policy_version=foreign.describe(TOLD))

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "configuration")


def test_neither_publishes_for_the_other(
    foreign: Policy, scripted: Callable[..., PolicyVersion]
) -> None:
    with pytest.raises(ConfigurationError, match="foreign"):
        foreign.publish(PolicySpec(policy="explicit"))
    with pytest.raises(ConfigurationError, match="ours"):
        scripted([{"say": "Hm."}]).policy.describe(TOLD)


def test_a_run_of_it_is_read_and_downloaded(
    taken: Run, ada: User, browse: Callable[[User], Client]
) -> None:
    page = browse(ada).get(taken.get_absolute_url()).content.decode()
    download = browse(ada).get(f"/runs/{taken.pk}/transcript.json")
    told: dict[str, Any] = json.loads(text_of(download))["policy"]

    assert "Somebody&#x27;s planner v1" in page
    assert (told["origin"], told["content"]) == ("foreign", TOLD)


def test_a_stranger_does_not_read_it(
    taken: Run, bob: User, browse: Callable[[User], Client]
) -> None:
    assert browse(bob).get(taken.get_absolute_url()).status_code == 404


def test_its_record_is_not_replayed(taken: Run) -> None:
    assert verify(taken).verdict is Verdict.UNKNOWN


def test_its_tools_are_none_that_a_search_proposes(
    taken: Run, ada: User, browse: Callable[[User], Client]
) -> None:
    publish_seeds()

    page = browse(ada).get("/search/", {"q": "tool:nothing"}).content.decode()

    assert "calculator" in page
    assert "str_replace" not in page
