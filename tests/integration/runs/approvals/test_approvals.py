"""A risky action waits for its owner's yes, is answered once, and runs exactly as it was shown."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from agents.control import Control
from agents.tools.mcp.connection import connection as connected
from chat.models import Action, Approval, ApprovalStatus, Run, RunStatus, Turn, TurnStatus, User
from chat.runs import approvals, tools
from chat.runs.approvals import NotOpen, decide, expire
from chat.runs.lease import LeaseLost
from chat.runs.stop import stop
from chat.runs.worker.attempt import MAX_ATTEMPTS
from chat.search.find import find
from chat.search.language.query import parse
from chat.stream.deferred import deferred
from chat.stream.streams import run_key
from tests.integration.here import here

PAY = 'Thought: It is due.\nAction: bank__pay\nAction Input: {"to": "Eve", "amount": 7}'
SUM = 'Thought: I reckon.\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
DONE = "Thought: I know now.\nFinal Answer: Done."

# A tool whose effect can be counted, and that no worker may bring about twice.
BANK = """
import sys, time
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("bank")
ledger = Path(sys.argv[1])

@server.tool()
def pay(to: str, amount: int) -> str:
    "Pay an amount to somebody."
    with ledger.open("a") as lines:
        lines.write(f"{to} {amount}\\n")
    while (ledger.parent / "slow").exists():
        time.sleep(0.02)
    return f"paid {amount} to {to}"

server.run("stdio")
"""


class Bank:
    """A bank behind an MCP server that the administrator calls sensitive."""

    def __init__(self, folder: Path) -> None:
        self.ledger = folder / "ledger"
        self.slow = folder / "slow"
        program = folder / "bank.py"
        program.write_text(BANK)
        server = {"command": sys.executable, "args": [str(program), str(self.ledger)]}
        self.file = folder / "mcp.json"
        self.file.write_text(json.dumps({"mcpServers": {"bank": server | {"safety": "sensitive"}}}))

    @property
    def paid(self) -> list[str]:
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []


@pytest.fixture
def bank(settings: Any, tmp_path: Path) -> Iterator[Bank]:
    bank = Bank(tmp_path)
    settings.TOOL_ENVIRONMENT = {**settings.TOOL_ENVIRONMENT, "TURNSTONE_MCP": str(bank.file)}
    yield bank
    for server in here().tools().mcp_servers:
        connected(server).close()


@pytest.fixture
def payment(asked: Callable[..., Run], bank: Bank) -> Run:
    """Give a run that waits for its owner to allow a payment, which is made once at most."""
    run = asked([{"say": PAY}, {"say": DONE}], tools=("bank__*",))
    here().work(run.pk)
    run.refresh_from_db()
    return run


@pytest.fixture
def parked(asked: Callable[..., Run]) -> Run:
    """Give a run that waits for its owner to allow a sum."""
    run = asked([{"say": SUM}, {"say": DONE}], tools=("calculator",), approve=("calculator",))
    here().work(run.pk)
    run.refresh_from_db()
    return run


def seen(run: Run, **fields: Any) -> Callable[[], bool]:
    return lambda: Run.objects.filter(pk=run.pk, **fields).exists()


def last(run: Run) -> Turn:
    return run.turns.latest("index")


def first_action(run: Run) -> Action:
    """Return the one action of the run's first turn."""
    return run.turns.get(index=0).stored_actions.get()


def told(run: Run, valkey: Any) -> list[dict[str, Any]]:
    """Return all events that the run's stream tells."""
    here().publisher.flush(10)
    deferred().flush(10)
    entries = valkey.xrange(run_key(run.pk))
    return [event for _, fields in entries for event in json.loads(fields[b"d"])]


def test_a_risky_action_waits_and_nobody_holds_its_run(payment: Run, bank: Bank) -> None:
    (asked_for,) = payment.approvals.all()
    (turn,) = payment.turns.all()
    (action,) = turn.actions

    assert (payment.status, payment.lease_until, payment.ended_at) == (
        RunStatus.WAITING,
        None,
        None,
    )
    assert (asked_for.status, asked_for.tool) == (ApprovalStatus.PENDING, "bank__pay")
    assert asked_for.position == action.position == 0
    assert asked_for.inputs == action.inputs == {"to": "Eve", "amount": 7}
    assert (turn.status, action.started_at) == (TurnStatus.OPEN, None)
    assert timezone.now() < asked_for.expires_at <= timezone.now() + timedelta(hours=1)
    assert bank.paid == []


