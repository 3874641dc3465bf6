"""The error in which a question to a server ends."""

import pytest

from agents.control import Control
from agents.errors import AgentError
from tests.unit.agents.providers.calls import Ask


def failure_of(ask: Ask, base_url: str, control: Control | None = None) -> AgentError:
    with pytest.raises(AgentError) as failure:
        ask(base_url, control=control)
    return failure.value
