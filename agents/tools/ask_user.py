"""Tools that end a run in the person's favour: with a question to them, or with the answer."""

from typing import Annotated

from pydantic import Field

from agents.contracts import EndReason
from agents.errors import ToolFailed
from agents.tools.spec import tool


@tool(timeout=5, terminal=True, ends=EndReason.ASKED, doing="Asking a question")
def ask_user(
    question: Annotated[str, Field(description="one clear question, with the choices if any")],
) -> str:
    """Ask the person a clarifying question and wait for what they say next.

    Only for what you cannot find out and must not guess. The run ends with the question; what they
    answer begins the next run, which sees this one.
    """
    return _said(question, "question")


@tool(timeout=5, terminal=True)
def finish(
    answer: Annotated[str, Field(description="the whole answer, as the person will read it")],
) -> str:
    """Finish the run with this answer, once the question is settled."""
    return _said(answer, "answer")


def _said(text: str, name: str) -> str:
    if not text.strip():
        raise ToolFailed(f"The {name} is empty.")
    return text.strip()
