"""The same SDK with the text format: what is done and seen is one user message that grows."""

import json
import re
from functools import cache

import openai

from tests.bench.engine_drivers.measured import Done, add, serve

ACTION = re.compile(r"Action: *(\w+)\nAction Input: *(\{.*\})", re.DOTALL)


@cache
def client(url: str) -> openai.OpenAI:
    """Return the one client of an address."""
    return openai.OpenAI(base_url=url, api_key="x", max_retries=0)


def one(url: str, turns: int) -> Done:
    """Do one run."""
    completions = client(f"{url}/text/v1").chat.completions
    work, deltas = "Add numbers.", 0
    for turn in range(turns + 1):
        said = []
        with completions.create(
            model="fake",
            messages=[{"role": "system", "content": "You add."}, {"role": "user", "content": work}],
            stream=True,
            stream_options={"include_usage": True},
            stop=["\nObservation:"],
        ) as stream:
            for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    said.append(chunk.choices[0].delta.content)
                    deltas += 1
        text = "".join(said)
        action = ACTION.search(text)
        if action is None:
            return text.partition("Final Answer:")[2], deltas, turn
        work += f"\n{text}\nObservation: {add(**json.loads(action[2]))}"
    raise RuntimeError("The script has no end.")


if __name__ == "__main__":
    serve(one)
