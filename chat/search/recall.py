"""What the agent's own search sees: the best turns of its space's past, for words of a model."""

from functools import reduce
from operator import or_

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import connection
from django.db.models import F, Q

from agents.errors import ToolFailed
from agents.tools.search_transcripts import FindTurns, FoundTurn
from chat.models import ConversationKind, Run, User
from chat.search.find import SECONDS, newest
from chat.search.hits import Hit, hits
from chat.search.language.fields import QueryError, calls_tool
from chat.search.language.query import Match, Query, parse, plain
from chat.search.limits import TooMany, TooSlow, one_of_few, within
from chat.search.place import NEWEST_FIRST, Documents, sorted_by_place
from chat.search.scope import Scope, scope

TOOL_LENGTH = 10
MAX_RANKED = 500
ANSWER_LENGTH = 160

ALIKE = [0.1, 0.1, 0.1, 0.1]
"""In whatever part of a turn a word stands, it counts the same."""


def find_turns(
    user: User, *, space_id: int | None = None, excluding: Run | None = None
) -> FindTurns:
    """Return the search over the chats of a space, but for the turns of the run that asks.

    It is the user's own where none is named. What they ask in a team's space is read by the team,
    and so finds nothing of their own.

    Turns that hold every word come newest first; when there are none, those that hold most of the
    words. Models write sentences: a query that is none in search's language counts as bare words.
    """

    def find(text: str) -> list[FoundTurn]:
        try:
            with one_of_few(user, "recall"), within(SECONDS):
                query, searched = _understood(user, space_id or user.pk, text)
                searched = searched.without(calls_tool("search_transcripts"))
                searched = searched.without(~Q(kind=ConversationKind.CHAT))
                if excluding is not None:
                    searched = searched.without(Q(run_document=excluding.pk))
                return [_found(hit) for hit in hits(_best(searched, query), query)]
        except TooMany as error:
            raise ToolFailed(str(error)) from error
        except TooSlow as error:
            raise ToolFailed("The search took too long; use rarer words.") from error
        finally:
            # The tool's thread ends with the call, and must not take a pooled connection with it.
            if not connection.in_atomic_block:
                connection.close()

    return find


def _understood(user: User, space_id: int, text: str) -> tuple[Query, Scope]:
    try:
        query = parse(text)
        return query, scope(user, query, only_in=space_id)
    except QueryError:
        return plain(text), scope(user, Query(), only_in=space_id)


def _best(searched: Scope, query: Query) -> list[int]:
    if not query.clauses:
        return []
    found = newest(searched, query, length=TOOL_LENGTH).places
    return [place.turn_id for place in found] or _most_words(searched.documents, query)


def _most_words(documents: Documents, query: Query) -> list[int]:
    """Rank the newest turns that hold any of the words; such as `the` do not count."""
    asked: list[Match] = [
        SearchQuery(" ".join(words), config="english")
        for term in query.wanted
        for words in term.spellings
    ]
    if not asked:
        return []
    any_word = reduce(or_, asked)
    newest = sorted_by_place(documents.filter(words=any_word), newest_first=True)
    ranked = (
        documents.filter(turn_id__in=newest.values("turn_id")[:MAX_RANKED])
        .annotate(rank=SearchRank(F("words"), any_word, weights=ALIKE))
        .order_by("-rank", *NEWEST_FIRST)
    )
    return list(ranked.values_list("turn_id", flat=True)[:TOOL_LENGTH])


def _found(hit: Hit) -> FoundTurn:
    turn = hit.turn
    answer = " ".join(hit.answer.split())[:ANSWER_LENGTH]
    shown = str(hit.excerpt)
    return FoundTurn(
        run=turn.run_id,
        turn=turn.number,
        question=" ".join(hit.question.split()),
        text=f"{shown} Answer: {answer}" if answer and hit.excerpt.part != "answer" else shown,
        when=turn.when,
    )
