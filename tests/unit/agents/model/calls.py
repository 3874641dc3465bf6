"""A call as every component makes it, and a provider whose slot is counted."""

from collections.abc import Iterator
from contextlib import contextmanager

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.events import ModelCalled
from agents.model.call import Said
from agents.model.model import Model
from agents.providers.base import Provider
from agents.providers.scripted import ScriptedProvider

ASKED = [Message(role=Role.USER, content="Q?")]


def asked(provider: Provider, control: Control | None = None) -> Iterator[Said | ModelCalled]:
    """Ask a provider as every component does."""
    model = Model(provider, Control(60) if control is None else control)
    return model.stream(ASKED, purpose=Purpose.THINK)


class Counted(ScriptedProvider):
    """A scripted provider that counts how often its slot was taken and given back."""

    taken = released = 0

    @contextmanager
    def lease(self, control: Control) -> Iterator[Provider]:
        control.check()
        self.taken += 1
        try:
            yield self
        finally:
            self.released += 1
