"""Answers become HTML that is safe, whole, and bounded in time."""

import json
import re
import subprocess
import sys
import time
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from chat.stream.markdown import DEEPEST, LONGEST, render_markdown
from chat.stream.markdown.code import COLOURING_SECONDS, MAX_CODE

ROOT = Path(__file__).resolve().parents[3]
CONTRACT = json.loads((ROOT / "tests" / "unit" / "markdown.json").read_text())
DENSE = "- **a** `b` [c](https://example.org) *f*\n" * 1_200

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '[x](https://e.com "\\" onmouseover=alert(1) ")',
    '```html"><script>alert(1)</script>\n<script>alert(1)</script>\n```',
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "<div><style>*{display:none}</style><iframe src=//e.com></iframe></div>",
    "[a]: javascript:alert(1)\n\n[a]",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "<a href='https://e.com' style='position:fixed'>x</a>",
    "`<script>alert(1)</script>`",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_brings_no_live_markup(text: str) -> None:
    html = render_markdown(text)

    assert live_markup(html) == []


@pytest.mark.parametrize("case", CONTRACT["cases"], ids=lambda case: case["name"])
def test_the_server_keeps_the_contract_that_the_preview_is_held_to(case: dict[str, str]) -> None:
    assert without_colours(render_markdown(case["markdown"])) == case["html"]


@pytest.mark.parametrize("case", CONTRACT["plain"], ids=lambda case: case["name"])
def test_text_that_is_not_worth_parsing_is_shown_plainly_and_whole(case: dict[str, Any]) -> None:
    text = (case.get("before", "") + case["repeated"] * case["length"])[: case["length"]]

    html = render_markdown(text)

    assert html.startswith('<p class="prose__plain">')
    assert unescape(html.removeprefix('<p class="prose__plain">').removesuffix("</p>")) == text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 49_900,
        "![" * 24_950,
        "[a][" * 12_000,
        "> " * 50 + "\n" + "a\n" * 24_000,
        "\\(" * 25_000,
        "$$a\n" * 12_000,
        "$a " * 16_000,
        "http://" * 7_000,
        "http://a" + ")" * 49_000,
        ("|a" * 400 + "|\n" + "|-" * 400 + "|\n" + "|\n" * 50_000)[:LONGEST],
    ],
    ids=lambda text: text[:12].strip(),
)
def test_text_that_is_made_to_be_slow_does_not_keep_a_worker(text: str) -> None:
    assert cpu_of(text) < 16 * cpu_of(DENSE)


@pytest.mark.parametrize(
    "block",
    [
        "```java\n" + "a a a " * 650 + "\n```\n",
        "```make\n" + "(" * 3_900 + "\n```\n",
        "```console\n" + "a:" * 1_950 + "\n```\n",
        "```c\n" + "\n" * 3_900 + "\n```\n",
    ],
    ids=["java", "make", "console", "c"],
)
def test_colouring_has_one_budget_for_all_the_code_of_an_answer(block: str) -> None:
    whole = block * 12

    assert render_markdown(whole).count('<div class="code">') == 12
    assert cpu_of(whole) < 12 * COLOURING_SECONDS


def test_code_after_the_budget_is_shown_without_colours_and_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chat.stream.markdown.code.COLOURING_SECONDS", 0.0)

    html = render_markdown("```python\ndef f(): pass\n```")

    assert "def f(): pass" in html


def test_a_block_of_code_that_is_too_long_is_shown_without_colours() -> None:
    html = render_markdown("```python\n" + "x = 1\n" * MAX_CODE + "```")

    assert '<span class="n">' not in html
    assert html.count("x = 1") == MAX_CODE


def test_a_long_answer_of_dense_markdown_is_still_parsed() -> None:
    assert render_markdown(DENSE).startswith("<ul>")


def test_a_field_in_an_answer_can_only_be_the_mark_of_a_task() -> None:
    html = render_markdown("- [x] done\n- <input type=text name=password>")

    assert re.findall(r"<input[^>]*>", html) == [
        '<input type="checkbox" disabled="" checked="" aria-label="Done">'
    ]


