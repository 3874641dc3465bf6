"""The same run as threads and as coroutines, for `bench-coroutines`: `loops.py KIND URL N SEED`.

Each kind asks the model, carries out the tool and tells the model what came of it, in our text
format; none stores anything. After a line on stdin it works, and says when the window opens and
closes. `engine` is the product's own loop with its provider, a thread a run, all on one core.
`threads` and `coroutines` are one loop written twice, on the HTTP library that the product uses
with one reader of replies; the tool runs in a thread of its own in both. `gathering` is
`coroutines` at the engine's pace: before a read it waits for as long as the engine would.
"""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpcore2
import uvloop
from pydantic import SecretStr

from agents import loop
from agents.control import Control
from agents.events import RunEnded, ThoughtDelta
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import Credentials
from agents.providers.openai import OpenAIProvider
from agents.providers.wire.pace import Pace
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from project.ops.core import keep_to_one_core
from tests.bench.running.script import (
    IDEAL_SECONDS,
    QUESTION,
    WINDOW_SECONDS,
    Sample,
    delays,
)

TOOL_THREADS = 32
MAX_STEPS = 10
PATH = "chat/completions"
SYSTEM = {"role": "system", "content": "You calculate."}


class Work:
    """What has been said and done in one run, and when it was first heard of."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._asked = time.monotonic()
        self._text = QUESTION
        self._said: list[str] = []
        self._rest = b""
        self._is_heard = False

    @property
    def request(self) -> bytes:
        """Return what the model is sent next."""
        messages = [SYSTEM, {"role": "user", "content": self._text}]
        options = {"stream": True, "stream_options": {"include_usage": True}}
        return json.dumps({"model": "fake", "messages": messages} | options).encode()

    def read(self, piece: bytes) -> None:
        """Take in what a reply brings."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data: {"):
                choices = json.loads(line[6:])["choices"]
                self.hear(choices[0]["delta"].get("content") if choices else None)

    def hear(self, text: str | None) -> None:
        """Take in a token."""
        if text:
            if not self._is_heard:
                self._sample.first(self._asked, time.monotonic())
            self._is_heard = True
            self._said.append(text)

    def call(self) -> str | None:
        """Return the inputs of the call that was said, None where the answer was."""
        said = "".join(self._said)
        self._text, self._said = f"{self._text}\n{said}", []
        if "Final Answer:" in said:
            self._sample.end(self._asked, time.monotonic())
            return None
        return said.partition("Action Input: ")[2]

    def observe(self, result: str) -> None:
        """Tell the model what came of the call."""
        self._text += f"\nObservation: {result}"


def calculate(inputs: str) -> str:
    """Carry out the one tool."""
    return str(sum(int(number) for number in json.loads(inputs)["expression"].split("+")))


def threads(url: str, sample: Sample, starts: list[float], until: float) -> None:
    """Do runs in a thread each, on a synchronous client."""
    pool = httpcore2.ConnectionPool(max_connections=None)

    def run() -> None:
        work = Work(sample)
        for _ in range(MAX_STEPS):
            with pool.stream("POST", url + PATH, content=work.request) as response:
                for piece in response.iter_stream():
                    work.read(piece)
            inputs = work.call()
            if inputs is None:
                return
            work.observe(tools.submit(calculate, inputs).result())
        raise RuntimeError("The script has no end.")

    tools = ThreadPoolExecutor(TOOL_THREADS)
    in_threads(run, starts, until)


