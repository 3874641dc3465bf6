"""The addresses of the two servers and of the artifacts, checked before anything asks for them.

What cannot be is refused with what to write instead; no refusal repeats an address, which may hold
a password.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from environ import Env
from redis.asyncio.connection import parse_url

from project.errors import CannotStart

POSTGRES = ("postgres", "postgresql", "psql", "pgsql")
REDIS = ("redis", "rediss", "unix")
ENCODED = "and in a password each of : / ? # [ ] @ , % as its code, such as %40 for @."
ONE_REDIS = (
    "Turnstone speaks to one Redis, by redis://, rediss:// or unix://. For Sentinel or a Cluster "
    "name an address that leads to the primary (docs/scaling.md)."
)
BUCKET = (
    "Write the path of a folder, or s3://bucket/prefix?endpoint=https://host:port&region=name; the "
    "prefix and what follows may be left out, and keys stand in AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY."
)
OF_A_BUCKET = {"endpoint": "endpoint_url", "region": "region_name"}
"""What an address of a bucket may say, by what the storage calls it."""


def postgres(url: str) -> dict[str, Any]:
    """Return the address of a Postgres as Django's settings; raise CannotStart for any other."""
    scheme = url.partition("://")[0]
    if scheme not in POSTGRES:
        raise CannotStart(
            f"DATABASE_URL begins with {_begin(url)}, and Turnstone keeps its record in Postgres "
            "alone: write postgres://user:password@host:5432/name."
        )
    try:
        return dict(Env.db_url_config(url))
    except ValueError as error:
        raise CannotStart(
            f"DATABASE_URL cannot be read: write postgres://user:password@host:5432/name, {ENCODED}"
        ) from error


def redis(url: str) -> str:
    """Return the address of a Redis; raise CannotStart where it is not one address of one."""
    if url.partition("://")[0] not in REDIS:
        raise CannotStart(f"REDIS_URL begins with {_begin(url)}. {ONE_REDIS}")
    if "," in url.partition("://")[2].partition("/")[0]:
        raise CannotStart(f"REDIS_URL names several servers. {ONE_REDIS}")
    try:
        parse_url(url)
    except ValueError as error:
        raise CannotStart(
            f"REDIS_URL cannot be read: write redis://:password@host:6379/0, {ENCODED}"
        ) from error
    return url


def celery(url: str) -> str:
    """Write a Redis address the way Celery's broker setting wants it."""
    parts = urlsplit(url)
    told = parse_qs(parts.query)
    if parts.scheme == "rediss" and "ssl_cert_reqs" not in told:
        # Celery's own default is to trust anybody.
        return parts._replace(query=f"{parts.query}&ssl_cert_reqs=required".lstrip("&")).geturl()
    if parts.scheme != "unix":
        return url
    database = told.get("db", ["0"])[0]
    return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={database}"


def artifacts(address: str, base: Path) -> dict[str, Any]:
    """Return where artifacts are kept as one of Django's storages; raise CannotStart for any other.

    A path is relative to `base`.
    """
    scheme, separator, _ = address.partition("://")
    if not separator:
        return {
            "BACKEND": "chat.artifacts.folder.Folder",
            "OPTIONS": {"location": str(base / Path(address).expanduser())},
        }
    if scheme != "s3":
        raise CannotStart(f"TURNSTONE_ARTIFACTS begins with {_begin(address)}. {BUCKET}")
    parts = urlsplit(address)
    told = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if not parts.netloc or "@" in parts.netloc or not told.keys() <= OF_A_BUCKET.keys():
        raise CannotStart(f"TURNSTONE_ARTIFACTS cannot be read. {BUCKET}")
    if find_spec("storages") is None:
        raise CannotStart("TURNSTONE_ARTIFACTS names a bucket: install turnstone[s3] for it.")
    options = {OF_A_BUCKET[name]: value for name, value in told.items()}
    options |= {"bucket_name": parts.netloc, "location": parts.path.strip("/")}
    return {"BACKEND": "chat.artifacts.bucket.Bucket", "OPTIONS": options}


def _begin(url: str) -> str:
    scheme, separator, _ = url.partition("://")
    return scheme + separator if separator else "no scheme://"
