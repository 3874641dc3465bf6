"""The mistakes that are made on purpose are mistakes, and every file they go into has tests."""

import ast
from pathlib import Path

import pytest

from tests.mutants.making import mutant, places
from tests.mutants.matter import TESTS
from tests.mutants.run import chosen, wanted

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("chat/runs", "chat/runs/record", "chat/runs/worker", "chat/live", "chat/stream")


@pytest.mark.parametrize(
    ("source", "what", "changed"),
    [
        ("return a < b", "Lt becomes LtE", "return a <= b"),
        ("return a and b", "And becomes Or", "return a or b"),
        ("return a + b", "Add becomes Sub", "return a - b"),
        ("return not a", "not is dropped", "return a"),
        ("return True", "True becomes False", "return False"),
        ("return 3", "3 becomes 4", "return 4"),
        ("return a", "None is returned", "return None"),
        ("f(a, b=1)", "b= is dropped", "f(a)"),
        ("f(a)", "'f(a)' is dropped", "pass"),
        ("a.b = 1", "'a.b = 1' is dropped", "pass"),
        ("raise a", "'raise a' is dropped", "pass"),
        ("r.filter(a).get()", "filter() is dropped", "r.get()"),
        ("if a:\n  b", "if is turned round", "if not a:\n  b"),
        ("with transaction.atomic():\n  b", "the transaction is dropped", "if True:\n  b"),
    ],
)
def test_each_kind_of_mistake_is_made(source: str, what: str, changed: str) -> None:
    whole = in_function(source)
    (place,) = [one for one in places(whole) if one.what == what]

    assert mutant(whole, place).strip() == ast.unparse(ast.parse(in_function(changed)))


@pytest.mark.parametrize(
    "source",
    [
        "LIMIT = 3",
        "class A:\n    limit = 3",
        "def f(a=3, b=True):\n    pass",
        "def f():\n    \"Say.\"\n    logger.info('%s', 3)",
        "def f():\n    with lock:\n        pass",
    ],
)
def test_what_no_test_should_know_is_left_alone(source: str) -> None:
    assert places(source) == []


@pytest.mark.parametrize("file", sorted(TESTS))
def test_a_mistake_in_the_product_can_be_made_and_changes_it(file: str) -> None:
    source = (ROOT / file).read_text()
    found = places(source)
    made = [mutant(source, place) for place in found[:: max(1, len(found) // 4)]]

    for text in made:
        compile(text, file, "exec")
    assert ast.unparse(ast.parse(source)) + "\n" not in made
    assert found == places(source)


def test_every_file_has_tests_that_are_there() -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).glob("*.py")
        if path.name != "__init__.py"
    }

    assert set(TESTS) == files
    assert [one for tests in TESTS.values() for one in tests if not (ROOT / one).is_file()] == []


def test_a_part_of_the_sample_keeps_its_numbers_and_a_line_gives_all_that_it_can() -> None:
    sample = chosen(seed=7, count=20)
    file, place = sample[4]

    some = wanted(sample, f"2,4-6,{file}:{place.line}")

    assert [one.number for one in some[:4]] == [2, 4, 5, 6]
    assert [one[1:] for one in some[:4]] == [sample[1], *sample[3:6]]
    assert (0, file, place) in some[4:]
    assert {(one.number, one.file, one.place.line) for one in some[4:]} == {(0, file, place.line)}
    assert [one[1:] for one in wanted(sample, "")] == sample


def in_function(source: str) -> str:
    body = "\n".join(f"    {line}" for line in source.split("\n"))
    return f"def f():\n{body}"
