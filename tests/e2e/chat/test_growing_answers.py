"""An answer that is written while somebody reads it stays where it is."""

import uuid
from typing import Any

from playwright.sync_api import Page, Route, expect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Conversation, Policy, Run, User
from chat.runs.ask import ask

TABLE = """Here are the [largest countries](https://example.org/a/rather/long/address/of/a/page):

| Country | Population | Share |
|:--------|-----------:|:-----:|
| India | 1,428,000,000 | 17.8 % |
| China | 1,412,000,000 | 17.6 % |
| United States of America | 340,000,000 | 4.2 % |

- [x] counted
- **checked** against https://example.org/

```python
print(1_428_000_000)
```

That is all.
"""
WATCH_HEIGHT = """
() => {
  window.heights = []
  const look = () => {
    const answer = document.querySelector(".run__answer")
    window.heights.push([answer.offsetHeight, answer.matches(".run__answer--streaming")])
    requestAnimationFrame(look)
  }
  look()
}
"""


def written_slowly(user: User, answer: str) -> Run:
    """Ask for an answer that is written word by word."""
    policy = Policy.objects.create(slug="told", name="Told")
    reply: dict[str, Any] = {"say": f"Thought: I know.\nFinal Answer: {answer}", "rate": 30}
    model = ModelChoice(provider="scripted", script=(reply,))
    return ask(
        Conversation.objects.create(owner=user),
        "Which?",
        policy_version=policy.publish(PolicySpec(policy="explicit", model=model)),
        client_message_id=uuid.uuid4(),
    )


def test_a_table_grows_steadily_and_stays_where_it_is_when_the_answer_is_whole(
    page: Page, ada: User, complaints: list[str]
) -> None:
    run = written_slowly(ada, TABLE)
    page.goto(f"/conversations/{run.conversation_id}/")
    page.evaluate(WATCH_HEIGHT)
    expect(page.locator(".run__answer--streaming .prose__table")).to_be_visible()
    expect(page.locator(".run__answer:not(.run__answer--streaming) .k, .run .nb")).to_have_count(
        1, timeout=30_000
    )
    heights = page.evaluate("window.heights")

    written = [height for height, is_streaming in heights if is_streaming]
    whole = heights[-1][0]
    assert len(set(written)) > 5
    assert written == sorted(written), "the answer shrank while it was written"
    assert whole == written[-1], "the answer jumped when it was whole"
    assert complaints == []


def test_text_that_came_before_its_markup_could_be_read_does_not_shrink_by_it(
    page: Page, ada: User
) -> None:
    held: list[Route] = []
    page.route("**/vendor/markdown-it*.js", lambda route: held.append(route))
    run = written_slowly(ada, TABLE)
    page.goto(f"/conversations/{run.conversation_id}/")
    plain = page.locator(".run__answer .prose__plain")
    expect(plain).to_contain_text("India")
    page.reload()  # which brings all of it at once
    page.evaluate(WATCH_HEIGHT)
    expect(plain).to_contain_text("India")

    for route in held:
        route.continue_()

    expect(page.locator(".run__answer--streaming .prose__table")).to_be_visible()
    written = [height for height, is_streaming in page.evaluate("window.heights") if is_streaming]
    assert written == sorted(written)
