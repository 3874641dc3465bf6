"""A stored run replays to its stored outcome; where it does not, what differs first is named."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from agents.policies import POLICIES
from agents.policies.spec import PolicySpec
from chat.models import Action, Conversation, ModelCall, Policy, Run, RunStatus, Turn
from chat.operations.verify import Verdict
from chat.runs.ask import ask
from chat.runs.resume import history
from chat.runs.stop import stop
from tests.integration.here import here
from tests.integration.runs.record.verdicts import verdict

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
MULTIPLICATION = CALCULATION.replace("6 * 7", "6 * 8")
ANSWER = "Thought: I know now.\nFinal Answer: It is **42**."
TOOLS = ("calculator", "convert_units", "current_time")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "question", ["What is 12 * 12, and 144 / 7?", "How many feet are 3 miles?"]
)
def test_a_run_of_every_policy_replays_to_its_outcome(
    conversation: Conversation, policy: str, question: str
) -> None:
    row = Policy.objects.create(slug=f"demo-{policy}", name=policy)
    spec = {"policy": policy, "model": {"provider": "demo"}, "tools": TOOLS}
    version = row.publish(PolicySpec.model_validate(spec))
    run = ask(conversation, question, policy_version=version, client_message_id=uuid.uuid4())
    here().work(run.pk)

    assert verdict(run) == (Verdict.AGREES, "")
    assert run.turns.exists()


FAILING: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "out of turns": (
        [{"say": CALCULATION}, {"say": MULTIPLICATION}, {"say": "About 42."}],
        {"limits": {"max_turns": 2}},
    ),
    "repeats": ([{"say": CALCULATION}] * 3 + [{"say": "It is 42."}], {}),
    "a model away": ([{"say": CALCULATION}, {"fail": "unreachable"}], {}),
    "a model that breaks off": ([{"fail": "truncated", "after": "Thought: I have an"}], {}),
    "a script too short": ([{"say": CALCULATION}], {}),
    "no tool of that name": (
        [{"say": CALCULATION.replace("calculator", "abacus")}, {"say": ANSWER}],
        {},
    ),
    "wrong inputs": ([{"say": CALCULATION.replace("expression", "sum")}, {"say": ANSWER}], {}),
    "a reply without a form": ([{"say": "hm"}, {"say": "hm hm"}, {"say": ANSWER}], {}),
    "thoughts before the answer": ([{"say": ANSWER, "reasoning": "Let me see."}], {}),
    "out of budget": (
        [{"say": CALCULATION}, {"say": MULTIPLICATION}, {"say": "About 42."}],
        {"limits": {"tokens": 1_000}},
    ),
    "out of budget at once": ([{"say": CALCULATION}, {"say": "42."}], {"limits": {"tokens": 1}}),
    "out of budget and the model away": (
        [{"say": CALCULATION}, {"fail": "unreachable"}],
        {"limits": {"tokens": 1}},
    ),
    "no time": ([{"hang": True, "after": "Thought: I"}], {"limits": {"seconds": 0.2}}),
    "silence": ([{"hang": True, "after": "Thought: I"}], {"limits": {"idle_seconds": 0.2}}),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_run_that_went_wrong_replays_as_well(asked: Callable[..., Run], case: str) -> None:
    script, fields = FAILING[case]
    run = asked(script, tools=("calculator",), **fields)
    here().work(run.pk)

    assert verdict(run) == (Verdict.AGREES, "")
    assert not run.is_live


def test_a_stopped_run_replays_up_to_its_stop(
    asked: Callable[..., Run], working: Any, wait_for: Callable[..., None]
) -> None:
    script = [{"say": CALCULATION}, {"hang": True, "after": "Thought: I have an idea, it is "}]
    run = asked(script, tools=("calculator",))
    with working(run) as workers:
        wait_for(lambda: run.turns.filter(status="complete").exists(), "the first turn")
        stop(run)
        workers.wait()

    assert verdict(run) == (Verdict.AGREES, "")
    assert run.status == RunStatus.STOPPED


def test_a_run_that_was_stopped_before_it_began_replays(asked: Callable[..., Run]) -> None:
    run = asked([{"say": ANSWER}])
    stop(run)

    assert verdict(run) == (Verdict.AGREES, "")


def test_a_live_run_is_compared_as_far_as_it_is_stored(answered: Run) -> None:
    Run.objects.filter(pk=answered.pk).update(
        status=RunStatus.INTERRUPTED, ended_at=None, reason="", answer=""
    )
    answered.turns.filter(index=1).delete()

    assert verdict(answered) == (Verdict.AGREES, "")


def test_a_run_whose_requests_were_redacted_agrees(answered: Run) -> None:
    for piece in answered.pieces.all():
        piece.redacted("[redacted]", timezone.now()).save(force_update=True)

    assert verdict(answered) == (Verdict.AGREES, "")


def test_a_version_that_this_release_cannot_read_is_no_difference(answered: Run) -> None:
    version = answered.policy_version
    content = version.content | {"policy": "of another release"}
    type(version).objects.filter(pk=version.pk).update(content=content)
    answered = Run.objects.get(pk=answered.pk)

    told, words = verdict(answered)

    assert (told, "There is no policy" in words) == (Verdict.UNKNOWN, True)


def test_calls_that_a_later_attempt_made_again_do_not_count(answered: Run) -> None:
    """A worker died after its call was stored and before its turn was; the model then said more."""
    Turn.objects.filter(run=answered, index=0).update(attempt=2)
    second = answered.model_calls.get(index=1)
    made_again = answered.model_calls.get(index=0)
    ModelCall.objects.filter(pk=second.pk).update(index=2, attempt=2)
    ModelCall.objects.filter(pk=made_again.pk).update(reply=MULTIPLICATION)
    made_again.pk, made_again.index, made_again.attempt = None, 1, 2
    made_again.save()
    Run.objects.filter(pk=answered.pk).update(attempt=2)

    assert verdict(answered) == (Verdict.AGREES, "")


def test_a_tool_that_is_not_there_any_more_is_not_needed(answered: Run) -> None:
    call = CALCULATION.replace("calculator", "weather__today").replace("expression", "town")
    Action.objects.filter(turn__run=answered).update(
        tool="weather__today", inputs={"town": "6 * 7"}, observation="Sunny."
    )
    ModelCall.objects.filter(run=answered, index=0).update(reply=call)

    assert verdict(answered) == (Verdict.AGREES, "")


def test_a_second_question_that_did_not_see_the_first_answer_is_replayed_without_it(
    conversation: Conversation, asked: Callable[..., Run]
) -> None:
    goal = json.dumps({"revised_goal": "Say hello."})
    first = asked([{"say": "Final Answer: one"}])
    settings = {"settings": {"settle_goal": True}}
    second = asked([{"say": goal}, {"say": "Final Answer: two"}], **settings)
    here().work(second.pk)
    here().work(first.pk)

    assert first.pk == second.parent_id
    assert verdict(second) == (Verdict.AGREES, "")
    assert history(second, until=timezone.now()) != []


def test_a_run_that_its_policy_version_failed_agrees_with_itself(asked: Callable[..., Run]) -> None:
    run = asked([{"say": ANSWER}], approve=("abacus",))
    here().work(run.pk)

    assert verdict(run) == (Verdict.AGREES, "")
    assert run.reason == "configuration"


def test_goals_that_are_reached_and_failed_replay(asked: Callable[..., Run]) -> None:
    plan = json.dumps({"phases": [{"name": "Count", "goals": ["Add", "Tell"]}]})
    done = {"tool": "complete", "parameters": {"result": "4"}}
    fail = {"tool": "fail", "parameters": {"reason": "No numbers."}}
    replies = [plan, json.dumps({"action": done}), json.dumps({"action": fail}), '{"goals": []}']
    script = [{"say": text} for text in replies]
    run = asked(script, policy="planned", settings={"planning": "always"})
    here().work(run.pk)

    assert verdict(run) == (Verdict.AGREES, "")
    assert run.reason == "gave_up"