def test_who_watches_is_told_and_the_rows_name_that_frame(parked: Run, valkey: Any) -> None:
    event = told(parked, valkey)[-1]
    newest = valkey.xrevrange(run_key(parked.pk), count=1)[0][0].decode()

    assert (event["type"], event["index"]) == ("approval.requested", 0)
    assert f'data-approval="{parked.approvals.get().pk}"' in event["html"]
    assert parked.stream_id == last(parked).stream_id == newest


def test_what_waits_for_its_owner_is_found_by_them_and_by_nobody_else(
    payment: Run, ada: User, bob: User
) -> None:
    def finds(user: User, text: str) -> bool:
        return bool(find(user, parse(text)).turn_ids)

    assert finds(ada, "status:waiting")
    assert finds(ada, "eve due tool:bank__pay -status:running")
    assert not finds(bob, "status:waiting")

    decide(payment.approvals.get(), by=ada, grant=True)
    here().work(payment.pk)

    assert finds(ada, '"paid 7 to eve" status:answered')
    assert not finds(ada, "status:waiting")


def test_what_waited_and_was_stopped_is_found_by_how_it_ended(payment: Run, ada: User) -> None:
    stop(payment, "Nobody knows this Eve.")

    (turn,) = payment.turns.all()
    assert find(ada, parse('status:stopped eve interrupted "nobody knows"')).turn_ids == [turn.pk]


def test_an_allowed_action_runs_once_and_the_run_goes_on(
    payment: Run, ada: User, bank: Bank
) -> None:
    decide(payment.approvals.get(), by=ada, grant=True)
    assert seen(payment, status=RunStatus.INTERRUPTED)()
    here().work(payment.pk)

    payment.refresh_from_db()
    row = payment.approvals.get()
    assert (payment.status, payment.answer, bank.paid) == (RunStatus.SUCCEEDED, "Done.", ["Eve 7"])
    assert first_action(payment).observation == "paid 7 to Eve"
    assert (row.status, row.decided_by, row.decided_at is not None) == ("granted", ada, True)
    assert payment.model_calls.count() == 2


def test_the_answer_is_told_before_the_next_worker_begins(
    parked: Run, ada: User, valkey: Any, wait_for: Callable[..., None]
) -> None:
    decide(parked.approvals.get(), by=ada, grant=True)
    wait_for(lambda: told(parked, valkey)[-1]["type"] == "run.interrupted", "the answer")
    decided, interrupted = told(parked, valkey)[-2:]
    here().work(parked.pk)

    ids = [entry.decode() for entry, _ in valkey.xrange(run_key(parked.pk))]
    assert (decided["type"], interrupted["type"]) == ("approval.decided", "run.interrupted")
    assert "Allowed by ada" in decided["html"]
    assert "2-0" in ids
    assert "Allowed by ada" in last_of(told(parked, valkey), "run.ended")["html"]


