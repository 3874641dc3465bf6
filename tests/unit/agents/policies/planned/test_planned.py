"""The policy planned: a plan, structured steps towards its goals, and an honest end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import EndReason, Status, ThoughtKind
from agents.control import Control
from agents.events import AnswerDelta, RunEnded, ThoughtDelta
from agents.loop import run
from agents.model.model import Model
from agents.planning import GoalStatus, goal_plan_of
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.planned import Settings, exempt
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import Safety, tool
from agents.tools.toolkit import Toolkit

Play = Callable[..., Any]

PLANNING = ("always", "never")
HOSTILE = st.lists(
    st.sampled_from(
        [
            *('{"thought":"t",', '"action":', '{"tool":"add","parameters":', '{"left":1}', "}"),
            *('{"complete":{"result":"x"}}', '{"fail":{"reason":"x"}}', '{"goals":["a","b"]}'),
            *(
                "<think>",
                "</think>",
                "```",
                "Action: add",
                "\n",
                "Final Answer: x",
                "\ud800",
                "\x00",
            ),
        ]
    ),
    max_size=9,
).map("".join)


def goals(*descriptions: str) -> str:
    told = [{"description": text, "success_criteria": "seen"} for text in descriptions]
    return json.dumps({"phases": [{"name": "p", "goals": told}]})


def step(name: str, **parameters: Any) -> str:
    return json.dumps({"thought": "t", "action": {"tool": name, "parameters": parameters}})


DONE = step("complete", result="all")
SUMMARY = "as far as I came"


@tool(safety=Safety.SENSITIVE)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool()
def add(left: int) -> str:
    """Add one."""
    return str(left + 1)


@pytest.fixture
def play(stage: Callable[[str], Any]) -> Play:
    """Play a script without a plan, unless `planning` says otherwise."""

    def played(*script: Any, planning: str = "never", **options: Any) -> Any:
        settings = {"planning": planning, **options.pop("settings", {})}
        options.setdefault("max_turns", 50)
        return stage("planned").play(script, **settings, **options)

    return played


def asked(played: Any, number: int) -> str:
    messages = json.loads(played.calls[number].request)["messages"]
    return "\n".join(message["content"] for message in messages)


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.calls]


def observations(played: Any) -> list[Any]:
    return [seen for turn in played.state.turns for seen in turn.observations]


def test_a_step_is_taken_and_completion_is_the_answer(play: Play) -> None:
    played = play(step("add", left=2, right=3), step("complete", result="It is **5**."))

    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "It is **5**.")
    assert [turn.thought.kind for turn in played.state.turns] == [
        ThoughtKind.ACTION,
        ThoughtKind.FINAL,
    ]


def test_the_thought_is_shown_as_it_comes_in_any_chunks(play: Play) -> None:
    for chunk in (1, 3, 1000):
        played = play({"say": DONE, "chunk": chunk})
        shown = "".join(e.text for e in played.events if isinstance(e, ThoughtDelta))
        assert shown == played.state.turns[0].thought.text == "t"


def test_a_task_of_several_steps_is_planned_and_a_simple_one_is_not(play: Play) -> None:
    script = (goals("one"), DONE)

    planned = play(*script, planning="auto", goal="Collect all prices and compare them")
    simple = play(DONE, planning="auto", goal="What is 2 + 2?")

    assert purposes(planned) == ["plan_goals", "step"]
    assert purposes(simple) == ["step"]


def test_goals_are_worked_through_in_order_and_the_last_one_answers(play: Play) -> None:
    first = step("complete", result="found")
    played = play(goals("find", "tell"), first, DONE, planning="always")

    assert observations(played)[0].text == "found\n\nGoal 1 of 2 is reached. Next: tell"
    assert "[reached] find" in asked(played, 2)
    assert "It is the last goal" in asked(played, 2)
    assert played.outcome.answer == "all"


def test_goals_reached_with_the_same_words_are_no_circle(play: Play) -> None:
    same = step("complete", result="done")
    played = play(goals("a", "b", "c", "d"), same, same, same, DONE, planning="always")

    assert played.outcome.status is Status.SUCCEEDED


def test_a_failed_goal_has_the_plan_adapted(play: Play) -> None:
    fail = step("fail", reason="closed")
    other = json.dumps({"goals": ["ask"]})
    played = play(goals("find", "tell"), fail, other, DONE, planning="always")

    assert purposes(played) == ["plan_goals", "step", "adapt_plan", "step"]
    assert "closed" in asked(played, 2)
    plan = goal_plan_of(played.state.turns)
    assert plan is not None
    assert [goal.status for goal in plan.goals] == [GoalStatus.REPLACED, GoalStatus.PENDING]
    assert played.outcome.status is Status.SUCCEEDED


def test_a_goal_without_another_way_fails_the_run_and_keeps_what_was_reached(play: Play) -> None:
    reached = step("complete", result="found")
    fail = step("fail", reason="closed")
    played = play(goals("find", "tell"), reached, fail, '{"goals": []}', planning="always")

    outcome = played.outcome
    assert (outcome.status, outcome.reason) == (Status.FAILED, EndReason.GAVE_UP)
    assert (outcome.message, outcome.partial) == ("closed", True)
    assert outcome.answer == "**find**\n\nfound"
    assert "".join(e.text for e in played.events if isinstance(e, AnswerDelta)) == outcome.answer


def test_a_plan_is_adapted_only_so_often(play: Play) -> None:
    fail, other = step("fail", reason="no"), json.dumps({"goals": ["again"]})
    played = play(
        goals("find"), fail, other, fail, planning="always", settings={"max_adaptations": 1}
    )

    assert played.outcome.reason is EndReason.GAVE_UP


def test_a_plan_that_cannot_be_read_is_the_task_as_one_goal(play: Play) -> None:
    for reply in ("no plan at all", {"fail": "busy"}, '{"phases": []}'):
        played = play(reply, DONE, planning="always", goal="Do it")
        plan = goal_plan_of(played.state.turns)
        assert plan is not None
        assert (plan.source, [g.description for g in plan.goals]) == ("fallback", ["Do it"])
        assert played.outcome.status is Status.SUCCEEDED


def test_giving_up_without_a_plan_fails_and_asks_nobody_for_more(play: Play) -> None:
    played = play(step("fail"))

    assert (played.outcome.status, played.outcome.answer) == (Status.FAILED, "")
    assert played.outcome.message == "Task failed"


def test_a_reply_that_cannot_be_read_is_repaired(play: Play) -> None:
    played = play("Paris.", DONE)

    assert purposes(played) == ["step", "repair"]
    assert "Paris." in asked(played, 1)
    assert played.outcome.answer == "all"


def test_a_tool_is_known_however_its_name_is_written(play: Play) -> None:
    played = play(step("Complete()", result=" "), step("`Complete`", answer="all"))

    assert purposes(played) == ["step", "repair"]
    assert played.outcome.answer == "all"


@given(replies=st.lists(HOSTILE, min_size=1, max_size=8), planning=st.sampled_from(PLANNING))
def test_whatever_the_model_writes_the_run_ends_honestly(replies: list[str], planning: str) -> None:
    script = [*({"say": reply} for reply in replies), *[{"say": "no"}] * 40]
    model = Model(ScriptedProvider(script), Control())
    spec = PolicySpec(policy="planned", settings={"planning": planning, "strategy": "react_plus"})
    state = State("Q?")

    events = list(run(build(spec, Parts(model, Toolkit([add]), Limits())), state, Control()))

    assert isinstance(events[-1], RunEnded)
    assert state.outcome is not None
    is_answered = any(
        turn.thought is not None and turn.thought.kind is ThoughtKind.FINAL for turn in state.turns
    )
    assert (state.outcome.status is Status.SUCCEEDED) == is_answered
    assert state.outcome.reason is not EndReason.INTERNAL


def test_a_shorthand_needs_no_repair(play: Play) -> None:
    played = play('{"thought": "t", "add": {"left": 1}}', DONE)

    assert purposes(played) == ["step", "step"]
    assert observations(played)[0].text == "2"


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ('{"thought": "t"}', "Missing required field 'action'"),
        ('{"thought": "t", "action": {"tool": "add", "parameters": []}}', "must be an object"),
        ('{"thought": "t", "action": {"tool": "search", "parameters": {"query": "ha', "breaks off"),
        (step("complete", result=" "), "is empty"),
    ],
)
def test_a_repair_is_told_what_is_wrong(play: Play, reply: str, complaint: str) -> None:
    played = play(reply, DONE)

    assert purposes(played) == ["step", "repair"]
    assert complaint in asked(played, 1)


def test_two_repairs_in_vain_end_the_run_with_the_best_partial_answer(play: Play) -> None:
    played = play("no", "no", "no", SUMMARY)

    outcome = played.outcome
    assert purposes(played) == ["step", "repair", "repair", "summarize"]
    assert (outcome.status, outcome.reason) == (Status.EXHAUSTED, EndReason.FAILURES)
    assert (outcome.answer, outcome.partial) == (SUMMARY, True)
    assert "could not be read" in outcome.message


def test_an_unknown_tool_and_wrong_inputs_are_observed_and_the_run_goes_on(play: Play) -> None:
    played = play(step("ghost"), step("add", left="x"), DONE)

    assert [seen.error for seen in observations(played)] == ["ToolNotFound", "InvalidInputs"]
    assert played.outcome.status is Status.SUCCEEDED


def test_three_failures_in_a_row_end_the_run(play: Play) -> None:
    script = [step("broken", text=text) for text in "abc"]
    played = play(*script, SUMMARY)

    assert (played.outcome.reason, len(played.state.turns)) == (EndReason.FAILURES, 3)
    assert played.outcome.message.startswith("Too many consecutive failures")


def test_a_success_between_failures_lets_the_run_go_on(play: Play) -> None:
    a, b = step("broken", text="a"), step("broken", text="b")
    played = play(a, b, step("add", left=1), a, b, DONE)

    assert played.outcome.status is Status.SUCCEEDED


def test_the_same_tool_five_times_in_a_row_ends_the_run(play: Play) -> None:
    played = play(*[step("search", query=text) for text in "abcde"], SUMMARY)

    assert played.outcome.reason is EndReason.REPEATS
    assert played.outcome.message == "Tool 'search' called 5 times in a row."


def test_an_exempt_tool_may_go_on(play: Play) -> None:
    script = [step("search", query=text) for text in "abcdef"]
    played = play(*script, DONE, settings={"exempt_tools": ["search"]})

    assert played.outcome.status is Status.SUCCEEDED


def test_a_tool_that_says_so_may_go_on(play: Play) -> None:
    @tool(may_repeat=True)
    def leaf(page: str) -> str:
        """Look at a page of the book."""
        return f"page {page}"

    played = play(*[step("leaf", page=text) for text in "abcdef"], DONE, tools=[leaf])

    assert played.outcome.status is Status.SUCCEEDED


def test_the_tools_of_this_release_that_may_go_on_do_so_on_every_machine() -> None:
    assert "browser_extract" in exempt(Settings(), Toolkit())
    assert "browser_click" not in exempt(Settings(), Toolkit())
    assert exempt(Settings(exempt_tools=("browser_click",)), Toolkit()) == {"browser_click"}


def test_the_second_repeat_is_warned_of_and_the_third_ends_the_run(play: Play) -> None:
    played = play(*[step("add", left=1)] * 3, SUMMARY)

    assert played.outcome.reason is EndReason.REPEATS
    assert "A third time ends the run" in asked(played, 2)


def test_a_risky_tool_does_not_run_with_nobody_to_ask(play: Play) -> None:
    played = play(step("pay", amount=5), DONE, tools=[pay])

    assert observations(played)[0].error == "NotApproved"


def test_a_failure_is_reflected_on_under_react_plus(play: Play) -> None:
    script = (step("broken", text="a"), "It cannot be.", DONE)
    played = play(*script, settings={"strategy": "react_plus"})

    assert purposes(played) == ["step", "reflect", "step"]
    assert "It cannot be." in asked(played, 2)
    assert played.state.turns[1].thought.text == "It cannot be.\n\nt"
    shown = "".join(e.text for e in played.events if isinstance(e, ThoughtDelta))
    assert shown.endswith("It cannot be.\n\nt")


def test_a_tree_of_thoughts_is_taken_at_its_best_branch(play: Play) -> None:
    tree = {
        "tree_of_thoughts": {
            "branches": [{"branch_id": 1, "strategy": "add", "reasoning": "sure"}]
        },
        "action": {"tool": "add", "parameters": {"left": 4}},
    }
    played = play(json.dumps(tree), DONE, settings={"strategy": "tree_of_thought"})

    assert observations(played)[0].text == "5"
    assert "sure" in played.state.turns[0].thought.text


def test_a_question_to_the_person_ends_the_run_as_asked(play: Play) -> None:
    @tool(terminal=True, ends=EndReason.ASKED)
    def ask_user(question: str) -> str:
        """Ask."""
        return question

    played = play(step("ask_user", question="Which?"), tools=[ask_user])

    assert (played.outcome.reason, played.outcome.answer) == (EndReason.ASKED, "Which?")


def test_a_reply_cut_at_the_length_limit_is_not_acted_on(play: Play) -> None:
    cut = '{"thought": "t", "action": {"tool": "send", "parameters": {"text": "half a'
    played = play({"say": cut}, DONE)

    assert observations(played) == []


def streamed(played: Any) -> list[str]:
    """Return the answer as it was shown, piece by piece."""
    return [event.text for event in played.events if isinstance(event, AnswerDelta)]


@pytest.mark.parametrize("planning", PLANNING)
def test_the_answer_of_the_last_goal_is_shown_while_it_is_written(
    stage: Callable[[str], Any], planning: str
) -> None:
    said = {"say": step("complete", result="one two three four"), "chunk": 6}
    script = [goals("only"), said] if planning == "always" else [said]

    played = stage("planned").play(script, planning=planning)

    assert len(streamed(played)) > 2
    assert "".join(streamed(played)) == played.outcome.answer == "one two three four"


def test_the_result_of_a_goal_before_the_last_is_no_answer(stage: Callable[[str], Any]) -> None:
    script = [goals("first", "last"), step("complete", result="half"), DONE]

    played = stage("planned").play(script)

    assert "".join(streamed(played)) == "all"
