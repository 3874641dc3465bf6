"""The private servers' addresses and secrets."""

import stat
from pathlib import Path

import environ
import pytest
from kombu.utils.url import url_to_parts
from redis.asyncio.connection import parse_url as parse_redis_url

from project import addresses
from project.local import embedded


def test_the_secret_key_is_made_once(tmp_path: Path) -> None:
    local = tmp_path / ".local"

    assert embedded.secret_key(local) == embedded.secret_key(local)
    assert len(embedded.secret_key(local)) >= 50


def test_only_the_owner_can_read_what_is_kept(tmp_path: Path) -> None:
    local = tmp_path / ".local"

    embedded.secret_key(local)

    assert stat.S_IMODE(local.stat().st_mode) == 0o700
    assert stat.S_IMODE((local / "secret-key").stat().st_mode) == 0o600


def test_of_two_that_come_first_both_get_one_text(tmp_path: Path) -> None:
    def overtaken() -> str:
        embedded.kept(tmp_path, "word", lambda: "theirs")
        return "ours"

    assert embedded.kept(tmp_path, "word", overtaken) == "theirs"


def test_a_folder_open_to_others_is_closed(tmp_path: Path) -> None:
    local = tmp_path / ".local"
    local.mkdir(mode=0o755)

    embedded.make_private(local)

    assert stat.S_IMODE(local.stat().st_mode) == 0o700


def test_addresses_are_known_before_anything_is_there(tmp_path: Path) -> None:
    local = tmp_path / ".local"

    before = embedded.database_url(local), embedded.redis_url(local)
    embedded.make_sockets(local)

    assert (embedded.database_url(local), embedded.redis_url(local)) == before


@pytest.mark.parametrize("name", ["plain", "with a space", "50% + more?", "ünïcode", "a,b"])
def test_every_folder_name_survives_the_three_kinds_of_address(tmp_path: Path, name: str) -> None:
    local = tmp_path / name
    sockets = str(local / "run")

    database = environ.Env.db_url_config(embedded.database_url(local))
    redis = embedded.redis_url(local)

    assert (database["HOST"], database["NAME"]) == (sockets, "turnstone")
    assert parse_redis_url(redis)["path"] == f"{sockets}/valkey.sock"
    broker = url_to_parts(addresses.celery(redis).removeprefix("redis+"))
    assert f"/{broker.path}" == f"{sockets}/valkey.sock"


def test_a_deep_path_is_reached_through_a_short_private_folder(tmp_path: Path) -> None:
    local = tmp_path / ("deep" * 30)

    sockets = embedded.make_sockets(local)

    try:
        assert embedded.fits_a_socket(sockets)
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert str(sockets) in embedded.database_url(local)
        assert embedded.make_sockets(local) == sockets
    finally:
        sockets.rmdir()


def test_a_short_folder_that_is_gone_or_open_is_replaced(tmp_path: Path) -> None:
    local = tmp_path / ("deep" * 30)
    first = embedded.make_sockets(local)
    first.chmod(0o755)

    second = embedded.make_sockets(local)

    first.rmdir()
    second.rmdir()
    assert second != first
    third = embedded.make_sockets(local)
    third.rmdir()
    assert third != second
