"""pydantic-ai: an Agent with its stream of events."""

import asyncio
from collections.abc import AsyncIterable
from functools import cache
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from tests.bench.engine_drivers.measured import Done, add, serve


@cache
def agent(url: str) -> Any:
    """Return the one agent of an address."""
    model = OpenAIChatModel("fake", provider=OpenAIProvider(base_url=url, api_key="x"))
    return Agent(model, tools=[add], system_prompt="You add.")


async def one(url: str, turns: int) -> Done:
    """Do one run."""
    deltas = tools = 0

    async def listen(context: object, events: AsyncIterable[Any]) -> None:
        nonlocal deltas, tools
        async for event in events:
            starts = isinstance(event, PartStartEvent) and isinstance(event.part, TextPart)
            goes_on = isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta)
            deltas += starts or goes_on
            tools += isinstance(event, FunctionToolResultEvent)

    result = await agent(f"{url}/native/v1").run(
        "Add numbers.",
        event_stream_handler=listen,
        usage_limits=UsageLimits(request_limit=turns + 10),
    )
    return result.output, deltas, tools


if __name__ == "__main__":
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    serve(lambda url, turns: loop.run_until_complete(one(url, turns)))
