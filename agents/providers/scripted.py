"""A provider that says what it is told, call by call: for tests, benches and showing a failure."""

import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, TypeAdapter, ValidationError

from agents.contracts import Usage, Value
from agents.control import Control
from agents.errors import (
    ConfigurationError,
    ProviderBusy,
    ProviderError,
    ProviderGarbled,
    ProviderRefused,
    ProviderSilent,
    ProviderTruncated,
    ProviderUnreachable,
)
from agents.providers.base import (
    Finish,
    IsShown,
    ModelRequest,
    NativeCall,
    Provider,
    Reply,
    Token,
    encoded,
    not_shown,
)

FAILURES: dict[str, type[ProviderError]] = {
    "unreachable": ProviderUnreachable,
    "refused": ProviderRefused,
    "busy": ProviderBusy,
    "garbled": ProviderGarbled,
    "truncated": ProviderTruncated,
    "silent": ProviderSilent,
}


class _Paced(Value):
    """`rate` is in tokens (words with the space after them) per second, None for at once.

    `chunk` cuts the text into pieces of so many characters instead of words; it takes as long.
    """

    rate: float | None = Field(default=None, gt=0)
    chunk: int | None = Field(default=None, ge=1)


class _Made(Value):
    """A native call; inputs that are a text stand for arguments that may be no JSON."""

    tool: str
    inputs: dict[str, Any] | str = {}
    id: str = ""
    kept: tuple[dict[str, Any], ...] = ()


class _Say(_Paced):
    say: str
    reasoning: str = ""
    calls: tuple[_Made, ...] = ()
    stop_reason: str = ""
    usage: Usage = Usage()

    @property
    def text(self) -> str:
        return self.say


class _Fail(_Paced):
    fail: Literal["unreachable", "refused", "busy", "garbled", "truncated", "silent"]
    after: str = ""
    message: str = ""

    @property
    def text(self) -> str:
        return self.after


class _Hang(_Paced):
    hang: Literal[True]
    after: str = ""

    @property
    def text(self) -> str:
        return self.after


def _kind(entry: object) -> str | None:
    given = entry if isinstance(entry, Mapping) else {}
    return next((kind for kind in ("say", "fail", "hang") if kind in given), None)


_Entry = Annotated[
    Annotated[_Say, Tag("say")] | Annotated[_Fail, Tag("fail")] | Annotated[_Hang, Tag("hang")],
    Discriminator(_kind),
]
_SCRIPT: TypeAdapter[list[_Say | _Fail | _Hang]] = TypeAdapter(list[_Entry])


class ScriptedProvider(Provider):
    """Answer the calls of one run with the entries of `script`, in order.

    An entry is `{"say": text}`, `{"fail": kind, "after": text}` or `{"hang": true, "after": text}`,
    each with an optional `rate` and `chunk`; `say` also with `reasoning`, `usage`, `stop_reason`
    and `calls`, native ones such as `{"tool": name, "inputs": {}}`. `position` is the number of
    calls that were made before, so that a resumed run goes on where it was.
    Raises ConfigurationError for an entry that is none of these.
    """

    name = "scripted"
    model = "scripted"

    def __init__(self, script: Iterable[Mapping[str, Any]], position: int = 0) -> None:
        try:
            self._script = _SCRIPT.validate_python(list(script))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"][1:])
            raise ConfigurationError(
                f"Entry {int(first['loc'][0]) + 1} of the script is not understood"
                + (f": {place}: {first['msg']}." if place else ": it must say, fail or hang.")
            ) from error
        self._calls = itertools.count(position)

    def body(self, request: ModelRequest) -> str:
        """Return the request as JSON, messages last."""
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        return encoded({"model": self.model, "purpose": request.purpose, "messages": messages})

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Play the next entry; raise ConfigurationError when the script is at its end."""
        call = next(self._calls)
        control.check()
        if call >= len(self._script):
            raise ConfigurationError(f"The script has no reply for call {call + 1}.")
        entry = self._script[call]
        if isinstance(entry, _Say):
            for text in _paced(entry.reasoning, entry, control):
                yield Token(text=text, kind="reasoning")
        for text in _paced(entry.text, entry, control):
            yield Token(text=text)
        match entry:
            case _Say():
                yield from _made(entry)
                stop = entry.stop_reason or ("tool_calls" if entry.calls else "stop")
                yield Finish(stop_reason=stop, usage=entry.usage)
            case _Fail():
                raise FAILURES[entry.fail](
                    entry.message or f"The script made call {call + 1} fail: {entry.fail}."
                )
            case _Hang():
                control.wait(control.idle_seconds)
                raise ProviderSilent(
                    f"The model sent nothing for {control.idle_seconds:g} seconds."
                )


def _made(entry: _Say) -> Iterator[NativeCall]:
    for index, call in enumerate(entry.calls):
        inputs = call.inputs
        arguments = inputs if isinstance(inputs, str) else json.dumps(inputs, ensure_ascii=False)
        known = call.id or f"call_{index + 1}"
        yield NativeCall(index=index, id=known, name=call.tool, arguments=arguments, kept=call.kept)


def _paced(text: str, pace: _Paced, control: Control) -> Iterator[str]:
    """Cut `text` and yield each piece when it is due, by the clock so that no delay adds up."""
    words = re.findall(r"\s*\S+\s*|\s+", text)
    size = pace.chunk
    pieces = words if size is None else [text[i : i + size] for i in range(0, len(text), size)]
    step = 0.0 if pace.rate is None else len(words) / pace.rate / max(1, len(pieces))
    start = time.monotonic()
    for number, piece in enumerate(pieces, start=1):
        if step:
            control.wait(start + number * step - time.monotonic())
        else:
            control.check()
        yield piece
