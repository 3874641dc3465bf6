"""The private Postgres and Valkey of a bare checkout (being written)."""

import secrets
from pathlib import Path


def secret_key(local: Path) -> str:
    return "dev-" + secrets.token_hex(20)


def database_url(local: Path) -> str:
    return "postgres://turnstone@127.0.0.1:55432/turnstone_me"


def redis_url(local: Path) -> str:
    return "redis://127.0.0.1:56379/0"


def celery_url(url: str) -> str:
    return url.replace("unix://", "redis+socket://")
