"""What a policy is built from for one run."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.policies.spec import Limits
from agents.policy import Policy
from agents.reasoning.model import Model
from agents.tools.toolkit import Toolkit


@dataclass(frozen=True)
class Parts:
    """One run's model, tools and limits."""

    model: Model
    toolkit: Toolkit
    limits: Limits


Build = Callable[[Parts], Policy]
