"""Server-sent events are read the same however the bytes are cut."""

import itertools
import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ProviderGarbled
from agents.providers.wire.sse import MAX_EVENT, events

BYTES = st.lists(
    st.sampled_from(
        [b"data:", b"data: ", b"data", b":", b"event: x", b"\n", b"\r\n", b"\r", b"\n\n", b" "]
    )
    | st.text().map(str.encode)
    | st.binary(max_size=8)
).map(b"".join)


def all_events(pieces: Iterable[bytes], limit: int = MAX_EVENT) -> list[str]:
    return list(itertools.chain.from_iterable(events(pieces, limit=limit)))


def cut(content: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(content) + 1) for place in places), len(content)]
    return [content[start:end] for start, end in itertools.pairwise(edges)]


@given(BYTES, st.lists(st.integers(min_value=0)))
def test_any_cut_of_any_bytes_gives_the_same_events(content: bytes, places: list[int]) -> None:
    whole = all_events([content])

    parts = all_events(cut(content, places))

    assert parts == whole


@given(
    st.lists(st.text()),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(min_value=0)),
)
def test_every_text_sent_as_json_comes_back(texts: list[str], end: str, places: list[int]) -> None:
    sent = "".join(f"data: {json.dumps(text)}{end}{end}" for text in texts).encode()

    received = [json.loads(data) for data in all_events(cut(sent, places))]

    assert received == texts


def test_comments_names_and_ids_are_passed_over() -> None:
    sent = b": keep alive\n\nevent: chunk\nid: 7\nretry: 10\ndata: one\n\n:\ndata:two\n\n"

    assert all_events([sent]) == ["one", "two"]


def test_the_lines_of_one_event_are_joined() -> None:
    assert all_events([b"data: one\ndata\ndata: two\n\n"]) == ["one\n\ntwo"]


def test_only_one_space_belongs_to_the_format() -> None:
    assert all_events([b"data:  x \n\n"]) == [" x "]


def test_an_event_without_its_empty_line_is_not_lost() -> None:
    assert all_events([b"data: one\n\ndata: two\n"]) == ["one", "two"]


def test_half_a_line_at_the_end_is_no_event() -> None:
    assert all_events([b'data: one\n\ndata: {"half":']) == ["one"]


def test_bytes_that_are_no_text_do_not_end_the_stream() -> None:
    assert all_events([b"data: \xff\xfe\n\ndata: two\n\n"]) == ["\ufffd\ufffd", "two"]


def test_a_line_that_never_ends_is_refused() -> None:
    with pytest.raises(ProviderGarbled, match="more than 1,000 bytes"):
        all_events((b"data: " + b"x" * 100 for _ in range(1000)), limit=1000)


def test_an_event_that_never_ends_is_refused() -> None:
    with pytest.raises(ProviderGarbled, match="more than 1,000 bytes"):
        all_events((b"data: xxxxxxxxxx\n" for _ in range(1000)), limit=1000)


def test_a_million_tiny_pieces_of_one_line_are_joined_once() -> None:
    pieces = (b"x" for _ in range(1_000_000))

    (event,) = all_events([b"data: ", *pieces, b"\n\n"])

    assert len(event) == 1_000_000
