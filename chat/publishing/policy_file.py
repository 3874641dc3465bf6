"""A policy as a file: its words for people, and the content of one version; TOML or JSON."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agents.policies.spec import PolicySpec
from chat.models import PolicyVersion
from chat.publishing.check import Unfit, checked
from chat.publishing.words import WORDS, Words, checked_words

LARGEST = 1_000_000
"""Bytes of a file at most."""


class FileOfPolicy(NamedTuple):
    """What a file says."""

    words: Words
    spec: PolicySpec


def read_policy_file(path: Path) -> FileOfPolicy:
    """Return what a file says, by its ending TOML or JSON; raises Unfit."""
    try:
        if path.stat().st_size > LARGEST:
            raise Unfit({"": f"{path} has more than {LARGEST:,} bytes."})
        text = path.read_text(encoding="utf-8")
        told = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, Unfit):
            raise
        raise Unfit({"": f"{path} cannot be read: {error}"}) from None
    if not isinstance(told, Mapping):
        raise Unfit({"": f"{path} holds no policy: a table of fields is wanted."})
    content = {name: value for name, value in told.items() if name not in WORDS}
    return FileOfPolicy(checked_words(told), checked(content))


def as_file(version: PolicyVersion) -> dict[str, Any]:
    """Return what a file would say of a version, so that it can be published elsewhere."""
    policy = version.policy
    words = {"slug": policy.slug, "name": policy.name, "description": policy.description}
    return {**words, **version.content}
