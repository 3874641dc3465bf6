"""Answers in a real browser: as they are shown, and to be taken along."""

import json
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agents.policies.spec import PolicySpec
from chat.models import Conversation, Policy, Run, User
from tests.stored_turns import store_turn

CONTRACT = json.loads((Path(__file__).parents[2] / "unit" / "markdown.json").read_text())

TABLE = "| Country | Population |\n|:--|--:|\n| India | 1,428,000,000 |\n\nThat is all.\n"
RIGHT_TO_LEFT = "هذا مثال `print('كود')` هنا:\n\n```python\nprint('كود')\n```\n"

PREVIEW = """
async (texts) => {
  const [{ makeParser }, { makeSafe }, { default: MarkdownIt }, { default: DOMPurify }] =
    await Promise.all([
      import("/static/js/markdown/parsing.js"),
      import("/static/js/markdown/safe.js"),
      import("/static/vendor/markdown-it.js"),
      import("/static/vendor/purify.js"),
    ])
  const parser = makeParser(MarkdownIt)
  const safe = makeSafe(DOMPurify)
  return texts.map(([markdown, html]) => [
    safe(markdown === null ? html : parser.render(markdown)),
    new DOMParser().parseFromString(html, "text/html").body,
  ].map((part) => inOneForm(part)))

  function inOneForm(part) {
    const box = document.createElement("div")
    box.append(...part.childNodes)
    for (const element of box.querySelectorAll("*")) {
      const attributes = [...element.attributes].map(({ name, value }) => [name, value]).sort()
      for (const [name] of attributes) element.removeAttribute(name)
      for (const [name, value] of attributes) element.setAttribute(name, value)
    }
    return box.innerHTML
  }
}
"""


@pytest.fixture
def ada(page: Page, person: Callable[..., User], sign_in: Callable[..., None]) -> User:
    """Sign Ada in on the page."""
    user = person("ada")
    sign_in(page, user)
    return user


def answered(user: User, answer: str) -> Run:
    """Store a run that has ended."""
    policy = Policy.objects.create(slug="told", name="Told")
    now = timezone.now()
    return Run.objects.create(
        conversation=Conversation.objects.create(owner=user, title="Told"),
        policy_version=policy.publish(PolicySpec(policy="explicit")),
        client_message_id=uuid.uuid4(),
        question="What?",
        status="succeeded",
        answer=answer,
        started_at=now,
        ended_at=now,
    )


def test_the_preview_makes_the_same_of_every_text_as_the_server(
    page: Page, ada: User, complaints: list[str]
) -> None:
    page.goto("/")
    cases = CONTRACT["cases"]
    made = page.evaluate(PREVIEW, [[case["markdown"], case["html"]] for case in cases])

    for case, (preview, server) in zip(cases, made, strict=True):
        assert preview == server, case["name"]
    assert complaints == []


@pytest.mark.parametrize(
    ("hostile", "left"),
    [
        ("<img src=x onerror=alert(1)>a", "a"),
        ("<p style='position:fixed' id=x onclick=alert(1) data-x=1>a</p>", "<p>a</p>"),
        ("<a href='javascript:alert(1)'>a</a>", "<a>a</a>"),
        ("<a href='/accounts/logout/'>a</a>", "<a>a</a>"),
        ("<form action=//e.org><input name=a type=password></form>", None),
        ("<button formaction=//e.org type=submit>a</button>", '<button type="button">a</button>'),
        ("<svg><script>alert(1)</script></svg><iframe src=//e.org></iframe>", ""),
    ],
)
def test_what_the_parser_would_never_make_does_not_come_into_the_preview(
    page: Page, ada: User, hostile: str, left: str | None
) -> None:
    page.goto("/")
    [[safe, _]] = page.evaluate(PREVIEW, [[None, hostile]])

    assert safe == (left if left is not None else '<input disabled="" type="checkbox">')


