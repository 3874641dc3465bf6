"""The one place that says who may read what, asked as an owner, a stranger and a reviewer."""

from collections.abc import Callable

import pytest
from django.db.models import Model, QuerySet
from django.utils import timezone

from chat.governance import door
from chat.models import Approval, Run, TurnDocument, User

Rows = Callable[[User], QuerySet[Model]]
READABLE = [door.readable_conversations, door.readable_runs, door.readable_documents]
OWN = [
    door.own_conversations,
    door.own_runs,
    lambda user: door.space_documents(user.pk),
    door.own_approvals,
]


@pytest.fixture
def run(ada: User, tell: Callable[..., Run]) -> Run:
    """Store a run of Ada's with a turn that can be found and an approval."""
    run = tell(ada, {"thought": "Hm.", "tool": "python_repl", "inputs": {}})
    Approval.objects.create(
        run=run,
        turn_index=0,
        tool="python_repl",
        inputs={},
        safety="sensitive",
        expires_at=timezone.now(),
    )
    return run


@pytest.mark.parametrize("rows", [*READABLE, *OWN])
def test_what_is_ones_own_is_there(rows: Rows, run: Run, ada: User) -> None:
    assert rows(ada).count() == 1


@pytest.mark.parametrize("rows", [*READABLE, *OWN])
def test_for_a_stranger_nothing_is_there(rows: Rows, run: Run, bob: User) -> None:
    assert not rows(bob).exists()


@pytest.mark.parametrize("rows", READABLE)
def test_a_reviewer_reads_what_is_somebody_elses(rows: Rows, run: Run, rita: User) -> None:
    assert rows(rita).count() == 1


@pytest.mark.parametrize("rows", OWN)
def test_a_reviewer_owns_nothing_of_it(rows: Rows, run: Run, rita: User) -> None:
    assert not rows(rita).exists()
    assert not door.is_own(rita, run.conversation)


def test_documents_are_found_by_the_index_over_owner_and_words(run: Run, ada: User) -> None:
    assert "::bigint" in str(TurnDocument.objects.filter(door.documents_of(ada.pk)).query)
