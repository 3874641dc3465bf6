"""A file of providers is read strictly, and what is wrong in it is said to who wrote it."""

from pathlib import Path

import pytest

from agents.errors import ConfigurationError
from agents.providers.named.file import read_providers
from agents.providers.price import Price

EAST = """
[[provider]]
name = "east"
dialect = "openai"
address = "http://10.0.0.5:8000/v1"
key = "EAST_API_KEY"
calls = 8
models = ["llama", "qwen"]
second = "west"
prices = { "llama*" = { input = 0.5, output = 0.8, cached = 0.1 }, "*" = { input = 1, output = 2 } }
"""
WEST = """
[[provider]]
name = "west"
dialect = "anthropic"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "providers.toml"


def test_a_provider_is_all_that_its_entry_says(file: Path) -> None:
    file.write_text(EAST + WEST)

    providers = read_providers(file)

    east, west = providers
    assert (east.name, east.dialect, east.base_url) == ("east", "openai", "http://10.0.0.5:8000/v1")
    assert (east.key, east.calls, east.models) == ("EAST_API_KEY", 8, ("llama", "qwen"))
    assert (west.base_url, west.second) == ("https://api.anthropic.com", "")
    assert (providers.calls, providers.keys) == ({"east": 8}, ("EAST_API_KEY",))


def test_a_price_is_that_of_the_first_entry_that_fits(file: Path) -> None:
    file.write_text(EAST + WEST)

    providers = read_providers(file)

    assert providers.price_of("east", "llama-70b") == Price(input=0.5, output=0.8, cached=0.1)
    assert providers.price_of("east", "qwen") == Price(input=1, output=2)
    assert providers.price_of("west", "qwen") is None
    assert providers.price_of("north", "qwen") is None


def test_a_file_without_providers_names_none(file: Path) -> None:
    file.write_text("# later\n")

    assert not read_providers(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (WEST.replace("anthropic", "anthropick"), "dialect: it must be one of openai, anthropic"),
        (WEST + WEST, "Two providers are named 'west'."),
        (EAST, "names 'west' as its second, and there is no such provider"),
        (WEST + 'second = "west"', "'west' names itself as its second"),
        (EAST + WEST + 'second = "east"', "go in a circle: east → west → east"),
        (WEST + 'address = "10.0.0.5:8000"', "must be an address such as"),
        (WEST + 'address = "http://me:pw@host/"', "put no name, password or query in it"),
        (WEST + 'key = "sk-ant-123"', "must name the variable of the environment"),
        (WEST.replace('"west"', '"openai"'), "'openai' has a meaning already"),
        (WEST.replace('"west"', '"West/1"'), "'West/1' is no name"),
        (WEST + 'models = ["a", "a"]', "a model is named twice"),
        (WEST + 'models = [" "]', "each model needs a name"),
        (WEST + "calls = -1", "calls: Input should be greater than or equal to 0"),
        (WEST + "limit = 3", "limit: it is not known; there are name, dialect"),
        (WEST.replace('name = "west"\n', ""), "name: it is missing"),
        (WEST + "[other]", "it has other, and only [[provider]] is known"),
        ('[provider]\nname = "west"', "must begin with [[provider]]"),
        ("provider = [1]", "provider 1: Input should be"),
        ("[[provider", "it is no TOML"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(file: Path, text: str, says: str) -> None:
    file.write_text(text)

    with pytest.raises(ConfigurationError) as refused:
        read_providers(file)

    assert str(refused.value).startswith(f"TURNSTONE_PROVIDERS: {file}: ")
    assert says in str(refused.value)


def test_a_key_written_into_the_file_is_not_repeated(file: Path) -> None:
    file.write_text(WEST + 'key = "sk-ant-123"')

    with pytest.raises(ConfigurationError) as refused:
        read_providers(file)

    assert "sk-ant-123" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(ConfigurationError, match="it cannot be read"):
        read_providers(file)


def test_seconds_may_go_on_and_end_at_a_dialect(file: Path) -> None:
    file.write_text(EAST + WEST + 'second = "openai"')

    assert [one.second for one in read_providers(file)] == ["west", "openai"]
