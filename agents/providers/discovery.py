"""Find a server of models in what the environment offers, without a file to edit.

First what is configured (OPENAI_API_KEY, OPENAI_BASE_URL, TURNSTONE_MODEL), then the local servers
that answer. Only loopback addresses are ever probed, past any proxy, all at once.
"""

import http.client
import ipaddress
import json
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from agents.errors import ConfigurationError
from agents.providers.choice import Credentials

OPENAI = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-5.4-mini"
"""The model of OPENAI when TURNSTONE_MODEL names none: cheap, quick and enough for tools."""
NO_KEY = "none"
"""What is sent as the key to a server that asks for none."""
LOCAL_SERVERS = {
    "http://127.0.0.1:11434/v1": "Ollama",
    "http://127.0.0.1:1234/v1": "LM Studio",
    "http://127.0.0.1:8000/v1": "vLLM",
    "http://127.0.0.1:8080/v1": "llama.cpp",
}
PROBE_SECONDS = 1.0
"""The whole patience: nothing there is known at once, so only a busy server ever needs it."""
PROBE_BYTES = 1_000_000
NOT_FOR_CHAT = re.compile(
    r"embed|whisper|rerank|minilm|transcribe|moderation|dall-e|diffusion|speech"
    r"|\b(?:tts|bge|e5|gte|clip|image)\b",
    re.IGNORECASE,
)


def discover(environment: Mapping[str, str]) -> Credentials | None:
    """Return the server to call with its key and model, None when there is none.

    The model is empty when nothing says which one a configured server has. Raises
    ConfigurationError for an OPENAI_BASE_URL or TURNSTONE_LOCAL_SERVERS that is no such address;
    a server that is absent or not one of models raises nothing.
    """
    base_url = environment.get("OPENAI_BASE_URL", "").strip()
    key = environment.get("OPENAI_API_KEY", "").strip()
    wanted = environment.get("TURNSTONE_MODEL", "").strip()
    if base_url:
        origin(base_url, "OPENAI_BASE_URL")
    if not base_url and not key:
        return _local(environment.get("TURNSTONE_LOCAL_SERVERS"), wanted)
    model = wanted
    if not base_url:
        model = model or DEFAULT_MODEL
    elif not model and _is_loopback(urlsplit(base_url)):
        model = _pick(_probe([base_url], key)[0], "")
    variable = "OPENAI_API_KEY" if key else "OPENAI_BASE_URL"
    return Credentials(
        base_url=base_url or OPENAI,
        api_key=SecretStr(key or NO_KEY),
        model=model,
        found=f"{variable} in the environment",
    )


def origin(base_url: str, name: str = "base_url") -> tuple[str, str, int, str]:
    """Return the scheme, host, port and path of a server's address, each in its one spelling.

    Raises ConfigurationError, naming `name`, for what is no http address or carries a password.
    """
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), 0
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("http", "https") or not re.fullmatch(
        r"[^\s%<>\\^`{|}\x00-\x1f]+", host
    ):
        raise ConfigurationError(
            f"{name} must be an address such as http://127.0.0.1:11434/v1 or {OPENAI}."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigurationError(
            f"{name} must be a plain address: put no name, password or query in it. "
            "The key belongs in OPENAI_API_KEY."
        )
    return parts.scheme, host, port, parts.path.rstrip("/")


def _local(setting: str | None, wanted: str) -> Credentials | None:
    """Ask all local servers at once; the first in the list that has the wanted model, or any."""
    servers = _servers(setting)
    if not servers:
        return None
    offers = _probe(servers)
    found = [(url, models) for url, models in zip(servers, offers, strict=True) if models]
    found.sort(key=lambda offer: not _has(offer[1], wanted))
    for url, models in found:
        if model := _pick(models, wanted):
            name = LOCAL_SERVERS.get(url, url)
            missing = "" if not wanted or _has(models, wanted) else f"; {wanted} is not there"
            return Credentials(
                base_url=url,
                api_key=SecretStr(NO_KEY),
                model=model,
                found=f"{name} on this machine ({model}{missing})",
            )
    return None


def _servers(setting: str | None) -> list[str]:
    """Read TURNSTONE_LOCAL_SERVERS: addresses between commas or spaces, none for no probing."""
    if not setting or not setting.strip():
        return list(LOCAL_SERVERS)
    if setting.strip().lower() == "none":
        return []
    servers = [part.rstrip("/") for part in re.split(r"[\s,]+", setting.strip()) if part]
    for server in servers:
        origin(server, "TURNSTONE_LOCAL_SERVERS")
        if not _is_loopback(urlsplit(server)):
            raise ConfigurationError(
                "TURNSTONE_LOCAL_SERVERS may only name servers of this machine (127.0.0.1). "
                "Set OPENAI_BASE_URL for any other."
            )
    return servers


def _probe(servers: Sequence[str], key: str = "") -> list[list[str]]:
    """Return what each server lists, nothing for one that has not answered in time."""
    deadline = time.monotonic() + PROBE_SECONDS
    pool = ThreadPoolExecutor(max_workers=len(servers))
    answers = [pool.submit(_models, server, key, deadline) for server in servers]
    done, _ = wait(answers, timeout=PROBE_SECONDS)
    pool.shutdown(wait=False)
    return [answer.result() if answer in done else [] for answer in answers]


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
        return _listed(json.loads(_read(response, deadline)))
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


def _listed(answer: Any) -> list[str]:
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


def _pick(models: Sequence[str], wanted: str) -> str:
    """Return the listed spelling of the wanted model, else the first that looks fit to chat."""
    for model in models:
        if wanted and _same(model, wanted):
            return model
    return next((model for model in models if not NOT_FOR_CHAT.search(model)), "")


def _has(models: Sequence[str], wanted: str) -> bool:
    return any(_same(model, wanted) for model in models)


def _same(model: str, wanted: str) -> bool:
    """Ollama lists `llama3.2:latest` for what everybody calls `llama3.2`."""
    return wanted in (model, model.removesuffix(":latest"))


def _is_loopback(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
