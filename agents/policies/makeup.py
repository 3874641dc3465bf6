"""What a release adds to a policy's spec: its prompts, how replies are read, its tools' words.

Two runs of one spec differ where one of these did. Each part is told by a digest, so that a version
of a policy can say what made its runs, and a release that changes one publishes a new version.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from jinja2 import Environment, nodes

from agents.contracts import Purpose
from agents.policies.declared import POLICIES
from agents.policies.spec import ModelRole, PolicySpec
from agents.tools.catalogue import described

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ROOT / "agents" / "prompts"
READING = "agents.reading."
SHARED = "agents.policies.with_goal"
"""What wraps every policy, and has prompts of its own."""
_IMPORT = re.compile(r"^from (agents[\w.]*) import", re.MULTILINE)
ASKING = ("agents.think.", "agents.act.", "agents.summarize")
"""The modules that ask models."""
INSTRUCTIONS = "agents.prompting.instructions"
"""What adds the words around instructions, to those versions that have some."""


def makeup(spec: PolicySpec) -> dict[str, str]:
    """Return the SHA-256 of each part, in hexadecimal; a policy that is not known here has none.

    Of tools it is the name, the description and the schema; those of MCP servers are theirs. Of the
    modules that read replies it is the source, comments too: rather a version too many than two
    kinds of runs under one. Of an extension's policy it is the extension's own source as well.
    """
    begin = f"agents.policies.{spec.policy}"
    shared = (SHARED, INSTRUCTIONS) if spec.instructions else (SHARED,)
    if _file_of(begin).is_file():
        return _of_engine((begin, *shared), spec)
    if spec.policy in POLICIES:
        sources = _of_extension(POLICIES[spec.policy].compose.__module__)
        imported = {one for text in sources for one in _IMPORT.findall(text)}
        return _of_engine((*sorted(imported), *shared), spec) | {"extension": _digest(sources)}
    return {}


def _of_engine(begin: tuple[str, ...], spec: PolicySpec) -> dict[str, str]:
    modules = _closure(begin)
    return {
        "prompts": _digest(_prompts(modules)),
        "reading": _digest(_text(one) for one in modules if one.startswith(READING)),
        "tools": _digest(json.dumps(one, sort_keys=True) for one in described(spec.tools)),
    }


def roles(policy: str) -> tuple[ModelRole, ...]:
    """Return the roles in which a policy asks a model; all for one that is not known here."""
    begin = f"agents.policies.{policy}"
    if not _file_of(begin).is_file():
        return tuple(ModelRole)
    asking = (one for one in _closure((begin,)) if one.startswith((begin, *ASKING)))
    named = {name for one in asking for name in re.findall(r"Purpose\.([A-Z_]+)", _text(one))}
    found = {ModelRole.of(Purpose[name]) for name in named}
    return tuple(role for role in ModelRole if role in found)


def _of_extension(module: str) -> list[str]:
    """Return the sources of an extension: its whole package, or the one file that it is."""
    package = sys.modules[module.partition(".")[0]]
    folders = [Path(folder) for folder in getattr(package, "__path__", ())]
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    file = getattr(package, "__file__", None)
    return [one.read_text() for one in files or ([Path(file)] if file else [])]


def _file_of(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


@cache
def _closure(begin: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules of the engine that these import, by any way, in order."""
    seen: set[str] = set()
    waiting = [*begin]
    while waiting:
        module = waiting.pop()
        if module not in seen and _file_of(module).is_file():
            seen.add(module)
            waiting += _IMPORT.findall(_text(module))
    return tuple(sorted(seen))


@cache
def _text(module: str) -> str:
    return _file_of(module).read_text()


@cache
def _prompts(modules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the text of each template that one of the modules names, and what those include."""
    named = {
        name
        for module in modules
        for name in re.findall(r"\"([\w/]+)\"", _text(module))
        if (PROMPTS / f"{name}.j2").is_file()
    }
    files: set[Path] = set()
    waiting = [PROMPTS / f"{name}.j2" for name in named]
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.add(file)
            waiting += _included(file)
    return tuple(f"{file.relative_to(PROMPTS)}\n{file.read_text()}" for file in sorted(files))


def _included(file: Path) -> Iterator[Path]:
    """Yield what a template includes; of a name that is put together, all that it may come to."""
    parsed = Environment(autoescape=True).parse(file.read_text())
    for include in parsed.find_all(nodes.Include):
        begin = next((one.value for one in include.find_all(nodes.Const)), "")
        yield from PROMPTS.glob(f"{str(begin).removesuffix('.j2')}*.j2")


def _digest(parts: Iterable[str]) -> str:
    summed = hashlib.sha256()
    for part in parts:
        summed.update(hashlib.sha256(part.encode()).digest())
    return summed.hexdigest()
