"""The conversations of the person who is signed in."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from chat.accounts import SignedInRequest
from chat.models import Conversation


@login_required
@require_GET
def conversation_list(request: SignedInRequest) -> HttpResponse:
    """Show the start page: the list and an empty composer."""
    return render(request, "chat/conversation.html", {"runs": []})


@login_required
@require_GET
def conversation(request: SignedInRequest, conversation_id: int) -> HttpResponse:
    """Show a conversation with its runs."""
    found = get_object_or_404(Conversation.objects.of(request.user), pk=conversation_id)
    return render(request, "chat/conversation.html", {"conversation": found})
