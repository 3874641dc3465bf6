"""The pages of policies: for those who publish, and for nobody else."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from chat.models import Policy, PolicyVersion, User
from chat.policies import offered
from tests.integration.publishing.forms import Form, edit, signed_in

HOSTILE = "<script>alert(1)</script> {{ 7|add:1 }} \u202e"
ADDRESSES = [
    "/policies/",
    "/policies/reflexion/",
    "/policies/reflexion/{n}/",
    "/policies/reflexion/{n}/edit/",
    "/policies/reflexion/{n}/clone/",
]
CHANGES = ["retire/", "offer/", "{n}/edit/", "{n}/clone/"]


def test_an_administrator_reads_every_page(root: Client, reflexion: Policy) -> None:
    for address in ADDRESSES:
        page = root.get(address.format(n=reflexion.latest.number))
        assert page.status_code == 200
        assert "Reflexion" in page.content.decode()


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_for_a_plain_user_and_a_stranger_no_page_is_there(
    ada: User, reflexion: Policy, form: Form, is_signed_in: bool
) -> None:
    client = signed_in(ada) if is_signed_in else Client()
    before = list(PolicyVersion.objects.values_list("pk", "retired_at"))
    answers = [client.get(one.format(n=reflexion.latest.number)) for one in ADDRESSES]
    for change in CHANGES:
        path = f"/policies/reflexion/{change}".format(n=reflexion.latest.number)
        answers += [client.post(path, form()), client.post(path, form(do="try", question="Go"))]

    for answer in answers:
        if is_signed_in:
            assert answer.status_code == 404
        else:
            assert "/login" in answer["Location"]
    assert list(PolicyVersion.objects.values_list("pk", "retired_at")) == before
    assert Policy.objects.get(slug="reflexion").is_offered
    if is_signed_in:
        assert "/policies/" not in client.get("/").content.decode()


@pytest.mark.parametrize("by", ["the admins", "a group", "oneself"])
def test_whom_a_role_allows_to_publish_may(ada: User, reflexion: Policy, by: str) -> None:
    permission = Permission.objects.get(codename="add_policyversion")
    if by == "oneself":
        ada.user_permissions.add(permission)
    else:
        group, _ = Group.objects.get_or_create(name="admin" if by == "the admins" else "authors")
        group.permissions.set([] if by == "the admins" else [permission])
        ada.groups.add(group, Group.objects.create(name="guests"))

    client = signed_in(ada)

    assert client.get("/policies/").status_code == 200
    assert "/policies/" in client.get("/").content.decode()


def test_a_reviewer_who_may_not_publish_does_not(ada: User, reflexion: Policy) -> None:
    ada.groups.add(Group.objects.get_or_create(name="reviewer")[0])

    assert signed_in(ada).get("/policies/").status_code == 404


def test_a_version_is_published_and_the_page_says_what_changed(
    root: Client, reflexion: Policy, form: Form
) -> None:
    before = reflexion.latest
    sent = form(instructions="Be brief.\r\nBe kind.", settings__tries="2", limits__tokens="5000")

    page = root.post(edit(reflexion), sent, follow=True).content.decode()

    version = reflexion.latest
    assert (version.number, str(version.created_by)) == (before.number + 1, "root")
    spec = version.spec
    assert spec.instructions == "Be brief.\nBe kind."
    assert (spec.tools, spec.limits.tokens, spec.settings["tries"]) == (("calculator",), 5000, 2)
    assert spec.model.provider == "demo"
    assert f"{version} is what new runs use." in page
    assert "Used by 0 runs" in page
    for words in ("Be brief.", "settings.tries", "current_time", "diff__line--removed"):
        assert words in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"settings__tries": "many"}, "Input should be a valid integer"),
        ({"settings__tries": "99"}, "less than or equal to 20"),
        ({"limits__max_turns": "0"}, "greater than or equal to 1"),
        ({"model__temperature": "warm"}, "Input should be a valid number"),
        ({"tools": ["teleport"]}, "There is no tool"),
        ({"more_tools": "nowhere__read"}, "is of no MCP server"),
        ({"approve": "teleport"}, "which is no tool of this policy"),
        ({"name": ""}, "Give it a name."),
        ({"policy": "guesswork"}, "There is no policy"),
        (
            {"settings__settle_goal": "true", "settings__settle_goal__time_zone": "Mars/Base"},
            "there is no time zone",
        ),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_is_kept(
    root: Client, reflexion: Policy, form: Form, fields: dict[str, Any], said: str
) -> None:
    before = reflexion.latest

    answer = root.post(edit(reflexion), form(instructions="Keep me.", **fields))

    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.count(said) >= (1 if "policy" in fields else 2)  # on top, and beside the field
    assert ">Keep me.</textarea>" in page
    assert reflexion.latest == before


def test_two_who_edit_at_once_do_not_overwrite_one_another_unknowingly(
    root: Client, reflexion: Policy, form: Form
) -> None:
    first, second = form(instructions="Root's."), form(instructions="Bob's.")
    address = edit(reflexion)
    root.post(address, first)
    bob = signed_in(User.objects.create_superuser("bob"))

    answer = bob.post(address, second)

    page = answer.content.decode()
    assert answer.status_code == 409
    assert reflexion.latest.spec.instructions == "Root&#x27;s.".replace("&#x27;", "'")
    assert f"{reflexion.latest} was published by" in " ".join(page.split())
    assert ">Bob&#x27;s.</textarea>" in page
    assert f'name="after" value="{reflexion.latest.number}"' in page

    bob.post(address, second | {"after": str(reflexion.latest.number)})
    assert reflexion.latest.spec.instructions == "Bob's."


def test_a_clone_is_another_policy_and_leaves_the_first_alone(
    root: Client, reflexion: Policy, form: Form
) -> None:
    before = reflexion.latest
    sent = form(name="Mine", instructions="Be brief.", after="0")

    root.post(edit(reflexion, "clone"), sent)

    mine = Policy.objects.get(slug="mine")
    assert (mine.name, mine.latest.number, mine.is_offered) == ("Mine", 1, True)
    assert reflexion.latest == before

    taken = root.post(edit(reflexion, "clone"), sent | {"slug": "explicit"})
    assert taken.status_code == 422
    assert "There is a policy" in taken.content.decode()


def test_another_base_shows_its_knobs_with_their_defaults_and_stores_nothing(
    root: Client, reflexion: Policy, form: Form
) -> None:
    before = PolicyVersion.objects.count()

    page = root.post(edit(reflexion), form(policy="rewoo", do="base")).content.decode()

    assert 'name="settings.max_reflections"' in page
    assert 'name="settings.tries"' not in page
    assert PolicyVersion.objects.count() == before


def test_versions_and_policies_are_retired_and_offered_again(
    root: Client, reflexion: Policy, form: Form
) -> None:
    first = reflexion.latest
    root.post(edit(reflexion), form(instructions="Be brief."))
    page = root.post(
        "/policies/reflexion/retire/", {"number": reflexion.latest.number}, follow=True
    )
    assert "is retired" in page.content.decode()
    assert reflexion.latest == first

    root.post("/policies/reflexion/retire/")
    assert not offered().filter(slug="reflexion").exists()
    root.post("/policies/reflexion/offer/")
    assert offered().filter(slug="reflexion").exists()


def test_what_people_wrote_is_text_on_every_page(
    root: Client, reflexion: Policy, form: Form
) -> None:
    root.post(
        edit(reflexion),
        form(instructions=HOSTILE, name=HOSTILE, description=HOSTILE, model__model=HOSTILE),
    )
    root.post(edit(reflexion), form(instructions="Be brief.", after=str(reflexion.latest.number)))
    shown = reflexion.latest.number - 1

    for address in (*(one.format(n=shown) for one in ADDRESSES), edit(reflexion)):
        page = root.get(address).content.decode()
        assert "<script>alert" not in page
    page = root.get(f"/policies/reflexion/{shown}/").content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "{{ 7|add:1 }}" in page
    assert 'class="hidden-character"' in page


def test_a_script_and_a_price_stay_with_the_model_that_they_were_said_of(
    root: Client, reflexion: Policy, form: Form
) -> None:
    priced = {"provider": "demo", "price": {"input": 1, "output": 2}}
    spec = reflexion.latest.spec.model_validate(reflexion.latest.content | {"model": priced})
    reflexion.publish(spec)

    root.post(edit(reflexion), form(instructions="Be brief."))
    assert reflexion.latest.spec.model.price is not None

    root.post(edit(reflexion), form(model__provider="auto"))
    assert reflexion.latest.spec.model.price is None
