"""Find the extensions that are installed or named, and load each; one that is broken is said.

Installed are those that a distribution names in the entry points of the group
`turnstone.extensions`; TURNSTONE_EXTENSIONS names modules. Whatever an extension does wrong, it
takes away neither the others nor what is ours.
"""

import re
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from agents.errors import ConfigurationError
from agents.extensions.extension import Extension
from agents.extensions.registration import nothing_if_it_fails, register
from agents.policies.declared import POLICIES

GROUP = "turnstone.extensions"
ATTRIBUTE = "extension"
VARIABLE = "TURNSTONE_EXTENSIONS"

_MODULE = re.compile(r"\w+(\.\w+)*")
_DECLARED = re.compile(rf"^{ATTRIBUTE}\b[^=\n]*=", re.MULTILINE)
_LONGEST = 500
"""Characters of an error that are told."""


@dataclass(frozen=True)
class Loaded:
    """An extension at work here, and where it is from."""

    extension: Extension
    source: str


@dataclass(frozen=True)
class Extensions:
    """What was loaded, and what was not: a module with its source -> why, and where in it."""

    loaded: tuple[Loaded, ...] = ()
    not_loaded: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Named:
    module: str
    source: str

    def __str__(self) -> str:
        return f"{self.module} ({self.source})"


def load(modules: Mapping[str, str], providers: Collection[str] = ()) -> Extensions:
    """Load the extensions that are installed, and those of these modules; raises nothing.

    `modules` says who named each. One that is named twice is loaded once. `providers` are the names
    that the operator has given to servers, which no extension takes. Call it once a process: names
    are taken afterwards.
    """
    loaded: list[Loaded] = []
    not_loaded: dict[str, str] = {}
    for named in _named(modules):
        try:
            extension = _load(named.module, {one.extension.name for one in loaded}, providers)
        except (Exception, SystemExit) as error:  # a module that ends the program would end ours
            not_loaded[str(named)] = _why(error, named.module)
        else:
            loaded.append(Loaded(extension, str(named)))
    return Extensions(tuple(loaded), not_loaded)


def named_in(told: str) -> dict[str, str]:
    """Return the modules that TURNSTONE_EXTENSIONS names, which stand between commas."""
    return {name.strip(): VARIABLE for name in told.split(",") if name.strip()}


def _named(modules: Mapping[str, str]) -> Iterator[_Named]:
    seen: set[str] = set()
    found = [
        *(_Named(point.value.strip(), _source(point)) for point in _points()),
        *(_Named(module, source) for module, source in modules.items()),
    ]
    for named in found:
        if named.module not in seen:
            seen.add(named.module)
            yield named


def _points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def _source(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else GROUP


def _load(name: str, taken: set[str], providers: Collection[str]) -> Extension:
    if not _MODULE.fullmatch(name):
        raise ConfigurationError(f"{name!r} is not the name of a module.")
    with nothing_if_it_fails():
        ours = dict(POLICIES)
        module = import_module(name)
        declared = {key: made for key, made in POLICIES.items() if key not in ours}
        # What is declared where it is imported is put beside ours only with its extension.
        for key in declared:
            del POLICIES[key]
        extension = getattr(module, ATTRIBUTE, None)
        if not isinstance(extension, Extension):
            raise ConfigurationError(f"It has no `{ATTRIBUTE} = Extension(...)`.")
        if extension.name in taken:
            raise ConfigurationError(f"There is an extension {extension.name!r} already.")
        for key, policy in declared.items():
            if _is_within(policy.compose.__module__, name) and policy not in extension.policies:
                raise ConfigurationError(f"It declares a policy {key!r} that it does not bring.")
        register(extension, providers)
    return extension


def _is_within(module: str, name: str) -> bool:
    return module.partition(".")[0] == name.partition(".")[0]


def _why(error: BaseException, name: str) -> str:
    """Say what is wrong, and which line of the extension it is."""
    said = " ".join(str(error).split())[:_LONGEST]
    words = said if isinstance(error, ConfigurationError) else f"{type(error).__name__}: {said}"
    place = _place(error, name)
    return f"{words} ({place})" if place else words


def _place(error: BaseException, name: str) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    folder = _folder(name)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if folder is not None and Path(frame.filename).is_relative_to(folder):
            return f"{frame.filename}, line {frame.lineno}"
    return _declaration(name)


def _folder(name: str) -> Path | None:
    """Return where the extension's own files are: its package, or its one file."""
    try:
        spec = find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    places = [*(spec.submodule_search_locations or ()), spec.origin]
    return Path(places[0]) if places[0] else None


def _declaration(name: str) -> str:
    """Return the line on which a module that could be imported says what it brings."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
    if not file:
        return ""
    text = Path(file).read_text(encoding="utf-8", errors="replace")
    found = _DECLARED.search(text)
    return f"{file}, line {text[: found.start()].count(chr(10)) + 1}" if found else file
