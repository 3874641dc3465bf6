"""An address that cannot be is refused with what to write instead; Celery gets its own form."""

import os
import socket
import ssl
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from kombu import Connection
from kombu.exceptions import OperationalError

from project import addresses
from project.errors import CannotStart
from tests.certificates import write_self_signed

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://:hush@one:26379/main",
        "sentinel://one:26379",
        "valkey://one:6379",
        "redis://:hush@one:7000,two:7001",
        "redis://one,two",
    ],
)
def test_what_is_not_one_redis_is_refused_with_where_to_read_on(url: str) -> None:
    with pytest.raises(CannotStart, match="Sentinel or a Cluster name an address") as refusal:
        addresses.redis(url)

    assert "hush" not in str(refusal.value)


@pytest.mark.parametrize(
    "url", ["redis://:hush@one:port", "redis://one:1/?socket_timeout=soon", "redis://[::1"]
)
def test_a_redis_address_that_cannot_be_read_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(CannotStart, match="REDIS_URL cannot be read: write") as refusal:
        addresses.redis(url)

    assert "hush" not in str(refusal.value)


@pytest.mark.parametrize("url", ["mysql://ada:hush@db/chat", "sqlite:///db", "db:5432/chat"])
def test_another_database_is_not_taken_for_a_postgres(url: str) -> None:
    with pytest.raises(CannotStart, match="keeps its record in Postgres alone") as refusal:
        addresses.postgres(url)

    assert "hush" not in str(refusal.value)


def test_a_database_address_that_cannot_be_read_is_refused_with_what_to_write() -> None:
    with pytest.raises(CannotStart, match="DATABASE_URL cannot be read: write") as refusal:
        addresses.postgres("postgres://ada:hush@db:port/chat")

    assert "hush" not in str(refusal.value)


def test_the_addresses_of_servers_are_taken_as_they_are() -> None:
    for url in ("redis://host:6379/1", "rediss://:word@host/0", "unix:///run/valkey.sock?db=0"):
        assert addresses.redis(url) == url

    database = addresses.postgres("postgresql://ada:p%40ss@db:5433/chat?sslmode=require")

    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db", 5433, "chat")
    assert (database["PASSWORD"], database["OPTIONS"]) == ("p@ss", {"sslmode": "require"})


@pytest.mark.parametrize(
    "command",
    [
        ("manage.py", "migrate"),
        ("-m", "project.local.prepare"),
        ("-m", "project.ops.backup", "save", "-"),
        ("-m", "celery", "-A", "project", "worker"),
        ("-m", "project.web"),
    ],
)
def test_every_program_says_so_in_one_line(command: tuple[str, ...]) -> None:
    told = {"SECRET_KEY": "for-a-test" * 4, "REDIS_URL": "sentinel://:hush@one:26379"}

    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | told,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    words = done.stderr.splitlines()
    assert words[-1].startswith("ERROR: REDIS_URL begins with sentinel://. Turnstone speaks")
    assert "Traceback" not in done.stderr


def test_celery_asks_for_the_certificate_of_a_redis() -> None:
    assert addresses.celery("rediss://host/0") == "rediss://host/0?ssl_cert_reqs=required"

    with_its_own = "rediss://:word@host:6380/0?ssl_ca_certs=/etc/ca.pem"
    assert addresses.celery(with_its_own) == f"{with_its_own}&ssl_cert_reqs=required"


def test_no_wake_up_and_no_password_goes_to_a_redis_that_nobody_vouches_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "certificate.pem"
    write_self_signed(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_take_in, args=(context, server), daemon=True).start()
        url = f"rediss://:word@127.0.0.1:{server.getsockname()[1]}/0"

        with (
            Connection(addresses.celery(url)) as broker,
            pytest.raises(OperationalError, match="CERTIFICATE_VERIFY_FAILED"),
        ):
            broker.ensure_connection(max_retries=1)


def _take_in(context: ssl.SSLContext, server: socket.socket) -> None:
    while True:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            context.wrap_socket(connection, server_side=True).recv(1)


def test_what_somebody_says_of_certificates_stays() -> None:
    url = "rediss://host/0?ssl_cert_reqs=none"

    assert addresses.celery(url) == url


def test_the_number_of_the_redis_database_reaches_celery() -> None:
    url = addresses.celery("unix:///run/valkey.sock?db=3")

    assert url == "redis+socket:///run/valkey.sock?virtual_host=3"


def test_the_password_of_a_redis_socket_reaches_celery() -> None:
    url = addresses.celery("unix://ada:word@/run/valkey.sock")

    assert url == "redis+socket://ada:word@/run/valkey.sock?virtual_host=0"


def test_an_address_over_tcp_is_celerys_too() -> None:
    assert addresses.celery("redis://host:6379/1") == "redis://host:6379/1"


@pytest.mark.parametrize("address", [".local/artifacts", "/of/this", "/a folder"])
def test_a_path_names_a_folder_for_artifacts(address: str) -> None:
    found = addresses.artifacts(address, ROOT)

    assert found["BACKEND"] == "chat.artifacts.folder.Folder"
    assert found["OPTIONS"] == {"location": str(ROOT / address)}


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("s3://ours", {"bucket_name": "ours", "location": ""}),
        ("s3://ours/a/b/", {"bucket_name": "ours", "location": "a/b"}),
        (
            "s3://ours?endpoint=https://minio:9000&region=eu-central-1",
            {
                "bucket_name": "ours",
                "location": "",
                "endpoint_url": "https://minio:9000",
                "region_name": "eu-central-1",
            },
        ),
    ],
)
def test_an_address_names_a_bucket_for_artifacts(address: str, told: dict[str, str]) -> None:
    found = addresses.artifacts(address, ROOT)

    assert found["BACKEND"] == "chat.artifacts.bucket.Bucket"
    assert found["OPTIONS"] == told


@pytest.mark.parametrize(
    "address", ["gs://ours", "s3://", "s3://key:hush@ours", "s3://ours?acl=public", "https://hush"]
)
def test_what_is_neither_folder_nor_bucket_is_refused_with_what_to_write(address: str) -> None:
    with pytest.raises(CannotStart, match=r"s3://bucket/prefix") as refusal:
        addresses.artifacts(address, ROOT)

    assert "hush" not in str(refusal.value)
