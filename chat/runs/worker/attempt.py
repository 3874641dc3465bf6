"""The runner: claim a run, bring its policy to life, and let the recorder write what it tells."""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing

from django.conf import settings
from django.db import InterfaceError, OperationalError
from pydantic import ValidationError

from agents import loop
from agents.act.approval import Ask
from agents.contracts import EndReason, Outcome, Status
from agents.control import Control
from agents.errors import AgentError, ConfigurationError, Interrupted, Parked
from agents.events import Event, RunEnded
from agents.model.model import Model
from agents.policies import build
from agents.policies.budgets import budget_for
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.policy import Policy
from agents.providers.base import Provider
from agents.state import State
from chat.metrics.instruments import LEASES_LOST, count_attempt
from chat.models import Run
from chat.runs.approvals import Asker
from chat.runs.db_retry import release_connection, retrying
from chat.runs.ending import give_up, tell_end
from chat.runs.lease import LeaseLost, claim, release
from chat.runs.queue import claim_next
from chat.runs.record.recorder import Recorder
from chat.runs.record.statements import store
from chat.runs.resume import Before
from chat.runs.tools import tools_for
from chat.runs.wake import wake
from chat.runs.worker.heartbeat import watch
from chat.runs.worker.log_context import working_on
from chat.runs.worker.providers import provider_for
from chat.search.index import index_run_ended
from chat.stream.announce import announce_interrupted
from chat.stream.publisher import publisher
from chat.stream.server_events import RunPaused, RunWaiting

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 20
"""How many workers in a row may have a run and come no turn further."""

STUCK = f"{MAX_ATTEMPTS} workers, one after the other, came no further with this run."
LETTING_GO_SECONDS = 5.0
"""How long a worker that has to go waits for Postgres, to say so; without it the lease ends."""

BROKEN = "Something went wrong on our side. Try again."

_claiming = threading.BoundedSemaphore(4)


def work(run_id: int) -> None:
    """Work on this very run, out of turn; one that is held, ended or gone is left alone."""
    if watch().is_leaving:
        return
    run = retrying(lambda: claim(run_id, watch().worker))
    if run is not None:
        _work_on(run)


def work_next(begun: Callable[[], None] | None = None) -> bool:
    """Work on the run that is next, and tell whether there was one; `begun` hears of it first.

    A worker that is leaving takes none.
    """
    run = _claimed()
    if run is None:
        return False
    if begun is not None:
        begun()
    _work_on(run)
    return True


def _claimed() -> Run | None:
    """Claim a run without patience: while Postgres is away there is nothing to hold on to.

    However many wake up at once, a few connections will do.
    """
    try:
        with _claiming:
            return None if watch().is_leaving else claim_next(watch().worker)
    except (OperationalError, InterfaceError) as error:
        logger.warning("No run can be taken: %s", error)
        return None
    finally:
        release_connection()


def _work_on(run: Run) -> None:
    with working_on(run.pk, run.attempt):
        count_attempt(run)
        logger.info("Attempt %d begins", run.attempt)
        _attempt(run)
        how = f"{run.status}, {run.reason}" if run.reason else "released"
        logger.info("Attempt %d is over: %s", run.attempt, how)


def _attempt(run: Run) -> None:
    """Work on a claimed run until it ends or this worker must let go of it."""
    spec = _spec(run)
    limits = spec.limits if spec is not None else Limits()
    control = Control(
        seconds=_left(limits, run),
        idle_seconds=limits.idle_seconds,
        call_seconds=limits.call_seconds,
        waiting=lambda ahead: channel.put(RunWaiting(type="run.waiting", ahead=ahead)),
        paused=lambda: channel.put(RunPaused(type="run.paused")),
    )
    channel = publisher().open(run.pk, run.attempt, control)
    with watch().over(run, control), ExitStack() as held:
        try:
            before = retrying(lambda: Before.read(run), control)
            recorder = Recorder(run, channel, control, before.turns, before.calls)
            ask = Asker(run, channel, control)
            _record(_events(run, spec, before, control, ask, held), recorder)
        except LeaseLost as lost:
            LEASES_LOST.inc()
            logger.info("%s", lost)
        except Parked:
            logger.info("Run %s waits for an approval", run.pk)
        except Interrupted:
            _let_go(run)
        except (OperationalError, InterfaceError):
            logger.exception("Run %s waits for its lease to end: Postgres is away", run.pk)
        except Exception:
            logger.exception("Run %s cannot be worked on", run.pk)
            _give_up(run)
        finally:
            channel.close()


