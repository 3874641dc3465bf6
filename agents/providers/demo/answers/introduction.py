"""What the demo model says of itself: that it is rules, what it can do, how to plug in a model."""

INTRODUCTION = """\
I am Turnstone's **demo model**: a few rules, not a language model. I drive the real agent loop \
and its real tools, so that you can watch every turn, but I only understand a few kinds of \
questions:

- **Arithmetic**: *What is 37 * 43 + 12?*, *15% of 80*, *square root of 2*
- **Units**: *Convert 5 miles to km*, *72 F in C*
- **Dates and times**: *What time is it in Tokyo?*, *How many days until 2027-01-01?*
- **Python**: *Run python: print(sum(range(10)))*, or a code block
- **Your past chats**: *Search my past chats for Tokyo*

To ask anything else, plug in a real model and restart:

- set `OPENAI_API_KEY`, or
- start a local server such as Ollama or LM Studio, which is found by itself, or
- set `OPENAI_BASE_URL` to any OpenAI-compatible server."""

GREETING = f"Hello! {INTRODUCTION}"
UNKNOWN = f"I cannot answer that. {INTRODUCTION}"
