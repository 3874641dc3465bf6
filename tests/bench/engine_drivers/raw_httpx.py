"""The floor with a stock HTTP client: httpx, and the stream read line by line."""

import json
from functools import cache
from typing import Any

import httpx

from tests.bench.engine_drivers.measured import Done, add, serve
from tests.bench.engine_drivers.native import QUESTION, TOOLS, Calls


@cache
def client() -> httpx.Client:
    """Return the one client."""
    return httpx.Client(timeout=60)


def one(url: str, turns: int) -> Done:
    """Do one run."""
    messages: list[Any] = list(QUESTION)
    deltas = 0
    for turn in range(turns + 1):
        said, calls = [], Calls()
        body = {"model": "fake", "messages": messages, "tools": TOOLS, "stream": True}
        body["stream_options"] = {"include_usage": True}
        address = f"{url}/native/v1/chat/completions"
        with client().stream("POST", address, json=body) as response:
            for line in response.iter_lines():
                if not line.startswith("data: {"):
                    continue
                choices = json.loads(line[6:])["choices"]
                delta = choices[0]["delta"] if choices else {}
                if delta.get("content"):
                    said.append(delta["content"])
                    deltas += 1
                for call in delta.get("tool_calls") or ():
                    function = call["function"]
                    calls.take(
                        call["index"], call.get("id"), function.get("name"), function["arguments"]
                    )
        if not calls:
            return "".join(said), deltas, turn
        messages += calls.messages("".join(said), lambda inputs: add(**json.loads(inputs)))
    raise RuntimeError("The script has no end.")


if __name__ == "__main__":
    serve(one)
