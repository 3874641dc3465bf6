"""Frames from outside are read strictly; frames to outside are glued without being parsed."""

import json
from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.live import client_frames
from chat.stream import frames
from chat.stream.server_events import AnswerDelta
from chat.stream.streams import StreamId

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KINDS = st.sampled_from(["hello", "send", "stop", "ping", "approve"])
FIELDS = ["cursors", "after", "client_message_id", "text", "policy", "parent", "run"]


def test_a_hello_names_the_cursors_of_runs() -> None:
    hello = client_frames.parse('{"type":"hello","cursors":{"12":"1-7"},"after":12}')
    assert hello == client_frames.Hello(type="hello", cursors={12: "1-7"}, after=12)


@given(st.text() | JSON.map(json.dumps))
def test_no_text_breaks_the_reading(text: str) -> None:
    with pytest.raises(client_frames.InvalidFrame):
        client_frames.parse(text)


@given(KINDS, st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_shape_breaks_the_reading(kind: str, fields: dict[str, object]) -> None:
    message = json.dumps(fields | {"type": kind})
    with suppress(client_frames.InvalidFrame):
        assert client_frames.parse(message).type == kind


@given(st.lists(st.from_type(AnswerDelta)))
def test_glued_events_are_the_json_that_they_say(events: list[AnswerDelta]) -> None:
    frame = json.loads(frames.events(3, StreamId(1, 2), frames.encode(events)))
    assert frame == {"type": "events", "run": 3, "id": "1-2", "events": events}


def test_a_new_run_names_the_message_that_asked_for_it() -> None:
    message_id = UUID(int=5)
    frame = json.loads(frames.run_created(3, message_id, "<article>"))
    assert frame["client_message_id"] == str(message_id)


@pytest.mark.parametrize(
    ("said", "frame"),
    [
        (frames.run_queued(3, 2), {"type": "run.queued", "run": 3, "ahead": 2}),
        (
            frames.run_stalled(3, is_stalled=True),
            {"type": "run.stalled", "run": 3, "stalled": True},
        ),
        (
            frames.run_snapshot(3, "1-4", "<p>"),
            {"type": "run.snapshot", "run": 3, "id": "1-4", "html": "<p>"},
        ),
        (frames.caught_up(12), {"type": "caught_up", "after": 12}),
        (frames.closed(4401), {"type": "closed", "code": 4401}),
        (
            frames.error("busy", "Later.", "5"),
            {"type": "error", "code": "busy", "message": "Later.", "client_message_id": "5"},
        ),
    ],
    ids=lambda said: said["type"] if isinstance(said, dict) else "",
)
def test_what_is_no_part_of_a_stream_says_what_it_is_about(
    said: str, frame: dict[str, object]
) -> None:
    assert json.loads(said) == frame
