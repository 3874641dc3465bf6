"""The base of every ratio: a hand-written loop on the openai SDK, streaming, with native calls."""

import json
from functools import cache
from typing import Any

import openai

from tests.bench.engine_drivers.measured import Done, add, serve
from tests.bench.engine_drivers.native import QUESTION, TOOLS, Calls


@cache
def client(url: str) -> openai.OpenAI:
    """Return the one client of an address."""
    return openai.OpenAI(base_url=url, api_key="x", max_retries=0)


def one(url: str, turns: int) -> Done:
    """Do one run."""
    completions = client(f"{url}/native/v1").chat.completions
    messages: list[Any] = list(QUESTION)
    deltas = 0
    for turn in range(turns + 1):
        said, calls = [], Calls()
        with completions.create(
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
                    said.append(delta.content)
                    deltas += 1
                for call in delta.tool_calls or ():
                    calls.take(call.index, call.id, call.function.name, call.function.arguments)
        if not calls:
            return "".join(said), deltas, turn
        messages += calls.messages("".join(said), lambda inputs: add(**json.loads(inputs)))
    raise RuntimeError("The script has no end.")


if __name__ == "__main__":
    serve(one)
