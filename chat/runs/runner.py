"""The runner: claim a run, bring its policy to life, and let the recorder write what it tells."""

import logging
from collections.abc import Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Self

from django.db import InterfaceError, OperationalError
from django.db.models import Q, QuerySet
from pydantic import ValidationError

from agents import loop
from agents.contracts import Exchange, Outcome, Reason, Status
from agents.control import Control
from agents.errors import AgentError, ConfigurationError, Interrupted
from agents.events import Event, RunEnded
from agents.policies import build
from agents.policies.parts import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.policy import Policy
from agents.providers.base import Provider
from agents.reasoning.model import Model
from agents.state import State
from chat.live.publisher import publisher
from chat.models import ModelCall, Run, RunStatus, Turn, TurnStatus
from chat.runs.lease import LeaseLost, claim, fence, give_up, release
from chat.runs.patience import hand_back, patiently
from chat.runs.providers import provider_for
from chat.runs.recorder import Recorder
from chat.runs.tools import tools_for
from chat.runs.wake import wake
from chat.runs.watch import watch

logger = logging.getLogger(__name__)

REMEMBERED = 5
"""How many earlier exchanges of the thread a policy is told of."""

MOST_STEPS_BACK = 50
MOST_ATTEMPTS = 20
BROKEN = "Something broke inside Turnstone. The turns so far are kept; try again."


def work(run_id: int) -> None:
    """Claim a run and work on it until it ends or this worker must let go of it.

    A run that is held, ended or gone is left alone: the message that woke us is only a hint.
    """
    if watch().is_leaving:
        return
    run = patiently(lambda: claim(run_id, watch().worker))
    if run is None:
        return
    spec = _spec(run)
    limits = spec.limits if spec is not None else Limits()
    control = Control(seconds=limits.seconds, idle_seconds=limits.idle_seconds)
    channel = publisher().open(run.pk, run.attempt, control)
    with watch().over(run, control), ExitStack() as held:
        try:
            before = patiently(lambda: _Before.read(run), control)
            recorder = Recorder(run, channel, control, before.turns, before.calls)
            _record(_events(run, spec, before, control, held), recorder)
        except LeaseLost as lost:
            logger.info("%s", lost)
        except Interrupted:
            _let_go(run)
        except (OperationalError, InterfaceError):
            logger.exception("Run %s waits for its lease to end: Postgres is away", run.pk)
        except Exception:
            logger.exception("Run %s cannot be worked on", run.pk)
            patiently(lambda: give_up(run, BROKEN))
        finally:
            channel.close()


def _record(events: Generator[Event, None, None], recorder: Recorder) -> None:
    recorder.begin()
    try:
        with closing(events):
            for event in events:
                recorder.take(event)
                hand_back()  # what a template asked for; the next event may be minutes away
    except (LeaseLost, Interrupted, OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("A run could not be recorded")
        recorder.end(_failed(Reason.INTERNAL, BROKEN))


def _let_go(run: Run) -> None:
    try:
        patiently(lambda: release(run))
    except LeaseLost as lost:
        logger.info("%s", lost)
    else:
        wake(run.pk)


@dataclass(frozen=True)
class _Before:
    """What is stored of a run when an attempt begins."""

    turns: list[Turn]
    calls: int
    position: int
    history: list[Exchange]

    @classmethod
    def read(cls, run: Run) -> Self:
        turns = list(run.turns.order_by("index"))
        calls = ModelCall.objects.filter(run=run)
        return cls(turns, calls.count(), _position(calls, turns), history(run))


def history(run: Run) -> list[Exchange]:
    """Return the last answered exchanges of the thread that the run follows, oldest first."""
    exchanges: list[Exchange] = []
    parent_id = run.parent_id
    for _ in range(MOST_STEPS_BACK):
        if parent_id is None or len(exchanges) == REMEMBERED:
            break
        parent = Run.objects.only("question", "answer", "status", "parent_id").get(pk=parent_id)
        if parent.status == RunStatus.SUCCEEDED:
            exchanges.append(Exchange(question=parent.question, answer=parent.answer))
        parent_id = parent.parent_id
    return exchanges[::-1]


def _events(
    run: Run, spec: PolicySpec | None, before: _Before, control: Control, held: ExitStack
) -> Generator[Event, None, None]:
    """Yield what the run tells; a policy that cannot be brought to life fails the run in words."""
    try:
        policy = _policy(run, spec, before, control, held)
    except (LeaseLost, Interrupted, OperationalError, InterfaceError):
        raise
    except ConfigurationError as error:
        yield RunEnded(outcome=_failed(Reason.CONFIGURATION, str(error)))
    except AgentError as error:
        yield RunEnded(outcome=_failed(Reason.PROVIDER, str(error)))
    except Exception:
        logger.exception("Run %s could not be prepared", run.pk)
        yield RunEnded(outcome=_failed(Reason.INTERNAL, BROKEN))
    else:
        state = State(
            goal=run.question,
            history=before.history,
            turns=[turn.as_contract() for turn in before.turns],
        )
        yield from loop.run(policy, state, control)


def _policy(
    run: Run, spec: PolicySpec | None, before: _Before, control: Control, held: ExitStack
) -> Policy:
    if run.attempt > MOST_ATTEMPTS:
        raise ConfigurationError(f"This run was tried {MOST_ATTEMPTS} times without an end.")
    if spec is None:
        raise ConfigurationError(f"{run.policy_version} cannot be read by this version of it.")
    provider = provider_for(spec.model, position=before.position)
    patiently(lambda: _name_model(run, provider), control)
    tools = tools_for(run, spec.tools)
    held.callback(tools.close)
    parts = Parts(
        model=Model(provider, control, spec.model.temperature, spec.model.max_tokens),
        toolkit=tools,
        limits=spec.limits,
    )
    return build(spec, parts)


def _name_model(run: Run, provider: Provider) -> None:
    run.provider, run.model = provider.name[:40], provider.model[:200]
    fence(run, provider=run.provider, model=run.model)


def _spec(run: Run) -> PolicySpec | None:
    try:
        return run.policy_version.spec
    except ValidationError:
        logger.exception("%s is not a policy", run.policy_version)
        return None


def _position(calls: QuerySet[ModelCall], turns: list[Turn]) -> int:
    """Return how many calls lie behind the point where the run goes on.

    A call that was cut off, or whose turn begins anew, is made again; so are those that look for
    a tool, unless the action they led to is stored, and one that is itself the open action.
    """
    complete = sum(turn.status != TurnStatus.OPEN for turn in turns)
    done = Q(turn_index__lt=complete)
    if complete < len(turns):
        of_open = Q(turn_index=complete)
        done |= of_open & (~Q(purpose="work") if turns[-1].tool else Q(purpose="think"))
    return calls.filter(done).exclude(error=Interrupted.__name__).count()


def _failed(reason: Reason, message: str) -> Outcome:
    return Outcome(status=Status.FAILED, reason=reason, message=message)
