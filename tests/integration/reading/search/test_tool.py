from collections.abc import Callable

import pytest

from chat.models import Run, User
from chat.search.recall import find_turns

TellRun = Callable[..., Run]


def test_the_turns_that_hold_every_word_come_newest_first(ada: User, tell: TellRun) -> None:
    older = tell(ada, {"thought": "primes run out"}, answer="129")
    newer = tell(ada, {"thought": "running primes"})
    tell(ada, {"thought": "primes"})

    turns = find_turns(ada)("primes run")

    assert [(turn.run, turn.turn) for turn in turns] == [(newer.pk, 1), (older.pk, 1)]
    assert turns[1].text == "primes run out Answer: 129"


def test_without_such_a_turn_the_ones_with_most_words_are_found(ada: User, tell: TellRun) -> None:
    best = tell(ada, {"thought": "the invoice of ACME was unpaid"})
    tell(ada, {"thought": "the invoice"})
    tell(ada, {"thought": "what did they do with the others"})

    turns = find_turns(ada)("What did I say about the unpaid ACME invoice last week?")

    assert turns[0].run == best.pk
    assert len(turns) == 2


@pytest.mark.parametrize("text", ["secret", "user:bob secret", "user:bob", "tool:bobs_tool"])
def test_nobody_finds_other_peoples_turns(
    ada: User, bob: User, rita: User, tell: TellRun, text: str
) -> None:
    tell(bob, {"thought": "secret", "tool": "bobs_tool", "inputs": {}})

    assert find_turns(ada)(text) == []
    assert find_turns(rita)(text) == []


def test_the_run_that_asks_does_not_find_itself(ada: User, tell: TellRun) -> None:
    earlier = tell(ada, {"thought": "primes"})
    asking = tell(ada, {"thought": "primes"}, status="running")

    turns = find_turns(ada, excluding=asking)("primes")

    assert [turn.run for turn in turns] == [earlier.pk]


def test_earlier_searches_do_not_echo(ada: User, tell: TellRun) -> None:
    tell(ada, {"tool": "search_transcripts", "inputs": {"query": "primes"}})

    assert find_turns(ada)("primes") == []


@pytest.mark.parametrize("text", ["foo:bar", "tool:none", "!!!", '"', "the", "x" * 2000, "\x00"])
def test_whatever_a_model_asks_there_is_an_answer(ada: User, tell: TellRun, text: str) -> None:
    tell(ada, {"thought": "something else"})

    assert find_turns(ada)(text) == []


def test_words_in_an_unknown_field_are_words(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "the error: no module"})

    assert [turn.run for turn in find_turns(ada)("error:module")] == [run.pk]


def test_operators_that_a_model_brings_along_are_words(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "either one or two"})

    assert [turn.run for turn in find_turns(ada)("(one OR two) -5*")] == [run.pk]