@pytest.mark.parametrize("has_looked", [False, True], ids=["at once", "after a heartbeat"])
def test_a_question_whose_commit_was_not_answered_is_asked_once_and_told(
    asked: Callable[..., Run], valkey: Any, has_looked: bool
) -> None:
    run = asked([{"say": SUM}, {"say": DONE}], tools=("calculator",), approve=("calculator",))
    lost: list[str] = []

    def lose_the_answer(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "chat_approval"') and not lost:
            lost.append(sql)
            transaction.on_commit(break_off)
        return execute(sql, *rest)

    def break_off() -> None:
        if has_looked:  # the run is not held any more, so this worker is told to let go of it
            here().watch._look()
        raise OperationalError("The connection is gone, and nobody knows what became of it.")

    with connection.execute_wrapper(lose_the_answer):
        here().work(run.pk)

    run.refresh_from_db()
    assert lost
    assert (run.status, run.approvals.count()) == (RunStatus.WAITING, 1)
    assert [event["type"] for event in told(run, valkey)].count("approval.requested") == 1


def last_of(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return [event for event in events if event["type"] == kind][-1]


def test_a_refused_action_does_not_run_and_the_model_is_told_why(
    payment: Run, ada: User, bank: Bank
) -> None:
    decide(payment.approvals.get(), by=ada, grant=False, feedback=" Ask Bob\0 first. ")
    here().work(payment.pk)

    payment.refresh_from_db()
    action = first_action(payment)
    assert (payment.status, bank.paid) == (RunStatus.SUCCEEDED, [])
    assert action.observation == "The call of bank__pay was not approved. Ask Bob first."
    assert action.error == "NotApproved"


def test_the_same_answer_again_changes_nothing_and_another_one_is_too_late(
    parked: Run, ada: User
) -> None:
    row = parked.approvals.get()
    decide(row, by=ada, grant=True)
    decide(row, by=ada, grant=True)
    with pytest.raises(NotOpen, match="allowed already"):
        decide(row, by=ada, grant=False)

    row.refresh_from_db()
    assert row.status == ApprovalStatus.GRANTED


def test_of_many_answers_at_once_one_counts(parked: Run, ada: User) -> None:
    row = parked.approvals.get()
    refused: list[str] = []
    start = threading.Barrier(8)

    def answer(number: int) -> None:
        mine = Approval.objects.get(pk=row.pk)
        start.wait(20)
        try:
            decide(mine, by=ada, grant=number % 2 == 0)
        except NotOpen as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    row.refresh_from_db()
    assert row.status in (ApprovalStatus.GRANTED, ApprovalStatus.DENIED)
    assert len(refused) == 4


def test_silence_is_a_no(parked: Run) -> None:
    expire()
    assert seen(parked, status=RunStatus.WAITING)()
    parked.approvals.update(expires_at=timezone.now() - timedelta(seconds=1))
    expire()
    here().work(parked.pk)

    parked.refresh_from_db()
    assert (parked.status, parked.answer) == (RunStatus.SUCCEEDED, "Done.")
    assert parked.approvals.get().status == ApprovalStatus.EXPIRED
    assert "Nobody answered in time" in (first_action(parked).observation or "")


def test_an_answer_that_comes_too_late_is_no_answer(parked: Run, ada: User) -> None:
    parked.approvals.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotOpen, match="not answered in time"):
        decide(parked.approvals.get(), by=ada, grant=True)

    assert seen(parked, status=RunStatus.WAITING)()


def test_the_time_to_answer_is_a_setting(asked: Callable[..., Run], settings: Any) -> None:
    settings.APPROVAL_SECONDS = 60
    run = asked([{"say": SUM}, {"say": DONE}], tools=("calculator",), approve=("calculator",))
    here().work(run.pk)

    assert run.approvals.get().expires_at <= timezone.now() + timedelta(seconds=60)


def test_a_waiting_run_is_stopped_at_once_and_its_question_withdrawn(
    payment: Run, ada: User, bank: Bank, valkey: Any
) -> None:
    assert stop(payment)
    row = payment.approvals.get()
    with pytest.raises(NotOpen, match="stopped"):
        decide(row, by=ada, grant=True)
    here().work(payment.pk)

    payment.refresh_from_db()
    assert (payment.status, last(payment).status) == (RunStatus.STOPPED, TurnStatus.INTERRUPTED)
    assert (row.status, row.decided_by, bank.paid) == (ApprovalStatus.WITHDRAWN, None, [])
    assert "Stopped before it was answered" in told(payment, valkey)[-1]["html"]


def test_a_stop_that_comes_while_it_is_about_to_ask_ends_the_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": SUM}], tools=("calculator",), approve=("calculator",))
    Run.objects.filter(pk=run.pk).update(stop_requested_at=timezone.now())
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.approvals.count()) == (RunStatus.STOPPED, 0)


def test_a_worker_that_finds_the_question_still_open_parks_the_run_again(
    payment: Run, ada: User, bank: Bank, valkey: Any
) -> None:
    Run.objects.filter(pk=payment.pk).update(status=RunStatus.INTERRUPTED)
    here().work(payment.pk)
    assert seen(payment, status=RunStatus.WAITING, attempt=2)()
    assert told(payment, valkey)[-1]["type"] == "approval.requested"
    decide(payment.approvals.get(), by=ada, grant=True)
    here().work(payment.pk)

    assert seen(payment, status=RunStatus.SUCCEEDED)()
    assert bank.paid == ["Eve 7"]


def test_what_began_under_an_answer_is_not_begun_again(
    payment: Run, ada: User, bank: Bank, working: Any, wait_for: Callable[..., None]
) -> None:
    bank.slow.touch()
    decide(payment.approvals.get(), by=ada, grant=True)
    with working(payment) as workers:
        wait_for(lambda: bank.paid, "the payment")
        Run.objects.filter(pk=payment.pk).update(  # as if its worker had been killed
            status=RunStatus.INTERRUPTED, claimed_at=None, lease_until=None
        )
        workers.wait()
        here().work(payment.pk)

    payment.refresh_from_db()
    assert (payment.status, bank.paid) == (RunStatus.SUCCEEDED, ["Eve 7"])
    assert first_action(payment).error == "Interrupted"


