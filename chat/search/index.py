"""Write the searchable words of turns, in the transaction of the recorder that writes the turn.

One tsvector serves exact words and their English forms: the words as they stand, with positions for
phrases, and beside them, without positions, those stems that differ from the word itself.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import Q, prefetch_related_objects

from chat.models import Run, SearchDocument, Turn
from chat.models.upsert import Upsert
from chat.search.words import split

# A tsvector holds 1,048,575 bytes of words with their positions and its writer raises beyond, so
# that the turn would be lost. It takes at most three bytes for each that these limits let through.
MAX_CHARACTERS = 200_000
MAX_BYTES = 300_000

# Between two parts of a turn, so that no phrase is found across them.
_BREAK = "u2029"

_VECTOR = """(
  SELECT to_tsvector('simple', body) || strip(to_tsvector('english', body))
  FROM (SELECT %s::text AS body) AS said
)"""


def documents(**sql: str) -> Upsert:
    """Return the statement that writes documents of `document_of`; `sql` as there."""
    return Upsert(SearchDocument, "turn", sql={"words": _VECTOR, **sql})


def document_of(turn: Turn) -> SearchDocument:
    """Return what makes a turn findable, in `words` the text; a turn is found by its number.

    The run's first turn carries the question too.
    """
    return _document(turn, parts_of(turn))


def index_turn(turn: Turn) -> None:
    """Make the turn findable, or bring its search document up to date."""
    _store(turn, parts_of(turn))


def index_run_ended(run: Run) -> None:
    """Write the ended run's status to its search documents.

    The last turn also gets what only the run holds: an answer given without a turn, and the message
    that says why it ended. A turn that was not indexed yet is.
    """
    prefetch_related_objects([run], "conversation", "policy_version__policy")
    found = SearchDocument.objects.filter(turn__run=run).update(status=run.status)
    newest = run.turns.order_by("-index").values("pk")[:1]
    turns = list(run.turns.filter(Q(search_document=None) | Q(pk__in=newest)).order_by("index"))
    for turn in turns[:-1]:
        _store(turn, parts_of(turn))
    for last in turns[-1:]:
        closing = [(name, text) for name, text in closing_parts(run, last) if text]
        is_known = found == last.index + 1
        if closing or not is_known:
            _store(last, chain(closing, parts_of(last)))


def parts_of(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield the turn's texts as (name, text), those that can be huge last."""
    if turn.index == 0:
        yield "question", turn.run.question
    yield "thought", turn.thought
    yield "answer", turn.answer
    yield "plan", json_text(turn.plan)
    for action in turn.actions:
        yield "tool", action.tool
        yield "inputs", json_text(action.inputs)
    for action in turn.actions:
        yield "observation", " ".join(filter(None, (action.error, action.observation)))


def closing_parts(run: Run, last: Turn) -> Iterator[tuple[str, str]]:
    """Yield the texts of an ended run that its last turn does not hold."""
    if run.answer != last.answer:
        yield "answer", run.answer
    yield "message", run.message


def json_text(content: Any) -> str:
    """Write a JSON value's keys and values as plain lines; JSON itself would escape the text."""
    lines: list[str] = []
    waiting = [content]
    while waiting:
        match waiting.pop():
            case dict() as table:
                for key, value in reversed(table.items()):
                    waiting += [value, str(key)]
            case list() as items:
                waiting += reversed(items)
            case None:
                pass
            case value:
                lines.append(str(value))
    return "\n".join(lines)


def body_of(parts: Iterator[tuple[str, str]]) -> tuple[str, bool]:
    """Return the words of the parts, split and joined, and whether some had to be left out."""
    kept: list[str] = []
    characters, size = MAX_CHARACTERS, MAX_BYTES
    for _, text in parts:
        for word in split(text[:characters]):
            size -= len(word.encode()) + 1
            if size < 0:
                return " ".join(kept), True
            kept.append(word)
        kept.append(_BREAK)
        characters -= len(text)
        if characters < 0:
            return " ".join(kept), True
    return " ".join(kept), False


def _store(turn: Turn, parts: Iterator[tuple[str, str]]) -> None:
    document = _document(turn, parts)
    with connection.cursor() as cursor:
        cursor.execute(_DOCUMENTS.statement(), _DOCUMENTS.values(document))


def _document(turn: Turn, parts: Iterator[tuple[str, str]]) -> SearchDocument:
    run = turn.run
    body, is_cut = body_of(parts)
    return SearchDocument(
        turn_id=turn.pk,
        owner_id=run.conversation.owner_id,
        run_id=run.pk,
        policy=run.policy_version.policy.slug,
        tool=next(iter(turn.tools), ""),
        status=run.status,
        is_cut=is_cut,
        words=body,
    )


_DOCUMENTS = documents()
