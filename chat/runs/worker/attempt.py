"""One worker's time with a run: its policy is built, and the recorder writes what it tells."""

import logging
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing

from django.conf import settings
from django.db import InterfaceError, OperationalError
from pydantic import ValidationError

from agents import loop
from agents.contracts import EndReason, Outcome, Status
from agents.control import Control
from agents.errors import AgentError, ConfigurationError, Interrupted, Parked
from agents.events import Event, RunEnded
from agents.model.model import Model
from agents.policies import build
from agents.policies.budgets import budget_for
from agents.policies.by_role import models_by_purpose
from agents.policies.context import Parts
from agents.policies.spec import Limits, ModelRole, PolicySpec
from agents.policy import Policy
from agents.providers.base import Provider
from agents.state import State
from agents.tools.mcp.tools import is_mcp
from agents.tools.setup import ToolSetup
from chat.metrics.instruments import LEASES_LOST
from chat.models import Lane, Run
from chat.runs.approvals import Asker
from chat.runs.db_retry import AWAY, release_connection, retrying
from chat.runs.ending import give_up, tell_end
from chat.runs.lease import LeaseLost, release
from chat.runs.models_offered import model_for
from chat.runs.record.recorder import Recorder
from chat.runs.record.statements import store_model
from chat.runs.resume import Before
from chat.runs.servers_seen import keep_seen
from chat.runs.tools import tools_for
from chat.runs.wake import wake
from chat.runs.worker.heartbeat import Watch
from chat.runs.worker.providers import Providers
from chat.search.documents.runs import index_run_ended
from chat.stream.announce import announce_interrupted
from chat.stream.publisher import Publisher
from chat.stream.server_events import RunPaused, RunWaiting

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 20
"""How many workers in a row may have a run and come no turn further."""

STUCK = f"{MAX_ATTEMPTS} workers, one after the other, came no further with this run."
LETTING_GO_SECONDS = 5.0
"""How long a worker that has to go waits for Postgres, to say so; without it the lease ends."""

BROKEN = "Something went wrong on our side. Try again."


class Attempt:
    """Work on one claimed run until it ends or this worker must let go of it.

    `providers` and `tools` are the worker's; the setup of the tools is read when it is needed.
    """

    def __init__(
        self, run: Run, publisher: Publisher, providers: Providers, tools: Callable[[], ToolSetup]
    ) -> None:
        self._run = run
        self._providers, self._tools = providers, tools
        self._spec = _spec(run)
        limits = Limits() if self._spec is None else self._spec.limits
        self.control = Control(
            seconds=_left(limits, run),
            idle_seconds=limits.idle_seconds,
            call_seconds=limits.call_seconds,
            # The publisher keeps channel and control for a while, and so nothing else of this.
            waiting=lambda ahead: channel.put(RunWaiting(type="run.waiting", ahead=ahead)),
            paused=lambda: channel.put(RunPaused(type="run.paused")),
        )
        self._channel = channel = publisher.open(run.pk, run.attempt, self.control)

    def work(self, watch: Watch) -> None:
        """Work, watched over; nothing is raised."""
        run = self._run
        with watch.over(run, self.control), ExitStack() as held:
            try:
                before = retrying(lambda: Before.read(run), self.control)
                recorder = Recorder(
                    *(run, self._channel, self.control, before.turns, before.calls),
                    roles=() if self._spec is None else tuple(self._spec.models),
                )
                _record(self._events(before, held), recorder)
            except LeaseLost as lost:
                LEASES_LOST.inc()
                logger.info("%s", lost)
            except Parked:
                logger.info("Run %s waits for an approval", run.pk)
            except Interrupted:
                _let_go(run)
            except AWAY:
                logger.exception("Run %s waits for its lease to end: what it needs is away", run.pk)
            except Exception:
                logger.exception("Run %s cannot be worked on", run.pk)
                _give_up(run)
            finally:
                self._channel.close()

    def _events(self, before: Before, held: ExitStack) -> Generator[Event, None, None]:
        """Yield what the run tells; a policy that cannot be built fails the run in words."""
        run = self._run
        if run.attempt - before.last_attempt > MAX_ATTEMPTS:
            yield RunEnded(outcome=_failed(EndReason.INTERNAL, STUCK))
            return
        turns = retrying(before.as_contracts, self.control, in_one_statement=True)
        state = State(goal=run.question, history=before.history, turns=turns)
        try:
            policy = self._policy(before, held)
        except (LeaseLost, Interrupted, OperationalError, InterfaceError):
            raise
        except Exception as error:
            if not isinstance(error, AgentError):
                logger.exception("Run %s could not be prepared", run.pk)
            yield RunEnded(outcome=loop.outcome_of(error, state))
        else:
            yield from loop.run(policy, state, self.control)

    def _policy(self, before: Before, held: ExitStack) -> Policy:
        """Bring the policy to life; what must be let go of at the end is put into `held`."""
        run, spec, control = self._run, self._spec, self.control
        if spec is None:
            raise ConfigurationError(f"{run.policy_version} cannot be read by this version of it.")
        provider = self._provider(spec, None, before)
        retrying(lambda: _name_model(run, provider), control, in_one_statement=True)
        budget = budget_for(
            spec, provider, settings.PRICES, settings.PROVIDERS, earlier=before.spent
        )
        setup = self._tools()
        tools = tools_for(run, spec.tools, setup, control)
        held.callback(tools.close)
        if any(map(is_mcp, spec.tools)):
            held.callback(keep_seen, setup.mcp_servers)
        chosen = spec.model
        parts = Parts(
            model=Model(
                *(provider, control, chosen.temperature, chosen.max_tokens),
                budget=budget,
                others=models_by_purpose(
                    spec, control, lambda role: self._provider(spec, role, before)
                ),
            ),
            toolkit=tools,
            limits=spec.limits,
            ask=Asker(run, self._channel, control),
            person=run.person_instructions,
            conversation=run.conversation_instructions,
        )
        return build(spec, parts)

    def _provider(self, spec: PolicySpec, role: ModelRole | None, before: Before) -> Provider:
        """Return the provider of a role that has a model of its own, or that of all others."""

        def is_asked(purpose: str) -> bool:
            own = ModelRole.of(purpose)
            return (own if own in spec.models else None) is role

        return self._providers.get(
            model_for(self._run, spec.model) if role is None else spec.models[role],
            position=before.position(is_asked),
            gives_way=self._run.lane == Lane.BATCH,
        )


def _left(limits: Limits, run: Run) -> float:
    """Return the seconds that earlier attempts have left of the run's time."""
    return max(0.0, limits.seconds - run.seconds_used)


def _record(events: Generator[Event, None, None], recorder: Recorder) -> None:
    recorder.begin()
    try:
        with closing(events):
            for event in events:
                recorder.record(event)
    except (LeaseLost, *AWAY):
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


def _name_model(run: Run, provider: Provider) -> None:
    run.provider, run.model, run.build = provider.name[:40], provider.model[:200], settings.BUILD
    run.instead_of = ""
    names = ("provider", "model", "instead_of", "build")
    store_model(run, **{name: getattr(run, name) for name in names})


def _spec(run: Run) -> PolicySpec | None:
    try:
        return run.policy_version.spec
    except (ValidationError, ConfigurationError):
        logger.exception("%s is not a policy", run.policy_version)
        return None


def _failed(reason: EndReason, message: str) -> Outcome:
    return Outcome(status=Status.FAILED, reason=reason, message=message)
