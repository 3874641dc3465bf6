"""Plans are read as meant, however they are written, and nothing is made up."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.changes import plan_changes
from agents.reading.plan import CallPlan, parse_execution, parse_plan
from agents.reading.plan_reply import PlanReader
from agents.reading.thinking import ThinkingReader, part_thinking

CALL = {"callId": "c1", "toolName": "search", "arguments": {"xs": [1, "]"]}}
WRITTEN = json.dumps([CALL])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
named_calls = st.lists(
    st.tuples(texts.filter(str.strip), st.dictionaries(texts, json_values, max_size=3)), max_size=4
)
pieces = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<th",
        "Intent:",
        "\nPlan:",
        "\nTool Calls:",
        "**Tool Calls:**",
        "```json\n",
        "```",
        "[{",
        '{"toolName": "t"}',
        '"',
        "\\",
        "[]",
        ",]",
        "}]",
        "\n",
        "\r\n",
        " ",
    ]
)
hostile = st.lists(pieces | st.text(max_size=5), max_size=25).map("".join)


def calls(text: str) -> list[tuple[str, str, Any]] | None:
    found = parse_plan(text).calls
    return None if found is None else [(call.id, call.tool, call.arguments) for call in found]


@pytest.mark.parametrize(
    "written",
    [
        f"Tool Calls: {WRITTEN}",
        f"tool calls:\n{WRITTEN}",
        f"## Tool Calls:\n```json\n{WRITTEN}\n```\nThat is all.",
        f"**Tool Calls:** Here they are:\n\n```\n{WRITTEN}```",
        f"**tool_calls**: {WRITTEN[:-1]},\n]",
        f"Tool Calls: {WRITTEN[:-3]},}},}}]",
        f"Tool Calls: {json.dumps(CALL)}",
        f"Intent: a\r\nPlan: b\r\nTool Calls: {WRITTEN}\r\nbye",
        f"Intent: a Plan: b Tool Calls: {WRITTEN}",
        f"Intent: a, and these tool calls: {WRITTEN}",
        f"```json\n{WRITTEN}\n```",
        json.dumps({"intent": "a", "tool_calls": [CALL]}),
        f"<think>Tool Calls: []</think>Tool Calls: {WRITTEN}",
    ],
)
def test_calls_are_found_however_they_are_written(written: str) -> None:
    assert calls(written) == [("c1", "search", {"xs": [1, "]"]})]


def test_openai_style_calls_are_read_with_their_arguments_decoded() -> None:
    function = {"name": "search", "arguments": '{"query": "q"}'}
    written = json.dumps([{"id": "x", "type": "function", "function": function}])

    assert calls(f"Tool Calls: {written}") == [("x", "search", {"query": "q"})]


@pytest.mark.parametrize(
    ("written", "is_unread"),
    [
        ("", False),
        ("none", False),
        ("[]", False),
        ('[{"toolName": "a"}, {"b": 1}]', True),
        ('[{"toolName": "a"', True),
        ('[{"toolName": "a", "arguments": {"xs": [{"name": "inner"}]}]', True),
        ('[{"toolName": 7}]', True),
        ("[7]", True),
    ],
)
def test_calls_that_cannot_be_read_are_none_at_all(written: str, is_unread: bool) -> None:
    plan = parse_plan(f"Intent: i\nTool Calls: {written}")

    assert plan.calls == ()
    assert plan.unread is is_unread


def test_an_absent_section_is_none_and_the_first_of_two_counts() -> None:
    plan = parse_plan("Intent: a\nIntent: b\nOne more line")

    assert (plan.intent, plan.plan, plan.calls) == ("a\nIntent: b\nOne more line", None, None)


def test_sections_may_come_in_any_order() -> None:
    plan = parse_plan(f"Tool Calls: {WRITTEN}\nPlan: p\nIntent: i")

    assert (plan.intent, plan.plan, len(plan.calls or ())) == ("i", "p", 1)


def test_a_label_inside_the_calls_is_no_label() -> None:
    written = json.dumps([{"toolName": "t", "arguments": {"text": "x\nPlan: no"}}])
    plan = parse_plan("Tool Calls: " + written.replace("\\n", "\n"))

    assert plan.plan is None
    assert calls("Tool Calls: " + written) == [("", "t", {"text": "x\nPlan: no"})]


def test_a_mark_of_thinking_in_a_call_belongs_to_it() -> None:
    written = json.dumps([{"toolName": "t", "arguments": {"text": "<think>\nTool Calls: []"}}])

    assert calls(f"<think>x</think>Intent: i\nTool Calls: {written}") == [
        ("", "t", {"text": "<think>\nTool Calls: []"})
    ]


def test_a_reply_that_begins_within_a_thought_is_read_after_it() -> None:
    plan = parse_plan("Tool Calls: decoy\n</think>\nIntent: i\nTool Calls: []")

    assert (plan.thoughts, plan.intent, plan.calls) == ("Tool Calls: decoy", "i", ())


def test_thoughts_are_joined_by_a_rule_and_the_rest_is_parsed() -> None:
    plan = parse_plan("<think>one</think>Intent: a\n<think lang='en'>two</think>\nPlan: b")

    assert (plan.thoughts, plan.intent, plan.plan) == ("one\n\n---\n\ntwo", "a", "b")


@pytest.mark.parametrize(
    ("text", "thoughts", "said"),
    [
        ("a</think>b", "a", "b"),
        ("<think>a", "a", ""),
        ("x<think>a<think>b</think>c</think>y", "a<think>b</think>c", "xy"),
        ("a < b <b>c</b>", "", "a < b <b>c</b>"),
    ],
)
def test_thinking_is_parted_from_what_is_said(text: str, thoughts: str, said: str) -> None:
    assert part_thinking(text) == (thoughts, said)


@given(hostile)
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    plan = parse_plan(text)

    assert all(call.tool in text for call in plan.calls or ())
    assert CallPlan.model_validate(plan.model_dump(mode="json")) == plan


@given(named_calls)
def test_written_calls_are_read_back(planned: list[tuple[str, dict[str, Any]]]) -> None:
    named = [(name.strip(), arguments) for name, arguments in planned if name.strip()]
    written = [{"callId": "", "toolName": name, "arguments": args} for name, args in named]

    found = calls(f"Plan: p\nTool Calls: {json.dumps(written)}")

    assert found == [("", name, arguments) for name, arguments in named]


@given(hostile, st.integers(1, 9))
def test_a_reply_in_any_chunks_is_shown_and_read_as_the_whole_of_it(text: str, size: int) -> None:
    reader, whole = PlanReader(), PlanReader()

    shown = [d.text for i in range(0, len(text), size) for d in reader.feed(text[i : i + size])]
    shown += [delta.text for delta in reader.finish()]
    list(whole.feed(text))
    list(whole.finish())

    assert "".join(shown) == reader.text
    assert (reader.text, reader.plan) == (whole.text, whole.plan)


@given(hostile, st.integers(1, 9))
def test_no_mark_of_thinking_is_ever_said(text: str, size: int) -> None:
    reader = ThinkingReader()

    found = [p for i in range(0, len(text), size) for p in reader.feed(text[i : i + size])]
    found += reader.finish()

    assert not re.search(r"</?think(?:ing)?>", "|".join(piece.text for piece in found))


@pytest.mark.parametrize(
    ("reply", "content", "decision"),
    [
        ('{"content": "ok", "nextStepDecision": "continue"}', "ok", "continue"),
        ('<think>why</think>```json\n{"content": "ok"}\n```', "ok", None),
        ('{"content": }', '{"content": }', None),
        ("plain words", "plain words", None),
        ('{"content": 7, "nextStepDecision": []}', "", None),
    ],
)
def test_a_json_reply_says_its_content_or_is_content(
    reply: str, content: str, decision: str | None
) -> None:
    execution = parse_execution(reply)

    assert (execution.content, execution.decision) == (content, decision)


def test_a_todo_list_is_a_plan_of_numbered_steps() -> None:
    todo = [{"id": "a", "description": "look"}, {"id": "b", "description": "tell"}]
    reply = json.dumps({"nextStepDecision": "update_plan", "updatedPlan": {"todoList": todo}})

    plan = parse_plan(reply)

    assert (plan.plan, plan.calls) == ("1. look\n2. tell", None)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (None, None, ((), (), ())),
        ({"1": "a"}, {"1": "a", "2": "b"}, (("2",), (), ())),
        ({"1": "a", "2": "b"}, {"1": "c"}, ((), ("1",), ("2",))),
    ],
)
def test_the_changes_of_a_plan_are_told_by_step(
    before: dict[str, str] | None, after: dict[str, str] | None, changes: tuple[Any, ...]
) -> None:
    assert plan_changes(before, after) == changes


@given(hostile)
def test_any_text_is_read_as_an_execution_without_an_error(text: str) -> None:
    assert all(call.tool in text for call in parse_execution(text).calls or ())
