"""The warehouse: a tool, a toolset, a policy with a part of its own, a provider, and an offer."""

from agents.extensions.extension import Extension, Offer
from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import ModelChoice
from turnstone_warehouse.grounded import grounded
from turnstone_warehouse.orders import order_tools
from turnstone_warehouse.stock import stock
from turnstone_warehouse.storekeeper import Storekeeper

extension = Extension(
    name="warehouse",
    tools=(stock,),
    toolsets={"orders": order_tools},
    policies=(grounded,),
    providers={"storekeeper": lambda choice, environment: Storekeeper()},
    offers=(
        Offer(
            slug="grounded",
            name="Grounded storekeeper",
            description="Looks into the stock before it answers, by rules and without a model.",
            spec=PolicySpec(
                policy="grounded",
                model=ModelChoice(provider="storekeeper"),
                tools=("stock", "orders"),
                limits=Limits(max_turns=6),
            ),
        ),
    ),
)
