"""Found turns with what a result shows of them; no page of results ever loads whole payloads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import F, Prefetch, QuerySet
from django.db.models.functions import Left

from chat.models import Action, Turn
from chat.search.documents.parts import json_text
from chat.search.documents.vector import MAX_CHARACTERS
from chat.search.highlight import Excerpt, Marker
from chat.search.language.query import Query


@dataclass(frozen=True)
class Hit:
    """A turn that fits a query, and the passage that shows it."""

    turn: Turn
    excerpt: Excerpt
    is_cut: bool
    query: str

    @property
    def question(self) -> str:
        """Return the question of the turn's run, cut at MAX_CHARACTERS."""
        return _head(self.turn, "run__question")

    @property
    def answer(self) -> str:
        """Return the answer of the turn's run, cut at MAX_CHARACTERS; empty if none."""
        return _head(self.turn, "run__answer")

    @property
    def url(self) -> str:
        """Return the address of exactly this turn, with the query, so that matches can be shown.

        A long transcript opens at the page that holds the turn.
        """
        carried = {"turn": self.turn.number} | ({"q": self.query} if self.query else {})
        anchor = f"#run-{self.turn.run_id}-turn-{self.turn.number}"
        return f"{self.turn.run.get_absolute_url()}?{urlencode(carried)}{anchor}"


def hits(turn_ids: Sequence[int], query: Query) -> list[Hit]:
    """Return the turns in the order of their ids, each with its excerpt."""
    turns = {turn.pk: turn for turn in _turns(turn_ids)}
    # Only words have to be shown where they stand, which may be in the middle of an artifact.
    has_words = bool(query.wanted)
    texts = {pk: list(_read(_asked(_texts(turn, has_words), query))) for pk, turn in turns.items()}
    marker = Marker(query, (text for parts in texts.values() for _, text in parts))
    return [
        Hit(
            turn=turns[pk],
            excerpt=marker.excerpt(texts[pk]),
            is_cut=turns[pk].document.is_cut,
            query=str(query),
        )
        for pk in turn_ids
        if pk in turns
    ]


def _turns(turn_ids: Sequence[int]) -> QuerySet[Turn]:
    big = {"thought", "answer", "run__question", "run__answer", "run__message"}
    actions = Action.objects.defer("observation", "images")
    seen = actions.annotate(head_observation=Left(F("observation"), MAX_CHARACTERS))
    return (
        Turn.objects.filter(pk__in=turn_ids)
        .prefetch_related(None)
        .prefetch_related(Prefetch("stored_actions", seen))
        .select_related("run__policy_version__policy", "run__conversation__owner")
        .select_related("document")
        .defer(*big, "run__answer_html", "document__words")
        .annotate(**{f"head_{name}": Left(F(name), MAX_CHARACTERS) for name in big})
    )


def _asked(parts: Iterator[tuple[str, str]], query: Query) -> Iterator[tuple[str, str]]:
    """Keep the parts that the query looks in."""
    for name, text in parts:
        if not query.parts or _PART_OF.get(name, name) in query.parts:
            yield name, text


def _read(parts: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the parts up to MAX_CHARACTERS in all, for no more of a turn can be found."""
    left = MAX_CHARACTERS
    for name, text in parts:
        yield name, text[:left]
        left = max(0, left - len(text))


def _texts(turn: Turn, is_whole: bool) -> Iterator[tuple[str, str]]:
    """Yield the turn's texts by what a reader calls them, those said to people first.

    Of very long observations the row has only both ends, which will do where it need not be whole.
    """
    yield "answer", _head(turn, "answer")
    if turn.index == 0:
        yield "question", _head(turn, "run__question")
    yield "thought", _head(turn, "thought")
    yield "plan", json_text(turn.plan)
    for action in turn.actions:
        yield "inputs", f"{action.tool} {json_text(action.inputs)}" if action.tool else ""
    for action in turn.actions:
        yield "observation", _observation(action, is_whole)
    yield "answer", _head(turn, "run__answer")
    yield "outcome", _head(turn, "run__message")


def _observation(action: Action, is_whole: bool) -> str:
    return action.text_at_hand if action.whole and is_whole else _head(action, "observation")


_PART_OF = {"plan": "thought", "inputs": "action", "outcome": "observation"}
"""What a query calls a part that has a name of its own for who reads a hit."""


def _head(row: Turn | Action, name: str) -> str:
    return getattr(row, f"head_{name}") or ""
