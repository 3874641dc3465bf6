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
from chat.models import LIVE, Conversation
from chat.search.find import SECONDS, find
from chat.search.hits import Hit, hits
from chat.search.language.fields import FIELDS, STATUS_NAMES, QueryError
from chat.search.language.query import Query, parse
from chat.search.limits import TooMany, TooSlow, one_of_few, within
from chat.search.place import Place
from chat.search.tally import Tally, tally
from chat.search.titles import titled

MAX_VALUES = 8


@dataclass(frozen=True)
class Choice:
    """A value of a field that the results can be narrowed to."""

    label: str
    count: int
    url: str


@dataclass(frozen=True)
class Facet:
    """A field with its values, or with those `chosen` by the query; `cleared` leads back."""

    name: str
    choices: Sequence[Choice]
    chosen: str
    cleared: str

    @property
    def first(self) -> Sequence[Choice]:
        """Return the most frequent values."""
        return self.choices[:MAX_VALUES]

    @property
    def rest(self) -> Sequence[Choice]:
        """Return the values that are shown when they are asked for."""
        return self.choices[MAX_VALUES:]


@dataclass(frozen=True)
class Results:
    """What the page shows under the search box; `error` stands instead of all the rest.

    `walked` is how many turns were looked through when there are more; `is_refused` says that the
    search was not begun and may be soon.
    """

    hits: Sequence[Hit] = ()
    conversations: Sequence[Conversation] = ()
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
    template = "chat/search/_search_results.html" if is_partial else "chat/search/search.html"
    # htmx shows nothing of a refusal; what it is sent says so, and asks again by itself.
    status = 429 if results.is_refused and not is_partial else 200
    shown = {"text": text, "results": results, "fields": FIELDS.values()}
    response = render(request, template, shown, status=status)
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
    request: SignedInRequest, query: Query, before: Place | None, after: Place | None
) -> Results:
    page = find(request.user, query, before=before, after=after)
    with within(SECONDS):
        shown = hits(page.turn_ids, query)
        is_first = before is None and after is None
        conversations = titled(request.user, query) if is_first else []
    counted = tally(request.user, query) if shown else None
    return Results(
        hits=shown,
        conversations=conversations,
        tally=counted,
        facets=_facets(query, counted) if counted is not None else (),
        newer=_beside(query, after=page.newer),
        older=_beside(query, before=page.older),
        walked=page.walked,
        is_empty=not shown and not query.clauses,
    )


def _cursor(request: SignedInRequest, name: str) -> Place | None:
    value = request.GET.get(name)
    if not value:
        return None
    try:
        return Place.read(value)
    except ValueError:
        raise QueryError("This address names no page of results; search again.") from None


def _facets(query: Query, counted: Tally) -> list[Facet]:
    facets = []
    for name, values in counted.counts.items():
        named = [c for c in query.fields if c.name == name and not c.is_negative]
        choices = [] if named else [_choice(query, name, *value) for value in _shown(name, values)]
        if named or choices:
            chosen = ", ".join(clause.value for clause in named)
            facets.append(Facet(name, choices, chosen, _address(query.without(name))))
    return facets


def _shown(name: str, values: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the values that a query can name; of a live run's status only the run itself knows."""
    return [
        (value, count)
        for value, count in values
        if '"' not in value and not (name == "status" and value in LIVE)
    ]


def _choice(query: Query, name: str, value: str, count: int) -> Choice:
    said = STATUS_NAMES[value] if name == "status" else value
    return Choice(said, count, _address(query.narrowed(name, said)))


def _beside(query: Query, **cursor: Place | None) -> str | None:
    return None if None in cursor.values() else _address(str(query), **cursor)


def _address(query: str, **cursor: Place | None) -> str:
    parameters = ({"q": query} if query else {}) | cursor
    return f"{reverse('search')}?{urlencode(parameters)}" if parameters else reverse("search")
