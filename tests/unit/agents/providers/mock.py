"""A third party's mock of every vendor, at its control address."""

import json
import urllib.request
from typing import Any


class Mock:
    """The mock's control address: what it answers, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.base_url = f"{url}/v1"
        self._control_url = f"{url}/__aimock"

    def answers(self, *fixtures: dict[str, Any]) -> None:
        self._call("POST", "fixtures", {"fixtures": list(fixtures)})

    def journal(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self._call("GET", "journal")
        return entries

    def forget(self) -> None:
        self._call("POST", "reset", {})

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        call = urllib.request.Request(  # noqa: S310
            f"{self._control_url}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(call) as answer:
            return json.loads(answer.read() or b"null")
