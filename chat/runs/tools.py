"""The tools of one run, as the administrator has set them up for this installation."""

import logging
from collections.abc import Iterable

from django.conf import settings

from agents.control import Control
from agents.tools.catalogue import not_offered, reaching_out, toolkit
from agents.tools.setup import ToolSetup, tool_setup
from agents.tools.toolkit import Toolkit
from chat.models import Run
from chat.search.recall import find_turns

logger = logging.getLogger(__name__)


def tools_for(
    run: Run, names: Iterable[str], setup: ToolSetup, control: Control | None = None
) -> Toolkit:
    """Return the named tools that can be offered; close them when the run is let go of.

    Where the network is not allowed, none that reaches out is among them, whatever an old version
    of a policy names. Raises ConfigurationError for a name that is no tool's, and what
    `control.check` raises.
    """
    names = list(names)
    closed = [] if settings.NETWORK_TOOLS else [name for name in names if name in reaching_out()]
    if closed:
        logger.info("Not allowed here, so not offered: %s", ", ".join(closed))
        names = [name for name in names if name not in closed]
    conversation = run.conversation
    found = find_turns(conversation.owner, space_id=conversation.space_id, excluding=run)
    return toolkit(names, find_turns=found, setup=setup, control=control)


def read_setup() -> ToolSetup:
    """Read how the tools are set up; what cannot be offered is said in the log."""
    found = tool_setup(settings.TOOL_ENVIRONMENT)
    for name, reason in not_offered(found).items():
        logger.warning("%s is not offered: %s", name, reason)
    return found
