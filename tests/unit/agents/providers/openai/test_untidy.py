"""What is untidy but legal is read as the reply that it is."""

import json

from agents.contracts import Usage
from agents.control import Control
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.wire import Wire


def test_the_untidy_but_legal_is_read(ask: Ask, wire: Wire) -> None:
    face = json.dumps({"choices": [{"delta": {"content": "é😀"}}]}, ensure_ascii=False).encode()
    wire.answers(
        wire.STREAM,
        wire.part(b"\xef\xbb\xbf: waiting\r\n\r\n"),
        wire.event({"choices": []}),
        wire.event({"choices": [{"delta": None}]}),
        wire.event({"choices": [{"delta": {"role": "assistant", "content": None}}]}),
        wire.part(b"data:" + face[:-8]),
        wire.part(face[-8:] + b"\r\n\r\n"),
        wire.event({"choices": [{"delta": {}, "finish_reason": "length"}], "usage": None}),
        wire.event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": "many"}}),
        wire.ends(),
    )

    reply = ask(wire.base_url)

    assert reply.answer == "é😀"
    assert reply.finish.usage == Usage(input_tokens=3, output_tokens=None)


def test_a_character_cut_between_two_chunks_is_joined(ask: Ask, wire: Wire) -> None:
    chunk = r'{"choices":[{"delta":{"content":"\ud83d"}}]}'
    other = chunk.replace("d83d", "de00")
    wire.answers(wire.STREAM, wire.event(chunk), wire.event(other), wire.ends())

    assert ask(wire.base_url).answer == "😀"


def test_what_no_text_can_hold_is_replaced(ask: Ask, wire: Wire) -> None:
    chunk = r'{"choices":[{"delta":{"content":"a\u0000b\udc00c\ud83d"}}]}'
    wire.answers(wire.STREAM, wire.event(chunk), wire.ends())

    assert ask(wire.base_url).answer == "a\ufffdb\ufffdc\ufffd"


def test_a_server_that_answers_in_one_piece_is_read(ask: Ask, wire: Wire) -> None:
    message = {"role": "assistant", "content": "Whole.", "reasoning": "Hm."}
    completion = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    wire.answers(wire.page("200 OK", json.dumps(completion), "Content-Type: application/json"))

    reply = ask(wire.base_url)

    assert (reply.answer, reply.reasoning, reply.finish.stop_reason) == ("Whole.", "Hm.", "stop")
    assert reply.finish.usage == Usage(input_tokens=1, output_tokens=2)


def test_a_reply_is_complete_without_a_last_word_from_the_server(ask: Ask, wire: Wire) -> None:
    end = wire.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    wire.answers(wire.STREAM, wire.says("all of it"), end, wire.CUT)

    assert ask(wire.base_url).answer == "all of it"


def test_a_server_that_only_says_done_is_believed(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("all of it"), wire.event("[DONE]"), b"0\r\n\r\n")

    assert ask(wire.base_url).answer == "all of it"


def test_a_server_that_never_closes_a_complete_reply_is_not_waited_for(
    ask: Ask, wire: Wire
) -> None:
    end = wire.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    wire.answers(wire.STREAM, wire.says("all of it"), end, wire.HOLD)

    assert ask(wire.base_url, control=Control(30, idle_seconds=30)).answer == "all of it"


def test_a_huge_but_honest_line_is_read(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("word " * 100_000), wire.ends())

    assert len(ask(wire.base_url).answer) == 500_000
