"""The tools of one run: found by name or by words, described to a model, and called."""

import logging
import math
import re
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Sequence
from typing import Any

from agents.contracts import Image, Observation, ToolCall
from agents.control import Control
from agents.errors import AgentError, ConfigurationError, Halted, ToolNotFound
from agents.events import ObservationDelta
from agents.text import storable
from agents.tools.execution import execute
from agents.tools.inputs import check_inputs, describe_inputs, read_inputs
from agents.tools.spec import Tool

logger = logging.getLogger(__name__)

_STRAY = " \t\r\n`'\"*[](){}<>.,:;"
_CALL = re.compile(r"\(.*\Z", re.DOTALL)
_WORD = re.compile(r"[a-z0-9]+")
_NAMESPACE = re.compile(r"\A(?:functions?|tools?|default_api|multi_tool_use)[.:/]|:\d{1,4}\Z")
_PARTS = re.compile(r"[^\W_]+")
_SENTENCE = 200
_SENTENCES = re.compile(r"[\w'-]+(?: [\w'-]+)+")
_SHOWN_NAME = 80
EMPTY = '""'
"""What is told of a result that is an empty text, where that is an answer."""


class Toolkit:
    """Hold the tools that a run may call, each under one name.

    Names are compared as models write them: any case, spaces or hyphens for underscores, with
    quotes, brackets or a call's parentheses around. The tools of `base` come first, those that it
    gets or loses later as well, but for the names that stand in `without`.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        base: "Toolkit | None" = None,
        without: Collection[str] = (),
    ) -> None:
        self._base, self._without = base, without
        self._own: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    @property
    def _tools(self) -> dict[str, Tool]:
        if self._base is None:
            return self._own
        shared = self._base._tools.items()
        return {key: tool for key, tool in shared if tool.name not in self._without} | self._own

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return the tools in the order they were registered."""
        return tuple(self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Return the tools' names in the order they were registered."""
        return tuple(tool.name for tool in self.tools)

    def register(self, tool: Tool) -> None:
        """Add a tool; raises ConfigurationError for a taken name and for what is no Tool."""
        if not isinstance(tool, Tool):
            raise ConfigurationError(f"{tool!r} is not a Tool; decorate a function with @tool().")
        key = _normalised(tool.name)
        if not key:
            raise ConfigurationError(f"{tool.name!r} cannot be a tool's name.")
        if key in self._tools:
            raise ConfigurationError(f"Tool {tool.name!r} is already registered.")
        self._own[key] = tool

    def replace(self, tools: Iterable[Tool]) -> None:
        """Hold these tools instead, from the next prompt and call on; what was held is let go of.

        Raises ConfigurationError, as `register` does, and changes nothing then.
        """
        new = Toolkit(tools)
        kept = set(map(id, new.tools))
        Toolkit(tool for tool in self.tools if id(tool) not in kept).close()
        self._own = new._own

    def close(self) -> None:
        """Let go of what the tools hold from call to call; they may be called again."""
        for release in dict.fromkeys(tool.release for tool in self.tools if tool.release):
            try:
                release()
            except Exception:
                logger.exception("A tool's resources could not be released")

    def get(self, name: str) -> Tool:
        """Return the tool of that name; raises ToolNotFound, which lists the tools there are."""
        found = self._tools.get(_normalised(name)) or self._meant(name)
        if found is None:
            there_are = ", ".join(self.names) or "none"
            raise ToolNotFound(f"Unknown tool: {name[:_SHOWN_NAME]}. Available tools: {there_are}.")
        return found

    def knows(self, name: str) -> bool:
        """Tell whether there is a tool of that name."""
        return _normalised(name) in self._tools or self._meant(name) is not None

    def _meant(self, name: str) -> Tool | None:
        """Return the tool of a name with a namespace, or the only one that a sentence names."""
        bare = _NAMESPACE.sub("", name[:_SENTENCE].strip(_STRAY))
        if (found := self._tools.get(_normalised(bare))) is not None:
            return found
        if _SENTENCES.fullmatch(bare) is None:
            return None
        words = f" {' '.join(_PARTS.findall(bare.lower()))} "
        named = [key for key in self._tools if f" {' '.join(_PARTS.findall(key))} " in words]
        return self._tools[named[0]] if len(named) == 1 else None

    def search(self, query: str, limit: int = 5) -> list[Tool]:
        """Return the tools most likely to do what `query` says, best first.

        Words count by how few tools share them, those of a name threefold. Tools that share no
        word come last, in their order, so that a chooser never lacks candidates.
        """
        asked = set(_WORD.findall(query.lower()))
        texts = [_words(tool) for tool in self.tools]
        scores = [sum(_weight(word, texts) * text[word] for word in asked) for text in texts]
        ranked = sorted(range(len(texts)), key=lambda index: -scores[index])
        return [self.tools[index] for index in ranked[: max(0, limit)]]

    def describe(self, tools: Iterable[Tool] | None = None) -> str:
        """Return name, purpose and inputs of these tools, or of all, as text for a prompt."""
        return "\n".join(
            f"- {tool.name}: {' '.join(tool.description.split())}\n"
            f"  Inputs: {describe_inputs(tool)}"
            for tool in (self.tools if tools is None else tools)
        )

    def inputs_from_text(self, tool: Tool, text: str) -> dict[str, Any]:
        """Return the inputs that `text` holds: a JSON object, else the one required string input.

        They are checked when the tool is called. Raises InvalidInputs.
        """
        return read_inputs(tool, text)

    def validate(self, tool: Tool, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the inputs as the tool's own types; raises InvalidInputs naming each wrong one."""
        return check_inputs(tool, inputs)

    def call(
        self, call: ToolCall, control: Control
    ) -> Generator[ObservationDelta, None, Observation]:
        """Carry out an action; use as `observation = yield from toolkit.call(call, control)`.

        The deltas are a beginning of the observation's text, of at most `output.LIMIT` characters.
        Every failure is an Observation whose `error` is the name of its class, so that the model
        can react; only Halted is raised, within a second of the run's halt. What a terminal tool
        said ends the run, unless it failed, or said nothing where that is no answer.
        """
        control.check()
        shown: list[str] = []
        images: list[Image] = []
        try:
            tool = self.get(call.tool)
            for piece in execute(tool, check_inputs(tool, call.inputs), control):
                if isinstance(piece, Image):
                    images.append(piece)
                    continue
                shown.append(piece)
                yield ObservationDelta(text=piece)
        except Halted:
            raise
        except AgentError as error:
            text = "\n".join(filter(None, ["".join(shown), storable(str(error))]))
            return Observation(text=text, error=error.kind)
        text = "".join(shown)
        if tool.empty_is_answer and not text.strip():
            text = EMPTY
        ends = tool.ends if tool.terminal and text.strip() else None
        return Observation(text=text, ends=ends, images=tuple(images))


def _normalised(name: str) -> str:
    """Return the name as it is compared."""
    bare = _CALL.sub("", name.strip(_STRAY)).strip(_STRAY)
    return re.sub(r"[\s_-]+", "_", bare).lower()


def _words(tool: Tool) -> Counter[str]:
    words = Counter(set(_WORD.findall(tool.description.lower())))
    for word in _WORD.findall(tool.name.lower()):
        words[word] += 3
    return words


def _weight(word: str, texts: Sequence[Counter[str]]) -> float:
    return math.log(1 + len(texts) / (1 + sum(word in text for text in texts)))
