"""Ask a policy one question in a terminal: `python -m agents "What is 6 * 7?" --policy rewoo`."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Any

from pydantic import ValidationError

from agents.act.approval import Ask, nobody
from agents.contracts import Outcome, Status
from agents.control import Control
from agents.errors import AgentError, ConfigurationError
from agents.events import Event, RunEnded
from agents.extensions.loading import VARIABLE, Extensions, load, named_in
from agents.loop import run
from agents.model.model import Model
from agents.policies import POLICIES, build
from agents.policies.budgets import budget_for
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.base import Provider
from agents.providers.brought import provider_names
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from agents.state import State
from agents.terminal.approval import AtTheTerminal
from agents.terminal.page import EventLines, TerminalPage, plain
from agents.tools.catalogue import TOOLS, FoundTurn, not_offered, reaching_out, toolkit
from agents.tools.setup import ToolSetup, tool_setup

EXIT_CODES = {Status.SUCCEEDED: 0, Status.FAILED: 1, Status.EXHAUSTED: 3, Status.STOPPED: 130}
USAGE = 2
DEFAULT_TOOLS = "calculator,convert_units,current_time,python_repl"


def main(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the question to its end and return the exit code.

    That is 0 for an answer, 1 for a failure, 2 for a wrong command, 3 for a run out of turns or
    time, and 130 for one that was stopped.
    """
    try:
        extensions = _extensions(words, environment)
        parser = _parser()
        options = parser.parse_args(words)
        setup = tool_setup(environment)
        if options.list:
            print(plain("\n".join(_listing(setup, extensions))))
            return 0
        if options.question is None:
            parser.error("What do you ask? Put the question in quotes.")
        return _ask(options, setup, environment)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        return _refuse(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}")
    except BrokenPipeError:
        raise
    except (AgentError, OSError, ValueError) as error:
        return _refuse(str(error))


def _refuse(why: str) -> int:
    print(plain(why), file=sys.stderr)
    return USAGE


