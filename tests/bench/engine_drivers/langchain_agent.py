"""LangChain: create_agent, streaming its messages and its updates."""

from functools import cache
from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from tests.bench.engine_drivers.measured import Done, add, serve


@cache
def agent(url: str) -> Any:
    """Return the one agent of an address."""
    model = ChatOpenAI(
        model="fake",
        base_url=url,
        api_key="x",
        max_retries=0,
        streaming=True,
        stream_usage=True,
        use_responses_api=False,
    )
    return create_agent(model, tools=[add], system_prompt="You add.")


def one(url: str, turns: int) -> Done:
    """Do one run."""
    answer, deltas, tools = "", 0, 0
    for mode, event in agent(f"{url}/native/v1").stream(
        {"messages": [{"role": "user", "content": "Add numbers."}]},
        {"recursion_limit": 4 * turns + 50},
        stream_mode=["messages", "updates"],
    ):
        if mode == "messages":
            message, about = event
            deltas += bool(about.get("langgraph_node") == "model" and message.content)
        elif "tools" in event:
            tools += 1
        elif "model" in event:
            answer = event["model"]["messages"][-1].content
    return answer, deltas, tools


if __name__ == "__main__":
    serve(one)
