"""Links: addresses that stand bare in the text, images as links to them, and where links open."""

import re

from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_LONGEST = 2_000
# An address ends before what is no part of one: space, quotes, brackets, the punctuation of other
# scripts, marks that are not seen. Named by number, so that the browser's rule is the same.
_ADDRESS = re.compile(
    r"://(?=[A-Za-z0-9\u00c0-\u1fff\u3040-\uabff\uac00-\ud7a3])"
    r"[^\x00-\x20\"<>\[\]\\^`{|}\x7f-\xa0\xab\xbb\u1680\u2000-\u206f\u3000-\u303f"
    r"\ufe00-\ufe6f\ufeff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufff9-\uffff]"
    rf"{{1,{_LONGEST}}}"
)
_SCHEME = re.compile(r"(?:^|[^A-Za-z0-9])(https?)$", re.IGNORECASE)
_AT_THE_END = "?!.,:;*_~'"


def bare_link(state: StateInline, silent: bool) -> bool:
    """Make a link of an address that stands in the text; what ends the sentence stays outside."""
    if silent or state.linkLevel or not state.src.startswith("://", state.pos):
        return False
    scheme = _SCHEME.search(state.pending[-6:])
    found = _ADDRESS.match(state.src, state.pos, state.posMax)
    if scheme is None or found is None or len(found.group()) >= _LONGEST:
        return False
    rest = _trimmed(found.group())
    address = scheme.group(1) + rest
    state.pending = state.pending[: -len(scheme.group(1))]
    token = state.push("link_open", "a", 1)
    token.attrs = {"href": state.md.normalizeLink(address)}
    state.push("text", "", 0).content = address
    state.push("link_close", "a", -1)
    state.pos += len(rest)
    return True


def _trimmed(address: str) -> str:
    """Return the address without what closes the sentence or the bracket around it."""
    while True:
        shorter = address.rstrip(_AT_THE_END)
        if shorter.endswith(")") and shorter.count(")") > shorter.count("("):
            shorter = shorter[:-1]
        if shorter == address:
            return address
        address = shorter


def images_as_links(state: StateCore) -> None:
    """Put a link in the place of each image; inside another link only its words."""
    for block in state.tokens:
        tokens: list[Token] = []
        depth = 0
        for token in block.children or ():
            depth += token.nesting if token.tag == "a" else 0
            tokens += _words_of(token, depth > 0) if token.type == "image" else [token]
        if block.children:
            block.children = tokens


def _words_of(image: Token, is_in_link: bool) -> list[Token]:
    source = str(image.attrGet("src") or "")
    words = Token("text", "", 0, content=f"Image: {image.content or source}")
    if is_in_link or source.lower().startswith("mailto:"):
        return [words]
    return [Token("link_open", "a", 1, attrs={"href": source}), words, Token("link_close", "a", -1)]


def mark_links(state: StateCore) -> None:
    """Have links open elsewhere, and vouch for nothing."""
    for block in state.tokens:
        for token in block.children or ():
            if token.type == "link_open":
                token.attrSet("target", "_blank")
                token.attrSet("rel", "noopener noreferrer nofollow")
