"""Ours: a policy on the one loop, with the real provider, every event written down."""

from functools import partial

from pydantic import SecretStr

from agents.control import Control
from agents.events import AnswerDelta, Observed, RunEnded, ThoughtDelta
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import Credentials
from agents.providers.openai import OpenAIProvider
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from tests.bench.engine_drivers.measured import Done, serve


@tool(reads_only=True)
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


def one(url: str, turns: int, *, policy: str, mode: str) -> Done:
    """Do one run; every event is validated as it is made, and recorded as a store would."""
    credentials = Credentials(
        base_url=f"{url}/{mode}/v1", api_key=SecretStr("x"), model="fake", found="the bench"
    )
    control = Control(600)
    limits = Limits(max_turns=turns + 1)
    parts = Parts(Model(OpenAIProvider(credentials), control), Toolkit([add]), limits)
    built = build(PolicySpec(policy=policy, limits=limits), parts)
    answer, deltas, tools = "", 0, 0
    recorded: list[str] = []
    for event in run(built, State("Add numbers."), control):
        recorded.append(event.model_dump_json())
        if isinstance(event, ThoughtDelta | AnswerDelta):
            deltas += 1
        elif isinstance(event, Observed):
            tools += 1
        elif isinstance(event, RunEnded):
            answer = event.outcome.answer
    return answer, deltas, tools


in_text = partial(one, policy="explicit", mode="text")
natively = partial(one, policy="native", mode="native")

if __name__ == "__main__":
    serve(in_text)
