"""What a stored run has cost, as far as prices are known today; none is stored with it."""

from django.conf import settings
from django.db.models import Sum
from pydantic import ValidationError

from agents.errors import ConfigurationError
from agents.policies.budgets import price_for
from agents.policies.spec import PolicySpec
from agents.providers.price import Price
from chat.models import Run

DIGITS = 6


class Costs:
    """The costs of one run in US dollars, by its policy's price or TURNSTONE_PRICES."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._spec = _spec(run)
        self._prices: dict[tuple[str, str], Price | None] = {}

    def of(self, provider: str, model: str, given: int | None, made: int | None) -> float | None:
        """Return what so many tokens cost, None where the price or the tokens are not known."""
        price = self._price(provider, model)
        if price is None or (given is None and made is None):
            return None
        return round(price.of(given or 0, made or 0), DIGITS)

    def of_run(self) -> float | None:
        """Return what all counted tokens cost, None where that of some model is not known."""
        calls = self._run.model_calls.order_by().values_list("provider", "model")
        sums = calls.annotate(given=Sum("input_tokens"), made=Sum("output_tokens"))
        costs = [self.of(*one) for one in sums]
        known = [cost for cost in costs if cost is not None]
        return round(sum(known), DIGITS) if known and len(known) == len(costs) else None

    def _price(self, provider: str, model: str) -> Price | None:
        key = provider, model
        if key not in self._prices:
            try:
                self._prices[key] = price_for(self._spec, *key, settings.PRICES)
            except ConfigurationError:
                self._prices[key] = None  # whoever asks with a limit of money is told what is wrong
        return self._prices[key]


def _spec(run: Run) -> PolicySpec | None:
    try:
        return run.policy_version.spec
    except (ValidationError, ConfigurationError):
        return None
