"""What a stored run has cost, as far as prices are known today; none is stored with it."""

from django.conf import settings
from django.db.models import Q
from pydantic import ValidationError

from agents.errors import ConfigurationError
from agents.policies.budgets import price_for
from agents.policies.spec import PolicySpec
from agents.providers.discovery import address_of
from agents.providers.price import Pricing
from chat.models import ModelCall, Run

DIGITS = 6
_COUNTED = ("provider", "model", "address", "input_tokens", "output_tokens", "cached_tokens")

_UNANSWERED = Q(error__gt="", first_token_seconds=None, input_tokens=None, output_tokens=None)


class Costs:
    """The costs of one run in US dollars, by who answered each call.

    The price is that of the named provider, the policy's, TURNSTONE_PRICES' or the list's. Calls of
    earlier releases do not say where their server was: it is the policy's, or what is configured
    now.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._spec = _spec(run)
        self._prices: dict[tuple[str, str, str], Pricing | None] = {}

    def of(self, call: ModelCall) -> float | None:
        """Return what a call cost, None where the price or the tokens are not known."""
        cost = self._cost(*(getattr(call, name) for name in _COUNTED))
        return None if cost is None else round(cost, DIGITS)

    def of_run(self) -> float | None:
        """Return what all counted tokens cost, None where that of some model is not known.

        A call that failed before it was answered costs nothing.
        """
        calls = self._run.model_calls.order_by().exclude(_UNANSWERED)
        costs: dict[tuple[str, str, str], list[float]] = {}
        for call in calls.values_list(*_COUNTED):
            known = costs.setdefault(call[:3], [])
            if (cost := self._cost(*call)) is not None:
                known.append(cost)
        if not costs or not all(costs.values()):
            return None
        return round(sum(map(sum, costs.values())), DIGITS)

    def _cost(
        self,
        provider: str,
        model: str,
        address: str,
        given: int | None,
        made: int | None,
        cached: int | None,
    ) -> float | None:
        price = self._price(provider, model, address)
        if price is None or (given is None and made is None):
            return None
        return price.of(given or 0, made or 0, cached or 0)

    def _price(self, provider: str, model: str, address: str) -> Pricing | None:
        key = provider, model, address
        if key not in self._prices:
            try:
                self._prices[key] = price_for(
                    self._spec_of(provider, model),
                    provider,
                    model,
                    address or self._address(provider, model),
                    settings.PRICES,
                    settings.PROVIDERS,
                )
            except ConfigurationError:
                self._prices[key] = None  # whoever asks with a limit of money is told what is wrong
        return self._prices[key]

    def _spec_of(self, provider: str, model: str) -> PolicySpec | None:
        """Return what says the policy's price, which is not that of one who stands in."""
        spec, first = self._spec, self._run.instead_of
        is_of_role = spec is not None and any(one.model == model for one in spec.models.values())
        return spec if is_of_role or first in ("", provider) else None

    def _address(self, provider: str, model: str) -> str:
        chosen = "" if self._spec is None else self._spec.choice_of(model).base_url
        return chosen or address_of(provider, settings.MODEL_ENVIRONMENT)


def _spec(run: Run) -> PolicySpec | None:
    try:
        return run.policy_version.spec
    except (ValidationError, ConfigurationError):
        return None
