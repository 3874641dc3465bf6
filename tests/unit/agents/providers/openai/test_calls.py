"""Native calls of OpenAI's dialect arrive as data, however a server cuts and names them."""

import json
from typing import Any

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ProviderRefused, ProviderTruncated
from agents.providers.base import CallDelta, Finish, ModelRequest, NativeCall, Token
from tests.unit.agents.providers.calls import Ask, ProviderOf
from tests.unit.agents.providers.wire import Wire

REQUEST = ModelRequest(purpose=Purpose.THINK, messages=[Message(role=Role.USER, content="hello")])
WEIGH = ("weigh", {"what": "a plum"})
PEEL = ("peel", {"what": "a plum"})


def piece(text: Any = None, **named: Any) -> dict[str, Any]:
    """Write a piece of a call: `text` is more of its arguments."""
    function = {"arguments": text} if text is not None else {}
    if "name" in named:
        function["name"] = named.pop("name")
    return {**named, "function": function}


def answered(provider_of: ProviderOf, wire: Wire, *deltas: Any, reason: str = "tool_calls") -> Any:
    """Return what comes of a stream of these deltas."""
    events = [Wire.event({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    end = Wire.event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    wire.answers(Wire.STREAM, *events, end, Wire.event("[DONE]"), b"0\r\n\r\n")
    provider = provider_of(wire.base_url)
    return list(provider.stream(provider.body(REQUEST), Control(60)))


def calls_of(items: list[Any]) -> list[tuple[str, Any]]:
    made = [item for item in items if isinstance(item, NativeCall)]
    return [(one.name, None if one.call is None else one.call.inputs) for one in made]


WHOLE = '{"what": "a plum"}'


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([piece(WHOLE, name="weigh", index=0, id="a")], [WEIGH]),
        ([piece(WHOLE, name="weigh")], [WEIGH]),
        ([piece({"what": "a plum"}, name="weigh", index="0")], [WEIGH]),
        ([piece('{"what": ', name="weigh", index=0), piece('"a plum"}', index=0)], [WEIGH]),
        ([piece('{"what": ', name="weigh", index=4), piece('"a plum"}', index=5)], [WEIGH]),
        ([piece('{"what": ', name="weigh", id="a"), piece('"a plum"}', id="a")], [WEIGH]),
        (
            [
                piece('{"what": ', name="weigh", index=0, id="a"),
                piece('"a plum"}', name="weigh", index=0, id="a"),
            ],
            [WEIGH],
        ),
        ([piece(name="weigh", index=0), piece(WHOLE, name="", index=0)], [WEIGH]),
        ([piece(name="weigh", index=0), piece(WHOLE, name=None, index=0)], [WEIGH]),
        ([piece("{}", name="weigh", index=0), piece(WHOLE, index=0)], [WEIGH]),
        ([piece('{"what"', name="weigh", index=0), piece(WHOLE, index=0)], [WEIGH]),
        ([piece(WHOLE, name="weigh", index=0), piece(WHOLE, name="weigh", id="")], [WEIGH, WEIGH]),
        ([piece(WHOLE, name="weigh", index=0), piece("", name="weigh", index=0)], [WEIGH]),
        (
            [
                piece(WHOLE, name="weigh", index=0, id="a"),
                piece(WHOLE, name="peel", index=0, id="b"),
            ],
            [WEIGH, PEEL],
        ),
        ([piece(WHOLE, name="weigh", index=0), piece(WHOLE, name="peel", index=0)], [WEIGH, PEEL]),
        ([piece(WHOLE, name="weigh", index=1), piece(WHOLE, name="peel", index=3)], [WEIGH, PEEL]),
        ([piece(WHOLE, name="weigh"), piece(WHOLE, name="peel")], [WEIGH, PEEL]),
        ([piece(WHOLE, name="functions.weigh", index=0)], [WEIGH]),
        ([piece(name="rest", index=0, id="a")], [("rest", {})]),
        ([piece("null", name="rest", index=0)], [("rest", {})]),
        ([piece(json.dumps(WHOLE), name="weigh", index=0)], [WEIGH]),
        ([piece("[1]", name="weigh", index=0)], [("weigh", None)]),
        ([piece('{"what": "a pl', name="weigh", index=0)], [("weigh", None)]),
        ([piece(WHOLE, index=0, id="a")], [("", None)]),
        ([{"index": 0, "name": "weigh", "arguments": WHOLE}], [WEIGH]),
    ],
)
def test_calls_are_put_together_from_their_pieces(
    provider_of: ProviderOf, wire: Wire, pieces: list[Any], calls: list[Any]
) -> None:
    items = answered(provider_of, wire, *({"tool_calls": [one]} for one in pieces))

    assert calls_of(items) == calls


def test_two_calls_of_one_chunk_are_two(provider_of: ProviderOf, wire: Wire) -> None:
    both = [piece(WHOLE, name="weigh"), piece(WHOLE, name="peel")]

    assert calls_of(answered(provider_of, wire, {"tool_calls": both})) == [WEIGH, PEEL]


def test_the_one_call_of_the_older_protocol_is_read(provider_of: ProviderOf, wire: Wire) -> None:
    begins = {"function_call": {"name": "weigh", "arguments": ""}}
    more = {"function_call": {"arguments": WHOLE}}

    assert calls_of(answered(provider_of, wire, begins, more, reason="function_call")) == [WEIGH]


def test_a_call_is_told_as_it_grows_and_comes_whole_behind_the_text(
    provider_of: ProviderOf, wire: Wire
) -> None:
    begins = {"content": "Let me see.", "tool_calls": [piece(name="weigh", index=0, id="a")]}
    items = answered(provider_of, wire, begins, {"tool_calls": [piece(WHOLE, index=0)]})

    *others, made, end = items
    assert [item for item in others if isinstance(item, CallDelta)] == [
        CallDelta(index=0, name="weigh"),
        CallDelta(index=0, name="weigh", text=WHOLE),
    ]
    assert made == NativeCall(index=0, id="a", name="weigh", arguments=WHOLE)
    assert end == Finish(stop_reason="tool_calls")


def test_what_a_server_wants_back_comes_with_the_call(provider_of: ProviderOf, wire: Wire) -> None:
    signed = piece(WHOLE, name="weigh", index=0, id="a", extra_content={"google": {"s": "x"}})
    details = [{"type": "reasoning.text", "text": text, "index": 0} for text in ("I ", "see.")]
    thoughts = [{"reasoning": one["text"], "reasoning_details": [one]} for one in details]

    items = answered(provider_of, wire, *thoughts, {"tool_calls": [signed]})

    (made,) = (item for item in items if isinstance(item, NativeCall))
    whole = {"type": "reasoning.text", "text": "I see.", "index": 0}
    signature = {"extra_content": {"google": {"s": "x"}}}
    assert made.kept == ({"reasoning_details": [whole]}, signature)
    assert "".join(item.text for item in items if isinstance(item, Token)) == "I see."


def test_a_reply_that_says_it_calls_and_does_not_is_cut(
    provider_of: ProviderOf, wire: Wire
) -> None:
    with pytest.raises(ProviderTruncated, match="not which"):
        answered(provider_of, wire, {"content": "One moment."})


def test_a_refusal_is_no_answer(provider_of: ProviderOf, wire: Wire) -> None:
    pieces = [{"content": None, "refusal": text} for text in ("", "That I will", " not do.")]

    with pytest.raises(ProviderRefused, match=r"declined to answer \(That I will not do\.\)"):
        answered(provider_of, wire, *pieces, reason="stop")


def test_content_in_parts_is_text_and_thoughts(ask: Ask, wire: Wire) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    said = {"type": "text", "text": "Plums."}
    chunk = {"choices": [{"delta": {"content": [thought, said]}, "finish_reason": "stop"}]}
    wire.answers(Wire.STREAM, Wire.event(chunk), Wire.event("[DONE]"), b"0\r\n\r\n")

    reply = ask(wire.base_url)

    assert (reply.reasoning, reply.answer) == ("Hm.", "Plums.")


def test_a_second_choice_is_not_mixed_in(ask: Ask, wire: Wire) -> None:
    other = Wire.event({"choices": [{"index": 1, "delta": {"content": "Pears."}}]})
    wire.answers(Wire.STREAM, Wire.says("Plums."), other, Wire.ends())

    assert ask(wire.base_url).answer == "Plums."


def test_a_message_behind_the_deltas_is_not_said_twice(ask: Ask, wire: Wire) -> None:
    again = {"delta": {}, "message": {"content": "Plums."}, "finish_reason": "stop"}
    wire.answers(
        Wire.STREAM,
        Wire.says("Plums."),
        Wire.event({"choices": [again]}),
        Wire.event("[DONE]"),
        b"0\r\n\r\n",
    )

    assert ask(wire.base_url).answer == "Plums."


@pytest.mark.parametrize("word", ["eos", "STOP", "stop_sequence", "end_turn"])
def test_a_servers_own_word_for_a_whole_reply_is_known(ask: Ask, wire: Wire, word: str) -> None:
    end = {"choices": [{"delta": {"content": "Plums."}, "finish_reason": word}]}
    wire.answers(Wire.STREAM, Wire.event(end), Wire.event("[DONE]"), b"0\r\n\r\n")

    assert ask(wire.base_url).finish.stop_reason == "stop"
