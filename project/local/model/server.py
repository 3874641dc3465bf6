"""llama.cpp with one model as a part of Turnstone, for this machine alone and by a key."""

import os
import secrets
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from project.local import ports
from project.local.model import gguf, named, room
from project.local.model.room import Room
from project.local.processes import Program
from project.local.programs import ROOT

HOST = "127.0.0.1"
KEY = "TURNSTONE_MODEL_SERVER_KEY"


@dataclass(frozen=True)
class ModelServer:
    """One server: the model's `name` and file, its port, slots and contexts, and its log."""

    name: str
    file: Path
    port: int
    room: Room
    log: Path
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def program(self) -> Program:
        """Return the server as a program to start, each time at the same address."""
        options = {
            "file": str(self.file),
            "name": self.name,
            "port": str(self.port),
            "slots": str(self.room.slots),
            "context": str(self.room.context),
        }
        words = (word for name, value in options.items() for word in (f"--{name}", value))
        return Program(
            name="model",
            command=(sys.executable, "-m", "project.local.model.serve", *words),
            folder=ROOT,
            environment={**os.environ, KEY: self.key},
            log=self.log,
        )

    def is_ready(self) -> bool:
        """Tell whether the model is loaded."""
        try:
            # Never by a proxy that the environment may name.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://{HOST}:{self.port}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def settings(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the settings by which web and worker find it, and use as many slots as it has."""
        said = environment.get("TURNSTONE_LOCAL_LIMIT", "")
        limit = int(said) if said.isdecimal() and int(said) else self.room.slots
        return {
            "OPENAI_BASE_URL": f"http://{HOST}:{self.port}/v1",
            "OPENAI_API_KEY": self.key,
            "TURNSTONE_MODEL": self.name,
            "TURNSTONE_LOCAL_LIMIT": str(min(limit, self.room.slots)),
        }

    def in_words(self) -> str:
        """Say what answers, and by how much at once."""
        slots = f"{self.room.slots} at once" if self.room.slots > 1 else "one at a time"
        return f"{self.name} on this machine ({slots}, {self.room.context:,} tokens each)"


def model_server(model: str, log: Path) -> ModelServer:
    """Return the server of what `MODEL=` names, at a free port.

    Raises CannotStart for a model that is unknown, cannot be read or does not fit into the memory.
    """
    path = named.file_of(model, ROOT)
    fits = room.room_for(gguf.read(path), room.free_memory(), room.cores())
    port = ports.choose(HOST, "0").port
    return ModelServer(named.name_of(model, path), path, port, fits, log)