def engine(url: str, sample: Sample, starts: list[float], until: float) -> None:
    """Do runs in a thread each, by the product's loop, provider and pace, on the core it keeps."""
    key = SecretStr("x")
    credentials = Credentials(base_url=url, api_key=key, model="fake", found="the bench")
    provider = OpenAIProvider(credentials)
    limits = Limits(max_turns=MAX_STEPS)
    spec = PolicySpec(policy="explicit", limits=limits)

    @tool()
    def calculator(expression: str) -> str:
        """Work out an expression."""
        return calculate(json.dumps({"expression": expression}))

    def run() -> None:
        asked, is_heard = time.monotonic(), False
        control = Control(600)
        parts = Parts(Model(provider, control), Toolkit([calculator]), limits)
        for event in loop.run(build(spec, parts), State(QUESTION), control):
            if isinstance(event, ThoughtDelta) and not is_heard:
                is_heard = True
                sample.first(asked, time.monotonic())
            elif isinstance(event, RunEnded):
                if event.outcome.status != "succeeded":
                    raise RuntimeError(event.outcome.message)
                sample.end(asked, time.monotonic())

    keep_to_one_core()
    in_threads(run, starts, until)


def in_threads(run: Callable[[], None], starts: list[float], until: float) -> None:
    """Do one run after the other in as many threads as there are starts."""

    def go_on(start: float) -> None:
        time.sleep(start)
        while time.monotonic() < until:
            run()

    for start in starts:
        threading.Thread(target=go_on, args=(start,), daemon=True).start()


def coroutines(
    url: str, sample: Sample, starts: list[float], until: float, *, gathers: bool = False
) -> None:
    """Do runs as tasks of one event loop, on an asynchronous client."""
    pace = Pace()
    backend = _Gathering(pace) if gathers else httpcore2.AnyIOBackend()
    pool = httpcore2.AsyncConnectionPool(max_connections=None, network_backend=backend)

    async def think(work: Work) -> None:
        async with pool.stream("POST", url + PATH, content=work.request) as response:
            with pace.reading():
                async for piece in response.aiter_stream():
                    work.read(piece)

    in_one_loop(think, sample, starts, until)


class _Gathering(httpcore2.AnyIOBackend):
    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace

    async def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore2.AsyncNetworkStream:
        stream = await super().connect_tcp(*args, **kwargs)
        read, read_at = stream.read, 0.0

        async def paced(*limits: Any, **more: Any) -> bytes:
            nonlocal read_at
            early = read_at + self._pace.gap() - time.monotonic()
            if early > 0:
                await asyncio.sleep(early)
            piece = await read(*limits, **more)
            read_at = time.monotonic()
            return piece

        stream.read = paced  # type: ignore[method-assign] # the rest of the stream stays as it is
        return stream


def in_one_loop(
    think: Callable[[Work], Coroutine[Any, Any, None]],
    sample: Sample,
    starts: list[float],
    until: float,
) -> None:
    """Do one run after the other in as many tasks as there are starts, tools in threads."""
    tools = ThreadPoolExecutor(TOOL_THREADS)

    async def run() -> None:
        work = Work(sample)
        for _ in range(MAX_STEPS):
            await think(work)
            inputs = work.call()
            if inputs is None:
                return
            running = asyncio.get_running_loop().run_in_executor(tools, calculate, inputs)
            work.observe(await running)
        raise RuntimeError("The script has no end.")

    async def go_on(start: float) -> None:
        await asyncio.sleep(start)
        while time.monotonic() < until:
            await run()

    async def all_of_them() -> None:
        await asyncio.gather(*map(go_on, starts))

    threading.Thread(target=uvloop.run, args=(all_of_them(),), daemon=True).start()


KINDS: dict[str, Callable[..., None]] = {
    "engine": engine,
    "threads": threads,
    "coroutines": coroutines,
    "gathering": partial(coroutines, gathers=True),
}


def main(kind: str, url: str, count: int, seed: int) -> None:
    """Let `count` runs go on at once, again and again, and print the sample of the window."""
    sample = Sample()
    print("up", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + IDEAL_SECONDS + WINDOW_SECONDS
    KINDS[kind](f"{url}/text/v1/", sample, delays(count, seed), until)
    sample.take(IDEAL_SECONDS, WINDOW_SECONDS)
    print(json.dumps(sample.figures()), flush=True)
    sys.stdin.readline()  # until it is ended, in the midst of other runs


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
