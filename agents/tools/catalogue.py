"""Every tool that a policy can name: a new one is one line in TOOLS."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from agents.control import Control
from agents.errors import ConfigurationError
from agents.tools.ask_user import ask_user, finish
from agents.tools.browser.session import find_chromium
from agents.tools.browser.tools import browser_tools
from agents.tools.calculator import calculator
from agents.tools.convert_units import convert_units
from agents.tools.current_time import current_time
from agents.tools.mcp.tools import ALL, is_mcp, mcp_tools, unreachable
from agents.tools.python_repl import python_repl_tool
from agents.tools.sandbox.choice import find_sandbox
from agents.tools.sandbox.monty import MontySandbox
from agents.tools.search_transcripts import FindTurns, FoundTurn, search_transcripts_tool
from agents.tools.setup import ToolSetup
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit
from agents.tools.web.arxiv import arxiv_tools
from agents.tools.web.http_get import http_get_tool
from agents.tools.web.search import ddgs, searxng, web_search_tool
from agents.tools.web.wikipedia import wikipedia_tools

__all__ = [
    "TOOLS",
    "FindTurns",
    "FoundTurn",
    "MakeTools",
    "ToolSetup",
    "bring",
    "described",
    "doing",
    "may_repeat",
    "not_offered",
    "offered",
    "reaching_out",
    "toolkit",
]


MakeTools = Callable[[ToolSetup], Sequence[Tool]]
"""Makes an extension's tools for one run; nothing is opened before a tool is called."""


@dataclass(frozen=True)
class _Needs:
    """What the tools of one user's run are built from; `is_described` if they are not to run."""

    find_turns: FindTurns
    setup: ToolSetup
    is_described: bool = False


def toolkit(
    names: Iterable[str],
    *,
    find_turns: FindTurns,
    setup: ToolSetup | None = None,
    control: Control | None = None,
) -> Toolkit:
    """Return these tools, without those that this machine cannot offer; see `not_offered`.

    A name is one of TOOLS, `mcp`, `server__*` or `server__tool`. `find_turns` looks into the past
    turns of the one user whose run it is; `control` halts the wait for a server. Close the toolkit
    at the run's end. Raises ConfigurationError for a name that is no tool's, or given twice.
    """
    needs = _Needs(find_turns, setup or ToolSetup())
    wanted = list(names)
    kit = Toolkit()
    for name in wanted:
        if name not in TOOLS and not is_mcp(name):
            there_are = ", ".join([*TOOLS, ALL])
            raise ConfigurationError(
                f"There is no tool {name!r}; there are {there_are}. If an extension brought it, "
                "that extension is not loaded here."
            )
        for tool in TOOLS[name](needs) if name in TOOLS else ():
            kit.register(tool)
    elsewhere = [name for name in wanted if is_mcp(name)]
    if elsewhere and not needs.setup.mcp_problem:
        for tool in mcp_tools(elsewhere, needs.setup.mcp_servers, control):
            kit.register(tool)
    return kit


def bring(name: str, make: MakeTools) -> None:
    """Offer the tools of an extension under a name that is free; raises what `make` raises.

    They are made once now, to be described, and then for each run.
    """
    described = tuple(make(ToolSetup()))

    def made(needs: _Needs) -> Sequence[Tool]:
        if needs.is_described:
            return described
        try:
            return make(needs.setup)
        except Exception as error:
            raise ConfigurationError(f"The tools {name!r} cannot be made: {error}") from error

    TOOLS[name] = made
    forget()


def forget() -> None:
    """Look at TOOLS anew where something was kept of them."""
    for kept in (reaching_out, may_repeat, _doings, _anywhere):
        kept.cache_clear()


def offered(find_turns: FindTurns, setup: ToolSetup | None = None) -> Toolkit:
    """Return all the tools that this machine can offer and that reach nothing outside of it."""
    names = [name for name in TOOLS if name not in reaching_out()]
    return toolkit(names, find_turns=find_turns, setup=setup)


def described(names: Iterable[str]) -> list[dict[str, Any]]:
    """Return name, description and schema of these tools as they are on any machine.

    Those of MCP servers, and names that are no tool's, are left out.
    """
    return [
        {"name": tool.name, "description": tool.description, "schema": tool.schema}
        for name in names
        for tool in _anywhere().get(name, ())
    ]


def doing(tool: str) -> str:
    """Say for a page what the agent does while a tool runs; empty where it does not say so."""
    return _doings().get(tool, "")


@cache
def reaching_out() -> frozenset[str]:
    """Return the names of which a tool reaches outside of this machine."""
    return frozenset(
        name for name, tools in _anywhere().items() if any(tool.reaches_out for tool in tools)
    )


@cache
def may_repeat() -> frozenset[str]:
    """Return the tools that one may well call many times in a row."""
    every = (tool for tools in _anywhere().values() for tool in tools)
    return frozenset(tool.name for tool in every if tool.may_repeat)


@cache
def _doings() -> dict[str, str]:
    return {tool.name: tool.doing for tools in _anywhere().values() for tool in tools}


@cache
def _anywhere() -> dict[str, Sequence[Tool]]:
    """Return every tool as it is on any machine, by its name in a policy; none is to run."""
    needs = _Needs(lambda query: (), ToolSetup(), is_described=True)
    return {name: make(needs) for name, make in TOOLS.items()}


def not_offered(setup: ToolSetup | None = None) -> dict[str, str]:
    """Return what this machine cannot offer, each with the reason, for page and log.

    An MCP server is among it once it could not be reached; none is called for this.
    """
    told = setup or ToolSetup()
    found, (chromium, no_browser) = find_sandbox(), find_chromium(told.chromium)
    reasons = unreachable(told.mcp_servers)
    if not found.sandbox:
        reasons["python_repl"] = found.reason
    if not chromium:
        reasons["browser"] = no_browser
    if told.mcp_problem:
        reasons[ALL] = told.mcp_problem
    return reasons


def _python_repl(needs: _Needs) -> Sequence[Tool]:
    sandbox = MontySandbox() if needs.is_described else find_sandbox().sandbox
    return (python_repl_tool(sandbox),) if sandbox else ()


def _browser(needs: _Needs) -> Sequence[Tool]:
    chromium = "chromium" if needs.is_described else find_chromium(needs.setup.chromium)[0]
    return browser_tools(chromium, needs.setup.reach) if chromium else ()


def _web_search(needs: _Needs) -> Sequence[Tool]:
    setup = needs.setup
    search = searxng(setup.searxng_url) if setup.searxng_url else ddgs(setup.search_proxy or None)
    return (web_search_tool(search),)


TOOLS: dict[str, Callable[[_Needs], Sequence[Tool]]] = {
    "calculator": lambda _: (calculator,),
    "convert_units": lambda _: (convert_units,),
    "current_time": lambda _: (current_time,),
    "python_repl": _python_repl,
    "search_transcripts": lambda needs: (search_transcripts_tool(needs.find_turns),),
    "ask_user": lambda _: (ask_user,),
    "finish": lambda _: (finish,),
    "http_get": lambda needs: (http_get_tool(needs.setup.reach),),
    "web_search": _web_search,
    "wikipedia": lambda needs: wikipedia_tools(needs.setup.wikipedia_url, needs.setup.reach),
    "arxiv": lambda needs: arxiv_tools(needs.setup.arxiv_url, needs.setup.reach),
    "browser": _browser,
}
"""A name -> its tools, built for one user's run; none where this machine cannot offer them."""
