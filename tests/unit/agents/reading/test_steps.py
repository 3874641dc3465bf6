"""Plans whose steps name their results, in all the ways in which models write them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.steps import MAX_STEPS, parse_steps, substituted, with_quoted_variables


@pytest.mark.parametrize(
    "text",
    [
        "Plan: why\n#E1 = search[q]",
        "Plan: why #E1 = search[q]",
        "plan: why\r\n#E1=search[q]\r\n",
        "**Plan:** why\n**#E1** = `search`[q]",
        "1. Plan: why\n- E1: search(q)",
        "```\nPlan 1: why\n#E1 = search[q]\n```",
        "## Plan\uff1awhy\n#E01 = search[q] (this finds it)",
        "Plan: why\n#E1 = search[q",
    ],
)
def test_a_step_is_read_as_models_write_it(text: str) -> None:
    (step,) = parse_steps(text).steps

    assert (step.id, step.why, step.tool, step.text) == ("#E1", "why", "search", "q")


def test_inputs_may_take_lines_and_hold_brackets() -> None:
    steps = parse_steps('#E1 = run[a = [1]\nprint(a[0])]\nPlan: b\n#E2 = add[{"l": [#E1]}]').steps

    assert [step.text for step in steps] == ["a = [1]\nprint(a[0])", '{"l": [#E1]}']


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("#E1 = a[#E2]\n#E2 = b[x]", "#E1 uses #E2, which no earlier step gives."),
        ("#E1 = a[#E1]", "#E1 uses #E1, which no earlier step gives."),
        ("I would need #E1 first", "No step has the form #E1 = tool[inputs]."),
        ("Plan: answer directly", ""),
        ("", ""),
    ],
)
def test_a_plan_that_cannot_be_used_says_why(text: str, problem: str) -> None:
    assert parse_steps(text).problem == problem


def test_results_of_an_earlier_plan_may_be_used() -> None:
    assert parse_steps("#E2 = a[#E1]", {"#E1"}).problem == ""


def test_names_are_told_apart_by_all_their_digits() -> None:
    evidence = {"#E1": "one", "#E12": "twelve"}

    found = substituted({"a": ["#E12 #E1 #E01 #E3 #E1234"]}, evidence)

    assert found == {"a": ["twelve one one #E3 #E1234"]}


def test_only_bare_names_in_json_are_quoted() -> None:
    text = '{"a": #E1, "b": "x #E2 \\" #E3", "c": [#E4]}'

    assert with_quoted_variables(text) == ('{"a": "#E1", "b": "x #E2 \\" #E3", "c": ["#E4"]}')


def test_a_plain_text_is_left_alone() -> None:
    assert with_quoted_variables("about #E1") == "about #E1"


def test_a_plan_without_end_is_cut() -> None:
    plan = "\n".join(f"#E{number} = a[x]" for number in range(1, 400))

    assert len(parse_steps(plan).steps) == MAX_STEPS


@given(st.text(alphabet='#E123= a[](){}"\\\nPlan:*`x', max_size=200) | st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    steps = parse_steps(text)

    assert all(step.text in text for step in steps.steps)
    with_quoted_variables(text)


@pytest.mark.parametrize(
    "piece", ["#E1 = a[", "#E1", "Plan: ", '\\"', '{"', "E1 = ", " \t>*_`-", "[", "\n"]
)
def test_a_hostile_megabyte_is_read_in_linear_time(piece: str) -> None:
    text = "{" + piece * (1_000_000 // len(piece))
    began = time.process_time()

    parse_steps(text)
    with_quoted_variables(text)

    assert time.process_time() - began < 5
