"""Structured replies: read as meant in any shape, never made up, however hostile."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.events import ThoughtDelta
from agents.reading.structured.fields import clamped_confidence, complaints, mended_shorthand
from agents.reading.structured.parse import Structured, parse_structured
from agents.reading.structured.reply import StructuredReader

TOOLS = ("click", "search")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
PIECES = [
    *(
        "{",
        "}",
        '"',
        "\\",
        "thought",
        '"thought":',
        '"action":',
        "<think>",
        "</think>",
        "```json\n",
    ),
    *("```", "<thought>", "</thought>", '<action tool="a">', '<param name="b">', "</action>", "\n"),
    *(
        "Thought:",
        "Action:",
        "Action Input:",
        "I need to go.",
        "x",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\x00",
    ),
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)


def read(text: str) -> Structured:
    return parse_structured(text, TOOLS)


def stepped(thought: str, tool: str, parameters: dict[str, Any]) -> str:
    return json.dumps({"thought": thought, "action": {"tool": tool, "parameters": parameters}})


def streamed(text: str, sizes: Sequence[int]) -> tuple[StructuredReader, str]:
    reader, shown, at = StructuredReader(TOOLS), list[str](), 0
    for number in range(len(text)):
        size = sizes[number % len(sizes)]
        shown += [delta.text for delta in reader.feed(text[at : at + size])]
        at += size
    shown += [delta.text for delta in reader.finish() if isinstance(delta, ThoughtDelta)]
    return reader, "".join(shown)


@given(
    thought=st.text(min_size=1, max_size=40),
    tool=st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    parameters=st.dictionaries(st.text(max_size=8), JSON, max_size=4),
)
def test_what_is_written_as_asked_is_read_back(
    thought: str, tool: str, parameters: dict[str, Any]
) -> None:
    reply = read(stepped(thought, tool, parameters))

    if "\x00" not in json.loads(f'"{tool}"') and thought.strip():
        assert (reply.format, reply.tool) == ("json", tool)
        assert reply.parameters.keys() == {name.replace("\x00", "\ufffd") for name in parameters}


@given(text=HOSTILE)
def test_no_text_raises_and_what_is_read_can_be_stored(text: str) -> None:
    reply = read(text)

    json.dumps(reply.model_dump(), allow_nan=False).encode()
    assert (reply.error is None) == (reply.thought is not None or reply.tool is not None)
    assert 0 <= reply.confidence <= 1


@given(text=HOSTILE, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_chunks_do_not_matter(text: str, sizes: list[int]) -> None:
    reader, shown = streamed(text, sizes)
    whole, at_once = streamed(text, [max(1, len(text))])

    assert reader.reply == whole.reply == read(text)
    assert shown == at_once == reader.thought


@pytest.mark.parametrize(
    "unit",
    [
        *("{", "}", '{"a":', '"', "\\", "[", "<thought>", '<action tool="a">', '<param name="a">'),
        *("```\n", "Thought: a\n", "Action: a\n", "a: b\n", "I think \n", "I'll use ", "url "),
        *("<think>", "</think>", "<tool>", "<action ", ' a="b"', '{"thought":"', " ", "\n"),
    ],
)
@pytest.mark.parametrize("before", ["", '<action tool="x">', "Action: x\nParameters:\n", '{"a":"'])
def test_a_hostile_megabyte_is_read_to_its_end(before: str, unit: str) -> None:
    reply = read(f"{before}{unit * (1_000_000 // len(unit))}\n<thought>t</thought>")

    assert len(reply.parameters) <= 20_000


def test_an_object_that_breaks_off_in_a_text_is_marked_so() -> None:
    reply = read('{"thought": "t", "action": {"tool": "click", "parameters": {"selector": "#lo')

    assert (reply.tool, reply.is_half) == ("click", True)


@pytest.mark.parametrize(
    "text",
    [
        '{"thought": "t", "action": {"tool": "click", "parameters": {"selector": "#b"},},}',
        '```json\r\n{"thinking": "t", "action": {"name": "click", "params": {"selector": "#b"}}}',
        '<think>{"thought": "no"}</think>{"thought": "t", "click": {"selector": "#b"}}',
        'no { yet</think>{"thought": "t", "action": "click", "action_input": {"selector": "#b"}}',
        '**Thought:** t\r\n**Action:** click\r\n**Action Input:** {"selector": "#b"}\r\nAction: no',
        "<thinking>t</thinking><action><tool>click</tool><parameters>"
        '{"selector": "#b"}</parameters></action>',
        "<thought>t<action name='click' selector='#b'>",
    ],
)
def test_what_is_meant_is_read(text: str) -> None:
    reply = read(text)

    assert (reply.thought, reply.tool, reply.parameters) == ("t", "click", {"selector": "#b"})


def test_a_mark_of_thinking_within_a_value_belongs_to_it() -> None:
    reply = read(stepped("t", "search", {"query": "a <think> b"}))

    assert reply.parameters == {"query": "a <think> b"}


def test_parameters_that_are_no_object_are_no_action() -> None:
    reply = read('{"thought": "t", "action": {"tool": "click", "parameters": "#b"}}')

    assert reply.tool is None
    assert reply.value is not None
    assert complaints(reply.value) == ["'action.parameters' must be an object, got str"]


def test_an_invented_observation_ends_the_reply() -> None:
    reply = read("Thought: t\nObservation: 5\nAction: click\nFinal Answer: 5")

    assert reply.tool is None


def test_a_final_answer_in_plain_language_completes() -> None:
    reply = read("Thought: t\nFinal Answer: all\nof it")

    assert (reply.tool, reply.parameters) == ("complete", {"result": "all\nof it"})


def test_the_best_branch_is_taken_where_none_is_selected() -> None:
    branches = [
        {"branch_id": 1, "overall_score": 0.2, "tools_needed": ["search"]},
        {"branch_id": 2, "overall_score": "high", "tools_needed": ["search"]},
        {
            "branch_id": 3,
            "overall_score": 0.9,
            "tools_needed": ["click"],
            "reasoning": "it is near",
        },
    ]
    reply = read(json.dumps({"tree_of_thoughts": {"branches": branches}}))

    assert (reply.tool, reply.parameters) == ("click", {})
    assert "it is near" in str(reply.thought)


@given(value=st.dictionaries(st.sampled_from(["thought", "action", "confidence", "click"]), JSON))
def test_any_object_is_mended_and_judged(value: dict[str, Any]) -> None:
    mended = mended_shorthand(value, TOOLS)

    assert mended_shorthand(mended, TOOLS) == mended
    assert 0 <= clamped_confidence(mended) <= 1
    assert all(isinstance(complaint, str) for complaint in complaints(mended))
