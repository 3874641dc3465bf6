r"""Formulas are kept to the letter: Markdown would eat their backslashes and read marks into them.

`\(...\)`, `\[...\]`, `$...$` and `$$...$$` in a line; on lines of their own `\[`, `$$` and
`\begin{...}`, up to their end or the next empty line. A dollar before a price begins no formula.
"""

import re

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from chat.stream.markdown.work import spend

_INLINE = re.compile(
    r"""
    \\\( (?: [^\\] | \\[^)] ){1,1000}? \\\)
    | \\\[ (?: [^\\] | \\[^\]] ){1,1000}? \\\]
    | \$\$ (?: [^$\\] | \\[\s\S] ){1,1000} \$\$
    | \$ (?![ $]) (?![0-9][0-9.,]*[ ]+[A-Za-z])
        (?: [^$\\\n] | \\[^\n] ){0,400} (?: [^$\\\n ] | \\[^\n] ) \$ (?![A-Za-z0-9_$])
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[A-Za-z0-9_]")
_BEGIN = re.compile(r"(\\\[|\$\$|\\begin\{([A-Za-z]{1,20}\*?)\})(.*)", re.DOTALL)
_CLOSING = {"\\[": "\\]", "$$": "$$"}
_BEGUN = re.compile(r"[ \t]*|.*\\[A-Za-z].*", re.DOTALL)
_REST = re.compile(r"[ \t]*[.,;:]?[ \t]*")
_MAX_LINES = 200
_SEARCH_STEPS = 16  # what looking for an end that is not there costs


def formula(state: StateInline, silent: bool) -> bool:
    """Take a formula in a line, its marks with it."""
    here = state.src[state.pos]
    if here not in "\\$":
        return False
    if here == "$" and state.pos and _WORD.match(state.src[state.pos - 1]):
        return False
    found = _INLINE.match(state.src, state.pos, state.posMax)
    if found is None:
        spend(state.env, _SEARCH_STEPS)
        return False
    if not silent:
        token = state.push("code_inline", "code", 0)
        token.attrs = {"class": "formula"}
        token.content = found.group()
    state.pos = found.end()
    return True


def keep_thin_space(state: StateInline, silent: bool) -> bool:
    r"""Keep the backslash of `\,` and `\;`: of a formula without marks, and nothing to escape."""
    taken = state.src[state.pos : state.pos + 2]
    if taken not in ("\\,", "\\;") or state.pos + 2 > state.posMax:
        return False
    if not silent:
        state.append_pending(taken)
    state.pos += 2
    return True


def formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take a formula that has lines of its own."""
    if state.is_code_block(start):
        return False
    begin = _BEGIN.match(_line(state, start))
    if begin is None:
        return False
    after = _after(state, start, end, begin)
    if after is None:
        return False
    if silent:
        return True
    token = state.push("formula_block", "p", 0)
    token.content = state.getLines(start, after, state.blkIndent, False).strip("\n")
    token.map = [start, after]
    state.line = after
    return True


def _after(state: StateBlock, start: int, end: int, begin: re.Match[str]) -> int | None:
    """Return the line after the formula, None if these lines are none.

    One that has only begun, with nothing or a command beside its mark, ends at an empty line: so it
    keeps its shape while it is written.
    """
    mark, name, rest = begin.groups()
    is_begun = name or _BEGUN.fullmatch(rest)
    closing = _CLOSING.get(mark, f"\\end{{{name}}}")
    line = start
    while line < min(end, start + _MAX_LINES):
        if line > start:
            if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
                break
            rest = _line(state, line)
        spend(state.env, 1)
        before, is_closed, after = rest.partition(closing)
        if is_closed:
            is_whole = _REST.fullmatch(after) and (line > start or before.strip(" \t"))
            return line + 1 if is_whole or (is_begun and line > start) else None
        line += 1
    return line if is_begun else None


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
