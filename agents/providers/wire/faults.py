"""What went wrong at a model server, said to the person who can mend it."""

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.errors import (
    ContextOverflow,
    ProviderBusy,
    ProviderError,
    ProviderGarbled,
    ProviderLimited,
    ProviderRefused,
)
from agents.providers.wire.overflow import Overflow, overflow_in

MAX_WORDS = 500
"""The characters of a server's own words that are shown."""
LIMITED = 429
BUSY_STATUSES = {408, 425, LIMITED}


@dataclass(frozen=True)
class Faults:
    """Make the errors of one server; `place` is shown in them, `key` never.

    `key_name`, `address_name` and `model_name` are what configures the server.
    """

    place: str = ""
    key: str = field(default="", repr=False)
    key_name: str = "OPENAI_API_KEY"
    address_name: str = "OPENAI_BASE_URL"
    address_hint: str = ""
    model_name: str = "TURNSTONE_MODEL"

    def of_status(self, status: int, headers: Mapping[str, str], body: str) -> ProviderError:
        """Return the error that an HTTP status other than success stands for."""
        words = self.words(said_in(body))
        if "insufficient_quota" in body:
            return ProviderRefused(f"The account at {self.place} has no credit left: {words}")
        if status >= 400 and status != LIMITED and (overflow := overflow_in(body)) is not None:
            return self._of_overflow(overflow, f" (status {status}): {words}")
        if status in BUSY_STATUSES or status >= 500:
            kind = ProviderLimited if status == LIMITED else ProviderBusy
            return kind(
                f"The model server at {self.place} is busy or failing (status {status}): {words}",
                retry_after=retry_after(headers, body),
            )
        if status < 400:
            return ProviderRefused(
                f"The model server at {self.place} sends us elsewhere (status {status}), and a key "
                f"is not carried along. Set {self.address_name} to the final address."
            )
        refuses_key = ("refuses the key", f" Check {self.key_name}.")
        refuses, hint = {
            401: refuses_key,
            403: refuses_key,
            404: (
                "knows no such model or address",
                f" Check {self.model_name}, and that {self.address_name} is right"
                f"{self.address_hint}.",
            ),
        }.get(status, ("refuses the request", ""))
        if "API_KEY_INVALID" in body:  # Gemini says so with status 400
            refuses, hint = refuses_key
        return ProviderRefused(
            f"The model server at {self.place} {refuses} (status {status}): {words}{hint}"
        )

    def of_error(self, error: Any) -> ProviderError:
        """Return the error that an error object inside a successful answer stands for."""
        fields = error if isinstance(error, dict) else {"message": error}
        words = self.words(fields.get("message") or json.dumps(error, ensure_ascii=False))
        if (overflow := overflow_in(json.dumps(fields, ensure_ascii=False))) is not None:
            return self._of_overflow(overflow, f": {words}")
        kind = " ".join(str(fields.get(name) or "").lower() for name in ("type", "code", "status"))
        if re.search(
            r"\b(?:429|5\d\d)\b|rate_limit|overload|server_error|api_error|unavailable", kind
        ):
            return ProviderBusy(f"The model server at {self.place} failed half-way: {words}")
        if re.search(r"\b4\d\d\b|invalid|context_length|not_found|auth|permission|quota", kind):
            return ProviderRefused(f"The model server at {self.place} refuses the request: {words}")
        return ProviderGarbled(f"The model server at {self.place} broke off its reply: {words}")

    def _of_overflow(self, overflow: Overflow, words: str) -> ContextOverflow:
        message = f"The request is longer than the model at {self.place} takes{words}"
        return ContextOverflow(message, length=overflow.length)

    def of_refusal(self, reason: str) -> ProviderRefused:
        """Return the error of an answer that the server withholds, for `reason` in its words."""
        return ProviderRefused(
            f"The model server at {self.place} declined to answer ({self.words(reason)})."
        )

    def of_nonsense(self, data: str) -> ProviderGarbled:
        """Return the error of an answer that is not what the protocol promises."""
        if data.lstrip()[:1] == "<":
            return ProviderGarbled(
                f"What answers at {self.place} is a web page and no model server. Check "
                f"{self.address_name}{self.address_hint}."
            )
        return ProviderGarbled(
            f"The model server at {self.place} sent what is no reply: "
            f"{self.words(data) or 'nothing'}"
        )

    def words(self, said: Any) -> str:
        """Return what a server said, fit to be shown: one line, short, without the key."""
        text = str(said)[: 100 * MAX_WORDS]
        if len(self.key) > len("none"):
            text = text.replace(self.key, "[the key]")
        text = " ".join(text.split())
        text = "".join(character for character in text if character.isprintable())
        return text if len(text) <= MAX_WORDS else text[: MAX_WORDS - 1] + "…"


def said_in(body: str) -> str:
    """Return a server's own words from the many shapes of an error body."""
    if body.lstrip()[:1] == "<":
        return "an HTML page instead of an answer."
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body.strip() or "nothing more."
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def retry_after(headers: Mapping[str, str], body: str = "") -> float | None:
    """Return the seconds that the server asks us to wait, None when it does not say."""
    given = headers.get("retry-after", "").strip()
    try:
        if milliseconds := headers.get("retry-after-ms", "").strip():
            seconds = float(milliseconds) / 1000
        elif re.fullmatch(r"[\d.]+", given):
            seconds = float(given)
        elif not given and (named := re.search(r'"retryDelay"\s*:\s*"([\d.]+)s"', body)):
            seconds = float(named[1])  # Gemini says so in the body
        else:
            seconds = email.utils.parsedate_to_datetime(given).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
