"""A version may name a model for each role; all other calls are the policy's own model's."""

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ConfigurationError
from agents.events import ModelCalled
from agents.model.model import Model
from agents.policies import POLICIES
from agents.policies.budgets import budget_for, price_for
from agents.policies.makeup import roles
from agents.policies.spec import Limits, ModelRole, PolicySpec
from agents.providers.choice import ModelChoice
from agents.providers.price import Price
from agents.providers.scripted import ScriptedProvider


def test_every_purpose_has_a_role() -> None:
    assert {ModelRole.of(purpose) for purpose in Purpose} == set(ModelRole)
    assert ModelRole.of(Purpose.PLAN_GOALS) is ModelRole.PLAN
    assert ModelRole.of(Purpose.SYNTHESIZE) is ModelRole.SUMMARIZE


def test_a_policy_says_in_which_roles_it_asks() -> None:
    assert roles("explicit") == (ModelRole.THINK, ModelRole.SUMMARIZE)
    assert roles("self_repair") == (ModelRole.THINK, ModelRole.REPAIR, ModelRole.SUMMARIZE)
    assert roles("planned") == tuple(ModelRole)
    assert ModelRole.PLAN in roles("rewoo")
    assert all(map(roles, POLICIES))
    assert roles("from_elsewhere") == tuple(ModelRole)


def test_a_call_is_made_by_the_model_of_its_role() -> None:
    planner = Model(ScriptedProvider([{"say": "the plan"}]), Control())
    model = Model(
        ScriptedProvider([{"say": "a thought"}]), Control(), others={Purpose.PLAN: planner}
    )
    asked = [Message(role=Role.USER, content="Go")]

    replies = {}
    for purpose in (Purpose.PLAN, Purpose.THINK):
        for event in model.stream(asked, purpose=purpose):
            if isinstance(event, ModelCalled):
                replies[purpose] = event.call.reply

    assert replies == {Purpose.PLAN: "the plan", Purpose.THINK: "a thought"}


def test_the_price_of_a_call_is_that_of_the_model_that_made_it() -> None:
    dear, cheap = Price(input=9, output=9), Price(input=1, output=1)
    spec = PolicySpec(
        policy="planned",
        model=ModelChoice(model="big", price=dear),
        models={ModelRole.REPAIR: ModelChoice(model="small", price=cheap)},
    )

    assert price_for(spec, "openai", "small", "", "") == cheap
    assert price_for(spec, "openai", "big", "", "") == dear


def test_a_limit_of_money_is_refused_where_several_models_share_it() -> None:
    spec = PolicySpec(
        policy="planned",
        limits=Limits(cost=1.0),
        models={ModelRole.PLAN: ModelChoice(provider="demo")},
    )

    with pytest.raises(ConfigurationError, match="models by role"):
        budget_for(spec, ScriptedProvider([]), "")


def test_what_says_nothing_is_not_written_so_that_digests_stay() -> None:
    assert "instructions" not in PolicySpec(policy="explicit").model_dump(mode="json")
    told = PolicySpec(policy="explicit", instructions="Be brief.").model_dump(mode="json")
    assert told["instructions"] == "Be brief."
    assert "models" not in told