def _extensions(words: Sequence[str], environment: Mapping[str, str]) -> Extensions:
    """Load the extensions before the options are read, which may name what they bring.

    One that cannot be loaded is said and left out; raises ConfigurationError for one that was
    named here.
    """
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--extension", action="append", default=[])
    asked = early.parse_known_args(words)[0].extension
    found = load(dict.fromkeys(asked, "--extension") | named_in(environment.get(VARIABLE, "")))
    for name, why in found.not_loaded.items():
        said = f"The extension {name} is not loaded: {why}"
        if name.partition(" ")[0] in asked:
            raise ConfigurationError(said)
        print(plain(said), file=sys.stderr)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agents",
        description="Ask one question and watch the run, turn by turn.",
        epilog="Exit codes: 0 answered, 1 failed, 2 wrong command, 3 out of turns or time, "
        "130 stopped. Keys and servers of models are read from the environment, as Turnstone does.",
    )
    parser.add_argument("question", nargs="?", help="what to ask; - reads it from the input")
    parser.add_argument("--policy", choices=list(POLICIES), default="explicit", metavar="NAME")
    parser.add_argument("--provider", choices=provider_names(), default="auto")
    parser.add_argument("--model", default="", help="the model's name; the provider's own if left")
    parser.add_argument("--base-url", default="", help="the server's address, if not the usual")
    parser.add_argument("--script", type=Path, help="what the scripted provider says: a JSON file")
    parser.add_argument("--tools", default=DEFAULT_TOOLS, help="names with commas; '' for none")
    parser.add_argument(
        "--approve", default="", help="tools to ask you about before each call, besides risky ones"
    )
    parser.add_argument("--max-turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=600.0, help="the whole time of the run")
    parser.add_argument("--tokens", type=int, help="what all calls may come to; no limit if left")
    parser.add_argument("--cost", type=float, help="the same in US dollars; see TURNSTONE_PRICES")
    parser.add_argument("--settings", default="{}", help="the policy's own settings, as JSON")
    parser.add_argument(
        "--extension", action="append", metavar="MODULE", help="a module to load; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="write one event a line, as JSON")
    parser.add_argument("--list", action="store_true", help="list policies and tools, and end")
    return parser


def _ask(options: argparse.Namespace, setup: ToolSetup, environment: Mapping[str, str]) -> int:
    question = sys.stdin.read() if options.question == "-" else options.question
    if not question.strip():
        return _refuse("The question is empty.")
    spec = _spec(options)
    control = Control(
        spec.limits.seconds, spec.limits.idle_seconds, call_seconds=spec.limits.call_seconds
    )
    provider = connect(spec.model, environment)
    budget = budget_for(spec, provider, environment.get("TURNSTONE_PRICES", ""))
    kit = toolkit(spec.tools, find_turns=_no_turns, setup=setup)
    try:
        model = Model(provider, control, budget=budget)
        policy = build(spec, Parts(model, kit, spec.limits, ask=_whom_to_ask(control)))
        with _stopped_by_signals(control):
            return _follow(run(policy, State(question), control), options, provider, environment)
    finally:
        kit.close()


def _whom_to_ask(control: Control) -> Ask:
    is_somebody_there = sys.stdin.isatty() and sys.stderr.isatty()
    return AtTheTerminal(sys.stdin, sys.stderr, control) if is_somebody_there else nobody


def _spec(options: argparse.Namespace) -> PolicySpec:
    script: Any = ()
    if options.script is not None:
        script = json.loads(options.script.read_text(encoding="utf-8"))
    return PolicySpec(
        policy=options.policy,
        model=ModelChoice(
            provider=options.provider, model=options.model, base_url=options.base_url, script=script
        ),
        tools=_names(options.tools),
        limits=Limits(
            max_turns=options.max_turns,
            seconds=options.seconds,
            tokens=options.tokens,
            cost=options.cost,
        ),
        settings=json.loads(options.settings),
        approve=_names(options.approve),
    )


def _names(told: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in told.split(",") if name.strip())


def _follow(
    events: Iterator[Event],
    options: argparse.Namespace,
    provider: Provider,
    environment: Mapping[str, str],
) -> int:
    """Show each event as it comes; return the exit code of the run's end."""
    if options.json:
        sink: EventLines | TerminalPage = EventLines(sys.stdout)
    else:
        has_colour = sys.stdout.isatty() and not environment.get("NO_COLOR")
        sink = TerminalPage(sys.stdout, has_colour=has_colour)
        sink.introduce(options.policy, provider)
    outcome: Outcome | None = None
    for event in events:
        sink.show(event)
        if isinstance(event, RunEnded):
            outcome = event.outcome
    return EXIT_CODES[Status.FAILED if outcome is None else outcome.status]


@contextmanager
def _stopped_by_signals(control: Control) -> Iterator[None]:
    """Let the first Ctrl-C end the run with what it has; a second one ends the program."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        control.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listing(setup: ToolSetup, extensions: Extensions) -> Iterator[str]:
    yield "Policies:"
    for name, declared in POLICIES.items():
        module = sys.modules[declared.compose.__module__]
        about = (module.__doc__ or "").partition("\n")[0]
        yield f"  {name:<20} {about}"
    yield "Tools (* reaches out of this machine):"
    for name in TOOLS:
        yield f"  {name}{' *' if name in reaching_out() else ''}"
    yield from (f"Not here: {name}: {why}" for name, why in not_offered(setup).items())
    if extensions.loaded:
        yield "Extensions:"
    yield from (f"  {one.extension} (from {one.source})" for one in extensions.loaded)


def _no_turns(query: str) -> Sequence[FoundTurn]:
    """Find nothing: a run in a terminal leaves no transcript."""
    return ()


if __name__ == "__main__":
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a letter
    try:
        code = main(sys.argv[1:], os.environ)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has gone; what Python flushes at its end must go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_CODES[Status.STOPPED]
    sys.exit(code)
