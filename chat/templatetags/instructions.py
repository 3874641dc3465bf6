"""What a run's model was told to heed, by whom."""

from typing import NamedTuple

from django import template

from chat.models import Origin, Run

register = template.Library()


class Given(NamedTuple):
    """Instructions, and who gave them."""

    giver: str
    text: str


@register.simple_tag
def instructions_of(run: Run) -> list[Given]:
    """Return the instructions of a run, in the order in which its model was told them."""
    version = run.policy_version
    is_ours = version.policy.origin == Origin.OURS
    told = (
        Given(str(version), version.content.get("instructions", "") if is_ours else ""),
        Given(run.owner.get_username(), run.person_instructions),
        Given("this conversation", run.conversation_instructions),
    )
    return [given for given in told if given.text.strip()]
