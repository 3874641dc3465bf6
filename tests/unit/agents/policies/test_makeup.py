"""What a release adds to a spec is told by digests, and nothing that matters is left out."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.policies import POLICIES, makeup
from agents.policies.spec import PolicySpec
from agents.tools.catalogue import TOOLS

PARTS = {"prompts", "reading", "tools"}


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a copy of the engine's sources that a test may change."""
    root = Path(makeup.ROOT)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "agents", tmp_path / "agents", ignore=ignored)
    monkeypatch.setattr(makeup, "ROOT", tmp_path)
    monkeypatch.setattr(makeup, "PROMPTS", tmp_path / "agents" / "prompts")
    forget()
    yield tmp_path / "agents"
    forget()


def forget() -> None:
    for kept in (makeup._closure, makeup._text, makeup._prompts):
        kept.cache_clear()


def made_of(policy: str) -> dict[str, str]:
    return makeup.makeup(PolicySpec(policy=policy, tools=("calculator", "python_repl")))


def changed(release: Path, file: str) -> dict[str, set[str]]:
    """Return which parts of each policy are others once something is added to a file."""
    before = {policy: made_of(policy) for policy in POLICIES}
    with (release / file).open("a") as source:
        source.write("\n# more\n")
    forget()
    after = {policy: made_of(policy) for policy in POLICIES}
    return {
        policy: {part for part in PARTS if before[policy][part] != after[policy][part]}
        for policy in POLICIES
    }


@pytest.mark.parametrize("policy", POLICIES)
def test_each_policy_is_made_of_prompts_reading_and_tools(policy: str) -> None:
    parts = made_of(policy)
    assert parts.keys() == PARTS
    assert parts == made_of(policy)
    empty = makeup._digest(())
    assert empty not in parts.values()


def test_another_prompt_makes_another_version_of_who_uses_it(release: Path) -> None:
    by_policy = changed(release, "prompts/rewoo/plan.j2")
    assert by_policy.pop("rewoo") == {"prompts"}
    assert not any(by_policy.values())


def test_a_prompt_that_is_included_by_its_setting_counts(release: Path) -> None:
    assert changed(release, "prompts/planned/mode_auto.j2")["planned"] == {"prompts"}


def test_a_prompt_of_all_makes_another_version_of_all(release: Path) -> None:
    by_policy = changed(release, "prompts/summarize.j2")
    assert all(parts == {"prompts"} for parts in by_policy.values())


def test_another_way_to_read_replies_makes_another_version(release: Path) -> None:
    by_policy = changed(release, "reading/structured/parse.py")
    assert by_policy.pop("planned") == {"reading"}
    assert not any(by_policy.values())


def test_other_code_makes_no_other_version(release: Path) -> None:
    assert not any(changed(release, "providers/anthropic.py").values())


def test_the_words_of_a_tool_count_whatever_the_machine_offers() -> None:
    one = makeup.makeup(PolicySpec(policy="explicit", tools=("calculator",)))
    for name in TOOLS:
        if name != "calculator":
            other = makeup.makeup(PolicySpec(policy="explicit", tools=("calculator", name)))
            assert other["tools"] != one["tools"]


def test_of_a_policy_that_is_not_known_nothing_is_said() -> None:
    assert makeup.makeup(PolicySpec(policy="somebody_elses", tools=())) == {}
