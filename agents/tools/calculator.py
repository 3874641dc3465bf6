"""A tool that works out an arithmetic expression."""

from typing import Annotated

from pydantic import Field

from agents.errors import ToolFailed
from agents.tools.arithmetic.display import number_text
from agents.tools.arithmetic.evaluate import CannotEvaluate, evaluate
from agents.tools.spec import tool


@tool(timeout=10, doing="Calculating", may_repeat=True, reads_only=True)
def calculator(
    expression: Annotated[str, Field(description="for example (37 * 43 + 12) / 5 or sqrt(2) ^ 3")],
    variables: Annotated[
        dict[str, int | float], Field(description="values of the names in it")
    ] = {},  # noqa: B006 - pydantic copies it
) -> str:
    """Calculate the value of an arithmetic expression: compute, add, subtract, multiply, divide.

    Knows + - * / // % ^ and comparisons, pi, e, tau, i, and functions such as sqrt, log (natural),
    log10, exp, sin, round, factorial, gcd, lcm, comb, min, max, sum, mean, median. Integers are
    exact.
    """
    try:
        return number_text(evaluate(expression, variables))
    except CannotEvaluate as error:
        raise ToolFailed(f"Failed to evaluate expression: {error}.") from None
