"""The calculator is right, exact where it can be, and cannot be hung."""

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import ToolFailed
from agents.tools.arithmetic.evaluate import CannotEvaluate, evaluate
from agents.tools.calculator import calculator


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2 + 2", "4"),
        ("(10 + 5) * 2", "30"),
        ("37 * 43 + 12", "1603"),
        ("13 % 5", "3"),
        ("7 // 2", "3"),
        ("6 / 3", "2"),
        ("10 ** 30 / 10", "1" + "0" * 29),
        ("1 / 4", "0.25"),
        ("0.1 + 0.2", "0.3"),
        ("1.5 * 2.2", "3.3"),
        ("(0.1 + 0.7) * 10", "8"),
        ("1e15 + 0.3", "1000000000000000.2"),
        ("2 ^ 10", "1024"),
        ("2 + 3 ^ 2", "11"),
        ("2 ^ 3 ^ 2", "512"),
        ("-2 ^ 2", "-4"),
        ("2 ** -1", "0.5"),
        ("-0.0", "0"),
        ("1e22", "1e+22"),
        ("2 \N{MULTIPLICATION SIGN} 3 \N{DIVISION SIGN} 4 \N{MINUS SIGN} 1", "0.5"),
        ("2 * \N{GREEK SMALL LETTER PI}", "6.283185307179586"),
        ("3\N{SUPERSCRIPT TWO} + 2\N{SUPERSCRIPT THREE}", "17"),
        ("2 + 2 =", "4"),
        ('"1 + 1"', "2"),
        ("  1 +\n 1 ", "2"),
        ("sqrt(25)", "5"),
        ("sqrt(10 ** 400)", "1" + "0" * 200),
        ("sqrt(-4)", "2i"),
        ("(1 + 2 * i) * 2", "2 + 4i"),
        ("(-8) ^ (1/3)", "1 + 1.7320508075688772i"),
        ("i * i", "-1"),
        ("-3 * i", "-3i"),
        ("pow(2, 3)", "8"),
        ("pow(3, 200, 13)", "9"),
        ("log(10)", "2.302585092994046"),
        ("log(8, 2)", "3"),
        ("log(1000, 10)", "3"),
        ("ln(e)", "1"),
        ("LOG10(1000)", "3"),
        ("math.sqrt(2) * math.sqrt(2)", "2"),
        ("sin(pi / 2)", "1"),
        ("tau / pi", "2"),
        ("round(3.7)", "4"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.675, 2)", "2.68"),
        ("round(12345, -2)", "12300"),
        ("factorial(5)", "120"),
        ("gcd(12, 18)", "6"),
        ("lcm(4, 6)", "12"),
        ("comb(5, 2)", "10"),
        ("perm(5, 2)", "20"),
        ("max(1, 7, 3)", "7"),
        ("min([4, 2])", "2"),
        ("sum([1, 2, 3.5])", "6.5"),
        ("mean(1, 2, 6)", "3"),
        ("median([5, 1, 3])", "3"),
        ("stdev(1, 2, 3)", "1"),
        ("1 < 2 < 3", "True"),
        ("2 + 2 == 5", "False"),
        ("+".join("1" * 500), "500"),
    ],
)
def test_an_expression_has_its_value(expression: str, result: str) -> None:
    assert calculator.run(expression) == result


