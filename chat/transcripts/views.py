"""The transcript of a run, to be read by its owner and by reviewers."""

import json
import logging
from base64 import b64decode
from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from chat.accounts import SignedInRequest
from chat.artifacts.store import ArtifactLost, ArtifactsAway
from chat.governance import door
from chat.models import Action, Artifact, ModelCall, Run, Turn
from chat.policies import offered
from chat.runs.queue import tell_ahead
from chat.stream.answers import renew_answers
from chat.transcripts.asked import whole_number
from chat.transcripts.download import NOT_WHOLE, as_json, as_markdown
from chat.transcripts.fold import STEP, fold
from chat.transcripts.portions import carried
from chat.transcripts.reading import read, rows_from
from chat.transcripts.repeats import repeats_of
from chat.transcripts.request import shown

PLAIN = "text/plain; charset=utf-8"
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
SERVED_AS = {kind: kind for kind in PICTURES} | {"text/plain": PLAIN}
"""The content types of artifacts, by their media types; all others are bytes of no kind."""
AWAY = "This cannot be read at the moment. Try again in a while."
RETRY_SECONDS = 10

logger = logging.getLogger(__name__)


def _from_the_store(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a view answer 503 while the artifacts are away, and 404 for one that is lost."""

    @wraps(view)
    def answer(request: SignedInRequest, **named: object) -> HttpResponse:
        try:
            return view(request, **named)
        except ArtifactsAway as away:
            logger.warning("An artifact cannot be read: %s", away)
            headers = {"Retry-After": str(RETRY_SECONDS)}
            return HttpResponse(AWAY, content_type=PLAIN, status=503, headers=headers)
        except ArtifactLost as lost:
            logger.error("%s", lost)
            raise Http404 from lost

    return answer


@login_required
@require_GET
def transcript(request: SignedInRequest, run_id: int) -> HttpResponse:
    """Show the turns of a run, a hundred at a time; `?turn=` chooses which."""
    run = _readable(request, run_id)
    renew_answers([run])
    tell_ahead([run])
    is_own = door.is_own(request.user, run.conversation)
    context = {
        "run": run,
        "reading": read(run, whole_number(request.GET.get("turn", "")) or 1),
        "is_own": is_own,
        "policies": list(offered()) if is_own and not run.is_live else (),
        "repeats": repeats_of(run),
    }
    return render(request, "chat/transcript/transcript.html", context)


@login_required
@require_GET
def turn_rows(request: SignedInRequest, run_id: int) -> HttpResponse:
    """Return what stands beside the turns from `?from=` on, for a page that follows the run."""
    run = _readable(request, run_id)
    rows, whole = rows_from(run, whole_number(request.GET.get("from", "")) or 1)
    return render(request, "chat/run/_turn_rows.html", {"run": run, "rows": rows, "whole": whole})


@login_required
@require_GET
def transcript_download(request: SignedInRequest, run_id: int, form: str) -> StreamingHttpResponse:
    """Return the whole transcript as a file, read while it is sent."""
    run = _readable(request, run_id)
    texts, if_broken, kind = {
        "json": (as_json, "", "application/json"),
        "md": (as_markdown, NOT_WHOLE, "text/markdown; charset=utf-8"),
    }[form]
    name = f'attachment; filename="turnstone-run-{run.pk}.{form}"'
    return StreamingHttpResponse(
        carried(texts(run), if_broken), content_type=kind, headers={"Content-Disposition": name}
    )


@login_required
@require_GET
def answer_source(request: SignedInRequest, run_id: int) -> HttpResponse:
    """Return the answer as it was written: Markdown, to be copied."""
    return HttpResponse(_readable(request, run_id).answer, content_type=PLAIN)


@login_required
@require_GET
def turn_text(request: SignedInRequest, run_id: int, number: int) -> HttpResponse:
    """Return the whole of a turn's thought or, for the page, what it left out from a place."""
    turn = get_object_or_404(Turn, run=_readable(request, run_id), index=number - 1)
    return _text(request, turn.thought)


@login_required
@require_GET
@_from_the_store
def action_text(
    request: SignedInRequest, run_id: int, number: int, action: int, part: str
) -> HttpResponse:
    """Return the whole of an action's inputs or observation, as `turn_text` returns a thought."""
    row = _action(_readable(request, run_id), number, action)
    match part:
        case "inputs":
            return _text(request, json.dumps(row.inputs, indent=2, ensure_ascii=False))
        case "observation":
            return _text(request, row.text)
        case _:
            raise Http404


@login_required
@require_GET
@_from_the_store
def action_picture(
    request: SignedInRequest, run_id: int, number: int, action: int, picture: int
) -> HttpResponse:
    """Return one picture of an action, counted from 1; only kinds that are nothing but pictures.

    Those that are artifacts have an address of their own, and this one as well.
    """
    row = _action(_readable(request, run_id), number, action)
    found = dict(enumerate(row.pictures, 1)).get(picture)
    if found is None or found.media_type not in PICTURES:
        raise Http404
    try:
        content = b64decode(found.data)
    except ValueError:
        raise Http404 from None  # a tool gave what is no picture
    name = f"turn-{number}-action-{action}-picture-{picture}"
    return _attachment(name, found.media_type, content)


@login_required
@require_GET
@_from_the_store
def artifact(request: SignedInRequest, run_id: int, sha256: str, name: str) -> HttpResponse:
    """Return an artifact of a run to be kept as a file; a page shows it if it is a picture."""
    found = get_object_or_404(Artifact, run=_readable(request, run_id), sha256=sha256, name=name)
    kind = SERVED_AS.get(found.media_type, "application/octet-stream")
    return _attachment(found.name, kind, found.content)


@login_required
@require_GET
def model_call(request: SignedInRequest, run_id: int, number: int) -> HttpResponse:
    """Show the exact request and reply of one model call."""
    run = _readable(request, run_id)
    call = _call(run, number)
    template = (
        "chat/transcript/_model_call.html" if request.htmx else "chat/transcript/model_call.html"
    )
    return render(request, template, {"run": run, "call": call, "shown": shown(call), "level": 3})


@login_required
@require_GET
def model_call_request(request: SignedInRequest, run_id: int, number: int) -> HttpResponse:
    """Return the request of a model call exactly as it was posted, but for what was redacted."""
    call = _call(_readable(request, run_id), number)
    return HttpResponse(call.request, content_type=PLAIN)


def _action(run: Run, number: int, action: int) -> Action:
    return get_object_or_404(Action, turn__run=run, turn__index=number - 1, position=action - 1)


def _attachment(name: str, content_type: str, content: bytes) -> HttpResponse:
    headers = {"Content-Disposition": content_disposition_header(True, name) or "attachment"}
    return HttpResponse(content, content_type=content_type, headers=headers)


def _text(request: SignedInRequest, text: str) -> HttpResponse:
    """Return a text or, for the page, so much of its middle as it shows with ease.

    The page is sent what stands `?from=` characters into the middle.
    """
    return _more(request, text) if request.htmx else HttpResponse(text, content_type=PLAIN)


def _more(request: SignedInRequest, text: str) -> HttpResponse:
    start, middle = whole_number(request.GET.get("from", "")) or 0, fold(text)
    piece = middle.step(start)
    following = start + len(piece)
    left = len(middle.middle) - following
    context = {
        "piece": piece,
        "next": following,
        "left": left if piece else 0,
        "step": min(left, STEP),
        "url": request.path,
    }
    return render(request, "chat/run/_more_text.html", context)


def _readable(request: SignedInRequest, run_id: int) -> Run:
    runs = door.readable_runs(request.user)
    return get_object_or_404(
        runs.select_related("policy_version__policy", "conversation", "owner"), pk=run_id
    )


def _call(run: Run, number: int) -> ModelCall:
    try:
        return ModelCall.objects.with_request(run, number - 1)
    except ModelCall.DoesNotExist as error:
        raise Http404 from error