def test_prose_keeps_its_shape() -> None:
    html = render_markdown("# Title\n\nSome **bold** words.\n\n1. one\n2. two")

    assert html.startswith("<h3>Title</h3>")
    assert "<strong>bold</strong>" in html
    assert html.count("<li>") == 2


def test_a_remote_image_is_a_link_and_is_not_loaded() -> None:
    html = render_markdown("![a cat](https://example.com/cat.png)")

    assert "<img" not in html
    assert 'href="https://example.com/cat.png"' in html
    assert "Image: a cat" in html


def test_links_do_not_vouch_for_their_target() -> None:
    html = render_markdown("[x](https://example.com)")

    assert 'rel="noopener noreferrer nofollow"' in html


def test_a_link_into_this_site_is_not_made() -> None:
    assert "href" not in render_markdown("[log out](/accounts/logout/)")


def test_code_is_coloured_by_class_and_not_by_style() -> None:
    html = render_markdown("```python\ndef f(): pass\n```")

    assert '<span class="k">def</span>' in html
    assert "style=" not in html


def test_code_of_an_unknown_language_is_kept_as_it_is() -> None:
    html = render_markdown("```nonsense\na < b\n```")

    assert "a &lt; b" in html


def test_aligned_cells_need_no_inline_style() -> None:
    html = render_markdown("| a |\n|--:|\n| 1 |")

    assert "prose__cell--right" in html
    assert "style=" not in html


def test_text_that_is_nested_too_deeply_is_shown_plainly_and_whole() -> None:
    html = render_markdown("> " * (DEEPEST * 2) + "the end")

    assert html.startswith('<p class="prose__plain">')
    assert "the end" in html


def test_text_that_is_only_link_definitions_is_not_lost() -> None:
    assert "https://example.com" in render_markdown("[1]: https://example.com")


def test_a_megabyte_is_shown_plainly_and_whole() -> None:
    text = "[](<![[" * (1_000_000 // 7)

    html = render_markdown(text)

    assert unescape(html).count("[](<![[") == text.count("[](<![[")


@pytest.mark.parametrize(
    "pattern", ["[", "![[", "*a ", "_a__b", "[a](", "<http://", "~~a", "&#", "|a", "> ", "(`"]
)
def test_the_worst_text_that_is_parsed_ends(pattern: str) -> None:
    program = (
        "import sys; from chat.stream.markdown import LONGEST, render_markdown;"
        "print(len(render_markdown((sys.argv[1] * LONGEST)[:LONGEST])))"
    )

    # A separate process can be ended; a regular expression gone astray cannot.
    done = subprocess.run(
        [sys.executable, "-c", program, pattern],
        cwd=ROOT,
        timeout=60,
        check=True,
        capture_output=True,
    )

    assert int(done.stdout) > 0


def test_a_huge_table_does_not_explode() -> None:
    text = ("|a" * 400 + "|\n" + "|-" * 400 + "|\n" + "|\n" * 50_000)[:LONGEST]

    assert len(render_markdown(text)) < 40 * LONGEST


class _Watch(HTMLParser):
    """Note every element and attribute that could run, load or restyle something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "iframe", "img", "svg", "object", "form", "input", "link"}:
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in {"style", "src", "srcset", "id", "name"}:
                self.found.append(f"{tag} {name}")
            if name == "href" and not (value or "").startswith(("https://", "http://", "mailto:")):
                self.found.append(f"{tag} {name}={value}")


def without_colours(html: str) -> str:
    """Return the HTML as the preview makes it, which colours no code."""

    def plain(found: re.Match[str]) -> str:
        return found[1] + re.sub(r"</?span[^>]*>", "", found[2]) + found[3]

    return re.sub(r"(<pre[^>]*><code>)(.*?)(</code></pre>)", plain, html, flags=re.DOTALL)


def cpu_of(text: str) -> float:
    begun = time.thread_time()
    render_markdown(text)
    return time.thread_time() - begun


def live_markup(html: str) -> list[str]:
    watch = _Watch()
    watch.feed(html)
    return watch.found
