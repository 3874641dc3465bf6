"""Policies are published, shown, compared and retired from a terminal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from agents.policies.spec import ModelRole
from chat.models import Policy
from chat.policies import offered_as, publish_seeds
from tests.integration.publishing.conftest import CONTENT

Policies = Callable[..., str]
PolicyFile = Callable[..., str]

AS_TOML = """
slug = "french"
name = "French ReAct"
policy = "reflexion"
tools = ["calculator"]
instructions = '''
Answer in French.
Name your sources.
'''

[settings]
tries = 2

[models.summarize]
provider = "demo"
"""


def test_a_file_is_published_as_the_version_that_new_runs_use(
    policies: Policies, policy_file: PolicyFile
) -> None:
    assert "French ReAct v1 (french)" in policies("publish", policy_file())

    policies("publish", policy_file(instructions="Answer in Italian."))

    french = offered_as("french")
    assert french is not None
    assert (french.latest.number, french.latest.spec.instructions) == (2, "Answer in Italian.")
    assert french.versions.get(number=1).spec.instructions == "Answer in French."


def test_the_same_file_again_makes_no_other_version(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file())
    policies("publish", policy_file())

    assert Policy.objects.get(slug="french").versions.count() == 1


def test_a_file_may_be_toml(policies: Policies, tmp_path: Path) -> None:
    path = tmp_path / "french.toml"
    path.write_text(AS_TOML, encoding="utf-8")

    policies("publish", str(path))

    spec = Policy.objects.get(slug="french").latest.spec
    assert spec.instructions == "Answer in French.\nName your sources.\n"
    assert spec.settings == {"tries": 2}
    assert spec.models[ModelRole.SUMMARIZE].provider == "demo"


def test_what_is_shown_can_be_published_elsewhere(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file())
    shown = json.loads(policies("show", "french"))

    assert {name: shown[name] for name in ("slug", "name", "instructions", "tools")} == {
        name: CONTENT[name] for name in ("slug", "name", "instructions", "tools")
    }
    policies("publish", policy_file(**shown | {"slug": "other"}))
    assert Policy.objects.get(slug="other").latest.content == (
        Policy.objects.get(slug="french").latest.content
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"policy": "guesswork"}, "There is no policy 'guesswork'"),
        ({"tools": ["teleport"]}, "tools: There is no tool 'teleport'"),
        ({"tools": ["nowhere__*"]}, "tools: 'nowhere__*' is of no MCP server"),
        ({"approve": ["teleport"]}, "approve: `approve` names 'teleport'"),
        ({"limits": {"max_turns": 0}}, "limits.max_turns: "),
        ({"limits": {"max_turn": 3}}, "limits.max_turn: "),
        ({"policy": "reflexion", "settings": {"tries": "many"}}, "settings.tries: "),
        ({"settings": {"settle_goal": {"time_zone": "Mars/Base"}}}, "no time zone 'Mars/Base'"),
        ({"instructions": "x" * 8_001}, "instructions: "),
        ({"models": {"paint": {}}}, "models.paint"),
        ({"model": {"provider": "nowhere"}}, "model.provider: There is no provider 'nowhere'"),
        ({"models": {"plan": {"provider": "nowhere"}}}, "models.plan.provider: There is no"),
        ({"limits": {"cost": 1}, "models": {"plan": {"provider": "demo"}}}, "limits.cost: "),
        ({"slug": "Über Alles"}, "slug: "),
        ({"name": " "}, "name: Give it a name."),
        ({"colour": "red"}, "colour: "),
    ],
)
def test_what_cannot_be_built_is_refused_with_its_place_and_nothing_is_published(
    policies: Policies, policy_file: PolicyFile, fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(CommandError) as refused:
        policies("publish", policy_file(**fields))

    assert said in str(refused.value)
    assert not Policy.objects.filter(name="French ReAct").exists()


@pytest.mark.parametrize("text", ["{", "[1]", "\x00", '"text"', "[" * 100_000])
def test_a_file_that_holds_no_policy_is_refused_in_words(
    policies: Policies, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(CommandError, match=r"cannot be read|holds no policy"):
        policies("publish", str(path))


def test_a_difference_names_instructions_tools_and_knobs(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file())
    policies(
        "publish",
        policy_file(
            instructions="Answer in Italian.", tools=["current_time"], limits={"max_turns": 9}
        ),
    )

    lines = policies("diff", "french").splitlines()

    assert lines[0] == "French ReAct v1 -> French ReAct v2"
    for line in ("  - Answer in French.", "  + Answer in Italian.", "  + current_time"):
        assert line in lines
    assert "  - calculator" in lines
    assert "limits.max_turns: 6 -> 9" in lines
    assert "They say the same." in policies("diff", "french", "1", "1")


def test_a_difference_says_that_a_release_changed_the_prompts(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file())
    version = Policy.objects.get(slug="french").latest
    made_of = version.made_of | {"prompts": "others"}
    version.policy.versions.create(
        number=2, content=version.content, made_of=made_of, digest="other"
    )

    assert "The prompts of the release differ." in policies("diff", "french").splitlines()


def test_a_retired_version_gives_way_to_the_one_before(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file())
    policies("publish", policy_file(instructions=""))

    assert "new runs use French ReAct v1" in policies("retire", "french", "2")

    french = Policy.objects.get(slug="french")
    assert french.latest.number == 1
    assert french.versions.count() == 2
    policies("publish", policy_file(instructions="Be brief."))
    assert french.latest.number == 3


def test_a_policy_of_which_every_version_is_retired_is_not_offered(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file())
    policies("retire", "french", "1")

    assert offered_as("french") is None
    with pytest.raises(CommandError, match="no version that can be run"):
        policies("offer", "french")


def test_a_retired_policy_is_not_offered_until_it_is_again(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file())

    assert "0 runs stay" in policies("retire", "french")
    assert offered_as("french") is None

    policies("offer", "french")
    assert offered_as("french") is not None


def test_who_names_the_latest_is_refused_where_it_is_another(
    policies: Policies, policy_file: PolicyFile
) -> None:
    policies("publish", policy_file(), "--after", "0")

    with pytest.raises(CommandError, match="v1 was published meanwhile"):
        policies("publish", policy_file(instructions="Be brief."), "--after", "7")

    policies("publish", policy_file(instructions="Be brief."), "--after", "1")
    assert Policy.objects.get(slug="french").latest.number == 2


def test_every_policy_is_listed_with_who_published_its_latest_version(
    policies: Policies, policy_file: PolicyFile
) -> None:
    publish_seeds()
    policies("publish", policy_file())

    rows = {row["slug"]: row for row in map(json.loads, policies("list", "--json").splitlines())}

    assert (rows["explicit"]["by"], rows["french"]["by"]) == ("the release", "a person")
    assert (rows["french"]["base"], rows["french"]["version"]) == ("explicit", 1)
    assert "French ReAct" in policies("list")


def test_a_file_can_be_checked_without_publishing_it(
    policies: Policies, policy_file: PolicyFile
) -> None:
    assert "can be published as french" in policies("publish", policy_file(), "--check")
    assert not Policy.objects.filter(slug="french").exists()


def test_what_is_not_there_is_said(policies: Policies) -> None:
    publish_seeds()
    for words in (["show", "nothing"], ["show", "explicit", "9"], ["diff", "explicit"]):
        with pytest.raises(CommandError, match=r"There is no|has no"):
            policies(*words)
