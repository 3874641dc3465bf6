"""A question to a person outlives real workers, and its one answer lets one call begin."""

import uuid
from collections.abc import Callable

import pytest

from chat.models import ApprovalStatus, Conversation, PolicyVersion, Run, RunStatus, User
from chat.runs.approvals import decide
from chat.runs.ask import ask
from tests.worker_stage.worker import Stage

WaitFor = Callable[..., None]
LONG = 'Thought: It takes long.\nAction: slow__wait\nAction Input: {"seconds": 60}'
SHORT = 'Thought: It is short.\nAction: slow__wait\nAction Input: {"seconds": 0}'
DONE = "Thought: I know now.\nFinal Answer: Done."


@pytest.fixture
def waiting(
    worker: Stage,
    conversation: Conversation,
    scripted: Callable[..., PolicyVersion],
    wait_for: WaitFor,
) -> Callable[[str], Run]:
    """Ask a question whose run comes to wait for Ada, by a real worker."""

    def begin(action: str) -> Run:
        script = [{"say": action}, {"say": DONE}]
        version = scripted(script, tools=("slow__*",), approve=("slow__*",))
        run = ask(conversation, "Go", policy_version=version, client_message_id=uuid.uuid4())
        wait_for(is_now(run, RunStatus.WAITING), "the question", seconds=40)
        return run

    return begin


def is_now(run: Run, status: RunStatus) -> Callable[[], bool]:
    return lambda: Run.objects.filter(pk=run.pk, status=status).exists()


def test_an_answer_to_a_question_of_a_dead_worker_lets_another_one_act(
    worker: Stage, waiting: Callable[[str], Run], ada: User, wait_for: WaitFor
) -> None:
    run, before = waiting(SHORT), worker.tool_calls()
    worker.kill_worker()
    worker.start_worker()
    decide(run.approvals.get(), by=ada, grant=True)
    wait_for(is_now(run, RunStatus.SUCCEEDED), "the answer", seconds=40)

    [action] = run.turns.get(index=0).actions
    assert (action.observation, worker.tool_calls() - before) == ("waited", 1)


def test_what_a_dead_worker_began_on_an_answer_is_not_begun_again(
    worker: Stage, waiting: Callable[[str], Run], ada: User, wait_for: WaitFor
) -> None:
    run, before = waiting(LONG), worker.tool_calls()
    decide(run.approvals.get(), by=ada, grant=True)
    wait_for(lambda: worker.tool_calls() > before, "the call", seconds=40)
    worker.kill_worker()
    worker.start_worker()
    wait_for(is_now(run, RunStatus.SUCCEEDED), "the answer", seconds=40)

    [action] = run.turns.get(index=0).actions
    assert (action.error, worker.tool_calls() - before) == ("Interrupted", 1)
    assert run.approvals.get().status == ApprovalStatus.GRANTED


def test_silence_is_a_no_by_the_workers_own_clock(
    worker: Stage, waiting: Callable[[str], Run], wait_for: WaitFor
) -> None:
    run, before = waiting(SHORT), worker.tool_calls()
    row = run.approvals.get()
    run.approvals.update(expires_at=row.created_at)
    wait_for(is_now(run, RunStatus.SUCCEEDED), "the end without an answer", seconds=40)

    [action] = run.turns.get(index=0).actions
    assert (action.error, worker.tool_calls() - before) == ("NotApproved", 0)
    assert run.approvals.get().status == ApprovalStatus.EXPIRED
