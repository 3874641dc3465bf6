"""Ask a policy in a terminal: `python -m agents "What is 6 * 7?"`; with --chat, go on asking."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper

from pydantic import ValidationError

from agents.contracts import Outcome, Status
from agents.errors import AgentError
from agents.extensions.loading import Extensions
from agents.policies import POLICIES
from agents.providers.named.file import providers_in
from agents.providers.named.providers import NamedProviders
from agents.terminal.asking import Asking
from agents.terminal.chat import chat
from agents.terminal.options import instructions_of, loaded_extensions, parser, spec_of
from agents.terminal.page import plain
from agents.tools.catalogue import TOOLS, not_offered, reaching_out
from agents.tools.setup import ToolSetup, tool_setup

EXIT_CODES = {Status.SUCCEEDED: 0, Status.FAILED: 1, Status.EXHAUSTED: 3, Status.STOPPED: 130}
USAGE = 2


def main(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the question to its end, or chat to the end of the input, and return the exit code.

    That is 0 for an answer, 1 for a failure, 2 for a wrong command, 3 for a run out of turns or
    time, and 130 for one that was stopped; of a chat that is read from a pipe it is the last run's.
    """
    try:
        named = providers_in(environment)
        extensions = loaded_extensions(words, environment, named.names)
        reads = parser(named.names)
        options = reads.parse_args(words)
        setup = tool_setup(environment)
        if options.list:
            print(plain("\n".join(_listing(setup, extensions))))
            return 0
        if options.question is None and not options.chat:
            reads.error("What do you ask? Put the question in quotes, or chat with --chat.")
        if options.history is not None and not options.chat:
            reads.error("--history keeps the lines of a chat: say --chat, too.")
        return _ask(options, setup, environment, named)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        return _refuse(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}")
    except BrokenPipeError:
        raise
    except (AgentError, OSError, ValueError) as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return EXIT_CODES[Status.STOPPED]


def _refuse(why: str) -> int:
    print(plain(why), file=sys.stderr)
    return USAGE


def _ask(
    options: Namespace, setup: ToolSetup, environment: Mapping[str, str], named: NamedProviders
) -> int:
    is_read = options.question == "-" and not options.chat
    question = sys.stdin.read() if is_read else options.question
    if not options.chat and not question.strip():
        return _refuse("The question is empty.")
    asking = Asking(
        spec_of(options),
        setup,
        environment,
        named=named,
        instructions=instructions_of(options),
        as_json=options.json,
        outlives=options.chat,
    )
    if not options.chat:
        return _code(asking.ask(question))
    outcome = chat(asking, None if question == "-" else question, options.history)
    return 0 if sys.stdin.isatty() and not asking.is_ended else _code(outcome)


def _code(outcome: Outcome | None) -> int:
    return 0 if outcome is None else EXIT_CODES[outcome.status]


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
