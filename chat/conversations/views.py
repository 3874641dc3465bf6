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
from chat.conversations import forms
from chat.conversations.examples import examples
from chat.conversations.listing import page_of
from chat.conversations.thread import last_policy, thread_of
from chat.conversations.titles import rename
from chat.governance import door
from chat.models import Approval, Conversation, PolicyVersion, Run, RunStatus
from chat.policies import chosen_among, offered
from chat.runs.approvals import NotOpen, decide
from chat.runs.ask import ask
from chat.runs.models_offered import current_model
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
    try:
        version = forms.policy_version(request.POST)
        run = _begin(request, version=version)
    except InvalidQuestion as error:
        if is_script:
            return JsonResponse({"error": str(error)}, status=error.status)
        return _start_page(request, error=str(error), status=error.status)
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
    try:
        run = ask(
            found,
            forms.question(request.POST),
            policy_version=forms.policy_version(request.POST),
            client_message_id=forms.message_id(request.POST),
        )
    except InvalidQuestion as error:
        return _conversation_page(request, found, error=str(error), status=error.status)
    return redirect(f"{found.get_absolute_url()}#run-{run.pk}")


@login_required
@require_http_methods(["GET", "POST"])
def conversation_rename(request: SignedInRequest, conversation_id: int) -> HttpResponseBase:
    """Give a conversation another title."""
    found = _own(request, conversation_id)
    error = ""
    if request.method == "POST":
        try:
            rename(found, forms.title(request.POST))
        except forms.InvalidTitle as invalid:
            error = str(invalid)
        else:
            return redirect(found)
    return render(
        request,
        "chat/conversation_rename.html",
        {"conversation": found, "error": error},
        status=422 if error else 200,
    )


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
    decision = request.POST.get("decision")
    if decision not in ("grant", "deny"):
        return HttpResponseBadRequest("Choose whether it may run.")
    said = request.POST.get("feedback", "").replace("\r\n", "\n")
    try:
        decide(asked, by=request.user, grant=decision == "grant", feedback=said)
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
def _begin(request: SignedInRequest, *, version: PolicyVersion) -> Run:
    """Ask the first question of a conversation; sent twice, also at once, it is one of each."""
    client_message_id = forms.message_id(request.POST)
    begun, _ = Conversation.objects.get_or_create(
        owner=request.user, first_message_id=client_message_id
    )
    return ask(
        begun,
        forms.question(request.POST),
        policy_version=version,
        client_message_id=client_message_id,
    )


def _start_page(request: SignedInRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    context = _composer(request, error, policy=last_policy(request.user)) | {
        "composer_action": reverse("conversation_new"),
        "examples": examples(),
        "is_latest": True,
    }
    return render(request, "chat/conversation.html", context, status=status)


def _conversation_page(
    request: SignedInRequest, found: Conversation, *, error: str = "", status: int = 200
) -> HttpResponse:
    before = request.GET.get("before", "")
    thread = thread_of(found, int(before) if before.isdecimal() and len(before) < 18 else None)
    renew_answers(row.run for row in thread.rows)
    context = _composer(request, error, policy=thread.policy) | {
        "composer_action": found.get_absolute_url(),
        "conversation": found,
        "rows": thread.rows,
        "earlier": thread.earlier,
        "live_run": thread.live_run,
        "pending": thread.pending,
        "is_asked": thread.is_asked,
        "is_latest": not before,
    }
    return render(request, "chat/conversation.html", context, status=status)


def _composer(request: SignedInRequest, error: str, policy: str = "") -> dict[str, Any]:
    policies = list(offered())
    chosen = chosen_among(policies, request.POST.get("policy", "") or policy)
    return {
        "client_message_id": forms.message_id(request.POST) if error else uuid4(),
        "policies": policies,
        "chosen_policy": chosen,
        "model": current_model(),
        "text": forms.question(request.POST) if error else "",
        "error": error,
    }
