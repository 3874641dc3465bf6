"""Every policy with its script, answered and out of turns."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.agents.policies.contract.scripts import CASES, LIMITS, Entry, script


@pytest.fixture(params=CASES, ids=[" ".join(case) for case in CASES])
def case(
    request: pytest.FixtureRequest, stage: Callable[[str], Any]
) -> tuple[Any, list[Entry], int]:
    policy, limit = request.param
    return stage(policy), script(policy, limit), LIMITS[limit]
