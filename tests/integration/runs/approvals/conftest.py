"""Runs that wait for their owner to allow an action."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.tools.mcp.connection import connection as connected
from chat.models import Run
from tests.integration.here import here
from tests.integration.runs.approvals.bank import DONE, PAY, SUM, Bank


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
