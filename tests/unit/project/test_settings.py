"""What can be set, and that a stranger to the project finds it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PRINT_DATABASE = (
    "from django.conf import settings;"
    "database = settings.DATABASES['default'];"
    "print(database['HOST'], database['OPTIONS'].get('sslmode'), bool(database['OPTIONS']['pool']))"
)


def _settings(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "project.settings"}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=kept | {"SECRET_KEY": "for-a-test-" * 3} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_variable_is_in_the_example() -> None:
    source = (ROOT / "project" / "settings.py").read_text()
    read = set(re.findall(r"env\.\w+\(\s*\"(\w+)\"", source))
    read |= set(re.findall(r"\"((?:OPENAI|TURNSTONE)_\w*[A-Z])\"", source))

    told = set(re.findall(r"^#(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    assert read - told == set()


def _told() -> set[str]:
    return set(re.findall(r"^#(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_every_variable_is_in_the_document_for_those_who_keep_it_running() -> None:
    text = (ROOT / "docs" / "operations.md").read_text()

    assert [name for name in sorted(_told()) if f"`{name}`" not in text] == []


def test_every_variable_reaches_the_containers() -> None:
    of_the_image_or_none_of_theirs = {"STATIC_ROOT", "TURNSTONE_DEBUG"}
    text = (ROOT / "compose.yaml").read_text()

    passed_on = set(re.findall(r"^    (\w+):(?= |$)", text, re.MULTILINE))
    passed_on |= set(re.findall(r"\$\{(\w+)", text))
    assert _told() - passed_on == of_the_image_or_none_of_theirs


def test_the_options_of_a_database_address_are_kept_beside_the_pool() -> None:
    result = _settings(PRINT_DATABASE, DATABASE_URL="postgres://ada@db/chat?sslmode=require")

    assert result.stdout.split() == ["db", "require", "True"]


def test_a_pooler_is_asked_for_no_option_that_it_would_refuse() -> None:
    code = "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS'])"

    result = _settings(code, DATABASE_URL="postgres://ada@pgbouncer/chat")

    assert "'options'" not in result.stdout
    assert "connect_timeout" in result.stdout


def test_an_empty_address_means_the_private_server() -> None:
    result = _settings(PRINT_DATABASE, DATABASE_URL="", REDIS_URL="")

    assert result.stdout.startswith(str(ROOT / ".local" / "run"))


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "chat.example.org"])
def test_a_health_check_on_the_machine_may_name_it_localhost(name: str) -> None:
    code = "from django.conf import settings; print(*settings.ALLOWED_HOSTS)"

    result = _settings(code, ALLOWED_HOSTS="chat.example.org")

    assert name in result.stdout.split()


def test_the_celery_app_is_there_for_whoever_has_settings() -> None:
    code = (
        "from django.conf import settings; settings.DEBUG;"
        "from celery import current_app; print(current_app.main)"
    )

    assert _settings(code).stdout == "turnstone\n"


def test_a_key_that_can_be_guessed_is_refused() -> None:
    result = _settings("from django.conf import settings; settings.DEBUG", SECRET_KEY="k" * 31)

    assert result.returncode == 1
    assert "SECRET_KEY has 31 characters" in result.stderr
    assert "k" * 31 not in result.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "chat.example.org"])  # noqa: S104
def test_pages_for_developers_are_not_shown_to_everybody(host: str) -> None:
    code = "from django.conf import settings; settings.DEBUG"

    result = _settings(code, TURNSTONE_DEBUG="true", HOST=host)

    assert result.returncode == 1
    assert f"everybody who reaches HOST={host}" in result.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_developer_sees_them_on_the_own_machine(host: str) -> None:
    code = "from django.conf import settings; print(settings.DEBUG)"

    assert _settings(code, TURNSTONE_DEBUG="true", HOST=host).stdout == "True\n"


def test_containers_do_not_start_without_being_told_of_the_proxies() -> None:
    text = (ROOT / "compose.yaml").read_text()

    assert re.search(r"TURNSTONE_PROXIES: \$\{TURNSTONE_PROXIES:\?", text)
