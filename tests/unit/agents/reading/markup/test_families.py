"""What is made of calls in the markup of each family, in any pieces."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.errors import InvalidInputs
from agents.reading.action_reply import ActionReader
from agents.reading.markup.conclusion import Reading
from agents.reading.markup.form import FormReader
from agents.reading.markup.inputs import inputs_of
from agents.reading.markup.reader import MarkedReader
from agents.reading.text_reply import ReplyReader
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit


@tool()
def ferry(port: str, seats: int = 1, nights: list[int] | None = None) -> str:
    """Book a ferry."""
    return f"{port} {seats} {nights}"


@tool()
def tides() -> str:
    """Tell the tides."""
    return "high"


TOOLKIT = Toolkit([ferry, tides])
FORMS: dict[str, Callable[[], FormReader]] = {"text": ReplyReader, "action": ActionReader}
BERGEN: list[tuple[str, dict[str, Any]]] = [("ferry", {"port": "Bergen", "seats": 2})]
BOTH = [*BERGEN, ("tides", {})]
OBJECT = '{"name": "ferry", "arguments": {"port": "Bergen", "seats": 2}}'
TIDES = '{"name": "tides", "arguments": {}}'
ARGUMENTS = '{"port": "Bergen", "seats": 2}'

FAMILIES = {
    "tags": (f"<tool_call>\n{OBJECT}\n</tool_call>", BERGEN),
    "tags, two": (f"<tool_call>{OBJECT}</tool_call>\n<tool_call>{TIDES}</tool_call>", BOTH),
    "tags of a namespace": (f"<acme:tool_call>{OBJECT}</acme:tool_call>", BERGEN),
    "tags around a list": (f"<tool_calls>[{OBJECT}, {TIDES}]</tool_calls>", BOTH),
    "a function tag": (f"<function_call>{OBJECT}</function_call>", BERGEN),
    "no closing tag": (f"<tool_call>{OBJECT}", BERGEN),
    "the function's name in a tag": (f"<function=ferry>{ARGUMENTS}</function>", BERGEN),
    "inputs in tags": (
        "<tool_call><function=ferry><parameter=port>\nBergen\n</parameter>"
        "<parameter=seats>2</parameter></function></tool_call>",
        BERGEN,
    ),
    "invoked": (
        '<function_calls><invoke name="ferry"><parameter name="port">Bergen</parameter>'
        '<parameter name="seats">2</parameter></invoke><invoke name="tides"></invoke>'
        "</function_calls>",
        BOTH,
    ),
    "keys and values": (
        "<tool_call>ferry\n<arg_key>port</arg_key>\n<arg_value>Bergen</arg_value>\n"
        "<arg_key>seats</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
        BERGEN,
    ),
    "token marks": (
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>ferry"
        f"<\uff5ctool\u2581sep\uff5c>{ARGUMENTS}<\uff5ctool\u2581call\u2581end\uff5c>",
        BERGEN,
    ),
    "token marks and a fence": (
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function"
        f"<\uff5ctool\u2581sep\uff5c>ferry\n```json\n{ARGUMENTS}\n```<\uff5ctool\u2581call\u2581end\uff5c>",
        BERGEN,
    ),
    "sections": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.ferry:0"
        f"<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
        BERGEN,
    ),
    "brackets": (f"[TOOL_CALLS][{OBJECT}, {TIDES}]", BOTH),
    "brackets and a name": (f"[TOOL_CALLS]ferry[ARGS]{ARGUMENTS}", BERGEN),
    "channels": (
        "<|channel|>analysis<|message|>Where to?<|end|><|start|>assistant<|channel|>commentary "
        f"to=functions.ferry <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
        BERGEN,
    ),
    "python in marks": ("<|python_start|>[ferry(port='Bergen', seats=2)]<|python_end|>", BERGEN),
    "python in a fence": ('```tool_code\nferry(port="Bergen", seats=2)\n```', BERGEN),
    "python alone": ('[ferry(port="Bergen", seats=2), tides()]', BOTH),
    "quotes of its own": (
        '<|tool_call>call:ferry{port:<|"|>Bergen<|"|>,seats:2}<tool_call|>',
        BERGEN,
    ),
    "a word before a list": (f"functools[{OBJECT}]", BERGEN),
    "a plugin": (f"<|action_start|><|plugin|>{OBJECT}<|action_end|>", BERGEN),
    "an action in capitals": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "ferry", "parameters": '
        f"{ARGUMENTS}}}]<|END_ACTION|>",
        BERGEN,
    ),
    "a name and an object": (f"ferry\n{ARGUMENTS}", BERGEN),
    "an object": (OBJECT, BERGEN),
    "an object in a fence": (f"So:\n```json\n{OBJECT}\n```", BERGEN),
    "a list in prose": (f"I book it.\n[{OBJECT}, {TIDES}]", BOTH),
    "the inner form of parallel calls": (
        f'{{"tool_uses": [{{"recipient_name": "functions.ferry", "parameters": {ARGUMENTS}}}]}}',
        BERGEN,
    ),
    "an object of the labels": (f'{{"action": "ferry", "action_input": {ARGUMENTS}}}', BERGEN),
    "a call as OpenAI has it": (
        '{"type": "function", "function": {"name": "ferry", "arguments": '
        '"{\\"port\\": \\"Bergen\\", \\"seats\\": 2}"}}',
        BERGEN,
    ),
    "labels as headings": (f"### Action\nferry\n\n### Action Input\n{ARGUMENTS}", BERGEN),
    "labels in German": (f"Gedanke: Los.\nAktion: ferry\nAktionseingabe: {ARGUMENTS}", BERGEN),
    "labels in a list": (
        f"1. Thought: Go.\n2. Action: ferry\n3. Action Input: {ARGUMENTS}",
        BERGEN,
    ),
    "a call behind the label": ('Action: ferry(port="Bergen", seats=2)', BERGEN),
}


def read(reply: str, form: str, size: int) -> Reading:
    """Return what a reply in pieces of this size comes to."""
    reader = MarkedReader(FORMS[form], TOOLKIT.knows)
    for start in range(0, len(reply), size):
        list(reader.feed(reply[start : start + size]))
    list(reader.finish())
    return reader.reading


def calls(reading: Reading) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls under the tools' names, their inputs fitted."""
    tools = [TOOLKIT.get(action.tool or "") for action in reading.actions]
    pairs = zip(tools, reading.actions, strict=True)
    return [(one.name, inputs_of(one, action.inputs)) for one, action in pairs]


