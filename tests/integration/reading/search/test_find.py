from collections.abc import Callable

import pytest
from django.contrib.postgres.search import SearchVector
from django.db.models import Value

from chat.models import Run, TurnDocument, User
from chat.search.find import find
from chat.search.language.fields import QueryError
from chat.search.language.query import parse
from tests.integration.reading.search.found import EVERYTHING, found

TellRun = Callable[..., Run]


@pytest.mark.parametrize(
    "text",
    [
        "request",
        "times",
        "runs timing",
        '"timing out"',
        "THE",
        "foo_bar.baz(3.14)",
        "baz",
        "deep_key",
        "lighthouse",
        "treasure",
        "https://example.com/a/b?x=1",
        "example.com",
        "C++",
        "3.14",
        "東京",
        "人口",
        "مرحبا",
        "🚀",
        "don't",
        "python_repl",
        "why",
        "sixteen",
        "request -timeout",
        'treasure -"out timing"',
        "-nothing",
        "tool:python_repl",
        "tool:python_repl tool:calculator",
        "policy:explicit -policy:implicit treasure",
        "-tool:calculator",
        "status:answered",
        "status:succeeded",
        "-status:failed",
        "user:ada",
        "",
    ],
)
def test_a_turn_is_found(ada: User, tell: TellRun, text: str) -> None:
    run = tell(ada, EVERYTHING, question="Why does it fail?", answer="Sixteen.")
    tell(ada, {"tool": "calculator", "inputs": {}}, policy="implicit", status="failed")

    assert run.pk in found(ada, text)


@pytest.mark.parametrize(
    "text",
    [
        "absent",
        "request absent",
        '"out timing"',
        '"time out"',
        "-request",
        '-"timing out"',
        "subtreasure",
        "treas",
        "baz.foo_bar",
        "C#",
        "口人",
        "tool:calculator",
        "-tool:python_repl",
        "status:failed",
        "status:running",
        "policy:implicit",
        "-user:ada",
        '"twice python_repl"',
    ],
)
def test_a_turn_that_does_not_fit_is_not_found(ada: User, tell: TellRun, text: str) -> None:
    run = tell(ada, EVERYTHING, question="Why does it fail?", answer="Sixteen.")
    tell(ada, {"tool": "calculator", "inputs": {}}, policy="implicit", status="failed")

    assert run.pk not in found(ada, text)


ACCENTED = "Ünïcödé in São Paulo at 2026-11-22T18:00:00Z, 2026-11-23 and x2026-11-24t"


@pytest.mark.parametrize(
    "text",
    [
        "unicode",
        "ÜNÏCÖDÉ",
        '"sao paulo"',
        "São-Paulo",
        "2026-11-22",
        '"at 2026-11-22"',
        "2026-11-22T18:00",
        "2026-11-23",
        "-2026-11-25",
    ],
)
def test_what_is_written_a_little_differently_is_found(ada: User, tell: TellRun, text: str) -> None:
    run = tell(ada, {"thought": ACCENTED})

    assert found(ada, text) == [run.pk]


@pytest.mark.parametrize(
    "text",
    ["unicodes-x", "-unicode", "-ünïcödé", "-2026-11-22", "2026-11-2", "026-11-22", "2026-11-24"],
)
def test_what_is_written_otherwise_is_not_found(ada: User, tell: TellRun, text: str) -> None:
    tell(ada, {"thought": ACCENTED})

    assert found(ada, text) == []


def test_what_was_indexed_with_its_accents_is_found_with_them(ada: User, tell: TellRun) -> None:
    run = tell(ada, {})
    TurnDocument.objects.update(words=SearchVector(Value("ünïcödé são paulo"), config="simple"))

    assert found(ada, "Ünïcödé") == [run.pk]
    assert found(ada, '"são paulo"') == [run.pk]
    assert found(ada, "-ünïcödé") == []


def test_one_run_is_found_by_its_number(ada: User, tell: TellRun) -> None:
    tell(ada, {})
    run = tell(ada, {}, {})

    assert found(ada, f"run:{run.pk}") == [run.pk, run.pk]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tool:pyhton", "tool:pyhton: there is no tool 'pyhton'. The tools are: "),
        ("tool:pyhton", "calculator"),
        ("policy:best", "policy:best: there is no policy 'best'. The policies are: "),
        ("policy:best", "explicit"),
        ("status:done", "status:done: there is no status 'done'. A run is: queued, running"),
        ("user:bob", "user:bob: you can search your own turns only."),
        ("user:nobody", "user:nobody: you can search your own turns only."),
        ("run:x", "run:x: a run is named by its number"),
        ("run:99999999999999999999", "a run is named by its number"),
    ],
)
def test_a_value_that_there_is_not_is_named(
    ada: User, bob: User, tell: TellRun, text: str, message: str
) -> None:
    tell(ada, {})

    with pytest.raises(QueryError) as raised:
        find(ada, parse(text))

    assert message in str(raised.value)


def test_a_reviewer_is_told_which_users_there_are(ada: User, rita: User) -> None:
    with pytest.raises(QueryError, match="There are: ada, rita"):
        find(rita, parse("user:nobody"))


def test_a_tool_that_only_a_model_imagined_is_found_by_its_name(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"tool": "teleport", "inputs": {}, "error": "ToolNotFound"})

    assert found(ada, "tool:teleport") == [run.pk]


def test_a_tool_that_only_others_used_is_not_named(ada: User, bob: User, tell: TellRun) -> None:
    tell(bob, {"tool": "bobs_secret", "inputs": {}})

    with pytest.raises(QueryError, match="there is no tool 'bobs_secret'"):
        find(ada, parse("tool:bobs_secret"))


def test_a_member_finds_only_their_own_turns(ada: User, bob: User, tell: TellRun) -> None:
    mine = tell(ada, {"thought": "shared word"})
    tell(bob, {"thought": "shared word"})

    assert found(ada, "shared") == [mine.pk]
    assert found(ada, "") == [mine.pk]


def test_a_reviewer_finds_everyones_turns(ada: User, bob: User, rita: User, tell: TellRun) -> None:
    runs = [tell(owner, {"thought": "shared word"}).pk for owner in (ada, bob)]

    assert found(rita, "shared") == runs
    assert found(rita, "shared user:bob") == runs[1:]
    assert found(rita, "shared -user:bob") == runs[:1]
    assert found(rita, "shared user:bob user:ada") == runs
