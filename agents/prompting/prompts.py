"""Prompts as package files: one Jinja2 template each, strict about every variable."""

import hashlib

from jinja2 import Environment, PackageLoader, StrictUndefined

from agents.contracts import Message, Observation, Role
from agents.state import State, observed

NO_ANSWER = "(This question got no answer.)"
_REMEMBERED = 10

_environment = Environment(
    loader=PackageLoader("agents", "prompts"),
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701 - text for a model, never HTML
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, /, **values: object) -> str:
    """Return the text of `agents/prompts/<template>.j2`; raises jinja2.UndefinedError."""
    return _environment.get_template(f"{template}.j2").render(**values)


def enclosed(name: str, text: str) -> str:
    """Put `text` verbatim between two marks that it cannot contain by chance or by design.

    The marks carry a digest of the text, so nobody can write their own closing mark into it.
    """
    mark = f'{name} id="{hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]}"'
    return f"<{mark}>\n{text}\n</{mark}>"


def enclosed_observation(observation: Observation) -> str:
    """Write what came back from an action between its marks, so that it cannot pass for a step."""
    return enclosed("observation", observed(observation))


def conversation(system: str, state: State, last: str) -> list[Message]:
    """Return the messages of a call: the rules, the last exchanges, and what is asked now."""
    messages = [Message(role=Role.SYSTEM, content=system)]
    for exchange in state.history[-_REMEMBERED:]:
        messages.append(Message(role=Role.USER, content=exchange.question))
        messages.append(Message(role=Role.ASSISTANT, content=exchange.answer or NO_ANSWER))
    messages.append(Message(role=Role.USER, content=last))
    return messages


def goal_and_transcript(state: State, between: str = "") -> str:
    """Write the transcript, with goal and observations set apart lest they pass for a step."""
    steps = (
        state.transcript(lambda seen: f"\n{enclosed_observation(seen)}")
        .removeprefix(f"Goal: {state.goal}")
        .strip("\n")
    )
    return f"{enclosed_goal(state)}\n\n{between}Transcript:\n{steps}"


def enclosed_goal(state: State) -> str:
    """Write the goal verbatim between its marks."""
    return f"Goal:\n{enclosed('goal', state.goal)}"
