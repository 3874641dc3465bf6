"""The floor of the bench: hand-written loops on the openai SDK, each in a thread, storing nothing.

`bare.py URL N SEED`; after a line on stdin it works, and says when the window opens and closes.
"""

import json
import sys
import threading
import time
from typing import Any

import httpx2
import openai

from tests.bench.engine_drivers.native import Calls
from tests.bench.running.script import (
    IDEAL_SECONDS,
    QUESTION,
    TOOL,
    WINDOW_SECONDS,
    Sample,
    delays,
)

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": TOOL,
            "description": "Work out an expression.",
            "parameters": {
                "type": "object",
                "properties": {"expression": {"type": "string"}},
                "required": ["expression"],
            },
        },
    }
]


def main(url: str, count: int, seed: int) -> None:
    """Let `count` threads ask again and again, and print the sample of the window."""
    limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=1000)
    client = openai.OpenAI(
        base_url=f"{url}/native/v1",
        api_key="x",
        max_retries=0,
        http_client=openai.DefaultHttpxClient(limits=limits),
    )
    sample = Sample()
    print("up", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + IDEAL_SECONDS + WINDOW_SECONDS
    threads = [
        threading.Thread(target=go_on, args=(client, sample, delay, until), daemon=True)
        for delay in delays(count, seed)
    ]
    for thread in threads:
        thread.start()
    sample.take(IDEAL_SECONDS, WINDOW_SECONDS)
    print(json.dumps(sample.figures()), flush=True)


def go_on(client: openai.OpenAI, sample: Sample, delay: float, until: float) -> None:
    """Do one run after the other."""
    time.sleep(delay)
    while time.monotonic() < until:
        run(client, sample)


def run(client: openai.OpenAI, sample: Sample) -> None:
    """Do one run; raises RuntimeError when it has no end."""
    asked = time.monotonic()
    messages: list[Any] = [
        {"role": "system", "content": "You calculate."},
        {"role": "user", "content": QUESTION},
    ]
    for _ in range(10):
        said: list[str] = []
        calls = Calls()
        with client.chat.completions.create(
            model="fake",
            messages=messages,
            tools=TOOLS,
            stream=True,
            stream_options={"include_usage": True},
        ) as stream:
            for chunk in stream:
                if not chunk.choices:
                    continue
                delta: Any = chunk.choices[0].delta
                if delta.content:
                    if len(messages) == 2 and not said:
                        sample.first(asked, time.monotonic())
                    said.append(delta.content)
                for call in delta.tool_calls or ():
                    calls.take(call.index, call.id, call.function.name, call.function.arguments)
        if not calls:
            sample.end(asked, time.monotonic())
            return
        messages += calls.messages("".join(said), calculate)
    raise RuntimeError("The script has no end.")


def calculate(inputs: str) -> int:
    """Carry out the one tool."""
    return sum(int(number) for number in json.loads(inputs)["expression"].split("+"))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
