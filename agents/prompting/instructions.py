"""What the policy, the person who asks and the conversation have a model do, beside the rules."""

from typing import NamedTuple

from agents.prompting.prompts import enclosed, render


class Instructions(NamedTuple):
    """The instructions of one run, in the order in which the model is told them."""

    policy: str = ""
    person: str = ""
    conversation: str = ""

    @property
    def text(self) -> str:
        """Write them for a model; empty where nobody gave any."""
        told = [
            enclosed(f"{giver}_instructions", text.strip())
            for giver, text in self._asdict().items()
            if text.strip()
        ]
        return render("instructions", told=told).strip() if told else ""
