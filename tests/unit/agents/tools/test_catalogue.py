"""Policies name their tools; the catalogue builds them."""

import inspect
import json
from pathlib import Path

import pytest

from agents.errors import ConfigurationError
from agents.tools.catalogue import (
    TOOLS,
    ToolSetup,
    described,
    doing,
    may_repeat,
    not_offered,
    offered,
    reaching_out,
    toolkit,
)
from agents.tools.setup import tool_setup
from agents.tools.toolkit import Toolkit
from agents.tools.web.address import reach_of


def kit_of(*names: str, setup: ToolSetup | None = None) -> Toolkit:
    return toolkit(names, find_turns=lambda _: [], setup=setup)


def test_every_tool_that_stays_here_is_offered_unless_the_machine_cannot() -> None:
    assert set(offered(lambda _: []).names) == TOOLS.keys() - not_offered().keys() - reaching_out()


def test_a_policy_gets_the_tools_it_names_in_its_order() -> None:
    assert kit_of("current_time", "calculator").names == ("current_time", "calculator")


def test_every_tool_goes_by_its_name_in_the_catalogue() -> None:
    for name in TOOLS.keys() - not_offered().keys():
        names = kit_of(name).names
        assert names
        assert all(tool.startswith(name) for tool in names)


def test_every_tool_tells_what_it_is_for_and_limits_its_time() -> None:
    for tool in kit_of(*TOOLS).tools:
        assert len(inspect.cleandoc(tool.description)) > 40
        assert 0 < tool.timeout <= 60
        assert tool.schema["additionalProperties"] is False


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="There is no tool 'nope'; there are calculator"):
        kit_of("nope")


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="already registered"):
        kit_of("calculator", "calculator")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Compute 37 * 43 + 12", "calculator"),
        ("Run this Python code and return what it prints", "python_repl"),
        ("Convert 5 miles to km", "convert_units"),
        ("What is the current date and time in Tokyo?", "current_time"),
        ("Search the earlier conversations for primes", "search_transcripts"),
        ("Ask the user which city they mean", "ask_user"),
        ("Search the web for today's news", "web_search"),
        ("Search Wikipedia for Ada Lovelace", "wikipedia_search"),
        ("Fetch the page https://example.org/", "http_get"),
        ("Click the button of the page in the browser", "browser_click"),
    ],
)
def test_a_plain_request_finds_its_tool_first(query: str, first: str) -> None:
    assert kit_of(*TOOLS).search(query)[0].name == first


def test_the_setup_is_read_from_the_environment() -> None:
    setup = tool_setup(
        {
            "TURNSTONE_HTTP_ALLOW": "wiki.example, 10.0.0.1:8080",
            "TURNSTONE_SEARXNG_URL": " http://127.0.0.1:8888 ",
            "OPENAI_API_KEY": "sk-secret",
        }
    )

    assert setup == ToolSetup(
        reach=reach_of(["wiki.example", "10.0.0.1:8080"]), searxng_url="http://127.0.0.1:8888"
    )


def test_a_bad_file_of_mcp_servers_offers_none_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{")
    setup = tool_setup({"TURNSTONE_MCP": str(file)})

    assert kit_of("calculator", "mcp", "x__y", setup=setup).names == ("calculator",)
    assert not_offered(setup)["mcp"] == f"{file} is not JSON."


def test_the_tools_of_an_mcp_server_are_named_in_a_policy(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    down = {"command": str(tmp_path / "no-such-program")}
    file.write_text(json.dumps({"mcpServers": {"down": down}}))
    setup = tool_setup({"TURNSTONE_MCP": str(file)})

    assert kit_of("calculator", "down__*", setup=setup).names == ("calculator",)
    assert "cannot be reached" in not_offered(setup)["down__*"]
    with pytest.raises(ConfigurationError, match="of no MCP server; there are: down"):
        kit_of("other__tool", setup=setup)


def test_a_browser_that_is_not_there_is_left_out_and_said_to_be(tmp_path: Path) -> None:
    setup = ToolSetup(chromium=str(tmp_path / "chromium"))

    assert kit_of("browser", setup=setup).names == ()
    assert "no browser at" in not_offered(setup)["browser"]


def test_every_tool_says_what_the_agent_does_meanwhile() -> None:
    silent = [tool["name"] for tool in described(TOOLS) if not doing(tool["name"])]

    assert silent == ["finish"]
    assert doing("web_search") == "Searching the web"
    assert doing("files__read") == ""


def test_what_reaches_out_and_what_may_repeat_is_told_by_the_tools_themselves() -> None:
    assert reaching_out() == {"http_get", "web_search", "wikipedia", "arxiv", "browser"}
    assert may_repeat() == {
        *("calculator", "convert_units", "python_repl", "search_transcripts"),
        *("http_get", "web_search", "wikipedia_search", "wikipedia_lookup"),
        *("arxiv_search", "arxiv_read"),
        *("browser_goto", "browser_scroll", "browser_extract", "browser_screenshot"),
    }
