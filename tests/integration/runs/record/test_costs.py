"""What a downloaded run says that it has cost."""

from typing import Any

import pytest

from chat.models import ModelCall, Run, User
from tests.integration.runs.record.downloading import downloaded


def test_a_cost_is_that_of_the_price_list_and_unknown_without_one(
    told: Run, ada: User, settings: Any
) -> None:
    ModelCall.objects.filter(run=told).update(provider="openai")
    unknown = downloaded(told, ada)
    settings.PRICES = "m=1/2"

    known = downloaded(told, ada)

    assert unknown["cost"] is None
    assert unknown["model_calls"][0]["cost"] is None
    assert known["model_calls"][0]["cost"] == pytest.approx(0.00005)
    assert known["cost"] == pytest.approx(0.0002)


def test_what_was_cached_costs_what_is_said_for_it(told: Run, ada: User, settings: Any) -> None:
    counted = {"input_tokens": 1_000, "output_tokens": 0, "cached_tokens": 600}
    ModelCall.objects.filter(run=told).update(provider="openai", **counted)
    settings.PRICES = "m=10/1/1"

    first = downloaded(told, ada)["model_calls"][0]

    assert first["cost"] == pytest.approx(0.0046)
    assert (first["cached_tokens"], first["reasoning_tokens"]) == (600, None)


@pytest.mark.parametrize(
    ("environment", "is_known"),
    [
        ({"OPENAI_API_KEY": "k"}, True),
        ({"OPENAI_BASE_URL": "http://10.0.0.7/v1"}, False),
        ({}, False),
    ],
)
def test_a_cost_is_that_of_the_vendors_list_only_where_the_vendor_is_asked(
    told: Run, ada: User, settings: Any, environment: dict[str, str], is_known: bool
) -> None:
    ModelCall.objects.filter(run=told).update(provider="openai", model="gpt-4o-mini")
    settings.MODEL_ENVIRONMENT = environment
    listed = downloaded(told, ada)
    settings.PRICES = "gpt-4o-mini=0.15/0.60"

    said = downloaded(told, ada)

    assert said["cost"] > 0
    assert listed["cost"] == (said["cost"] if is_known else None)


def test_a_model_without_a_price_leaves_the_whole_cost_unknown(
    told: Run, ada: User, settings: Any
) -> None:
    settings.PRICES, calls = "m=1/2", ModelCall.objects.filter(run=told)
    calls.update(provider="openai")
    calls.filter(index=0).update(input_tokens=None, output_tokens=None)
    known = downloaded(told, ada)
    calls.filter(index=1).update(model="another")

    unknown = downloaded(told, ada)

    assert known["cost"] == pytest.approx(0.00015)
    assert unknown["cost"] is None
