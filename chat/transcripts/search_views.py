"""The search page; its query is in the address, so that every result page can be shared."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET

from chat.accounts import SignedInRequest
from chat.models import RunStatus
from chat.transcripts.hits import Hit, hits
from chat.transcripts.limits import TooMany, TooSlow, one_of_few, within
from chat.transcripts.query import Query, QueryError, parse
from chat.transcripts.search import SECONDS, Tally, find, tally

MOST_VALUES = 8


@dataclass(frozen=True)
class Choice:
    """A value of a field that the results can be narrowed to."""

    label: str
    count: int
    url: str


@dataclass(frozen=True)
class Facet:
    """A field with its values; `cleared` is the address without it, when the query names it."""

    name: str
    choices: Sequence[Choice]
    cleared: str | None


@dataclass(frozen=True)
class Results:
    """What the page shows under the search box; `error` stands instead of all the rest.

    `walked` is how many turns were looked through when there are more; `is_refused` says that the
    search was not begun and may be soon.
    """

    hits: Sequence[Hit] = ()
    tally: Tally | None = None
    facets: Sequence[Facet] = ()
    newer: str | None = None
    older: str | None = None
    walked: int | None = None
    error: str = ""
    is_refused: bool = False
    is_empty: bool = False


@login_required
@require_GET
def search(request: SignedInRequest) -> HttpResponse:
    """Show the turns that fit the query, or the newest ones; only the results to htmx."""
    text = request.GET.get("q", "").strip()
    results = _results(request, text)
    is_partial = request.htmx and not request.htmx.history_restore_request
    template = "chat/_search_results.html" if is_partial else "chat/search.html"
    # htmx shows nothing of a refusal; what it is sent says so, and asks again by itself.
    status = 429 if results.is_refused and not is_partial else 200
    response = render(request, template, {"text": text, "results": results}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _results(request: SignedInRequest, text: str) -> Results:
    try:
        query = parse(text)
        before, after = (_cursor(request, name) for name in ("before", "after"))
        with one_of_few(request.user, "search"):
            return _found(request, query, before, after)
    except QueryError as error:
        return Results(error=str(error))
    except TooMany as error:
        return Results(error=str(error), is_refused=True)
    except TooSlow as error:
        return Results(
            error=f"This search was {error}. Narrow it: add a rarer word, or a field such as "
            "tool: or run:."
        )


def _found(
    request: SignedInRequest, query: Query, before: int | None, after: int | None
) -> Results:
    page = find(request.user, query, before=before, after=after)
    with within(SECONDS):
        shown = hits(page.turn_ids, query)
    counted = tally(request.user, query) if shown else None
    return Results(
        hits=shown,
        tally=counted,
        facets=_facets(query, counted) if counted is not None else (),
        newer=_beside(query, after=page.newer),
        older=_beside(query, before=page.older),
        walked=page.walked,
        is_empty=not shown and not query.clauses,
    )


def _cursor(request: SignedInRequest, name: str) -> int | None:
    value = request.GET.get(name)
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise QueryError("This address names no page of results; search again.")
    return int(value)


def _facets(query: Query, counted: Tally) -> list[Facet]:
    named = {clause.name for clause in query.fields if not clause.is_negative}
    return [
        Facet(
            name=name,
            choices=[
                Choice(_label(name, value), count, _address(query.narrowed(name, value)))
                for value, count in values[:MOST_VALUES]
                if '"' not in value
            ],
            cleared=_address(query.without(name)) if name in named else None,
        )
        for name, values in counted.counts.items()
        if values
    ]


def _label(name: str, value: str) -> str:
    return RunStatus(value).label if name == "status" else value


def _beside(query: Query, **cursor: int | None) -> str | None:
    return None if None in cursor.values() else _address(str(query), **cursor)


def _address(query: str, **cursor: int | None) -> str:
    parameters = ({"q": query} if query else {}) | cursor
    return f"{reverse('search')}?{urlencode(parameters)}" if parameters else reverse("search")
