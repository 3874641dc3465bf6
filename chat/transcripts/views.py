"""The transcript of a run, to be read by its owner and by reviewers."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from chat.accounts import SignedInRequest
from chat.models import Run, Turn

PARTS = ("thought", "observation")


@login_required
@require_GET
def transcript(request: SignedInRequest, run_id: int) -> HttpResponse:
    """Show every turn of a run."""
    run = _readable_run(request, run_id)
    turns = list(run.turns.all())
    return render(request, "chat/transcript.html", {"run": run, "turns": turns})


@login_required
@require_GET
def turn_text(request: SignedInRequest, run_id: int, number: int, part: str) -> HttpResponse:
    """Return the whole text of one part of a turn, as plain text."""
    if part not in PARTS:
        raise Http404
    run = _readable_run(request, run_id)
    turn = get_object_or_404(Turn, run=run, index=number - 1)
    text = turn.thought if part == "thought" else turn.observation or ""
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _readable_run(request: SignedInRequest, run_id: int) -> Run:
    runs = Run.objects.readable_by(request.user)
    return get_object_or_404(
        runs.select_related("policy_version__policy", "conversation__owner"), pk=run_id
    )
