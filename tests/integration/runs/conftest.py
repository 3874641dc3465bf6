"""Runs that a test works on itself."""

from collections.abc import Callable

import pytest

from chat.models import Run
from chat.runs.lease import claim


@pytest.fixture
def claimed(asked: Callable[..., Run]) -> Callable[[], Run]:
    """Ask a question and claim its run, which lets whoever has it write."""

    def claim_one() -> Run:
        run = claim(asked([]).pk, "a worker")
        assert run is not None
        return run

    return claim_one
