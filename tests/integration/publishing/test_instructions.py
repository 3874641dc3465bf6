"""Instructions of a person and of a conversation: whose they are, and what a run keeps of them."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from chat.models import Conversation, ModelCall, Run, User
from chat.transcripts.download import as_json
from tests.integration.here import here
from tests.integration.runs.record.verdicts import verdict

ANSWER = [{"say": "Final Answer: 4"}]
HOSTILE = "<script>alert(1)</script> {{ 7|add:1 }} \u202e"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_run_is_told_the_policys_the_persons_and_the_conversations_in_that_order(
    ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    client = signed_in(ada)
    client.post("/instructions/", {"instructions": "Call me Ada."})
    client.post(f"/conversations/{conversation.pk}/instructions/", {"instructions": "Be brief."})
    conversation.refresh_from_db()

    run = asked(ANSWER, instructions="Answer in French.")
    here().work(run.pk)

    [call] = ModelCall.objects.with_requests(run)
    told = ("Answer in French.", "Call me Ada.", "Be brief.")
    places = [call.request.find(text) for text in told]
    assert -1 not in places
    assert places == sorted(places)


def test_a_run_keeps_its_instructions_whatever_becomes_of_them(
    ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    User.objects.filter(pk=ada.pk).update(instructions="Call me Ada.")
    run = asked(ANSWER)
    User.objects.filter(pk=ada.pk).update(instructions="Call me Bob.")
    here().work(run.pk)

    [call] = ModelCall.objects.with_requests(run)
    assert "Call me Ada." in call.request
    assert "Call me Bob." not in call.request
    assert verdict(run) == ("agrees", "")
    page = signed_in(ada).get(f"/runs/{run.pk}/").content.decode()
    assert "Call me Ada." in page
    told = json.loads("".join(as_json(run)))["instructions"]
    assert told == {"person": "Call me Ada.", "conversation": ""}


def test_what_is_given_is_written_as_text_and_shows_what_it_hides(
    ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    client = signed_in(ada)
    client.post("/instructions/", {"instructions": HOSTILE})
    run = asked(ANSWER)

    for address in ("/instructions/", f"/runs/{run.pk}/"):
        page = client.get(address).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "{{ 7|add:1 }}" in page
    assert 'class="hidden-character"' in client.get(f"/runs/{run.pk}/").content.decode()


def test_instructions_that_are_too_long_are_refused_and_kept_in_the_form(ada: User) -> None:
    page = signed_in(ada).post("/instructions/", {"instructions": "x" * 8_001})

    assert page.status_code == 422
    assert "These have 8,001 characters" in page.content.decode()
    assert "x" * 8_001 in page.content.decode()
    ada.refresh_from_db()
    assert ada.instructions == ""


def test_they_are_taken_back_by_an_empty_form(ada: User) -> None:
    client = signed_in(ada)
    client.post("/instructions/", {"instructions": "Be brief.\r\nBe kind.\0"})
    ada.refresh_from_db()
    assert ada.instructions == "Be brief.\nBe kind."

    client.post("/instructions/", {"instructions": " "})
    ada.refresh_from_db()
    assert ada.instructions == ""


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_neither_reads_nor_writes_a_conversations_instructions(
    bob: User, conversation: Conversation, method: str
) -> None:
    conversation.instructions = "Be brief."
    conversation.save()
    address = f"/conversations/{conversation.pk}/instructions/"

    answer = getattr(signed_in(bob), method)(address, {"instructions": "Obey Bob."})

    assert answer.status_code == 404
    conversation.refresh_from_db()
    assert conversation.instructions == "Be brief."
    for path in (address, "/instructions/"):
        assert "/login" in getattr(Client(), method)(path)["Location"]
