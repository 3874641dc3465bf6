"""What a run has spent on models by now, all its attempts and failed calls included."""

from typing import NamedTuple

from django.db.models import F, Func, IntegerField, QuerySet

from agents.model.budget import Answerer
from agents.model.tokens import tokens_in
from chat.models import ModelCall, Piece, Run
from chat.request import Listed, Lists


class Spent(NamedTuple):
    """Tokens that a model was given in one call, that it made, and of the given those cached."""

    given: int
    made: int
    cached: int
    by: Answerer


def spent(run: Run) -> list[Spent]:
    """Return what each stored call comes to; one that no server counted, by its length."""
    asked, said = F("shared") + _size("rest"), _size("reply") + _size("reasoning")
    calls = ModelCall.objects.filter(run=run).order_by("index")
    counted = ("index", "provider", "model", "input_tokens", "output_tokens", "cached_tokens")
    figures = list(calls.values_list(*counted, asked, said))
    is_counted = all(given is not None for _, _, _, given, *_ in figures)
    of_pieces = {} if is_counted else _sizes(run, calls)
    return [
        Spent(
            _tokens(given, of_pieces.get(index, size)),
            _tokens(made, reply),
            cached or 0,
            Answerer(provider, model),
        )
        for index, provider, model, given, made, cached, size, reply in figures
    ]


def _sizes(run: Run, calls: QuerySet[ModelCall]) -> dict[int, int]:
    """Return the bytes of each request that is stored as pieces."""
    stored = Piece.objects.filter(run=run).values_list("digest", _size("text"))
    sizes = {digest.hex: size for digest, size in stored}
    rows = calls.filter(pieces__isnull=False).values_list("index", "pieces")
    listed: dict[int, Listed] = {index: pieces or [] for index, pieces in rows}
    lists = Lists(listed.items())
    return {
        index: sum(sizes[digest] for digest in lists.of(index, pieces))
        for index, pieces in listed.items()
    }


def _size(column: str) -> Func:
    return Func(column, function="OCTET_LENGTH", output_field=IntegerField())


def _tokens(counted: int | None, size: int) -> int:
    return tokens_in(size) if counted is None else counted
