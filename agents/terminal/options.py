"""The options of `python -m agents`, and the policy that they describe."""

import argparse
import json
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.errors import ConfigurationError
from agents.extensions.loading import VARIABLE, Extensions, load, named_in
from agents.policies import POLICIES
from agents.policies.spec import PolicySpec
from agents.providers.brought import provider_names
from agents.terminal.page import plain

_SPEC: dict[str, Any] = {
    "policy": "explicit",
    "tools": ("calculator", "convert_units", "current_time", "python_repl"),
    "limits": {"max_turns": 20},
}
"""What is asked where neither a file nor an option says otherwise."""

_WORDS = ("slug", "name", "description")
"""What a file says to people, where it is one that can be published."""


def loaded_extensions(
    words: Sequence[str], environment: Mapping[str, str], providers: Collection[str] = ()
) -> Extensions:
    """Load the extensions before the options are read, which may name what they bring.

    `providers` are names that are taken. One that cannot be loaded is said and left out; raises
    ConfigurationError for one that was named here.
    """
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--extension", action="append", default=[])
    asked = early.parse_known_args(words)[0].extension
    named = dict.fromkeys(asked, "--extension") | named_in(environment.get(VARIABLE, ""))
    found = load(named, providers)
    for name, why in found.not_loaded.items():
        said = f"The extension {name} is not loaded: {why}"
        if name.partition(" ")[0] in asked:
            raise ConfigurationError(said)
        print(plain(said), file=sys.stderr)
    return found


def parser(providers: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return what reads the options; the names of extensions count if they are loaded by now.

    `providers` are the named ones.
    """
    made = argparse.ArgumentParser(
        prog="python -m agents",
        description="Ask a question, or chat, and watch the runs, turn by turn.",
        epilog="Exit codes: 0 answered, 1 failed, 2 wrong command, 3 out of turns or time, "
        "130 stopped. Keys and servers of models are read from the environment, as Turnstone does.",
    )
    made.add_argument("question", nargs="?", help="what to ask; - reads it from the input")
    made.add_argument(
        "--chat", action="store_true", help="ask again and again, one question a line"
    )
    made.add_argument(
        "--history", type=Path, metavar="FILE", help="keep the lines of a chat in this file, too"
    )
    _add_policy(made, providers)
    made.add_argument(
        "--extension", action="append", metavar="MODULE", help="a module to load; may be repeated"
    )
    made.add_argument("--json", action="store_true", help="write one event a line, as JSON")
    made.add_argument("--list", action="store_true", help="list policies and tools, and end")
    return made


def _add_policy(made: argparse.ArgumentParser, providers: Sequence[str]) -> None:
    made.add_argument(
        "--policy-file",
        type=Path,
        metavar="FILE",
        help="a policy's version, as JSON or TOML; options win",
    )
    made.add_argument("--policy", choices=list(POLICIES), metavar="NAME")
    made.add_argument("--provider", choices=(*provider_names(), *providers))
    made.add_argument("--model", help="the model's name; the provider's own if left")
    made.add_argument("--base-url", help="the server's address, if not the usual")
    made.add_argument("--script", type=Path, help="what the scripted provider says: a JSON file")
    made.add_argument("--tools", help="names with commas; '' for none")
    made.add_argument(
        "--approve", help="tools to ask you about before each call, besides risky ones"
    )
    made.add_argument("--max-turns", type=int)
    made.add_argument("--seconds", type=float, help="the whole time of a run")
    made.add_argument("--tokens", type=int, help="what all calls may come to; no limit if left")
    made.add_argument("--cost", type=float, help="the same in US dollars; see TURNSTONE_PRICES")
    made.add_argument("--settings", help="the policy's own settings, as JSON")
    made.add_argument(
        "--instructions", default="", metavar="TEXT|@FILE", help="what the model is told besides"
    )


def spec_of(options: argparse.Namespace) -> PolicySpec:
    """Return the policy of the file, or the usual one, with what the options say instead.

    Raises OSError, ValueError or ConfigurationError.
    """
    spec = _SPEC if options.policy_file is None else _spec_in(options)
    script = None if options.script is None else _json(options.script)
    said = {"provider": options.provider, "model": options.model, "base_url": options.base_url}
    names = ("max_turns", "seconds", "tokens", "cost")
    changed = {
        "policy": options.policy,
        "model": spec.get("model", {}) | _told(**said, script=script),
        "tools": _names(options.tools),
        "limits": spec.get("limits", {})
        | _told(**{name: getattr(options, name) for name in names}),
        "settings": None if options.settings is None else json.loads(options.settings),
        "approve": _names(options.approve),
    }
    return PolicySpec.model_validate(spec | _told(**changed))


def instructions_of(options: argparse.Namespace) -> str:
    """Return what the model is told besides; `@FILE` reads it there. Raises OSError, ValueError."""
    told: str = options.instructions
    text = Path(told[1:]).read_text(encoding="utf-8") if told.startswith("@") else told
    return text.strip()


def _spec_in(options: argparse.Namespace) -> dict[str, Any]:
    if options.policy is not None:
        raise ConfigurationError("Say --policy or --policy-file: the file names its policy.")
    file: Path = options.policy_file
    is_toml = file.suffix.lower() == ".toml"
    read = tomllib.loads(file.read_text(encoding="utf-8")) if is_toml else _json(file)
    if isinstance(read, dict):
        read = {name: value for name, value in read.items() if name not in _WORDS}
    return PolicySpec.model_validate(read).model_dump(mode="json")


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON: {error}") from error


def _names(told: str | None) -> tuple[str, ...] | None:
    return None if told is None else tuple(n.strip() for n in told.split(",") if n.strip())


def _told(**said: Any) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}
