"""Vendors' list prices count where nobody has said another, and nothing is fetched for them."""

import subprocess
import sys

import pytest

from agents.policies.budgets import price_for
from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from agents.providers.discovery import address_of
from agents.providers.list_price import list_price_of
from agents.providers.price import Price
from agents.providers.vendors import VENDORS

OPENAI = "https://api.openai.com/v1"
MILLION = 1_000_000


def cost(model: str, base_url: str, prices: str = "", own: Price | None = None) -> float | None:
    spec = PolicySpec(policy="explicit", model=ModelChoice(price=own))
    price = price_for(spec, "openai", model, base_url, prices)
    return None if price is None else price.of(MILLION, MILLION)


def test_a_vendors_model_has_its_list_price() -> None:
    assert cost("gpt-4o-mini", OPENAI) == pytest.approx(0.15 + 0.60)


@pytest.mark.parametrize("vendor", [v for v in VENDORS.values() if v.model])
def test_the_model_that_is_asked_without_a_choice_has_a_price(vendor: object) -> None:
    assert isinstance(vendor, type(VENDORS["openai"]))

    assert list_price_of(vendor.model, vendor.base_url) is not None


@pytest.mark.parametrize(
    ("prices", "own", "expected"),
    [("gpt-*=1/2", None, 3), ("gpt-*=1/2", Price(input=5, output=5), 10), ("x=9/9", None, 0.75)],
)
def test_what_somebody_has_said_comes_before_the_list(
    prices: str, own: Price | None, expected: float
) -> None:
    assert cost("gpt-4o-mini", OPENAI, prices, own) == pytest.approx(expected)


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "http://127.0.0.1:11434",
        "http://localhost:8000/v1",
        "http://10.0.0.7:8000/v1",
        "https://models.example.org/v1",
        "https://models.example.org/https://api.openai.com/v1",
    ],
)
@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-oss-20b", "deepseek-r1:8b"])
def test_a_model_on_a_server_of_ones_own_has_no_list_price(model: str, base_url: str) -> None:
    assert cost(model, base_url) is None


@pytest.mark.parametrize("model", ["", "nobody-knows", "dall-e-3", "gpt-4o-mini\n", "x" * 100_000])
def test_a_model_that_is_not_in_the_list_has_no_price(model: str) -> None:
    assert cost(model, OPENAI) is None


@pytest.mark.parametrize("model", ["whisper-1", "tts-1", "text-embedding-3-small"])
def test_a_model_that_is_not_paid_for_by_tokens_both_ways_has_no_price(model: str) -> None:
    assert cost(model, OPENAI) is None


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, ""),
        ({"OPENAI_API_KEY": "k"}, OPENAI),
        ({"OPENAI_BASE_URL": " http://10.0.0.7/v1 "}, "http://10.0.0.7/v1"),
        ({"ANTHROPIC_API_KEY": "k"}, ""),
    ],
)
def test_a_dialect_is_spoken_where_the_environment_says(
    environment: dict[str, str], address: str
) -> None:
    assert address_of("openai", environment) == address
    assert address_of("demo", environment) == ""


FETCHES_NOTHING = """
import sys

def refuse(event, arguments):
    assert not event.startswith("socket."), event

sys.addaudithook(refuse)
from agents.providers.list_price import list_price_of
assert list_price_of("gpt-4o-mini", "http://127.0.0.1:11434") is None
assert "genai_prices" not in sys.modules
assert list_price_of("gpt-4o-mini", "https://api.openai.com/v1").of(1, 1) > 0
assert "genai_prices" in sys.modules
"""


def test_the_list_is_read_where_it_is_asked_for_and_nothing_is_fetched() -> None:
    subprocess.run([sys.executable, "-c", FETCHES_NOTHING], check=True)
