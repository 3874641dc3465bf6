"""Replies of the self-repairing format: reasoning, then one action or the answer, in any chunks."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.events import AnswerDelta, ThoughtDelta
from agents.reading.action import WrittenAction
from agents.reading.action_reply import ActionReader, ActionReply

CALC = WrittenAction("calc", {"a": 1})


def read(text: str, size: int | None = None) -> tuple[ActionReply, str, str]:
    """Return what was read, and what was shown as thought and as answer."""
    reader = ActionReader()
    events: list[ThoughtDelta | AnswerDelta] = []
    step = size or max(1, len(text))
    for start in range(0, len(text), step):
        events += reader.feed(text[start : start + step])
    events += reader.finish()
    thought = "".join(event.text for event in events if isinstance(event, ThoughtDelta))
    answer = "".join(event.text for event in events if isinstance(event, AnswerDelta))
    return reader.reply, thought, answer


@pytest.mark.parametrize(
    "text",
    [
        'look.\nAction: {"tool": "calc", "inputs": {"a": 1}}',
        'look.\r\nAction: {"tool": "calc", "inputs": {"a": 1}}\r\n',
        'look.\n**Action:** {"tool": "calc", "inputs": {"a": 1}}',
        'look.\n**Action**: {"tool": "calc", "inputs": {"a": 1}}',
        'look.\n### Action:\n{"tool": "calc", "inputs": {"a": 1}}',
        'look.\nACTION 1: {"tool": "calc", "inputs": {"a": 1}}',
        'look.\nAction:\n```json\n{"tool": "calc", "inputs": {"a": 1}}\n```\nDone.',
        'look.\n```json\nAction: {"tool": "calc", "inputs": {"a": 1}}\n```',
        'look.\n```\n{"tool": "calc", "inputs": {"a": 1}}\n```',
        'look.\n{"tool": "calc", "inputs": {"a": 1}}',
        'look. Action: {"tool": "calc", "inputs": {"a": 1}} // and wait',
        'look.\nAction: [{"tool": "calc", "inputs": {"a": 1}}]',
        'look.\nAction: I call {"tool": "calc", "inputs": {"a": 1}}',
        'look.\nAction: {"name": "calc", "arguments": "{\\"a\\": 1}"}',
        'look.\nAction: {"function": {"name": "calc", "arguments": {"a": 1}}}',
        'look.\nAction: calc\nAction Input: {"a": 1}\nObservation: 7',
        'look.\nAction: `calc`\nAction Input:\n```json\n{"a": 1}\n```',
        'look.\nAction: [calc] Action Input: here you go: {"a": 1} trailing',
        'look.\nAction: calc {"a": 1}',
        'look.\n<tool_call>{"name": "calc", "arguments": {"a": 1}}</tool_call>',
        "look.\n<|tool_call>call:calc{a=1}<tool_call|>",
        'look.\n[TOOL_CALLS][{"name": "calc", "arguments": {"a": 1}}]',
        'look.\n[TOOL_CALLS]calc[ARGS]{"a": 1}',
        'look.\nAction: {"tool": "calc", "inputs": {"a": 1}}\nAction: {"tool": "b", "inputs": {}}',
        'look.\nAction: {"tool": "calc", "inputs": {"a": 1}}<__final_answer__>7</__final_answer__>',
        'look.\nAction: {"tool": null, "inputs": {}}\nAction: {"tool": "calc", "inputs": {"a": 1}}',
    ],
)
@pytest.mark.parametrize("size", [None, 1, 7])
def test_the_first_action_is_read_and_nothing_of_it_is_shown(text: str, size: int | None) -> None:
    reply, thought, answer = read(text, size)

    assert reply.action == CALC
    assert (thought, answer) == ("look.", "")


@pytest.mark.parametrize(
    ("given", "is_final"), [("true", True), ('"True"', True), ('"false"', False), ("null", False)]
)
def test_the_flag_says_only_what_the_model_means_to_do(given: str, is_final: bool) -> None:
    text = f'Action: {{"tool": "calc", "inputs": {{"a": 1}}, "final_answer": {given}}}'

    assert read(text)[0].action == WrittenAction("calc", {"a": 1}, is_final)


@pytest.mark.parametrize(
    ("written", "tool"),
    [('"calc"', "calc"), ("5", "5"), ('"`calc`"', "calc"), ('"[calc]"', "calc"), ("1.5", "1.5")],
)
def test_a_tool_is_named_as_models_name_it(written: str, tool: str) -> None:
    action = read(f'Action: {{"tool": {written}}}')[0].action

    assert action == WrittenAction(tool, {})


@pytest.mark.parametrize("name", ["null", '""', '"none"', '"None"', '"N/A"'])
def test_no_tool_is_no_action(name: str) -> None:
    reply = read(f'done\nAction: {{"tool": {name}, "inputs": {{}}}}\nso far')[0]

    assert (reply.action, reply.error) == (None, "")


@pytest.mark.parametrize("inputs", ["[1, 2]", '"a=1"', "7", "true"])
def test_inputs_are_an_object_or_an_error(inputs: str) -> None:
    reply = read(f'so\nAction: {{"tool": "calc", "inputs": {inputs}}}')[0]

    assert (reply.action, reply.error) == (None, "The inputs of an action must be a JSON object.")
    assert reply.broken.startswith("{")


@pytest.mark.parametrize("inputs", ["null", "{}", "[]", '""'])
def test_empty_inputs_are_none(inputs: str) -> None:
    assert read(f'Action: {{"tool": "calc", "inputs": {inputs}}}')[0].action == WrittenAction(
        "calc"
    )


@pytest.mark.parametrize("value", ["path = a.txt", '"x"', "{broken", "[1, 2]"])
def test_an_action_input_that_is_no_object_is_an_error(value: str) -> None:
    reply = read(f"so\nAction: read\nAction Input: {value}")[0]

    assert reply.action is None
    assert reply.error


def test_a_cut_reply_is_no_action_even_where_it_could_be_closed() -> None:
    reader = ActionReader()
    list(reader.feed('so\nAction: {"tool": "send", "inputs": {"text": "hello", "to": 12'))

    list(reader.finish(is_cut=True))

    assert (reader.reply.action, reader.reply.error) == (None, "The action breaks off.")


@pytest.mark.parametrize(
    "text",
    [
        "x\n<__final_answer__>one\n\ntwo</__final_answer__>",
        "x\n<__final_answer__>\none\n\ntwo\n</__final_answer__> and more",
        "x\n<final_answer>one\n\ntwo</final_answer>",
        "x\n<__final_answer__>one\n\ntwo",
        "x\nFinal Answer: one\n\ntwo",
        "x\n**Final Answer:** one\n\ntwo",
        "x\nFinal Answer:\n<__final_answer__>one\n\ntwo</__final_answer__>",
        "x\nFinal Answer: one\n\ntwo\nObservation: 7",
        'x\nFinal Answer: one\n\ntwo<__final_answer__></__final_answer__>Action: {"tool": "a"}',
        "Thought: x\n<__final_answer__>one\n\ntwo</__final_answer__>",
        "<think>x</think>\n<__final_answer__>one\n\ntwo</__final_answer__>",
        'x\nAction: {"tool": null}\n<__final_answer__>one\n\ntwo</__final_answer__>',
    ],
)
@pytest.mark.parametrize("size", [None, 1, 5])
def test_the_answer_is_shown_without_its_marks(text: str, size: int | None) -> None:
    reply, thought, answer = read(text, size)

    assert (reply.thought, reply.answer) == (thought, answer) == ("x", "one\n\ntwo")
    assert reply.action is None


def test_an_answer_between_marks_may_hold_anything() -> None:
    answer = '42\nFinal Answer: 43\nObservation: 3\n```\nAction: {"tool": "x"}\n```\n<b> a < b'

    assert read(f"x<__final_answer__>{answer}</__final_answer__>", 3)[2] == answer


def test_a_label_at_the_begin_of_an_answer_between_marks_is_dropped() -> None:
    text = "x<__final_answer__>**Final Answer:** 72 F</__final_answer__>"

    assert read(text, 3)[2] == "72 F"


def test_an_action_in_what_is_thought_aloud_is_none() -> None:
    reply, thought, _ = read('<think>Action: {"tool": "decoy"}</think>\nAction: {"tool": "real"}')

    assert reply.action == WrittenAction("real")
    assert "decoy" in thought


def test_an_invented_observation_ends_the_reply() -> None:
    reply = read('so\nObservation: 7\nAction: {"tool": "calc"}')[0]

    assert reply == ActionReply(thought="so")


def test_marks_of_thinking_inside_an_input_are_kept() -> None:
    code = "print('<think>') # </think>\r\n<__final_answer__>"

    action = read(f"so\nAction: {json.dumps({'tool': 'run', 'inputs': {'code': code}})}", 4)[0]

    assert action.action == WrittenAction("run", {"code": code})


def test_reasoning_said_aloud_stands_before_the_reply() -> None:
    reader = ActionReader()
    list(reader.think_aloud("Let me see."))
    list(reader.feed("Thought: so\nFinal Answer: 1"))
    list(reader.finish())

    assert reader.reply == ActionReply(thought="Let me see.\n\nso", answer="1")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
PIECES = st.lists(
    st.sampled_from(
        [
            *("Action:", "Action: ", "**Action:**", "Final Answer:", "Thought:", "Observation: "),
            *("<think>", "</think>", "<__final_answer__>", "</__final_answer__>", "<tool_call>"),
            *("[TOOL_CALLS]", "[ARGS]", "call:", "```json\n", "```", "\n", "\r\n", " ", "{", "}"),
            *('{"tool": "calc"', '"inputs": ', ', "a": 1', "null", '"', "\\", "word", "<", "<__"),
            *("Action Input: ", "none", "[", "]", ",", ":", "=", "\x00", "\ud800", "é"),
        ]
    ),
    max_size=25,
)


@given(PIECES, st.integers(1, 9))
@example(["<think>", "</think>", "Final Answer:", "x"], 1)
@example(['{"tool": "calc"', "Action:", "}", "Action:"], 1)
def test_any_text_in_any_chunks_says_the_same(pieces: list[str], size: int) -> None:
    text = "".join(pieces)

    whole, in_chunks = read(text), read(text, size)

    assert in_chunks == whole
    reply, thought, answer = whole
    assert (reply.thought, reply.answer) == (thought, answer)
    assert "__final_answer__>" not in answer


@given(
    TEXTS,
    st.dictionaries(
        TEXTS,
        st.integers(-99, 99) | st.text("ab{}\"'\\\n,`<>:") | st.lists(st.booleans()),
    ),
)
def test_an_obedient_action_is_read_back_exactly(tool: str, inputs: dict[str, Any]) -> None:
    name = f"t{tool}t"
    text = f"so\nAction: {json.dumps({'tool': name, 'inputs': inputs, 'final_answer': False})}"

    assert read(text, 11)[0].action == WrittenAction(name, inputs)


@pytest.mark.parametrize("before", ["", "<__final_answer__>", 'Action: {"tool": "x", "a": '])
@pytest.mark.parametrize(
    "unit",
    ["<", "`", "\n", "{", '"', "Action: none\n", "<think></think>", "```json\n", "-> ", "\\", "a"],
)
def test_a_hostile_megabyte_is_read_to_its_end(before: str, unit: str) -> None:
    hostile = unit * (1_000_000 // len(unit))

    reply = read(before + hostile)[0]

    assert len(reply.thought + reply.answer + reply.broken) <= len(before + hostile)
