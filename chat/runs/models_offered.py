"""Which model answers here, for the page to say so plainly."""

import time
from dataclasses import dataclass

from django.conf import settings

from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from agents.providers.discovery import discover

FRESH_SECONDS = 60.0


@dataclass(frozen=True)
class CurrentModel:
    """The model that a policy with the choice `auto` calls; `found` says where it was found."""

    provider: str
    model: str
    is_demo: bool
    found: str


_known: tuple[float, CurrentModel] | None = None


def current_model() -> CurrentModel:
    """Return the model in use, looked up at most once a minute in each process."""
    global _known
    if _known is None or time.monotonic() - _known[0] > FRESH_SECONDS:
        _known = (time.monotonic(), _look_up())
    return _known[1]


def _look_up() -> CurrentModel:
    credentials = discover(settings.MODEL_ENVIRONMENT)
    if credentials is None:
        demo = connect(ModelChoice(provider="demo"), settings.MODEL_ENVIRONMENT)
        return CurrentModel(demo.name, demo.model, is_demo=True, found="built in")
    return CurrentModel(
        credentials.provider, credentials.model, is_demo=False, found=credentials.found
    )
