"""Which models there are to choose from, and which one answers where nobody chose."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from agents.providers.address import is_loopback
from agents.providers.choice import Credentials, ModelChoice
from agents.providers.connect import connect
from agents.providers.discovery import configured, discover, opened
from agents.providers.listing import NOT_FOR_CHAT, listed
from agents.providers.vendors import VENDORS
from chat.runs.validation import InvalidQuestion

if TYPE_CHECKING:  # what prepares a start asks for the current model before there are any models
    from chat.models import Run

FRESH_SECONDS = 60.0
MANY = 8
"""Models from which on the page lets a person search among them."""


@dataclass(frozen=True)
class CurrentModel:
    """The model that a policy with the choice `auto` calls; `found` says where it was found."""

    provider: str
    model: str
    is_demo: bool
    found: str


@dataclass(frozen=True)
class ModelOffered:
    """A model of a provider that a person may choose."""

    provider: str
    model: str

    @property
    def value(self) -> str:
        """Return both as a form has them; no provider's name has a slash."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True)
class ModelMenu:
    """What the page offers: each provider with its models, and what is had without a choice."""

    current: CurrentModel
    providers: tuple[tuple[str, tuple[ModelOffered, ...]], ...]

    @property
    def has_choice(self) -> bool:
        """Tell whether there is more than the one that is had anyway."""
        return any(
            (one.provider, one.model) != (self.current.provider, self.current.model)
            for one in self.models
        )

    @property
    def is_long(self) -> bool:
        """Tell whether it takes a search to find one."""
        return len(self.models) > MANY

    @property
    def models(self) -> list[ModelOffered]:
        """Return all models."""
        return [model for _, models in self.providers for model in models]

    def get(self, value: str) -> ModelOffered | None:
        """Return the model of a form's value, None for one that is not offered."""
        return next((model for model in self.models if model.value == value), None)


_known: tuple[float, object, ModelMenu] | None = None


def model_menu() -> ModelMenu:
    """Return what there is to choose, looked up at most once a minute in each process."""
    global _known
    asked = settings.MODEL_ENVIRONMENT, settings.PROVIDERS
    if _known is None or _known[1] != asked or time.monotonic() - _known[0] > FRESH_SECONDS:
        _known = time.monotonic(), asked, _look_up()
    return _known[2]


def current_model() -> CurrentModel:
    """Return the model that answers where nobody chose one."""
    return model_menu().current


def chosen_model(value: str) -> ModelOffered | None:
    """Return the model that a person chose, None where they left it to the policy.

    Raises InvalidQuestion for one that is not offered.
    """
    if not value:
        return None
    found = model_menu().get(value)
    if found is None:
        raise InvalidQuestion("There is no such model any more; choose another one.")
    return found


def model_for(run: "Run", choice: ModelChoice) -> ModelChoice:
    """Return which model works on a run: the person's, unless its policy has one of its own."""
    is_open = choice.provider == "auto" and not choice.base_url and not choice.model
    if not run.chosen_provider or not is_open:
        return choice
    return choice.model_copy(update={"provider": run.chosen_provider, "model": run.chosen_model})


def _look_up() -> ModelMenu:
    environment, named = settings.MODEL_ENVIRONMENT, settings.PROVIDERS
    current = discover(environment, named)
    found = [configured(dialect, environment) for dialect in VENDORS]
    found += [opened(one, environment) for one in named if one.has_key(environment)]
    if current is not None and current not in found:
        found.append(current)
    menu = ((_name(one), _models(one)) for one in found if one is not None)
    return ModelMenu(_current(current), tuple((name, models) for name, models in menu if models))


def _current(found: Credentials | None) -> CurrentModel:
    if found is None:
        demo = connect(ModelChoice(provider="demo"), settings.MODEL_ENVIRONMENT)
        return CurrentModel(demo.name, demo.model, is_demo=True, found="built in")
    return CurrentModel(_name(found), found.model, is_demo=False, found=found.found)


def _models(found: Credentials) -> tuple[ModelOffered, ...]:
    """Return what is offered of a server: what its provider names, else what it lists here."""
    named = settings.PROVIDERS.get(found.name)
    names = [] if named is None else list(named.models)
    if not names and is_loopback(found.base_url):
        (there,) = listed([found.base_url], found.api_key.get_secret_value())
        names = [model for model in there if not NOT_FOR_CHAT.search(model)]
    if named is None and found.model and found.model not in names:
        names.insert(0, found.model)
    return tuple(ModelOffered(_name(found), model) for model in names)


def _name(found: Credentials) -> str:
    return found.name or found.provider
