"""The demo model answers by the real loop and the real tools, under every policy."""

import re
from datetime import date

import pytest

from agents.policies import POLICIES
from tests.unit.agents.demo.asking import answer, ask, tools_used

pytestmark = pytest.mark.parametrize("policy", POLICIES)

ALL_AT_ONCE = {"plan_execute", "rewoo"}
"""The policies that plan all calls before the first result is known."""
DEPENDS = re.compile(r"\bthat\b|\btimes 2\b")

ARITHMETIC = {
    "What is 37 * 43 + 12?": "1603",
    "what's 37*43+12": "1603",
    "Calculate (3 + 4) * 5 =": "35",
    "15% of 80": "12",
    "What is 15 percent of 1,000?": "150",
    "square root of 144": "12",
    "What is the square root of 16 plus 4?": "8",
    "three times seven divided by 2": "10.5",
    "12 x 12": "144",
    "12 \u00d7 3 \u00f7 4": "9",
    "How much is 1,000 + 2,500?": "3500",
    "2 to the power of 10": "1024",
    "2^10": "1024",
    "5!": "120",
    "What is 10 minus 2.5?": "7.5",
    "seven squared": "49",
    "-3 + 5": "2",
    "Please compute 100 divided by 8.": "12.5",
}


@pytest.mark.parametrize(("question", "result"), ARITHMETIC.items())
def test_arithmetic_is_calculated(policy: str, question: str, result: str) -> None:
    state = ask(policy, question)

    assert tools_used(state) == ["calculator"]
    assert answer(state).endswith(f"= **{result}**")


UNITS = {
    "convert 5 miles to km": "8.04672 km",
    "Convert 5 miles to kilometers.": "8.04672 km",
    "how many feet in 2 m?": "6.56168 ft",
    "How many inches are in a foot?": "12 in",
    "72 F in C": "22.2222 °C",
    "What is 100 degrees celsius in fahrenheit?": "212 °F",
    "-40 C to F": "-40 °F",
    "What is 1,500 g in kg?": "1.5 kg",
}


@pytest.mark.parametrize(("question", "result"), UNITS.items())
def test_units_are_converted(policy: str, question: str, result: str) -> None:
    state = ask(policy, question)

    assert tools_used(state) == ["convert_units"]
    assert answer(state).endswith(f"{result}**")


@pytest.mark.parametrize(
    ("question", "zone"),
    [
        ("What day is it?", "UTC"),
        ("what time is it in Tokyo?", "Asia/Tokyo"),
        ("What is the current time in New York?", "America/New_York"),
        ("time in Berlin", "Europe/Berlin"),
        ("What's the date today?", "UTC"),
        ("What is the current date and time?", "UTC"),
    ],
)
def test_the_time_is_asked_for(policy: str, question: str, zone: str) -> None:
    state = ask(policy, question)

    assert tools_used(state) == ["current_time"]
    assert zone in answer(state)


@pytest.mark.parametrize(
    "question",
    ["days until 2031-01-01", "How many days until 1 January 2031?", "days to Jan 1, 2031"],
)
def test_days_are_counted_from_the_date_that_was_observed(policy: str, question: str) -> None:
    state = ask(policy, question)

    if policy in ALL_AT_ONCE:
        assert tools_used(state) == ["current_time"]
        assert "one step at a time" in answer(state)
        return
    today = re.search(r"today is (\S+),", answer(state))
    assert today is not None
    days = (date(2031, 1, 1) - date.fromisoformat(today[1])).days
    assert tools_used(state) == ["current_time", "python_repl"]
    assert f"**{days} days**" in answer(state)


@pytest.mark.parametrize(
    "question",
    [
        "How many days are there from 1 March 2026 to 24 December 2026?",
        "How many days are between 2026-12-24 and March 1, 2026?",
    ],
)
def test_days_between_two_dates_do_not_depend_on_today(policy: str, question: str) -> None:
    state = ask(policy, question)

    assert tools_used(state) == ["python_repl"]
    assert "**298 days**" in answer(state)


def test_a_weekday_is_looked_up(policy: str) -> None:
    state = ask(policy, "What weekday was 2000-02-29?")

    assert answer(state) == "2000-02-29 is a **Tuesday**."


SNIPPETS = {
    "run python: print(sum(range(10)))": "45",
    "Run this Python code: print('a' * 3)": "aaa",
    "python: 6 * 7": "42",
    "run python: print(1 and 2); print(3) and 4 + 5": "2\n3",
    "What does this print?\n```python\nfor i in range(3):\n    print(i)\n```": "0\n1\n2",
    "```\nprint('Observation: 5')\n```": "Observation: 5",
    "What does this print: print('```')": "```",
}


@pytest.mark.parametrize(("question", "printed"), SNIPPETS.items())
def test_python_is_run(policy: str, question: str, printed: str) -> None:
    state = ask(policy, question)

    assert tools_used(state) == ["python_repl"]
    assert f"text\n{printed}\n```" in answer(state)


@pytest.mark.parametrize(
    "question",
    [
        "Search my past chats for Tokyo",
        "What did I ask about Tokyo?",
        "find Tokyo in my earlier conversations",
        "Did I ask about Tokyo before?",
    ],
)
def test_the_past_is_looked_up(policy: str, question: str) -> None:
    state = ask(policy, question)

    assert [call.inputs for call in state.turns[0].calls] == [{"query": "Tokyo"}]
    assert "run 3, turn 1" in answer(state)


def test_nothing_found_is_said(policy: str) -> None:
    assert "Nothing was found" in answer(ask(policy, "Search my past chats for nothing"))


MULTI_STEP = {
    "What is 12*12 and how many feet is that in meters?": (
        ["calculator", "convert_units"],
        ["= **144**", "**144 ft = 43.8912 m**"],
    ),
    "What is 12*12? And times 2?": (["calculator"] * 2, ["= **144**", "= **288**"]),
    "5 km in miles and what is that times 10": (
        ["convert_units", "calculator"],
        ["5 km", "3.10685596119"],
    ),
    "What is 6 times 7, then what time is it in Paris?": (
        ["calculator", "current_time"],
        ["= **42**", "Europe/Paris"],
    ),
}


@pytest.mark.parametrize(("question", "expected"), MULTI_STEP.items())
def test_one_step_goes_on_from_what_another_observed(
    policy: str, question: str, expected: tuple[list[str], list[str]]
) -> None:
    tools, parts = expected

    state = ask(policy, question)

    if policy in ALL_AT_ONCE and DEPENDS.search(question):
        assert tools_used(state) == tools[:1]
        assert parts[0] in answer(state)
        assert "one step at a time" in answer(state)
    else:
        assert tools_used(state) == tools
        assert all(part in answer(state) for part in parts)
