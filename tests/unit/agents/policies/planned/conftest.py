"""The policy planned on a stage, with scripted replies."""

from collections.abc import Callable
from typing import Any

import pytest

Play = Callable[..., Any]


@pytest.fixture
def play(stage: Callable[[str], Any]) -> Play:
    """Play a script without a plan, unless `planning` says otherwise."""

    def played(*script: Any, planning: str = "never", **options: Any) -> Any:
        settings = {"planning": planning, **options.pop("settings", {})}
        options.setdefault("max_turns", 50)
        return stage("planned").play(script, **settings, **options)

    return played
