"""How many are ahead is told to a queued run before anything shows it."""

from collections.abc import Callable

from pytest_django import DjangoAssertNumQueries

from chat.models import Run, RunStatus, User
from chat.runs.queue import tell_ahead

Ask = Callable[..., list[Run]]


def test_the_queued_alone_are_told_how_many_are_ahead_by_one_query(
    ask_as: Ask, ada: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ask_as(ada, 1)
    ask_as(bob, 1)
    other, run = Run.objects.order_by("pk")
    interrupted = Run(pk=other.pk, status=RunStatus.INTERRUPTED)

    with django_assert_num_queries(1):
        tell_ahead([interrupted, run])

    assert (interrupted.ahead, run.ahead) == (None, 1)


def test_nothing_is_asked_where_none_is_queued(
    ask_as: Ask, ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    (run,) = ask_as(ada, 1)
    run.status = RunStatus.RUNNING

    with django_assert_num_queries(0):
        tell_ahead([run])
