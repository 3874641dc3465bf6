"""Ask a question again under another policy, and see two runs side by side."""

import uuid
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET, require_POST

from chat.accounts import SignedInRequest
from chat.compare.align import align
from chat.models import Conversation, PolicyVersion, Run
from chat.policies import offered
from chat.runs.ask import ask
from chat.runs.question import InvalidQuestion

MOST_ROWS = 200


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
    mine = Run.objects.filter(conversation__owner=request.user)
    run = get_object_or_404(mine.select_related("conversation", "parent"), pk=run_id)
    slug = request.POST.get("policy", "").replace("\0", "")
    policy = offered().filter(slug=slug).first()
    if policy is None:
        choices = ", ".join(offered().values_list("slug", flat=True))
        named = f"There is no policy {slug!r}" if slug else "No policy was chosen"
        messages.error(request, f"{named}. Ask again under one of these: {choices}.")
        return redirect(run)
    try:
        again = _asked_once(run, policy.latest)
    except InvalidQuestion as error:
        messages.error(request, str(error))
        return redirect(run)
    return redirect("comparison", run.pk, again.pk)


@login_required
@require_GET
def comparison(request: SignedInRequest, run_id: int, other_id: int) -> HttpResponse:
    """Show two runs side by side; htmx asks again while one of them is live.

    It says what it has seen, and gets an empty reply while there is nothing new.
    """
    left, right = _side(request, "A", run_id), _side(request, "B", other_id)
    seen = "/".join(
        f"{side.run.status}-{side.run.stream_id}-{side.turn_count}" for side in (left, right)
    )
    if request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    rows = align(list(left.run.turns.all()), list(right.run.turns.all()))
    context = {
        "left": left,
        "right": right,
        "rows": rows[:MOST_ROWS],
        "hidden_count": max(0, len(rows) - MOST_ROWS),
        "same_count": sum(row.is_same for row in rows),
        "is_live": left.run.is_live or right.run.is_live,
        "seen": seen,
    }
    template = "chat/_comparison.html" if request.htmx else "chat/compare.html"
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


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
    readable = Run.objects.readable_by(request.user)
    run = get_object_or_404(
        readable.select_related("policy_version__policy", "conversation", "owner"), pk=run_id
    )
    return Side(letter, run, run.turns.count())
