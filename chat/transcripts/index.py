"""Write the searchable words of turns, in the transaction of the recorder that writes the turn.

One tsvector serves exact words and their English forms: the words as they stand, with positions for
phrases, and beside them, without positions, those stems that differ from the word itself.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.contrib.postgres.search import SearchConfig, SearchVectorField
from django.db.models import Func, Value

from chat.models import Run, SearchDocument, Turn
from chat.transcripts.words import words

# A tsvector holds 1,048,575 bytes of words with their positions and its writer raises beyond, so
# that the turn would be lost. It takes at most three bytes for each that these limits let through.
MOST_CHARACTERS = 200_000
MOST_BYTES = 300_000

# Between two parts of a turn, so that no phrase is found across them.
_BREAK = "u2029"


def index_turn(turn: Turn) -> None:
    """Make the turn findable, or bring its search document up to date.

    The run's first turn carries the question too.
    """
    _store(turn, parts_of(turn))


def index_run_ended(run: Run) -> None:
    """Write the ended run's status to its search documents.

    The last turn also gets what only the run holds: an answer given without a turn, and the message
    that says why it ended. A turn that was not indexed yet is.
    """
    run = Run.objects.select_related("conversation", "policy_version__policy").get(pk=run.pk)
    SearchDocument.objects.filter(turn__run=run).update(status=run.status)
    for turn in run.turns.filter(search_document=None):
        _store(turn, parts_of(turn))
    last = run.turns.order_by("index").last()
    if last is not None:
        _store(last, chain(closing_parts(run, last), parts_of(last)))


def parts_of(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield the turn's texts as (name, text), those that can be huge last."""
    if turn.index == 0:
        yield "question", turn.run.question
    yield "thought", turn.thought
    yield "answer", turn.answer
    yield "plan", json_text(turn.plan)
    yield "tool", turn.tool
    yield "inputs", json_text(turn.inputs)
    yield "observation", " ".join(filter(None, (turn.observation_error, turn.observation)))


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


def vector(body: str) -> Func:
    """Return the tsvector of a text whose words are already split."""
    text = Value(body)
    exact = Func(SearchConfig("simple"), text, function="to_tsvector")
    stems = Func(Func(SearchConfig("english"), text, function="to_tsvector"), function="strip")
    return Func(
        exact,
        stems,
        template="%(expressions)s",
        arg_joiner=" || ",
        output_field=SearchVectorField(),
    )


def body_of(parts: Iterator[tuple[str, str]]) -> tuple[str, bool]:
    """Return the words of the parts, split and joined, and whether some had to be left out."""
    kept: list[str] = []
    characters, size = MOST_CHARACTERS, MOST_BYTES
    for _, text in parts:
        for word in words(text[:characters]):
            size -= len(word.text.encode()) + 1
            if size < 0:
                return " ".join(kept), True
            kept.append(word.text)
        kept.append(_BREAK)
        characters -= len(text)
        if characters < 0:
            return " ".join(kept), True
    return " ".join(kept), False


def _store(turn: Turn, parts: Iterator[tuple[str, str]]) -> None:
    run = turn.run
    body, is_cut = body_of(parts)
    SearchDocument.objects.bulk_create(
        [
            SearchDocument(
                turn=turn,
                owner_id=run.conversation.owner_id,
                run_id=run.pk,
                policy=run.policy_version.policy.slug,
                tool=turn.tool,
                status=run.status,
                is_cut=is_cut,
                words=vector(body),
            )
        ],
        update_conflicts=True,
        unique_fields=["turn"],
        update_fields=["tool", "status", "is_cut", "words"],
    )