@pytest.mark.parametrize(("reply", "expected"), FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_call_is_read_in_the_markup_of_its_family(
    reply: str, expected: list[tuple[str, dict[str, Any]]], form: str, size: int
) -> None:
    assert calls(read(reply, form, size)) == expected


@pytest.mark.parametrize("reply", [reply for reply, _ in FAMILIES.values()], ids=FAMILIES)
@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_breaks_off_within_a_value_is_none_and_no_answer(reply: str, form: str) -> None:
    reading = read(reply[: reply.index("Bergen") + 3], form, 7)

    if reading.actions:  # labelled inputs are refused when the tool's schema is asked
        with pytest.raises(InvalidInputs):
            calls(reading)
    assert not reading.answer
    assert not reading.prose


WITHOUT_CHANNELS = {name: one for name, one in FAMILIES.items() if name != "channels"}
"""All that a template may have opened the thought of; channels have thoughts of their own."""


@pytest.mark.parametrize(
    "reply", [reply for reply, _ in WITHOUT_CHANNELS.values()], ids=WITHOUT_CHANNELS
)
@pytest.mark.parametrize("thinks_first", [None, True])
def test_a_draft_before_the_end_of_a_thought_is_only_thought(
    reply: str, thinks_first: bool | None
) -> None:
    reader = MarkedReader(ReplyReader, TOOLKIT.knows, thinks_first=thinks_first)
    for piece in (reply, "\n</think>\n", "Final Answer: No ferry."):
        list(reader.feed(piece))
    list(reader.finish())

    assert reader.thought_first
    assert (reader.reading.actions, reader.reading.answer) == ((), "No ferry.")


ANSWERS = {
    "Sail at noon.": "Final Answer: Sail at noon.",
    "in other words": "Answer: Sail at noon.",
    "bold": "**Final Answer**\n\nSail at noon.",
    "behind a thought": "<think>When?</think>\nFinal Answer: Sail at noon.",
    "in tags": "<think>When?</think><answer>Sail at noon.</answer>",
    "in a channel": (
        "<|channel|>analysis<|message|>When?<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Sail at noon.<|return|>"
    ),
    "as an action": "Action: Finish[Sail at noon.]",
    "as an object": '{"action": "Final Answer", "action_input": "Sail at noon."}',
    "between marks": "<final_answer>Sail at noon.</final_answer>",
    "with an end mark": "Final Answer: Sail at noon.<|im_end|>\n<|im_start|>user\nMore?",
    "as responded": 'Action: respond\nAction Input: {"message": "Sail at noon."}',
}


@pytest.mark.parametrize("reply", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 10_000])
def test_an_answer_is_read_without_its_marks(reply: str, form: str, size: int) -> None:
    assert read(reply, form, size).answer == "Sail at noon."


PROSE = {
    "a greeting": ("Ahoy! Where to?", "Ahoy! Where to?"),
    "with a role": ("Assistant: Ahoy!", "Ahoy!"),
    "thought aloud": ("<think>Hm.</think>Ahoy!", "Ahoy!"),
    "words about a mark": ("Write `<tool_call>` before it.", "Write `<tool_call>` before it."),
    "an object that is no call": ('It is {"port": "Bergen"}.', 'It is {"port": "Bergen"}.'),
    "a labelled thought": ("Thought: Which port?", ""),
    "an object alone": ('{"port": "Bergen"}', ""),
    "nothing": (" \n", ""),
    "an end mark": ("<|im_end|>", ""),
    "only thought": ("<think>Hm.", ""),
}


@pytest.mark.parametrize(("reply", "expected"), PROSE.values(), ids=PROSE)
@pytest.mark.parametrize("form", FORMS)
def test_prose_is_what_a_person_can_be_shown(reply: str, expected: str, form: str) -> None:
    reading = read(reply, form, 3)

    assert (reading.prose, reading.actions, reading.answer) == (expected, (), "")


def test_a_call_within_an_answer_is_an_example() -> None:
    reading = read(f"Final Answer: Write\n<tool_call>{OBJECT}</tool_call>", "text", 5)

    assert not reading.actions
    assert OBJECT in reading.answer


def test_of_two_calls_none_is_taken_where_one_cannot_be_read() -> None:
    reading = read(f'<tool_calls>[{OBJECT}, {{"name": "tides", "arguments": {{x}}]', "text", 9)

    assert not reading.actions
    assert reading.error
