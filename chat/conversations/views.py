"""The conversations of the person who is signed in; anybody else's do not exist for them."""

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat.accounts import SignedInRequest
from chat.conversations.examples import examples
from chat.conversations.forms import ApprovalForm, Question, QuestionForm, TitleForm
from chat.conversations.listing import page_of
from chat.conversations.thread import last_model, last_policy, thread_of
from chat.conversations.titles import rename
from chat.governance import door
from chat.models import Approval, Conversation, Run, RunStatus, User
from chat.policies import chosen_among, offered
from chat.runs.approvals import NotOpen, decide
from chat.runs.ask import ask
from chat.runs.models_offered import model_menu
from chat.runs.stop import stop
from chat.runs.validation import InvalidQuestion
from chat.stream.answers import renew_answers


@login_required
@require_GET
def conversation_list(request: SignedInRequest) -> HttpResponse:
    """Show the start page, or, asked by htmx, a further page of the list."""
    number = request.GET.get("page", "")
    if not number.isdecimal() or len(number) > 6:
        return _start_page(request)
    listed = page_of(request.user, max(1, int(number)))
    partial = "chat/_conversations.html" if request.htmx else "chat/conversation_list.html"
    return render(request, partial, {"page": listed})


@login_required
@require_POST
def conversation_new(request: SignedInRequest) -> HttpResponseBase:
    """Begin a conversation with its first question; a script is told where it is, or why not."""
    is_script = request.headers.get("Accept") == "application/json"
    form = QuestionForm(request.POST)
    try:
        run = _begin(request.user, form.asked())
    except InvalidQuestion as error:
        if is_script:
            return JsonResponse({"error": str(error)}, status=error.status)
        return _start_page(request, form, error)
    if is_script:
        return JsonResponse({"url": run.conversation.get_absolute_url()}, status=201)
    return redirect(run.conversation)


@login_required
@require_GET
def conversations_working(request: SignedInRequest) -> HttpResponse:
    """Say which of the person's conversations work right now, and which wait for them."""
    live = door.own_runs(request.user).live().values_list("conversation_id", "status")
    states: dict[int, str] = {}
    for conversation_id, status in live:
        if status == RunStatus.WAITING:
            states[conversation_id] = "waiting"
        else:
            states.setdefault(conversation_id, "working")
    return JsonResponse(states, headers={"Cache-Control": "no-store"})


@login_required
@require_http_methods(["GET", "POST"])
def conversation(request: SignedInRequest, conversation_id: int) -> HttpResponseBase:
    """Show a conversation; a POST asks a question in it, for browsers without scripts."""
    found = _own(request, conversation_id)
    if request.method != "POST":
        return _conversation_page(request, found)
    form = QuestionForm(request.POST)
    try:
        run = ask(found, **form.asked())
    except InvalidQuestion as error:
        return _conversation_page(request, found, form, error)
    return redirect(f"{found.get_absolute_url()}#run-{run.pk}")


@login_required
@require_http_methods(["GET", "POST"])
def conversation_rename(request: SignedInRequest, conversation_id: int) -> HttpResponseBase:
    """Give a conversation another title."""
    found = _own(request, conversation_id)
    form = TitleForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        rename(found, form.cleaned_data["title"])
        return redirect(found)
    context = {"conversation": found, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "chat/conversation_rename.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def conversation_delete(request: SignedInRequest, conversation_id: int) -> HttpResponseBase:
    """Delete a conversation with all its runs, after asking."""
    found = _own(request, conversation_id)
    if request.method != "POST":
        return render(request, "chat/conversation_delete.html", {"conversation": found})
    for run in found.runs.live():
        stop(run)
    found.delete()
    messages.success(request, f"Deleted “{found}”.")
    return redirect("conversation_list")


@login_required
@require_POST
def run_stop(request: SignedInRequest, run_id: int) -> HttpResponseBase:
    """Stop a run, for browsers without a live connection."""
    run = get_object_or_404(door.own_runs(request.user), pk=run_id)
    stop(run)
    return redirect(f"{run.conversation.get_absolute_url()}#run-{run.pk}")


@login_required
@require_POST
def approval(request: SignedInRequest, approval_id: int) -> HttpResponseBase:
    """Answer an approval, for browsers without a live connection."""
    asked = get_object_or_404(door.own_approvals(request.user), pk=approval_id)
    form = ApprovalForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest("Choose whether it may run.")
    is_granted, feedback = form.cleaned_data["decision"] == "grant", form.cleaned_data["feedback"]
    try:
        decide(asked, by=request.user, grant=is_granted, feedback=feedback)
    except NotOpen as error:
        messages.error(request, str(error))
    return redirect(f"{asked.run.conversation.get_absolute_url()}#run-{asked.run_id}")


@login_required
@require_GET
def run_turns(request: SignedInRequest, run_id: int) -> HttpResponse:
    """Show the turns of one run of a conversation, when they are unfolded."""
    run = get_object_or_404(door.own_runs(request.user), pk=run_id)
    turns = Approval.objects.attach(run.turns.all())
    return render(request, "chat/run/_run_turns.html", {"run": run, "turns": turns})


def _own(request: SignedInRequest, conversation_id: int) -> Conversation:
    return get_object_or_404(door.own_conversations(request.user), pk=conversation_id)


@transaction.atomic
def _begin(user: User, asked: Question) -> Run:
    """Ask the first question of a conversation; sent twice, also at once, it is one of each."""
    begun, _ = Conversation.objects.get_or_create(
        owner=user, first_message_id=asked["client_message_id"]
    )
    return ask(begun, **asked)


def _start_page(
    request: SignedInRequest,
    form: QuestionForm | None = None,
    error: InvalidQuestion | None = None,
) -> HttpResponse:
    context = _composer(form, error, last_policy(request.user), last_model(request.user)) | {
        "composer_action": reverse("conversation_new"),
        "examples": examples(),
        "is_latest": True,
    }
    return render(request, "chat/conversation.html", context, status=_status(error))


def _conversation_page(
    request: SignedInRequest,
    found: Conversation,
    form: QuestionForm | None = None,
    error: InvalidQuestion | None = None,
) -> HttpResponse:
    before = request.GET.get("before", "")
    thread = thread_of(found, int(before) if before.isdecimal() and len(before) < 18 else None)
    renew_answers(row.run for row in thread.rows)
    context = _composer(form, error, thread.policy, thread.model) | {
        "composer_action": found.get_absolute_url(),
        "conversation": found,
        "rows": thread.rows,
        "earlier": thread.earlier,
        "live_run": thread.live_run,
        "pending": thread.pending,
        "is_asked": thread.is_asked,
        "is_latest": not before,
    }
    return render(request, "chat/conversation.html", context, status=_status(error))


def _composer(
    form: QuestionForm | None, error: InvalidQuestion | None, policy: str, model: str
) -> dict[str, Any]:
    """Return what the composer shows: nothing yet, or what could not be asked, with the reason."""
    policies = list(offered())
    sent = form.cleaned_data if form is not None else {}
    wanted = form["policy"].value() if form is not None else ""
    menu = model_menu()
    wanted_model = form["model"].value() if form is not None else model
    return {
        "client_message_id": sent.get("client_message_id") or uuid4(),
        "policies": policies,
        "chosen_policy": chosen_among(
            policies, wanted or policy, takes_tools=not menu.current.is_demo
        ),
        "menu": menu,
        "model": menu.current,
        "chosen_model": menu.get(wanted_model or ""),
        "text": sent.get("text", ""),
        "error": error or "",
    }


def _status(error: InvalidQuestion | None) -> int:
    return 200 if error is None else error.status
