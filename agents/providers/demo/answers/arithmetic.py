"""Arithmetic questions, in signs or in words: "What is 37 * 43 + 12?", "15% of 80"."""

import ast
import re
import warnings

from agents.providers.demo.answers.spelling import spelled_out
from agents.providers.demo.formats.instructions import calculate
from agents.providers.demo.formats.steps import Task, one_step

_LONGEST = 300
_ASKS = re.compile(
    r"(?:(?:please|can you|could you|and|then|now|ok|so|well),? )*"
    r"(?:(?:what is|what's|whats|what does|how much is|how much does|calculate|compute|evaluate"
    r"|work out|solve|tell me|what about|the result of|the value of) )*"
)
_ENDS = re.compile(r"(?:,? (?:please|equals?|makes?|is|give|now))*(?:[\s?.=]|(?<!\d)!)*$")
_POINTLESS = re.compile(r"(?<![a-z0-9])\((\d+(?:\.\d+)?)\)")
_TOKENS = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+|[a-z]+\d*|[-+*/%^(), ])*")
_NAME = re.compile(r"[a-z]+\d*")
_NAMES = frozenset(
    {
        *("abs", "acos", "asin", "atan", "cbrt", "ceil", "comb", "cos", "e", "exp", "factorial"),
        *("floor", "gcd", "lcm", "ln", "log", "log10", "log2", "max", "mean", "median", "min"),
        *("pi", "round", "sin", "sqrt", "sum", "tan"),
    }
)


def read_arithmetic(text: str, previous: str) -> Task | None:
    """Return the task if `text` is an expression; "that", or a sign first, means `previous`."""
    if len(text) > _LONGEST:
        return None
    expression = _expression(text, previous)
    if not _is_expression(expression):
        return None
    step = calculate(
        "This is arithmetic. I do not work it out in my head; the calculator is exact.",
        expression,
    )
    return one_step(step, lambda seen: f"`{expression}` = **{seen.strip()}**")


def _expression(text: str, previous: str) -> str:
    asked = " ".join(text.lower().split())
    opening = _ASKS.match(asked)
    asked = _ENDS.sub("", asked[opening.end() if opening else 0 :])
    return _POINTLESS.sub(r"\1", spelled_out(asked, previous))


def _is_expression(text: str) -> bool:
    """Tell whether the text computes something, and with nothing but what a calculator knows."""
    if not _TOKENS.fullmatch(text) or not set(_NAME.findall(text)) <= _NAMES:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # "2 (3)" is the asker's mistake
            tree = ast.parse(text.replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(tree, ast.BinOp | ast.Call) or text == "pi"
