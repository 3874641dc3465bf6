"""Self-repair on a stage, with scripted replies."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def self_repair(stage: Callable[[str], Any]) -> Any:
    return stage("self_repair")
