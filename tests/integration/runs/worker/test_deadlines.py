"""Every limit of time ends what it limits, on a real worker, and the end says which one it was."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from agents.providers.choice import ModelChoice
from chat.models import Conversation, PolicyVersion, Run, RunStatus, TurnStatus
from chat.runs.ask import ask
from tests.worker_stage.phases import IDEA
from tests.worker_stage.worker import Stage

WaitFor = Callable[..., None]
Answered = Callable[..., Run]

LONG = 90
WAIT = 'Thought: {}\nAction: {}\nAction Input: {{"seconds": 90}}'
SLEEP = f"import time; time.sleep({LONG})"
SLEEP = f'Thought: sleep\nAction: python_repl\nAction Input: {{"code": "{SLEEP}"}}'
DONE = {"say": "Thought: so\nFinal Answer: done"}


@pytest.fixture
def ended(
    worker: Stage,
    conversation: Conversation,
    scripted: Callable[..., PolicyVersion],
    wait_for: WaitFor,
) -> Answered:
    """Ask a question of the real worker and return its run when it has ended."""

    def ask_and_wait(*script: dict[str, Any], **fields: Any) -> Run:
        version = scripted(script, **fields)
        run = ask(conversation, "Go", policy_version=version, client_message_id=uuid.uuid4())
        over = Run.objects.filter(pk=run.pk, ended_at__isnull=False)
        wait_for(over.exists, "the run's end", seconds=40)
        run.refresh_from_db()
        return run

    return ask_and_wait


def model(worker: Stage, name: str) -> ModelChoice:
    return ModelChoice(provider="openai", model=name, base_url=f"http://{worker.models.place}/v1")


# Where something is said first, the limit leaves time for it, also in a worker's very first run.
@pytest.mark.parametrize(
    ("name", "limits", "end", "words"),
    [
        ("endless", {"seconds": 8}, ("exhausted", "time"), "The run's time is used up."),
        ("mute", {"seconds": 2}, ("exhausted", "time"), "The run's time is used up."),
        ("busy", {"seconds": 70, "call_seconds": 2}, ("failed", "provider"), "503"),
        ("mute", {"idle_seconds": 1}, ("failed", "provider"), "sent nothing for 1 seconds"),
        ("breaks off", {"idle_seconds": 4}, ("failed", "provider"), "sent nothing for 4 seconds"),
        ("endless", {"call_seconds": 6}, ("failed", "provider"), "took longer than 6 seconds"),
        ("mute", {"call_seconds": 2}, ("failed", "provider"), "took longer than 2 seconds"),
    ],
)
def test_a_model_is_not_waited_for_beyond_its_limit(
    ended: Answered,
    worker: Stage,
    wait_for: WaitFor,
    name: str,
    limits: dict[str, float],
    end: tuple[str, str],
    words: str,
) -> None:
    run = ended(model=model(worker, name), limits=limits)

    assert (run.status, run.reason) == end
    assert words in run.message
    assert not run.turns.filter(status=TurnStatus.OPEN).exists()
    if name in ("endless", "breaks off"):
        assert IDEA in run.turns.get().thought
    wait_for(lambda: not any(worker.models.under_way.values()), "the end of the call")


@pytest.mark.parametrize(
    ("said", "tool"),
    [(SLEEP, "python_repl"), (WAIT.format("wait", "slow__wait"), "slow__wait")],
    ids=["sandbox", "MCP server"],
)
def test_the_time_of_the_run_ends_the_tool_it_is_in(ended: Answered, said: str, tool: str) -> None:
    run = ended({"say": said}, DONE, tools=(tool,), limits={"seconds": 8})

    (turn,) = run.turns.all()
    assert (run.status, run.reason) == (RunStatus.EXHAUSTED, "time")
    assert run.message == "The run's time is used up."
    (action,) = turn.actions
    assert (turn.status, action.error) == (TurnStatus.INTERRUPTED, "Interrupted")


def test_the_time_of_a_tool_ends_the_tool_and_the_run_goes_on(ended: Answered) -> None:
    run = ended({"say": WAIT.format("wait", "brief__wait")}, DONE, tools=("brief__wait",))

    first, _ = run.turns.all()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "done")
    (action,) = first.actions
    assert action.error == "ToolTimeout"
    assert "longer than 1 s" in (action.observation or "")


def test_the_time_of_the_run_counts_on_while_it_waits_for_its_slot(
    ended: Answered, worker: Stage, conversation: Conversation, scripted: Callable[..., Any]
) -> None:
    version = scripted([], model=model(worker, "mute"))
    ask(conversation, "First", policy_version=version, client_message_id=uuid.uuid4())
    run = ended(model=model(worker, "endless"), limits={"seconds": 2})

    assert (run.status, run.reason) == (RunStatus.EXHAUSTED, "time")
    assert run.model_calls.count() == 0
