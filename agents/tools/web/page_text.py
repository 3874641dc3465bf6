"""A web page as text that a model can read: headings, paragraphs, lists, tables and links."""

import codecs
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from lxml import etree, html

_UNSEEN = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed"),
        *("audio", "video", "head"),
    )
)
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "header", "main", "nav", "ol", "p", "pre", "section", "summary", "table"),
        *("tr", "ul"),
    )
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]+")
_LINES = re.compile(r"\n{3,}")
_LINK = 500
_SLOW_CODECS = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape"})


def page_text(body: bytes, charset: str, url: str) -> str:
    """Return the text of an HTML page, its title first; links are `[text](address)`.

    `charset` is what the server said, empty if nothing; `url` is where the page was found.
    """
    root = _parse(body, charset)
    if root is None:
        return ""
    title = root.findtext(".//title") or ""
    lines = "".join(_pieces(root, url)).split("\n")
    text = "\n".join(_SPACE.sub(" ", line).strip() for line in lines)
    whole = f"{' '.join(title.split())}\n\n{text.strip()}"
    return _LINES.sub("\n\n", whole).strip()


def decoded(body: bytes, charset: str) -> str:
    """Return a plain text as the server, or its first bytes, say it is to be read."""
    try:
        codec = codecs.lookup(charset or "utf-8-sig").name
        return body.decode("utf-8" if codec in _SLOW_CODECS else codec, "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _parse(body: bytes, charset: str) -> Any:
    for encoding in (charset or None, None):
        try:
            parser = html.HTMLParser(encoding=encoding, remove_comments=True, remove_pis=True)
            return html.document_fromstring(body.replace(b"\x00", b""), parser=parser)
        except LookupError:
            continue
        except (etree.LxmlError, ValueError):
            return None
    return None


def _pieces(root: Any, url: str) -> Iterator[str]:
    """Walk the page without recursion: a stranger chose how deep it is."""
    hidden = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        is_unseen = tag in _UNSEEN or element.get("hidden") is not None
        if event == "start":
            hidden += is_unseen
            if not hidden:
                yield _before(tag, element) + _flat(element.text, tag)
            continue
        if not hidden:
            yield _after(tag, element, url)
        hidden -= is_unseen
        if not hidden and element is not root:
            yield _flat(element.tail, "")


def _before(tag: str, element: Any) -> str:
    match tag:
        case "li":
            return "\n- "
        case "br" | "hr":
            return "\n"
        case "a" if _target(element):
            return "["
        case "img" if element.get("alt"):
            return f"[picture: {_flat(element.get('alt'), '')[:_LINK]}]"
        case "td" | "th":
            return " | "
    if tag in ("p", "table", "pre", "blockquote", *_HEADINGS):
        return "\n\n" + _HEADINGS.get(tag, "")
    return "\n" if tag in _BLOCKS else ""


def _after(tag: str, element: Any, url: str) -> str:
    if tag == "a" and (target := _target(element)):
        return f"]({_absolute(url, target)})"
    return "\n" if tag in _BLOCKS else ""


def _target(element: Any) -> str:
    target = (element.get("href") or "").strip()
    is_elsewhere = bool(target) and not target.startswith(("#", "javascript:", "data:"))
    return target if is_elsewhere and len(target) <= _LINK else ""


def _absolute(url: str, target: str) -> str:
    try:
        return urljoin(url, target)
    except ValueError:
        return target


def _flat(text: str | None, tag: str) -> str:
    if not text:
        return ""
    return text if tag == "pre" else re.sub(r"\s+", " ", text)
