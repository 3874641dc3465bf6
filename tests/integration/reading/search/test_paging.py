"""What is found comes in pages and is counted, whatever is typed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import Run, TurnDocument, User
from chat.search.find import PAGE_LENGTH, FoundPage, find
from chat.search.language.fields import QueryError
from chat.search.language.query import parse
from chat.search.place import Place
from chat.search.tally import tally

TellRun = Callable[..., Run]


def test_paging_shows_every_turn_once_in_both_directions(ada: User, tell: TellRun) -> None:
    for _ in range(12):
        tell(ada, *[{"thought": "common"}] * 6)
    everything = list(TurnDocument.objects.order_by("-pk").values_list("pk", flat=True))

    for text in ("common", "common policy:explicit", "", "-absent"):
        forwards = [find(ada, parse(text))]
        while forwards[-1].older is not None:
            forwards.append(find(ada, parse(text), before=forwards[-1].older))
        back = [forwards[-1]]
        while back[-1].newer is not None:
            back.append(find(ada, parse(text), after=back[-1].newer))

        assert [i for page in forwards for i in page.turn_ids] == everything
        assert sorted({i for page in back for i in page.turn_ids}, reverse=True) == everything
        assert back[-1].turn_ids == forwards[0].turn_ids


def test_paging_past_the_end_is_an_empty_page(ada: User, tell: TellRun) -> None:
    tell(ada, {})

    now = timezone.now()
    assert find(ada, parse(""), before=Place(now - timedelta(days=1), 1)) == FoundPage([])
    assert len(find(ada, parse(""), after=Place(now + timedelta(days=1), 1)).turn_ids) == 1


def test_one_full_page_has_no_other_beside_it(ada: User, tell: TellRun) -> None:
    tell(ada, *[{"thought": "common"}] * PAGE_LENGTH)

    page = find(ada, parse("common"))

    assert (len(page.turn_ids), page.newer, page.older) == (PAGE_LENGTH, None, None)


def test_what_fits_is_counted_by_field(ada: User, bob: User, tell: TellRun) -> None:
    tell(ada, {"thought": "common", "tool": "f", "inputs": {}}, {"thought": "common"})
    tell(ada, {"thought": "common"}, policy="implicit", status="failed")
    tell(bob, {"thought": "common"})

    counted = tally(ada, parse("common"))

    assert counted is not None
    assert (counted.total, counted.is_all) == (3, True)
    assert counted.counts == {
        "policy": [("explicit", 2), ("implicit", 1)],
        "tool": [("f", 1)],
        "status": [("succeeded", 2), ("failed", 1)],
    }


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(max_size=80) | st.text(alphabet="ab:\"- \\&|!()*<>'%_toluser", max_size=40))
def test_no_text_breaks_the_search(rita: User, text: str) -> None:
    try:
        query = parse(text)
        page: Any = find(rita, query)
        counted: Any = tally(rita, query)
    except QueryError:
        return

    assert (page, counted.total) == (FoundPage([]), 0)
