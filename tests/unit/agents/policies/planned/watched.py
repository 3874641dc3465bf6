"""A model of which one sees what it is shown."""

from agents.providers.base import ModelRequest
from agents.providers.scripted import ScriptedProvider


class Watched(ScriptedProvider):
    """A scripted model that notes which pictures it is shown."""

    def __init__(self, *script: str) -> None:
        super().__init__([{"say": entry} for entry in script])
        self.shown: list[list[str]] = []

    def body(self, request: ModelRequest) -> str:
        self.shown.append([image.data for m in request.messages for image in m.images])
        return super().body(request)
