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
