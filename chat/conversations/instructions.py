"""The pages of instructions: a person's for all that they ask, and a conversation's."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from agents.policies.spec import INSTRUCTIONS_LENGTH
from chat.accounts import SignedInRequest
from chat.conversations.forms import InstructionsForm
from chat.governance import door
from chat.models import Conversation

SAVED = "Saved. They hold from the next question on."


@login_required
@require_http_methods(["GET", "POST"])
def own_instructions(request: SignedInRequest) -> HttpResponseBase:
    """Show what a person has models do in every run of theirs, or store it."""
    return _page(request, None)


@login_required
@require_http_methods(["GET", "POST"])
def conversation_instructions(request: SignedInRequest, conversation_id: int) -> HttpResponseBase:
    """Show what the owner of a conversation has models do in it, or store it."""
    own = door.own_conversations(request.user)
    return _page(request, get_object_or_404(own, pk=conversation_id))


def _page(request: SignedInRequest, conversation: Conversation | None) -> HttpResponseBase:
    place = request.user if conversation is None else conversation
    form = InstructionsForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        place.instructions = form.cleaned_data["instructions"]
        place.save(update_fields=["instructions"])
        messages.success(request, SAVED)
        return redirect("own_instructions" if conversation is None else conversation)
    context = {
        "conversation": conversation,
        "form": form,
        "told": form["instructions"].value() if form.is_bound else place.instructions,
        "most": INSTRUCTIONS_LENGTH,
    }
    status = 422 if form.is_bound else 200
    return render(request, "chat/instructions.html", context, status=status)
