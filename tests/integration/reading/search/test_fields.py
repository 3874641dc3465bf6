"""The fields of the query language: each is one entry of one table, and does what it says."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from chat.models import Run, User
from chat.search.documents.turns import index_turn
from chat.search.find import find
from chat.search.hits import hits
from chat.search.language.fields import FIELDS, PARTS, QueryError
from chat.search.language.query import parse
from tests.stored_turns import store_action

TellRun = Callable[..., Run]

DOCS = Path(__file__).resolve().parents[4] / "docs" / "search.md"

SPOKEN = {
    "thought": "Let me look for the walrus.",
    "plan": {"goals": ["the seal"]},
    "tool": "python_repl",
    "inputs": {"code": "print(otters)"},
    "observation": "A heron flies.",
}


def found(user: User, text: str) -> list[int]:
    """Return the indexes of the turns that fit, the last first."""
    ids = find(user, parse(text)).turn_ids
    indexes = dict(Run.objects.filter(turns__in=ids).values_list("turns__pk", "turns__index"))
    return [indexes[pk] for pk in ids]


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_the_page_and_the_docs_tell_of_every_field_in_its_own_words(
    ada: User, browse: Callable[[User], Client], field: object
) -> None:
    name, example, finds = (getattr(field, part) for part in ("name", "example", "finds"))
    page = browse(ada).get("/search/").content.decode()
    written = finds.replace('"', "&quot;").replace("'", "&#x27;")

    assert f"<code>{name}:</code>" in page
    assert f"<dt><code>{example}</code></dt><dd>{written}</dd>" in page
    assert f"| `{name}` | `{example}` | {finds} |\n" in DOCS.read_text(encoding="utf-8")


def test_the_docs_tell_of_no_field_that_there_is_not() -> None:
    rows = DOCS.read_text(encoding="utf-8").split("| field |")[1].split("\n\n")[0].splitlines()[2:]

    assert [row.split("`")[1] for row in rows] == list(FIELDS)


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_the_parser_knows_every_example(field: object) -> None:
    example = str(getattr(field, "example", ""))

    assert str(parse(f"{example} word")) == f"{example} word"


@pytest.mark.parametrize(
    ("text", "indexes"),
    [
        ("in:question lighthouse", [0]),
        ("in:question lighthouses", [0]),
        ("in:thought walrus", [0]),
        ("in:thought looking", [0]),
        ("in:thought seal", [0]),
        ("in:action otters", [0]),
        ("in:action otter", [0]),
        ("in:action python_repl", [0]),
        ("in:observation heron", [0]),
        ("in:observation herons", [0]),
        ("in:answer beacon", [1]),
        ("in:answer beacons", [1]),
        ('in:thought "the walrus"', [0]),
        ('in:observation "heron flies"', [0]),
        ("in:thought in:observation walrus heron", [0]),
        ("in:question in:answer lighthouse", [0]),
        ("in:question in:thought walrus", [0]),
        ("in:answer in:thought beacon", [1]),
        ("in:observation heron -walrus", [0]),
        ("IN:Thought walrus", [0]),
        ("in:question walrus", []),
        ("in:question beacon", []),
        ("in:answer lighthouse", []),
        ("in:thought heron", []),
        ("in:thought otters", []),
        ("in:action walrus", []),
        ("in:observation walrus", []),
        ("in:observation lighthouse", []),
        ("in:thought walrus heron", []),
        ('in:thought "walrus the"', []),
        ("in:thought walrus -seal", []),
        ("in:thought the -walrus", [1]),
    ],
)
def test_words_are_looked_for_in_a_part_of_a_turn(
    ada: User, tell: TellRun, text: str, indexes: list[int]
) -> None:
    answer = {"thought": "So the sum is known.", "answer": "The beacon.", "kind": "final"}
    tell(ada, SPOKEN, answer, question="Which lighthouse?", answer="The beacon.")

    assert found(ada, text) == indexes


@pytest.mark.parametrize(
    ("text", "indexes"),
    [
        ("in:question lighthouse", [0]),
        ("in:answer beacon", [0]),
        ("in:question beacon", []),
        ("in:answer lighthouse", []),
        ("in:answer in:question lighthouse beacon", [0]),
    ],
)
def test_question_and_answer_of_a_run_of_one_turn_are_told_apart(
    ada: User, tell: TellRun, text: str, indexes: list[int]
) -> None:
    answer = {"answer": "The beacon.", "kind": "final"}
    tell(ada, answer, question="Which lighthouse?", answer="The beacon.")

    assert found(ada, text) == indexes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("in:dream word", "in:dream: there is no part 'dream'. The parts of a turn are: question"),
        ("in:dream word", ", ".join(PARTS)),
        ("-in:answer word", "-in:answer: name the parts to look in"),
        ("in:answer", "in: says where words are looked for; write the words beside it."),
        ("in:answer tool:calculator", "write the words beside it"),
        ("has:luck", "has:luck: what a turn can have is an error, as in has:error."),
    ],
)
def test_a_part_that_there_is_not_is_named(
    ada: User, tell: TellRun, text: str, message: str
) -> None:
    tell(ada, SPOKEN)

    with pytest.raises(QueryError) as raised:
        find(ada, parse(text))

    assert message in str(raised.value)


def test_a_hit_shows_the_part_that_was_looked_in(ada: User, tell: TellRun) -> None:
    tell(ada, SPOKEN | {"observation": "A walrus, too."}, question="A walrus?")

    shown = {}
    for part in ("question", "thought", "observation"):
        query = parse(f"in:{part} walrus")
        [hit] = hits(find(ada, query).turn_ids, query)
        shown[part] = (hit.excerpt.part, str(hit.excerpt))

    assert shown == {
        "question": ("question", "A walrus?"),
        "thought": ("thought", "Let me look for the walrus."),
        "observation": ("observation", "A walrus, too."),
    }


def test_turns_with_an_error_are_found(ada: User, rita: User, tell: TellRun) -> None:
    failed = {"tool": "calculator", "inputs": {}, "error": "ToolFailed"}
    tell(ada, SPOKEN, failed, SPOKEN)

    for user in (ada, rita):
        assert found(user, "has:error") == [1]
        assert found(user, "has:error calculator") == [1]
        assert found(user, "-has:error") == [2, 0]
        assert found(user, "has:error -calculator") == []


@pytest.mark.parametrize(
    "text", ["in:thought walrus", "in:question why", "has:error", "policy:explicit"]
)
def test_no_field_finds_a_strangers_turn(
    ada: User, bob: User, rita: User, tell: TellRun, text: str
) -> None:
    tell(ada, SPOKEN | {"error": "ToolFailed"})

    assert found(bob, text) == []
    assert found(ada, text) == found(rita, text) == [0]


def test_a_turn_of_several_actions_is_found_by_each_of_its_tools(
    ada: User, tell: Callable[..., Run]
) -> None:
    run = tell(ada, {"tool": "calculator"})
    [turn] = run.turns.all()
    for position, tool in enumerate(("python_repl", "calculator", "wikipedia"), start=1):
        store_action(turn, position, tool=tool, error="ToolFailed" if position == 2 else "")
    index_turn(run.turns.get())

    for query in ("tool:calculator", "tool:python_repl", "tool:wikipedia", "has:error"):
        assert find(ada, parse(query)).turn_ids == [turn.pk]
    assert find(ada, parse("-tool:wikipedia")).turn_ids == []
    assert find(ada, parse("-tool:current_time")).turn_ids == [turn.pk]
