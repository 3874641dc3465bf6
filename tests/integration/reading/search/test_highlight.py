import time
from collections.abc import Callable

import pytest
from django.test import Client

from chat.models import Run, User
from chat.search.find import find
from chat.search.highlight import Excerpt
from chat.search.hits import Hit, hits
from chat.search.language.query import parse
from chat.search.recall import find_turns

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
        ('"the error" error', ["the error"]),
        ('"Runs into" "into the"', ["Runs into the"]),
        ("fine", ["ﬁne"]),
        ("unicode", ["Ünïcödé"]),
        ("2026-11-22", ["2026-11-22T18", "2026-11-22"]),
    ],
)
def test_matches_are_marked(ada: User, tell: TellRun, text: str, expected: list[str]) -> None:
    thought = "The running of foo_bar.baz() Runs into the error. <b>C++</b> 東京の人口 مرحبا 🚀 err"
    tell(ada, {"thought": f"{thought} ﬁne Ünïcödé 2026-11-22T18:00Z 2026-11-22"})

    excerpt = first_hit(ada, text).excerpt

    assert marked(excerpt) == expected


def test_the_part_that_shows_most_of_the_query_is_shown(ada: User, tell: TellRun) -> None:
    tell(ada, {"thought": "red", "observation": "nothing " * 500 + "red and green" + " x" * 500})

    excerpt = first_hit(ada, "red green").excerpt

    assert excerpt.part == "observation"
    assert marked(excerpt) == ["red", "green"]
    assert len(str(excerpt)) < 300


def test_an_answer_is_shown_without_the_signs_of_markdown(ada: User, tell: TellRun) -> None:
    tell(ada, {"thought": "hm"}, answer="## Sum\n\nIt is **129 needles**, *not* `2 ** 3`.")
    tell(ada, {"observation": "def needle(*args, **kwargs): **pass**"})

    shown = hits(find(ada, parse("needle")).turn_ids, parse("needle"))

    assert [str(hit.excerpt) for hit in shown] == [
        "def needle(*args, **kwargs): **pass**",
        "Sum It is 129 needles, not 2 ** 3.",
    ]
    assert marked(shown[1].excerpt) == ["needles"]


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


@pytest.mark.parametrize(
    ("run", "last"),
    [("😀", "★"), ("C++", " D"), ("C#", " D"), ("😀★", "☃"), ("東", "京"), ("a_", "b")],
)
def test_a_run_of_one_sign_costs_no_more_than_its_length(
    ada: User, tell: TellRun, browse: Callable[[User], Client], run: str, last: str
) -> None:
    query = f'"{run * 30}{last}"'
    thought = f"{run * 100} x {run * 30}{last}"
    tell(ada, {"thought": thought, "observation": run * 5_000})
    client = browse(ada)
    began = time.process_time()

    page = client.get("/search/", {"q": query}).content.decode()
    (found,) = find_turns(ada)(query)

    assert time.process_time() - began < 5
    assert "<mark>" in page
    assert found.text.startswith("…")
