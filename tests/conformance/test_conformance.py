"""The adapters on cases of our own, and the runner on adapters and files that are broken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.run import Report, Verdict, conform, main

OURS = Path(__file__).parent / "cases_of_our_own"

ADAPTER = '''
def check(case):
    """Play a case: what it says is what happens."""
    if case["input"] == "crash":
        raise KeyError("lost")
    assert case["input"] != "differs", "1 is not 2"
    return "wanted so" if case["input"] == "accept" else None

AREAS = {"known": check}
'''

Conform = Callable[..., Report]


@pytest.fixture
def report_on(tmp_path: Path) -> Conform:
    """Report on cases as (area, input), or on the text of a file, with the adapter above."""
    adapters, cases = tmp_path / "areas", tmp_path / "cases"
    adapters.mkdir()
    cases.mkdir()

    def report(*inputs: tuple[str, str], text: str = "", adapter: str = ADAPTER) -> Report:
        (adapters / "one.py").write_text(adapter)
        found = [{"id": f"c{n}", "area": a, "input": i} for n, (a, i) in enumerate(inputs)]
        (cases / "some.json").write_text(text or json.dumps({"cases": found}))
        return conform(cases, adapters)

    return report


def test_our_own_cases_pass() -> None:
    report = conform(OURS)

    assert report.is_good, "\n".join(report.lines())


def test_each_case_of_our_own_has_its_own_id() -> None:
    ids = [verdict.id for verdict in conform(OURS).verdicts]

    assert len(ids) == len(set(ids))


def test_what_passed_is_counted_by_area(report_on: Conform) -> None:
    report = report_on(("known", "x"), ("known", "differs"), ("known", "accept"))

    assert list(report.lines()) == [
        "known  2 / 3",
        "all    2 / 3",
        "accepted  c2 (known): wanted so",
        "FAILED    c1 (known): 1 is not 2",
    ]
    assert not report.is_good


def test_a_crash_fails_its_case_alone(report_on: Conform) -> None:
    report = report_on(("known", "crash"), ("known", "x"))

    assert report.verdicts == [
        Verdict("c0", "known", difference="crashed: KeyError: 'lost'"),
        Verdict("c1", "known"),
    ]


def test_an_area_that_no_adapter_knows_fails(report_on: Conform) -> None:
    report = report_on(("strange", "x"))

    assert report.verdicts[0].difference == "no adapter knows this area."


@pytest.mark.parametrize("text", ["{", "3", '{"cases": [1]}', '[{"id": 1, "area": "known"}]'])
def test_a_file_that_holds_no_cases_is_named(report_on: Conform, text: str) -> None:
    report = report_on(text=text)

    assert not report.is_good
    assert report.problems[0].startswith("some.json: ")


@pytest.mark.parametrize("adapter", ["raise RuntimeError('no')", "", "AREAS = "])
def test_an_adapter_that_cannot_be_read_is_named(report_on: Conform, adapter: str) -> None:
    report = report_on(("known", "x"), adapter=adapter)

    assert report.problems[0].startswith("one.py: ")


def test_an_empty_folder_is_no_success(tmp_path: Path, capsys: Any) -> None:
    code = main([str(tmp_path)])

    assert code == 1
    assert "there is no case file here" in capsys.readouterr().out


def test_no_folder_is_a_mistake_of_use(capsys: Any) -> None:
    assert main([]) == 2
    assert "CASES=folder" in capsys.readouterr().err
