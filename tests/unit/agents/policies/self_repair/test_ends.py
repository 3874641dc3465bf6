"""Self-repair keeps to its version's settings and ends once, honestly, whatever is said."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.contracts import EndReason, ThoughtKind
from agents.control import Control
from agents.errors import ConfigurationError
from agents.events import AnswerDelta, RunEnded
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.self_repair import Settings
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.summarize import CALL_LEFT_OUT
from agents.tools.toolkit import Toolkit
from tests.unit.agents.policies.self_repair.replies import BROKEN, act


def test_the_settings_of_the_version_reach_the_calls(self_repair: Any) -> None:
    class Recording(ScriptedProvider):
        def body(self, request: Any) -> str:
            limits.append((request.purpose, request.temperature, request.max_tokens))
            return super().body(request)

    limits: list[tuple[str, float | None, int | None]] = []
    provider = Recording([{"say": text} for text in (BROKEN, act(None), "Paris.", "Paris")])

    self_repair.play(provider=provider, repair_tokens=99)

    assert limits == [
        ("think", 0.7, 8_000),
        ("repair", 0.2, 99),
        ("think", 0.7, 8_000),
        ("final", pytest.approx(0.4), 8_000),
    ]


@pytest.mark.parametrize(
    "wrong", [{"max_failures": 2}, {"max_parse_retries": -1}, {"backof": 1}, {"temperature": "hot"}]
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    parts = Parts(Model(ScriptedProvider([]), Control()), Toolkit(), Limits())

    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        build(PolicySpec(policy="self_repair", settings=wrong), parts)


def test_the_defaults_are_those_of_the_source() -> None:
    defaults = Settings()

    assert (defaults.max_parse_retries, defaults.max_tool_errors) == (2, 2)
    assert (defaults.temperature, defaults.max_tokens, defaults.backoff_seconds) == (
        0.7,
        8_000,
        0.8,
    )


def test_a_model_that_never_obeys_is_ended(self_repair: Any) -> None:
    script = [f"{BROKEN} {n}" for n in range(6)] + ["I could not do it."]

    played = self_repair.play(script, max_turns=20)

    assert played.outcome.reason is EndReason.FAILURES
    assert [turn.thought.kind for turn in played.state.turns] == [ThoughtKind.THOUGHT] * 6


PIECES = st.sampled_from(
    [
        *("so ", "\n", "Action: ", "Final Answer: ", "<__final_answer__>", "<think>", "</think>"),
        *('{"tool": "add", "inputs": {"left": 1}}', '{"tool": "broken", "inputs": {"text": "x"}}'),
        *('{"tool": "crashing", "inputs": {"text": "x"}}', '{"tool": null}', '{"tool": "ghost"}'),
        *("{", "}", '"', "I cannot", "Observation: 1", "[TOOL_CALLS]", "\x00", "\ud800", "```\n"),
    ]
)
REPLIES = st.lists(st.lists(PIECES, max_size=6).map("".join), min_size=45, max_size=45)


@given(REPLIES)
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_a_model_says_the_run_ends_once_and_honestly(
    self_repair: Any, replies: list[str]
) -> None:
    played = self_repair.play(replies, max_turns=10)

    assert played.outcome.reason in (
        EndReason.ANSWERED,
        EndReason.TURNS,
        EndReason.FAILURES,
        EndReason.REPEATS,
    )
    has_dropped = played.outcome.message == CALL_LEFT_OUT
    is_short = played.outcome.reason is not EndReason.ANSWERED or has_dropped
    assert played.outcome.partial == is_short
    assert sum(isinstance(event, RunEnded) for event in played.events) == 1
    shown = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    is_retracted = any("</think>" in call.reply for call in played.calls)
    assert shown == played.outcome.answer or is_retracted