def _left(limits: Limits, run: Run) -> float:
    """Return the seconds that earlier attempts have left of the run's time."""
    return max(0.0, limits.seconds - run.seconds_used)


def _record(events: Generator[Event, None, None], recorder: Recorder) -> None:
    recorder.begin()
    try:
        with closing(events):
            for event in events:
                recorder.record(event)
    except (LeaseLost, OperationalError, InterfaceError):
        raise
    except Interrupted:
        recorder.flush()
        raise
    except Exception:
        logger.exception("A run could not be recorded")
        recorder.end(_failed(EndReason.INTERNAL, BROKEN))


def _give_up(run: Run) -> None:
    try:
        retrying(lambda: give_up(run, BROKEN))
        run.refresh_from_db()
        tell_end(run)
        index_run_ended(run)
    except LeaseLost as lost:
        logger.info("%s", lost)
    except Exception:
        # What made it impossible to record may do so here, too; its pages learn of it in time.
        logger.exception("The end of run %s could not be announced", run.pk)


def _let_go(run: Run) -> None:
    try:
        retrying(lambda: release(run), seconds=LETTING_GO_SECONDS)
    except LeaseLost as lost:
        logger.info("%s", lost)
    except (OperationalError, InterfaceError) as error:
        logger.warning("Run %s waits for its lease to end, Postgres is away: %s", run.pk, error)
    else:
        wake(run.pk)
        _tell_that_it_resumes(run)


def _tell_that_it_resumes(run: Run) -> None:
    try:
        announce_interrupted(run)
    except (OperationalError, InterfaceError) as error:
        logger.warning("The interruption of run %s could not be announced: %s", run.pk, error)
    finally:
        release_connection()


def _events(
    run: Run, spec: PolicySpec | None, before: Before, control: Control, ask: Ask, held: ExitStack
) -> Generator[Event, None, None]:
    """Yield what the run tells; a policy that cannot be brought to life fails the run in words."""
    if run.attempt - before.last_attempt > MAX_ATTEMPTS:
        yield RunEnded(outcome=_failed(EndReason.INTERNAL, STUCK))
        return
    state = State(
        goal=run.question,
        history=before.history,
        turns=[turn.as_contract() for turn in before.turns],
    )
    try:
        policy = _policy(run, spec, before, control, ask, held)
    except (LeaseLost, Interrupted, OperationalError, InterfaceError):
        raise
    except Exception as error:
        if not isinstance(error, AgentError):
            logger.exception("Run %s could not be prepared", run.pk)
        yield RunEnded(outcome=loop.outcome_of(error, state))
    else:
        yield from loop.run(policy, state, control)


def _policy(
    run: Run, spec: PolicySpec | None, before: Before, control: Control, ask: Ask, held: ExitStack
) -> Policy:
    if spec is None:
        raise ConfigurationError(f"{run.policy_version} cannot be read by this version of it.")
    provider = provider_for(spec.model, position=before.position)
    retrying(lambda: _name_model(run, provider), control, in_one_statement=True)
    budget = budget_for(
        spec, provider, settings.PRICES, given=before.spent.given, made=before.spent.made
    )
    tools = tools_for(run, spec.tools, control)
    held.callback(tools.close)
    parts = Parts(
        model=Model(provider, control, spec.model.temperature, spec.model.max_tokens, budget),
        toolkit=tools,
        limits=spec.limits,
        ask=ask,
    )
    return build(spec, parts)


def _name_model(run: Run, provider: Provider) -> None:
    run.provider, run.model, run.build = provider.name[:40], provider.model[:200], settings.BUILD
    store(run, provider=run.provider, model=run.model, build=run.build)


def _spec(run: Run) -> PolicySpec | None:
    try:
        return run.policy_version.spec
    except ValidationError:
        logger.exception("%s is not a policy", run.policy_version)
        return None


def _failed(reason: EndReason, message: str) -> Outcome:
    return Outcome(status=Status.FAILED, reason=reason, message=message)