def test_copy_takes_the_markdown_of_the_answer_along(page: Page, ada: User) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    run = answered(ada, TABLE)
    page.goto(f"/conversations/{run.conversation_id}/")
    page.locator(".run__footer").get_by_role("button", name="Copy").click()
    expect(page.locator(".run__footer").get_by_role("button", name="Copied")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)

    assert page.evaluate("navigator.clipboard.readText()") == TABLE
    expect(
        page.locator(".run__footer").get_by_role("button", name="Copy", exact=True)
    ).to_be_visible()


def test_copying_without_a_connection_says_so(page: Page, ada: User) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    run = answered(ada, TABLE)
    page.goto(f"/conversations/{run.conversation_id}/")
    page.context.set_offline(True)
    page.locator(".run__footer").get_by_role("button", name="Copy").click()

    expect(page.get_by_role("button", name="Not copied: no connection")).to_be_visible()


def test_code_has_a_name_and_is_copied_and_wrapped_with_the_keyboard(page: Page, ada: User) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    line = "print('" + "a long line " * 40 + "')"
    run = answered(ada, f"```python\n{line}\n```")
    page.goto(f"/conversations/{run.conversation_id}/")
    code = page.locator(".code")
    expect(code.locator(".code__language")).to_have_text("python")
    code.get_by_role("button", name="Copy this code").press("Enter")
    expect(code.get_by_role("button", name="Copied")).to_be_visible()
    wrap = code.get_by_role("button", name="Wrap the lines of this code", pressed=False)
    low = code.bounding_box()
    wrap.press("Space")

    expect(code.get_by_role("button", name="Wrap the lines", pressed=True)).to_be_focused()
    high = code.bounding_box()
    assert low is not None
    assert high is not None
    assert high["height"] > 2 * low["height"]
    assert page.evaluate("navigator.clipboard.readText()") == line


def test_code_in_an_answer_from_right_to_left_is_not_mirrored(page: Page, ada: User) -> None:
    run = answered(ada, RIGHT_TO_LEFT)
    page.goto(f"/conversations/{run.conversation_id}/")
    expect(page.locator(".run__answer > p")).to_have_css("direction", "rtl")

    for code in page.locator(".run__answer code").all():
        expect(code).to_have_css("direction", "ltr")
    places = page.locator(".code code").evaluate(
        """(code) => {
          const place = (text) => {
            const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
            while (walker.nextNode()) {
              const at = walker.currentNode.data.indexOf(text)
              if (at < 0) continue
              const range = document.createRange()
              range.setStart(walker.currentNode, at)
              range.setEnd(walker.currentNode, at + 1)
              return range.getBoundingClientRect().left
            }
          }
          return [place("print"), place("("), place(")")]
        }"""
    )
    assert places == sorted(places)


def test_code_and_data_of_an_action_are_not_mirrored(page: Page, ada: User) -> None:
    run = answered(ada, "تم")
    store_turn(
        run,
        thought="أحسب",
        tool="python_repl",
        inputs={"code": "print('كود', 1)"},
        observation="('كود', 1)",
        status="complete",
        started_at=run.started_at,
        ended_at=run.ended_at,
    )
    page.goto(run.get_absolute_url())

    expect(page.locator(".turn__thought")).to_have_css("direction", "rtl")
    expect(page.locator(".turn__observation")).to_have_css("direction", "ltr")
    expect(page.locator(".inputs__pair dd").first).to_have_css("direction", "ltr")


def test_a_hostile_answer_that_grows_leaves_the_page_to_its_reader(page: Page, ada: User) -> None:
    page.goto("/")
    steps = page.evaluate(
        """async () => {
          const [{ Growing }, { makeParser }, { default: MarkdownIt }] = await Promise.all([
            import("/static/js/markdown/growing.js"),
            import("/static/js/markdown/parsing.js"),
            import("/static/vendor/markdown-it.js"),
          ])
          const growing = new Growing(makeParser(MarkdownIt))
          return [1_000, 10_000, 24_950].map((length) => growing.take("![".repeat(length)) === null)
        }"""
    )

    assert steps[-1] is True
