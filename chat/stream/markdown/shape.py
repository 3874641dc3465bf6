"""What the shape of an answer needs beside CommonMark: headings that fit the page, cells, tasks."""

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_TOP = 3
"""The level of an answer's first headings: the page has its title, and the question."""

_TASK = re.compile(r"\[([ xX])\] ")


def lower_headings(state: StateCore) -> None:
    """Number the headings by their depth, so that none skips a level, whatever was written."""
    above: list[int] = state.env.setdefault("headings", [])
    for token in state.tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            while above and above[-1] >= level:
                above.pop()
            above.append(level)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, _TOP - 1 + len(above))}"


def align_cells(state: StateCore) -> None:
    """Turn the cells' inline styles, which the page's policy forbids, into classes."""
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and "style" in token.attrs:
            side = str(token.attrs.pop("style")).rpartition(":")[2]
            token.attrs["class"] = f"prose__cell--{side}"


def mark_tasks(state: StateCore) -> None:
    """Turn `[ ]` and `[x]` at the beginning of a list's item into boxes that show, not ask."""
    for item, paragraph, inline in zip(
        state.tokens, state.tokens[1:], state.tokens[2:], strict=False
    ):
        if item.type != "list_item_open" or paragraph.type != "paragraph_open":
            continue
        children = inline.children or []
        found = _TASK.match(children[0].content) if children else None
        if found is None or children[0].type != "text":
            continue
        item.attrSet("class", "prose__task")
        children[0].content = children[0].content[found.end() :]
        children.insert(0, _box(is_done=found.group(1) != " "))


def _box(is_done: bool) -> Token:
    attributes: dict[str, str | int | float] = {"type": "checkbox", "disabled": ""}
    attributes |= {"checked": "", "aria-label": "Done"} if is_done else {"aria-label": "To do"}
    return Token("task", "input", 0, attrs=attributes)
