from collections.abc import Callable

import pytest

from chat.models import Run, User
from chat.transcripts.highlight import Excerpt
from chat.transcripts.hits import Hit, hits
from chat.transcripts.query import parse
from chat.transcripts.search import find

TellRun = Callable[..., Run]


def first_hit(user: User, text: str) -> Hit:
    query = parse(text)
    return hits(find(user, query).turn_ids, query)[0]


def marked(excerpt: Excerpt) -> list[str]:
    return [piece.text for piece in excerpt.pieces if piece.is_match]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run", ["running", "Runs"]),
        ("the", ["The", "the"]),
        ('"the error"', ["the error"]),
        ("foo_bar.baz", ["foo_bar.baz"]),
        ('"foo bar baz"', ["foo_bar.baz"]),
        ("C++", ["C++"]),
        ("🚀", ["🚀"]),
        ("東京", ["東京"]),
        ("مرحبا", ["مرحبا"]),
        ("err", ["err"]),
        ("run -absent", ["running", "Runs"]),
        ("<b>", ["b", "b"]),
    ],
)
def test_matches_are_marked(ada: User, tell: TellRun, text: str, expected: list[str]) -> None:
    thought = "The running of foo_bar.baz() Runs into the error. <b>C++</b> 東京の人口 مرحبا 🚀 err"
    tell(ada, {"thought": thought})

    excerpt = first_hit(ada, text).excerpt

    assert marked(excerpt) == expected


def test_the_part_that_shows_most_of_the_query_is_shown(ada: User, tell: TellRun) -> None:
    tell(ada, {"thought": "red", "observation": "nothing " * 500 + "red and green" + " x" * 500})

    excerpt = first_hit(ada, "red green").excerpt

    assert excerpt.part == "observation"
    assert marked(excerpt) == ["red", "green"]
    assert len(str(excerpt)) < 300


def test_without_words_the_beginning_of_the_turn_is_shown(ada: User, tell: TellRun) -> None:
    tell(ada, {"thought": "First\n\nsecond."}, question="Why?")

    excerpt = first_hit(ada, "status:answered").excerpt

    assert (excerpt.part, str(excerpt)) == ("question", "Why?")


def test_a_hit_opens_the_transcript_at_its_turn_with_the_query(ada: User, tell: TellRun) -> None:
    run = tell(ada, {}, {"thought": "needle & pin"})

    url = first_hit(ada, '"needle & pin"').url

    assert url == f"/runs/{run.pk}/?turn=2&q=%22needle+%26+pin%22#run-{run.pk}-turn-2"


def test_a_page_of_huge_turns_is_shown(ada: User, tell: TellRun) -> None:
    tell(ada, *[{"observation": "needle " + "hay " * 50_000}] * 5)

    query = parse("needle")

    assert all(marked(hit.excerpt) for hit in hits(find(ada, query).turn_ids, query))
