"""Ask a step again whose model's server failed half-way through its reply.

Nothing of such a reply was acted on. What was shown of it is outdated when its turn begins anew, as
after a worker that died.
"""

import logging
from collections.abc import Generator, Iterator

from agents.control import Control
from agents.errors import ProviderError
from agents.events import Event
from agents.model.delays import delay_after, may_wait
from agents.state import State

TRIES = 3
"""How often one step is asked for in all."""

logger = logging.getLogger(__name__)


class Again:
    """Count how often in a row steps of one run have failed so, and wait between."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._failures = 0

    def asked(self, step: Iterator[Event], state: State) -> Generator[Event, None, bool]:
        """Yield the events of a step; tell whether it is done, or to be begun anew.

        Raises what the step does where it is not asked again: the fault stays, an action has begun,
        or the run has no time to wait.
        """
        try:
            yield from step
        except ProviderError as error:
            has_begun = state.turns[-1].open_action is not None and state.may_have_begun
            if has_begun or not self._may_ask_again(error):
                raise
            return False
        self._failures = 0
        return True

    def _may_ask_again(self, error: ProviderError) -> bool:
        """Wait until the step is due again; tell whether it is to be asked at all."""
        self._failures += 1
        delay = delay_after(error, self._failures)
        if not error.may_pass or self._failures >= TRIES or not may_wait(delay, self._control):
            return False
        logger.info("The step is asked again in %.1f s: %s", delay, error)
        self._control.wait(delay)
        return True
