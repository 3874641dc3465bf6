"""The ids of frames tell order and gaps."""

import pytest

from chat.stream.streams import StreamId


@pytest.mark.parametrize(
    ("earlier", "later", "follows"),
    [
        ("1-7", "1-8", True),
        ("1-9", "1-10", True),
        ("1-7", "1-9", False),
        ("1-7", "1-7", False),
        ("0-0", "1-1", True),
        ("1-0", "1-1", True),
        ("0-0", "1-2", False),
        ("0-0", "2-1", False),
        ("1-7", "2-1", False),
        ("1-7", "2-0", True),
        ("1-7", "3-0", True),
        ("2-0", "2-1", True),
        ("2-1", "2-0", False),
        ("2-0", "2-0", False),
    ],
)
def test_only_the_next_frame_of_the_same_attempt_follows_and_the_end_of_one(
    earlier: str, later: str, follows: bool
) -> None:
    assert StreamId.parse(later).follows(StreamId.parse(earlier)) is follows


def test_ids_are_ordered_as_numbers() -> None:
    assert StreamId.parse("1-10") > StreamId.parse("1-9")
    assert StreamId.parse("10-1") > StreamId.parse("9-999")


@pytest.mark.parametrize("text", ["", "1", "1-", "-1", "1-x", "1-2-3", "-1-2", "1-²", "soon"])
def test_anything_else_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="not the id of a frame"):
        StreamId.parse(text)
