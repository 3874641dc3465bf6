"""Artifacts are handed out as files by the door of their run, and to nobody else."""

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Action, Artifact, Conversation, Run, Space, User
from chat.runs.record.moving import move_out
from tests.integration.reading.answers import text_of

JPEG = b"\xff\xd8\xff\x00\x00\x00"
SCRIPT = b"<svg/>"
LONG = "".join(f"line {number} ä\n" for number in range(20_000))


def image(kind: str, content: bytes) -> dict[str, str]:
    return {"media_type": kind, "data": b64encode(content).decode()}


IMAGES = [image("image/jpeg", JPEG), image("image/svg+xml", SCRIPT)]
TURN: dict[str, Any] = {"tool": "look", "inputs": {}, "observation": LONG, "images": IMAGES}


@pytest.fixture
def run(tell: Callable[..., Run], ada: User, folder: Path) -> Run:
    """Store a run of Ada's with pictures and a very long text, all of them artifacts."""
    made = tell(ada, TURN)
    assert move_out() == 1
    return made


def artifact(run: Run, ending: str) -> Artifact:
    return run.artifacts.get(name__endswith=ending)


@pytest.mark.parametrize(
    ("ending", "kind", "content"),
    [
        ("picture-1.jpg", "image/jpeg", JPEG),
        ("picture-2.bin", "application/octet-stream", SCRIPT),
        ("action-1.txt", "text/plain; charset=utf-8", LONG.encode()),
    ],
)
def test_an_artifact_is_a_file_to_be_kept_of_a_kind_that_is_known(
    run: Run, ada: User, browse: Callable[[User], Client], ending: str, kind: str, content: bytes
) -> None:
    answer = browse(ada).get(artifact(run, ending).get_absolute_url())

    assert (answer.status_code, answer["Content-Type"], answer.content) == (200, kind, content)
    name = artifact(run, ending).name
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "no-store, private"


def test_a_picture_on_the_page_comes_from_the_address_of_its_artifact(
    run: Run, ada: User, browse: Callable[[User], Client]
) -> None:
    page = browse(ada).get(run.get_absolute_url()).content.decode()

    assert f'src="{artifact(run, "picture-1.jpg").get_absolute_url()}"' in page
    assert 'alt="Picture 1 of turn 1"' in page


def test_a_picture_keeps_the_address_that_it_had_in_its_row(
    run: Run, ada: User, browse: Callable[[User], Client]
) -> None:
    old = reverse("action_picture", args=[run.pk, 1, 1, 1])
    answer = browse(ada).get(old)

    assert (answer.content, answer["Content-Type"]) == (JPEG, "image/jpeg")
    assert answer["Content-Disposition"].startswith("attachment")


def test_a_stranger_is_refused(run: Run, bob: User, browse: Callable[[User], Client]) -> None:
    for one in run.artifacts.all():
        assert browse(bob).get(one.get_absolute_url()).status_code == 404


def test_a_stranger_does_not_get_a_content_of_another_by_a_run_of_their_own(
    run: Run, bob: User, tell: Callable[..., Run], browse: Callable[[User], Client]
) -> None:
    one, own = artifact(run, "picture-1.jpg"), tell(bob, {"thought": "Hm."})

    asked = browse(bob).get(reverse("artifact", args=[own.pk, one.sha256, one.name]))

    assert asked.status_code == 404


def test_a_reviewer_gets_it(run: Run, rita: User, browse: Callable[[User], Client]) -> None:
    address = artifact(run, "picture-1.jpg").get_absolute_url()

    assert browse(rita).get(address).content == JPEG


def test_who_belongs_to_the_team_of_a_run_gets_it(
    run: Run,
    ada: User,
    bob: User,
    team: Space,
    tell: Callable[..., Run],
    browse: Callable[[User], Client],
) -> None:
    shared = tell(ada, TURN, conversation=Conversation.objects.create(owner=ada, space=team))
    assert move_out() == 1
    address = artifact(shared, "picture-1.jpg").get_absolute_url()

    assert browse(bob).get(address).content == JPEG


def test_a_visitor_is_sent_to_sign_in(run: Run, client: Client) -> None:
    assert client.get(artifact(run, "picture-1.jpg").get_absolute_url()).status_code == 302


@pytest.mark.parametrize("wrong", ["sha256", "name", "run"])
def test_what_is_no_artifact_of_the_run_is_not_there(
    run: Run, ada: User, browse: Callable[[User], Client], wrong: str
) -> None:
    one = artifact(run, "picture-1.jpg")
    right = {"run": run.pk, "sha256": one.sha256, "name": one.name}
    other = {"run": run.pk + 1, "sha256": "0" * 64, "name": "other.jpg"}
    named = right | {wrong: other[wrong]}

    assert browse(ada).get(reverse("artifact", args=list(named.values()))).status_code == 404


def test_a_long_text_is_read_on_the_page_step_by_step_and_whole(
    run: Run, ada: User, browse: Callable[[User], Client]
) -> None:
    address = reverse("action_text", args=[run.pk, 1, 1, "observation"])

    whole = browse(ada).get(address)
    first = browse(ada).get(address, headers={"HX-Request": "true"}).content.decode()

    assert whole.content.decode() == LONG
    assert "line 5000 ä" in first
    assert "Show the next" in first


def test_a_download_holds_what_the_artifacts_do(
    run: Run, ada: User, browse: Callable[[User], Client]
) -> None:
    apart = json.loads(text_of(browse(ada).get(f"/runs/{run.pk}/transcript.json")))
    as_markdown = text_of(browse(ada).get(f"/runs/{run.pk}/transcript.md"))

    Action.objects.update(observation=LONG, whole="", whole_length=None, images=IMAGES)

    assert json.loads(text_of(browse(ada).get(f"/runs/{run.pk}/transcript.json"))) == apart
    assert text_of(browse(ada).get(f"/runs/{run.pk}/transcript.md")) == as_markdown


def test_while_the_store_is_away_a_page_is_read_and_what_lies_there_may_be_asked_for_again(
    run: Run, ada: User, folder: Path, browse: Callable[[User], Client]
) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("no folder")
    texts = reverse("action_text", args=[run.pk, 1, 1, "observation"])

    page = browse(ada).get(run.get_absolute_url())
    answers = [
        browse(ada).get(address)
        for address in (texts, artifact(run, "picture-1.jpg").get_absolute_url())
    ]

    assert "line 0 ä" in page.content.decode()
    assert [(answer.status_code, answer["Retry-After"]) for answer in answers] == [(503, "10")] * 2


def test_what_the_store_has_lost_is_not_there(
    run: Run, ada: User, folder: Path, browse: Callable[[User], Client]
) -> None:
    one = artifact(run, "picture-1.jpg")
    (folder / one.sha256[:2] / one.sha256).unlink()

    assert browse(ada).get(one.get_absolute_url()).status_code == 404