@pytest.mark.parametrize(
    ("expression", "variables", "result"),
    [
        ("a + b", {"a": 10, "b": 5}, "15"),
        ("radius * 2 * pi", {"radius": 5}, "31.41592653589793"),
        ("result % 13", {"result": 347}, "9"),
        ("5 * 5", {}, "25"),
        ("e + 1", {"e": 1}, "2"),
        ("Price * 2", {"price": 1.5}, "3"),
    ],
)
def test_variables_have_their_values(
    observe: Callable[..., Any], expression: str, variables: dict[str, float], result: str
) -> None:
    seen = observe(calculator, {"expression": expression, "variables": variables})

    assert (seen.observation.text, seen.observation.error) == (result, None)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("5 + * 3", "Not a valid expression"),
        ("x + y", "Undefined symbol x"),
        ("f(x) = x^2", "unsupported type"),
        ("x = 5", "pass values as `variables`"),
        ('import("fs")', "Undefined function import"),
        ("evil(1)", "Undefined function evil"),
        ("__import__('os')", "Undefined function __import__"),
        ("().__class__.__mro__", "unsupported type"),
        ("(1).real", "unsupported type"),
        ("math.os", "Undefined symbol os"),
        ("'a' * 1000", "unsupported type"),
        ("[x for x in (1, 2)]", "unsupported type"),
        ("lambda: 1", "unsupported type"),
        ("sqrt(x=4)", "unsupported type"),
        ("sqrt(*[4])", "unsupported type"),
        ("1 << 3", "unsupported type"),
        ("not 1", "unsupported type"),
        ("1 in [1]", "unsupported type"),
        ("1,234 * 2", "without commas"),
        ("sqrt", "needs parentheses"),
        ("1 / 0", "Division by zero"),
        ("5 % 0", "Division by zero"),
        ("0 ** -1", "Division by zero"),
        ("log(0)", "Not defined for these values"),
        ("factorial(-1)", "Not defined for these values"),
        ("factorial(2.5)", "a whole number is needed"),
        ("sqrt()", "Not defined for these values"),
        ("abs(1, 2)", "Not defined for these values"),
        ("i < 1", "Not defined for these values"),
        ("round(i)", "Not defined for these values"),
        ("", "It is empty"),
        ("  ?", "It is empty"),
        ("1\x00", "cannot be read"),
        ("\ud800", "cannot be read"),
        ("1" * 20_000, "longer than 10,000 characters"),
        ("(" * 500 + "1" + ")" * 500, "Not a valid expression"),
        ("-" * 5_000 + "1", "nested too deeply"),
    ],
)
def test_a_wrong_expression_says_what_is_wrong(
    observe: Callable[..., Any], expression: str, says: str
) -> None:
    seen = observe(calculator, {"expression": expression})

    assert seen.observation.error == "ToolFailed"
    assert seen.observation.text.startswith("Failed to evaluate expression: ")
    assert says in seen.observation.text


def test_a_long_sum_is_right_or_refused_depending_on_the_parser() -> None:
    try:
        told = calculator.run("+".join("1" * 5_000))
    except ToolFailed as error:
        told = str(error)

    assert told == "5000" or "nested too deeply" in str(told)


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "9^9^9^9",
        "(-9)**(10**9)",
        "factorial(10**9)",
        "factorial(factorial(20))",
        "comb(10**18, 5 * 10**17)",
        "perm(10**9, 10**9)",
        "10**4000 * 10**4000",
        "1e308 * 10",
        "1e400",
        "-1e400",
        "exp(1000)",
        "2.5 ** 10**6",
        "pow(3, 10**4000, 10**4000 + 7)",
        "round(1.5, 10**9)",
        "round(1e400)",
        "lcm(2**13000 - 1, 3**8000, 5**5000)",
    ],
)
def test_what_is_too_large_is_refused_at_once(expression: str) -> None:
    with pytest.raises(ToolFailed, match="A number in it is too large to compute"):
        calculator.run(expression)


def test_many_slow_steps_are_cut_short() -> None:
    expression = "+".join(["pow(3, 2**4000, 2**4000 + 7)"] * 300)

    with pytest.raises(ToolFailed, match="takes too long"):
        calculator.run(expression)


def test_the_largest_result_can_be_written() -> None:
    assert len(str(calculator.run("factorial(1500)"))) == 4_115


_INTEGERS = st.recursive(
    st.integers(0, 1_000).map(str),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/%"), inner)
        | st.builds("(-{})".format, inner)
        | st.builds("({} // {})".format, inner, inner)
    ),
    max_leaves=6,
)


@given(_INTEGERS)
@settings(deadline=None)
def test_arithmetic_agrees_with_python(expression: str) -> None:
    try:
        expected = eval(expression)  # noqa: S307 - digits and operators only
    except ZeroDivisionError:
        with pytest.raises(CannotEvaluate, match="Division by zero"):
            evaluate(expression, {})
    else:
        assert evaluate(expression, {}) == pytest.approx(expected, rel=1e-12)


@given(
    st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from(["add", "sub", "mul", "truediv"])
)
@settings(deadline=None)
def test_decimals_agree_with_python(left: float, right: float, name: str) -> None:
    sign = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}[name]
    try:
        expected = getattr(operator, name)(left, right)
        shown = calculator.run(f"x {sign} y", {"x": left, "y": right})
    except (ZeroDivisionError, OverflowError, ToolFailed):
        with pytest.raises(ToolFailed):
            calculator.run(f"x {sign} y", {"x": left, "y": right})
    else:
        assert float(str(shown)) == pytest.approx(expected, rel=1e-14)


@given(
    st.text(max_size=80)
    | st.text(alphabet="0123456789+-*/%^().,e pijxlog<>=![]\"'\\", max_size=80)
    | st.lists(st.sampled_from(["9", "**", "(", ")", "factorial(", "pow(", ",", "-"])).map("".join)
)
@settings(deadline=None, max_examples=300)
def test_garbage_gets_a_value_or_a_refusal_in_words(garbage: str) -> None:
    try:
        told = str(calculator.run(garbage))
    except ToolFailed as error:
        told = str(error).removeprefix("Failed to evaluate expression: ")

    assert told
