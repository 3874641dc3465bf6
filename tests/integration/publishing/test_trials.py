"""A draft is tried by a question, and is offered to nobody by that."""

from django.test import Client

from chat.models import Conversation, Policy, PolicyVersion, Run, User
from chat.policies import offered
from tests.integration.here import here
from tests.integration.publishing.forms import Form, edit, signed_in


def test_a_trial_runs_the_draft_and_is_offered_to_nobody(
    root: Client, reflexion: Policy, form: Form
) -> None:
    before = reflexion.latest
    sent = form(instructions="Be brief.", policy="explicit", do="try", question="What is 37 * 43?")

    answer = root.post(edit(reflexion), sent)

    run = Run.objects.get()
    assert answer["Location"] == run.get_absolute_url()
    here().work(run.pk)
    run.refresh_from_db()
    assert (run.status, run.conversation.kind, run.lane) == ("succeeded", "trial", "batch")
    assert run.policy_version.spec.instructions == "Be brief."
    assert str(run.policy_version) == f"Reflexion v{before.number + 1} (trial)"
    assert reflexion.latest == before
    assert "(trial)" in root.get(run.get_absolute_url()).content.decode()
    page = root.get(run.policy_version.get_absolute_url()).content.decode()
    assert "it is offered to nobody" in page
    assert "Used by 1 run," in page


def test_a_trial_of_a_clone_offers_no_policy(root: Client, reflexion: Policy, form: Form) -> None:
    sent = form(do="try", question="Go", after="0")
    root.post(edit(reflexion, "clone"), sent)

    assert not offered().filter(slug="mine").exists()
    root.post("/policies/mine/1/edit/", form(after="0"))
    assert offered().get(slug="mine").latest.number == 2


def test_a_trial_without_a_question_stores_nothing(
    root: Client, reflexion: Policy, form: Form
) -> None:
    before = PolicyVersion.objects.count()

    answer = root.post(edit(reflexion), form(do="try", question=" "))

    assert answer.status_code == 422
    assert "Write a question first." in answer.content.decode()
    assert PolicyVersion.objects.count() == before
    assert not Conversation.objects.exists()


def test_a_stranger_does_not_read_a_trial(
    root: Client, bob: User, reflexion: Policy, form: Form
) -> None:
    root.post(edit(reflexion), form(do="try", question="Go"))

    assert signed_in(bob).get(Run.objects.get().get_absolute_url()).status_code == 404
