"""The pages of policies, for those who publish them; for everybody else they are not there."""

import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Count
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.policies.spec import PolicySpec
from chat.accounts import SignedInRequest
from chat.governance import door
from chat.models import Conversation, ConversationKind, Origin, Policy, PolicyVersion, Run
from chat.models.policy import PublishedMeanwhile
from chat.publishing.check import Unfit, checked
from chat.publishing.difference import difference
from chat.publishing.forms import Draft
from chat.publishing.publish import offer, publish, retire, try_out
from chat.publishing.words import Words, checked_words
from chat.runs.ask import ask
from chat.runs.validation import InvalidQuestion

EDIT = "chat/policies/policy_edit.html"
LATEST_RUNS = 5
"""How many runs of a version its page leads to."""


_View = Callable[..., HttpResponseBase]


def _for_publishers(view: _View) -> _View:
    @wraps(view)
    def guarded(request: SignedInRequest, **given: Any) -> HttpResponseBase:
        if not request.user.publishes:
            raise Http404
        return view(request, **given)

    return login_required(guarded)


@_for_publishers
@require_GET
def policy_list(request: SignedInRequest) -> HttpResponseBase:
    """List the policies with what new runs of them use."""
    policies = Policy.objects.filter(origin=Origin.OURS).annotate(
        run_count=Count("versions__runs", distinct=True)
    )
    rows = [(policy, policy.versions.current().order_by("-number").first()) for policy in policies]
    return render(request, "chat/policies/policy_list.html", {"rows": rows})


@_for_publishers
@require_GET
def policy(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Show the versions of a policy."""
    found = _policy(slug)
    versions = list(found.versions.select_related("created_by").annotate(run_count=Count("runs")))
    current = next((one for one in versions if not one.is_trial and one.retired_at is None), None)
    context = {"policy": found, "versions": versions, "current": current}
    return render(request, "chat/policies/policy.html", context)


@_for_publishers
@require_GET
def policy_version(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Show what a version says, and what it says otherwise than another."""
    found = _version(slug, number)
    others = found.policy.versions.exclude(pk=found.pk)
    wanted = request.GET.get("with", "")
    before = others.filter(is_trial=False, number__lt=number).order_by("-number").first()
    if (number_wanted := _number(wanted, 0)) > 0:
        before = others.filter(number=number_wanted).first() or before
    runs = door.readable_runs(request.user).filter(policy_version=found).order_by("-pk")
    context = {
        "version": found,
        "draft": Draft.of(found),
        "others": others,
        "before": before,
        "difference": difference(before, found) if before is not None else None,
        "run_count": found.runs.count(),
        "runs": runs[:LATEST_RUNS],
    }
    return render(request, "chat/policies/policy_version.html", context)


@_for_publishers
@require_http_methods(["GET", "POST"])
def policy_edit(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Edit a version into the next of its policy: try it, or publish it."""
    return _edit(request, _version(slug, number), is_new=False)


@_for_publishers
@require_http_methods(["GET", "POST"])
def policy_clone(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Edit a version into the first of another policy."""
    return _edit(request, _version(slug, number), is_new=True)


@_for_publishers
@require_POST
def policy_retire(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Take a policy from the offer, or one version from new runs."""
    found = _policy(slug)
    number = _number(request.POST.get("number", ""), 0)
    if number > 0:
        version = _version(slug, number)
        version.retire()
        messages.success(request, f"{version} is retired. Its runs stay as they are.")
    else:
        retire(found)
        messages.success(request, f"{found} is not offered any more. Its runs stay as they are.")
    return redirect("policy", slug)


@_for_publishers
@require_POST
def policy_offer(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Offer a retired policy again."""
    try:
        offer(_policy(slug))
    except Unfit as error:
        messages.error(request, str(error))
    return redirect("policy", slug)


def _edit(request: SignedInRequest, begun: PolicyVersion, *, is_new: bool) -> HttpResponseBase:
    draft = Draft.of(begun)
    if is_new:
        draft.words |= {"slug": "", "name": f"{begun.policy.name} (copy)"}
    after = 0 if is_new else _latest(begun.policy)
    shown: dict[str, Any] = {"begun": begun, "draft": draft, "is_new": is_new, "after": after}
    if request.method != "POST":
        return render(request, EDIT, shown)
    draft = Draft.typed(request.POST, draft)
    if not is_new:
        draft.words["slug"] = begun.policy.slug
    shown |= {"draft": draft, "after": _number(request.POST.get("after", ""), after)}
    return _sent(request, shown)


def _sent(request: SignedInRequest, shown: dict[str, Any]) -> HttpResponseBase:
    """Do what was pressed, or show the form again with what was typed and what is wrong."""
    draft: Draft = shown["draft"]
    shown["question"] = question = request.POST.get("question", "")
    try:
        done = _done(request, draft, question, shown["after"], is_new=shown["is_new"])
    except Unfit as error:
        draft.problems = error.problems
    except InvalidQuestion as error:
        draft.problems = {"question": str(error)}
    except PublishedMeanwhile as meanwhile:
        # Whoever publishes now knows of it.
        shown |= {"newest": meanwhile.newest, "after": _latest(shown["begun"].policy)}
        return render(request, EDIT, shown, status=409)
    else:
        if done is not None:
            return done
    return render(request, EDIT, shown, status=422 if draft.problems else 200)


def _done(
    request: SignedInRequest, draft: Draft, question: str, after: int, *, is_new: bool
) -> HttpResponseBase | None:
    """Do what was pressed; None where only the knobs of another base are to be shown."""
    match request.POST.get("do"):
        case "publish":
            words, spec = checked_words(draft.words), checked(draft.content)
            version = publish(words, spec, by=request.user, after=after)
            messages.success(request, f"{version} is what new runs use.")
            return redirect(version)
        case "try":
            words, spec = checked_words(draft.words), checked(draft.content)
            return redirect(_tried(request, words, spec, question, is_new=is_new))
    return None


@transaction.atomic
def _tried(
    request: SignedInRequest, words: Words, spec: PolicySpec, question: str, *, is_new: bool
) -> Run:
    """Ask a question of a draft, in a conversation that no rail lists; nothing where it fails."""
    version = try_out(words, spec, by=request.user, is_new=is_new)
    place = Conversation.objects.create(owner=request.user, kind=ConversationKind.TRIAL)
    return ask(place, question, policy_version=version, client_message_id=uuid.uuid4())


def _number(typed: str, otherwise: int) -> int:
    return int(typed) if typed.isdecimal() and len(typed) < 9 else otherwise


def _latest(policy: Policy) -> int:
    newest = policy.versions.current().order_by("-number").first()
    return newest.number if newest is not None else 0


def _policy(slug: str) -> Policy:
    return get_object_or_404(Policy, slug=slug, origin=Origin.OURS)


def _version(slug: str, number: int) -> PolicyVersion:
    versions = PolicyVersion.objects.select_related("policy", "created_by")
    ours = versions.filter(policy__origin=Origin.OURS, policy__slug=slug)
    return get_object_or_404(ours, number=number)
