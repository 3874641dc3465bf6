"""Frames are numbered without a gap, hold what belongs together, and wait within bounds."""

import json
import threading

from agents.control import Control
from chat.stream import channel as module
from chat.stream.channel import Channel
from chat.stream.server_events import (
    AnswerDelta,
    Event,
    ObservationDelta,
    ThoughtDelta,
    TurnCompleted,
    TurnShown,
)
from chat.stream.streams import StreamId


def opened() -> Channel:
    return Channel(7, 2, Control(), threading.Event())


def said(text: str, index: int = 0) -> Event:
    return ThoughtDelta(type="thought.delta", index=index, text=text)


def sent(channel: Channel) -> list[tuple[str, list[Event]]]:
    return [(str(batch.id), json.loads(batch.payload)) for batch in channel.batches()]


def test_text_of_one_kind_becomes_one_event() -> None:
    channel = opened()
    for text in ("a", "b", "c"):
        channel.put(said(text))
    assert sent(channel) == [("2-1", [said("abc")])]


def test_text_of_another_turn_or_kind_stays_apart() -> None:
    channel = opened()
    answer = AnswerDelta(type="answer.delta", text="x")
    for event in (said("a"), said("b", index=1), answer):
        channel.put(event)
    assert sent(channel) == [("2-1", [said("a"), said("b", index=1), answer])]


def test_text_of_another_action_of_the_turn_stays_apart() -> None:
    channel = opened()
    first, second, more = (
        ObservationDelta(type="observation.delta", index=0, position=position, text=text)
        for position, text in ((0, "a"), (1, "b"), (1, "c"))
    )
    for event in (first, second, more):
        channel.put(event)
    assert sent(channel) == [("2-1", [first, {**second, "text": "bc"}])]


def test_what_was_taken_once_never_changes() -> None:
    channel = opened()
    channel.put(said("a"))
    before = sent(channel)
    channel.put(said("b"))
    assert sent(channel) == [*before, ("2-2", [said("b")])]


def test_a_reserved_frame_comes_after_what_was_put_before_it() -> None:
    channel = opened()
    channel.put(said("a"))
    reserved = channel.reserve()
    assert sent(channel) == [("2-1", [said("a")])]
    channel.put_reserved(reserved, TurnCompleted(type="turn.completed", index=0, html=""))
    channel.put(said("b"))
    assert [stream_id for stream_id, _ in sent(channel)] == ["2-1", reserved, "2-3"]


def test_sealing_names_the_frame_that_holds_all_so_far() -> None:
    channel = opened()
    assert channel.seal() == "2-0"
    channel.put(said("a"))
    assert (channel.seal(), channel.seal()) == ("2-1", "2-1")


def test_what_is_delivered_is_forgotten() -> None:
    channel = opened()
    channel.put(said("a"))
    channel.delivered(channel.batches()[0])
    assert not channel.is_dirty()


def test_while_redis_is_away_the_oldest_frames_give_way() -> None:
    channel = opened()
    piece = "x" * 100_000
    for _ in range(2 * module.MAX_CHARACTERS // len(piece)):
        channel.put(said(piece))
        channel.seal()
    batches = channel.batches()
    assert sum(len(batch.payload) for batch in batches) <= module.MAX_CHARACTERS
    assert batches[-1].id == StreamId(2, 80)


def test_a_closed_channel_is_over_when_it_is_empty_or_has_waited_enough() -> None:
    channel = opened()
    channel.put(said("a"))
    assert not channel.is_over(patience=0)
    channel.close()
    assert not channel.is_over(patience=60)
    assert channel.is_over(patience=-1)
    channel.delivered(channel.batches()[0])
    assert channel.is_over(patience=60)


def test_the_runs_of_a_process_share_the_room_for_what_waits() -> None:
    room = module.Room(most=1_000)
    runs = [Channel(number, 1, Control(), threading.Event(), room) for number in range(10)]
    for _ in range(10):
        for run in runs:
            run.put(said("x" * 60))
            run.seal()

    held = sum(len(batch.payload) for run in runs for batch in run.batches())
    assert held < 2_000
    assert [len(run.batches()) for run in runs] == [1] * 10


def test_what_was_delivered_or_given_up_makes_room() -> None:
    room = module.Room(most=200)
    first, second = (Channel(n, 1, Control(), threading.Event(), room) for n in range(2))
    first.put(said("x" * 150))
    (batch,) = first.batches()
    second.put(said("y" * 150))
    second.batches()
    was_full = room.is_full
    first.delivered(batch)
    second.abandon()
    second.put(said("z" * 100))
    second.batches()

    assert (was_full, room.is_full) == (True, False)


def test_how_long_a_stream_is_kept_is_said_at_its_beginning_end_and_once_in_a_while() -> None:
    channel = opened()
    for _ in range(250):
        channel.put(said("a"))
        channel.seal()
    asked = TurnShown(type="approval.requested", index=0, html="")
    channel.put_reserved(channel.reserve(), asked)

    assert [batch.id.seq for batch in channel.batches() if batch.keeps] == [1, 101, 201, 251]
