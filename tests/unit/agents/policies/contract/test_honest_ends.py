"""Whatever a model says again and again, each policy ends honestly and shows no marks."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents import loop
from agents.contracts import Outcome, Status
from agents.control import Control
from agents.events import ModelCalled
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from tests.replies.text import IN_ONE_GO, SETTINGS, Parrot

POLICIES = [*SETTINGS, *IN_ONE_GO]
TURNS = 4
CALLS = 6 * TURNS
GREETINGS = [
    "Hello! How can I help you today?",
    "Hi there! 👋 Ask me anything.",
    "¡Hola! ¿En qué puedo ayudarte?",
    "Здравствуйте. Чем помочь?",
    "<think>They greet me.</think>Hello!",
    "They greet me, so I greet back.\n</think>\n\nHello!",
    "Assistant: Hello!",
    "Final Answer: Hello!",
    "Thought: A greeting.\n\nFinal Answer: Hello!",
    "**Final Answer:** Hello!",
]
CALLED = '{"name": "ferry", "arguments": {"port": "Bergen"}}'
PIECES = [
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    CALLED,
    '{"tool": "ferry", "inputs": {"port": "Bergen"}}',
    '{"thought": "t", "action": {"tool": "ferry", "parameters": {"port": "Oslo"}}}',
    '{"kind": "FINAL", "text": "The ferry leaves at six."}',
    "\nThought: ",
    "\nAction: ferry",
    "\nAction Input: Bergen",
    "\nObservation: sunk",
    "\nFinal Answer: ",
    "<__final_answer__>",
    "</__final_answer__>",
    "```json\n",
    "\n```\n",
    "<|im_end|>",
    "[TOOL_CALLS]",
    "The ferry leaves at six.",
    "{",
    '"',
    "\n\n",
    "\x00\ud800",
]
BEGINS = re.compile(
    r"\s*(?:</?think>|</?tool_call>|\[TOOL_CALLS\]|<\|im_end\|>|</?__final_answer__>"
    r"|(?:Thought|Final Answer):)"
)
CALL = re.compile(r"(?:<tool_call>|\[TOOL_CALLS\])\s*\{\"name\": \"ferry\"[^`]*\}\}")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MARKS = re.compile(r"</?think>|</?tool_call>|\[TOOL_CALLS\]|<\|im_end\|>|</?__final_answer__>")


@tool()
def ferry(port: str) -> str:
    """Book a ferry."""
    return f"Booked {port}."


def played(policy: str, reply: str) -> tuple[Outcome, int]:
    """Return how a run ends whose model always says the same, and how often it was asked."""
    control = Control()
    parts = Parts(Model(Parrot([reply]), control), Toolkit([ferry]), Limits(max_turns=TURNS))
    built = build(PolicySpec(policy=policy, settings=SETTINGS.get(policy, {})), parts)
    state = State("When does the ferry leave?")
    asked = sum(isinstance(event, ModelCalled) for event in loop.run(built, state, control))
    assert state.outcome is not None
    return state.outcome, asked


@pytest.mark.parametrize("reply", GREETINGS)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_greeting_in_prose_takes_two_calls_at_most(policy: str, reply: str) -> None:
    outcome, asked = played(policy, reply)

    assert (outcome.status, outcome.partial) == (Status.SUCCEEDED, False)
    assert outcome.answer.strip().endswith(("Hello!", reply))
    assert not MARKS.search(outcome.answer)
    assert asked <= 2


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=60, deadline=None)
@example(pieces=["<__final_answer__>", "\nThought: "])
@example(pieces=["\nFinal Answer: ", "The ferry leaves at six.", "<tool_call>", CALLED])
@example(pieces=["\nFinal Answer: ", "\nFinal Answer: ", "<think>", "\nFinal Answer: ", "<think>"])
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=9))
def test_no_reply_of_pieces_ends_a_run_untruly(policy: str, pieces: list[str]) -> None:
    outcome, asked = played(policy, "".join(pieces))

    assert asked <= CALLS
    assert outcome.status is not Status.SUCCEEDED or outcome.answer.strip()
    if outcome.status is Status.SUCCEEDED and not outcome.partial:
        assert not BEGINS.match(outcome.answer)
        assert not CALL.search(CODE.sub("", outcome.answer))