def test_what_is_run_is_what_was_asked_about_to_the_letter(
    payment: Run, ada: User, bank: Bank
) -> None:
    decide(payment.approvals.get(), by=ada, grant=True)
    Action.objects.filter(turn__run=payment).update(inputs={"to": "Mallory", "amount": 7})
    here().work(payment.pk)

    payment.refresh_from_db()
    assert (payment.status, bank.paid) == (RunStatus.SUCCEEDED, [])
    assert "not what was asked about" in (first_action(payment).observation or "")


def test_any_tool_can_be_made_to_ask(parked: Run, ada: User) -> None:
    decide(parked.approvals.get(), by=ada, grant=True)
    here().work(parked.pk)

    parked.refresh_from_db()
    assert (parked.status, first_action(parked).observation) == (RunStatus.SUCCEEDED, "42")
    assert parked.approvals.get().safety == "safe"


def test_a_slip_in_the_name_of_a_tool_to_ask_about_fails_the_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": SUM}], tools=("calculator",), approve=("calculater",))
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "configuration")
    assert "'calculater', which is no tool of this policy" in run.message


def test_each_action_is_asked_about_and_answers_are_not_attempts_gone_wrong(
    asked: Callable[..., Run], ada: User
) -> None:
    many = MAX_ATTEMPTS + 2
    script = [
        {"say": f'Action: calculator\nAction Input: {{"expression": "1 + {number}"}}'}
        for number in range(many)
    ]
    run = asked(
        [*script, {"say": DONE}],
        tools=("calculator",),
        approve=("calculator",),
        limits={"max_turns": many + 1},
    )
    here().work(run.pk)
    for _ in range(many):
        decide(run.approvals.get(status=ApprovalStatus.PENDING), by=ada, grant=True)
        here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.turns.count()) == (RunStatus.SUCCEEDED, many + 1)


def test_a_run_that_waits_for_nothing_goes_on(parked: Run) -> None:
    parked.approvals.all().delete()
    expire()
    assert seen(parked, status=RunStatus.INTERRUPTED)()


def test_an_approval_of_a_run_that_ended_is_withdrawn(parked: Run) -> None:
    Run.objects.filter(pk=parked.pk).update(
        status=RunStatus.FAILED, reason="internal", ended_at=timezone.now()
    )
    expire()
    assert parked.approvals.get().status == ApprovalStatus.WITHDRAWN


def test_a_worker_that_lost_its_run_cannot_ask_in_it(parked: Run, ada: User) -> None:
    asker_run = Run.objects.get(pk=parked.pk)
    control = Control()
    channel = here().publisher.open(parked.pk, 1, control)
    action = first_action(parked)
    parked.approvals.all().delete()
    Run.objects.filter(pk=parked.pk).update(attempt=2)
    kit = tools.tools_for(asker_run, ["calculator"], here().tools())
    call = action.as_contract().call
    assert call is not None

    with pytest.raises(LeaseLost):
        approvals.Asker(asker_run, channel, control)(kit.get("calculator"), call, "")
    assert not parked.approvals.exists()


def at_once(*deeds: Callable[[], object]) -> None:
    """Do everything at the same moment, each in a thread of its own."""
    start, broken = threading.Barrier(len(deeds)), list[Exception]()

    def do(deed: Callable[[], object]) -> None:
        start.wait(20)
        try:
            deed()
        except NotOpen:
            pass  # somebody was faster
        except Exception as error:
            broken.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=(deed,)) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "Two of them wait for each other."
    assert broken == []


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("is_late", [False, True])
def test_answers_time_stop_and_workers_at_once_leave_one_truth(
    asked: Callable[..., Run], ada: User, is_stopped: bool, is_late: bool
) -> None:
    run = asked([{"say": SUM}, {"say": DONE}], tools=("calculator",), approve=("calculator",))
    here().work(run.pk)
    row = run.approvals.get()
    if is_late:
        run.approvals.update(expires_at=timezone.now() + timedelta(milliseconds=20))
    yes, no = (Approval.objects.get(pk=row.pk) for _ in range(2))

    at_once(
        lambda: decide(yes, by=ada, grant=True),
        lambda: decide(no, by=ada, grant=False),
        lambda: stop(run) if is_stopped else None,
        expire,
        expire,
        lambda: here().work(run.pk),
        lambda: here().work(run.pk),
    )
    run.approvals.filter(status=ApprovalStatus.PENDING).update(expires_at=timezone.now())
    expire()
    here().work(run.pk)

    run.refresh_from_db()
    row.refresh_from_db()
    has_run = run.turns.filter(index=0, stored_actions__observation="42").exists()
    assert run.status in (RunStatus.SUCCEEDED, RunStatus.STOPPED)
    assert run.status == RunStatus.SUCCEEDED or is_stopped
    assert not row.is_pending
    assert row.status == ApprovalStatus.GRANTED or not has_run
