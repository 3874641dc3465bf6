"""Every page passes axe's rules of WCAG 2.2, light and dark, wide and narrow."""

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from chat.models import Conversation, ModelCall, Policy, Run, User
from chat.policies import publish_seeds
from chat.request import digest_of
from chat.stream.markdown import render_markdown
from tests.stored_turns import store_turn

SignIn = Callable[[Page, User], None]
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}}
RULES = WCAG | {
    "rules": {"heading-order": {"enabled": True}, "landmark-unique": {"enabled": True}},
}
ANSWER = """## So

- **four** of `them`
- [x] done
- [ ] to do

#### And deeper

| n | m |
|--:|---|
| 1 | averylongwordthatdoesnotbreak_averylongwordthatdoesnotbreak |

```python
x = 'a line of code that is a good deal longer than a telephone is wide'  # z
```

\\[
\\int_0^1 x\\,dx
\\]

###### And deepest

https://example.org/a/very/long/address/that/has/no/place/at/all/to/break/on/a/narrow/telephone
"""


@pytest.fixture
def run(person: Callable[..., User], sign_in: SignIn, page: Page) -> Run:
    """Store a failed run with an answer, a failed turn and a model call; Ada is on the page."""
    publish_seeds()
    ada = person("ada")
    sign_in(page, ada)
    now = timezone.now()
    run = Run.objects.create(
        conversation=Conversation.objects.create(owner=ada, title="A failed run"),
        policy_version=Policy.objects.get(slug="explicit").latest,
        client_message_id=uuid.uuid4(),
        question="Why?",
        status="exhausted",
        reason="turns",
        message="The run used up its turns.",
        answer=ANSWER,
        answer_html=render_markdown(ANSWER),
        partial=True,
        started_at=now,
        ended_at=now,
    )
    for index, error in enumerate(("", "ToolFailed")):
        store_turn(
            run,
            index,
            status="complete",
            kind="action",
            thought="Because.",
            tool="python_repl",
            inputs={"code": "x\ny", "n": 1},
            observation="o\n" * 200,
            error=error,
            started_at=now,
            ended_at=now,
        )
    ModelCall.objects.create(
        run=run,
        index=0,
        turn_index=0,
        attempt=1,
        purpose="think",
        provider="demo",
        model="rule-based",
        rest="{}",
        digest=digest_of("{}"),
        reply="r",
        started_at=now,
        seconds=1,
    )
    return run


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_breaks_a_rule(
    page: Page, run: Run, scheme: Literal["light", "dark"], width: int
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    broken = {}
    for address in (
        "/",
        run.conversation.get_absolute_url(),
        f"/runs/{run.pk}/",
        f"/runs/{run.pk}/calls/1/",
        "/search/?q=because",
        "/accounts/password/change/",
        f"/conversations/{run.conversation_id}/rename/",
    ):
        page.goto(address)
        for summary in page.locator("main summary:visible").all():
            summary.evaluate("summary => summary.click()")  # an open call lies over others
        found = Axe().run(page, options=RULES)
        if found.violations_count:
            broken[address] = found.generate_report()
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wider > 0:
            broken[address] = f"{wider} px too wide"

    assert not broken, "\n".join(broken.values())


def test_a_call_that_has_not_come_yet_breaks_no_rule(page: Page, run: Run) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.route("**/calls/1/", lambda route: None)  # it never comes
    page.goto(f"/runs/{run.pk}/")
    for summary in page.locator("main summary:visible").all():
        summary.evaluate("summary => summary.click()")
    expect(page.get_by_text("Request and reply").first).to_be_visible()

    found = Axe().run(page, options=RULES)

    assert found.violations_count == 0, found.generate_report()


@pytest.fixture
def live_runs(run: Run) -> Iterator[list[Run]]:
    """Store a run that works, one that waits for Ada, and one of more than a page of turns."""
    made = []
    for status, turns in (("running", 2), ("waiting", 1), ("succeeded", 102)):
        now = timezone.now()
        has_ended = status == "succeeded"
        one = Run.objects.create(
            conversation=run.conversation,
            policy_version=run.policy_version,
            client_message_id=uuid.uuid4(),
            question="Why not?",
            status=status,
            lease_until=now + timedelta(hours=1) if status == "running" else None,
            started_at=now,
            ended_at=now if has_ended else None,
        )
        for index in range(turns):
            is_open = not has_ended and index == turns - 1
            store_turn(
                one,
                index,
                status="open" if is_open else "complete",
                kind="action",
                tool="python_repl",
                inputs={"code": "1"},
                started_at=now,
                ended_at=None if is_open else now,
            )
        made.append(one)
    made[1].approvals.create(
        turn_index=0,
        tool="python_repl",
        inputs={"code": "1"},
        safety="dangerous",
        expires_at=timezone.now() + timedelta(hours=1),
    )
    yield made
    made[0].delete()  # nobody works on it, so nobody would end it


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_transcript_breaks_a_rule_while_its_run_works_or_waits(
    page: Page, live_runs: list[Run], scheme: Literal["light", "dark"], width: int
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    broken = {}
    for run in live_runs:
        page.goto(f"/runs/{run.pk}/")
        found = Axe().run(page, options=RULES)
        if found.violations_count:
            broken[run.status] = found.generate_report()

    assert not broken, "\n".join(broken.values())


def test_the_administration_of_runs_breaks_no_rule(
    page: Page, run: Run, person: Callable[..., User], sign_in: SignIn
) -> None:
    sign_in(page, person("root", is_staff=True, is_superuser=True))
    broken = {}
    for address in ("/admin/chat/run/", f"/admin/chat/run/{run.pk}/change/"):
        page.goto(address)
        found = Axe().run(page, options=WCAG)
        if found.violations_count:
            broken[address] = found.generate_report()

    assert not broken, "\n".join(broken.values())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_doors_break_no_rule(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    broken = {}
    for address in ("/accounts/login/", "/accounts/signup/", "/no/such/page/"):
        page.goto(address)
        found = Axe().run(page, options=RULES)
        if found.violations_count:
            broken[address] = found.generate_report()

    assert not broken, "\n".join(broken.values())
