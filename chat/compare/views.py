"""Ask a question again under another policy, and see two runs side by side."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET, require_POST

from chat.accounts import SignedInRequest
from chat.compare.align import Row, align
from chat.compare.forms import AgainForm
from chat.governance import door
from chat.models import Action, Conversation, PolicyVersion, Run, Turn
from chat.runs.ask import ask
from chat.runs.queue import tell_ahead
from chat.runs.validation import InvalidQuestion
from chat.stream.answers import renew_answers
from chat.transcripts.asked import whole_number

PAGE_LENGTH = 200
"""Rows; each may be two turns."""

_TO_ALIGN = ("run_id", "index", "kind", "thought", "answer")
_ACTIONS_TO_ALIGN = ("turn_id", "position", "tool", "inputs")


@dataclass(frozen=True)
class ComparisonPage:
    """The rows from `first` to `last` of `total`, as people count."""

    rows: Sequence[Row]
    first: int
    total: int

    @property
    def last(self) -> int:
        """Return the number of the last row here."""
        return self.first + len(self.rows) - 1

    @property
    def before(self) -> int | None:
        """Return the first row of the page before this one."""
        return self.first - PAGE_LENGTH if self.first > 1 else None

    @property
    def after(self) -> int | None:
        """Return the first row of the page after this one."""
        return self.last + 1 if self.last < self.total else None

    @property
    def is_whole(self) -> bool:
        """Tell whether every row is on this page."""
        return len(self.rows) == self.total


@dataclass(frozen=True)
class Side:
    """One of the two runs, with what its column says above the turns."""

    letter: str
    run: Run
    turn_count: int


@login_required
@require_POST
def ask_again(request: SignedInRequest, run_id: int) -> HttpResponse:
    """Ask the question of one's own run under the policy that the form names."""
    mine = door.own_runs(request.user)
    run = get_object_or_404(mine.select_related("conversation", "parent"), pk=run_id)
    form = AgainForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["policy"][0]))
        return redirect(run)
    try:
        again = _asked_once(run, form.cleaned_data["policy"])
    except InvalidQuestion as error:
        messages.error(request, str(error))
        return redirect(run)
    return redirect("comparison", run.pk, again.pk)


@login_required
@require_GET
def comparison(request: SignedInRequest, run_id: int, other_id: int) -> HttpResponse:
    """Show two runs side by side, from the row `?row=` on; htmx asks again while one is live.

    It says what it has seen, and gets an empty reply while there is nothing new.
    """
    left, right = _side(request, "A", run_id), _side(request, "B", other_id)
    seen = "/".join(
        f"{side.run.status}-{side.run.stream_id}-{side.turn_count}" for side in (left, right)
    )
    if request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    renew_answers([left.run, right.run])
    tell_ahead([left.run, right.run])
    rows = align(_to_align(left.run), _to_align(right.run))
    context = {
        "left": left,
        "right": right,
        "page": _page(rows, whole_number(request.GET.get("row", "")) or 1),
        "same_count": sum(row.is_same for row in rows),
        "is_live": left.run.is_live or right.run.is_live,
        "seen": seen,
    }
    template = "chat/compare/_comparison.html" if request.htmx else "chat/compare/compare.html"
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@login_required
@require_GET
def compare_with(request: SignedInRequest, run_id: int) -> HttpResponse:
    """Go to the comparison with the run whose number was typed in."""
    run = get_object_or_404(door.readable_runs(request.user), pk=run_id)
    typed = request.GET.get("with", "").strip()
    number = whole_number(typed.removeprefix("#"))
    if number is None or not door.readable_runs(request.user).filter(pk=number).exists():
        messages.error(request, f"There is no run {typed[:20]!r} that you can read.")
        return redirect(run)
    return redirect("comparison", run.pk, number)


def _to_align(run: Run) -> list[Turn]:
    actions = Prefetch("stored_actions", Action.objects.only(*_ACTIONS_TO_ALIGN))
    return list(run.turns.only(*_TO_ALIGN).prefetch_related(None).prefetch_related(actions))


def _page(rows: Sequence[Row], number: int) -> ComparisonPage:
    """Return the page that holds a row, its turns read in full."""
    number = max(1, min(number, len(rows)))
    start = (number - 1) // PAGE_LENGTH * PAGE_LENGTH
    shown = rows[start : start + PAGE_LENGTH]
    turns = [turn for row in shown for turn in (row.left, row.right) if turn is not None]
    whole = Turn.objects.in_bulk([turn.pk for turn in turns])
    # A turn that was made anew in this moment stands as it was aligned.
    full = [
        replace(
            row,
            left=row.left and whole.get(row.left.pk, row.left),
            right=row.right and whole.get(row.right.pk, row.right),
        )
        for row in shown
    ]
    return ComparisonPage(full, start + 1 if full else 0, len(rows))


def _asked_once(run: Run, version: PolicyVersion) -> Run:
    """Return the run that asks again; a second press of the button finds that of the first."""
    with transaction.atomic():
        Conversation.objects.select_for_update().get(pk=run.conversation_id)
        waiting = run.asked_again.live().filter(policy_version=version).first()
        return waiting or ask(
            run.conversation,
            run.question,
            policy_version=version,
            client_message_id=uuid.uuid4(),
            parent=run.parent,
            again_of=run,
        )


def _side(request: SignedInRequest, letter: str, run_id: int) -> Side:
    readable = door.readable_runs(request.user)
    run = get_object_or_404(
        readable.select_related("policy_version__policy", "conversation", "owner"), pk=run_id
    )
    return Side(letter, run, run.turns.count())
