"""Which models the servers of this machine list.

Loopback addresses alone are asked, past any proxy, all at once.
"""

import http.client
import json
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any
from urllib.parse import urlsplit

PROBE_SECONDS = 1.0
"""The whole patience: nothing there is known at once, so only a busy server ever needs it."""
PROBE_BYTES = 1_000_000
NOT_FOR_CHAT = re.compile(
    r"embed|whisper|rerank|minilm|transcribe|moderation|dall-e|diffusion|speech"
    r"|\b(?:tts|bge|e5|gte|clip|image)\b",
    re.IGNORECASE,
)


def listed(servers: Sequence[str], key: str = "") -> list[list[str]]:
    """Return what each server lists, nothing for one that has not answered in time."""
    deadline = time.monotonic() + PROBE_SECONDS
    pool = ThreadPoolExecutor(max_workers=len(servers))
    answers = [pool.submit(_models, server, key, deadline) for server in servers]
    done, _ = wait(answers, timeout=PROBE_SECONDS)
    pool.shutdown(wait=False)
    return [answer.result() if answer in done else [] for answer in answers]


def picked(models: Sequence[str], wanted: str) -> str:
    """Return the listed spelling of the wanted model, else the first that looks fit to chat."""
    for model in models:
        if wanted and _same(model, wanted):
            return model
    return next((model for model in models if not NOT_FOR_CHAT.search(model)), "")


def has(models: Sequence[str], wanted: str) -> bool:
    """Tell whether a model is listed, in whatever spelling."""
    return any(_same(model, wanted) for model in models)


def _same(model: str, wanted: str) -> bool:
    """Ollama lists `llama3.2:latest` for what everybody calls `llama3.2`."""
    return wanted in (model, model.removesuffix(":latest"))


def _models(base_url: str, key: str, deadline: float) -> list[str]:
    """Return the names of the models that a loopback server lists, none if it is no such server."""
    parts = urlsplit(base_url)
    if parts.scheme != "http":
        return []
    # http.client knows no proxies and follows no redirects: the probe stays on this machine.
    connection = http.client.HTTPConnection(
        str(parts.hostname), parts.port or 80, timeout=PROBE_SECONDS
    )
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        connection.request("GET", f"{parts.path.rstrip('/')}/models", headers=headers)
        response = connection.getresponse()
        if response.status != http.HTTPStatus.OK:
            return []
        return _names(json.loads(_read(response, deadline)))
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return []
    finally:
        connection.close()


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """Read a short body before the deadline; a slow drip or a flood is no list of models."""
    body = b""
    while piece := response.read1(65536):
        body += piece
        if len(body) > PROBE_BYTES or time.monotonic() > deadline:
            raise ValueError("not a list of models")
    return body


def _names(answer: Any) -> list[str]:
    """Read the names from `{"data": [{"id": name}]}`; another copy of Turnstone lists none."""
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        return []
    return [
        entry["id"]
        for entry in entries
        if isinstance(entry, dict)
        and isinstance(entry.get("id"), str)
        and entry.get("owned_by") != "turnstone"
    ]
