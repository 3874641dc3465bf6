"""Artifacts in a bucket: a real server that speaks as S3 does, on this machine."""

import os
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from agents.contracts import Image, Observation
from chat.artifacts import store
from chat.artifacts.store import ArtifactLost, ArtifactsAway
from chat.models import Action, Run
from chat.operations.verify import Verdict, verify
from chat.runs.worker.sweeper import find_strays, sweep_one
from project import addresses
from tests.recording import observe, recorder_of
from tests.worker_stage.telling_tools import PNG

KEYS = {"AWS_ACCESS_KEY_ID": "ada", "AWS_SECRET_ACCESS_KEY": "ada-secret-1"}
BUCKET = "turnstone"
LONG = "".join(f"line {number} äöü\n" for number in range(60_000))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start the server, with an empty bucket."""
    kept = {name: os.environ.get(name) for name in KEYS}
    os.environ.update(KEYS)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    endpoint = "http://{}:{}".format(*moto.get_host_and_port())
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket=BUCKET)
    yield endpoint
    moto.stop()
    for name, value in kept.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture
def bucket(server: str, settings: Any) -> Iterator[Any]:
    """Keep the artifacts of one test in the bucket; give the bucket as its server shows it."""
    address = f"s3://{BUCKET}/of/this?endpoint={server}&region=us-east-1"
    artifacts = addresses.artifacts(address, Path("/"))
    settings.STORAGES = {**settings.STORAGES, "artifacts": artifacts}
    session = boto3.resource("s3", endpoint_url=server, region_name="us-east-1")
    yield session.Bucket(BUCKET)
    session.Bucket(BUCKET).objects.delete()


def keys(bucket: Any) -> list[str]:
    return [found.key for found in bucket.objects.all()]


def test_what_is_put_is_there_once_below_the_prefix_and_can_be_read(bucket: Any) -> None:
    digest = store.put(b"content")
    [first] = bucket.objects.all()

    assert store.put(b"content") == digest

    [second] = bucket.objects.all()
    assert first.key == f"of/this/{digest[:2]}/{digest}"
    assert second.last_modified == first.last_modified
    assert store.content_of(digest) == b"content"
    assert list(store.all_digests()) == [digest]


def test_what_is_not_there_and_what_was_changed_is_lost(bucket: Any) -> None:
    digest = store.put(b"content")
    [kept] = bucket.objects.all()
    kept.put(Body=b"another")

    with pytest.raises(ArtifactLost, match="not what was stored"):
        store.content_of(digest)
    kept.delete()
    with pytest.raises(ArtifactLost, match="not there any more"):
        store.content_of(digest)
    store.delete(digest)


@pytest.mark.parametrize(
    "address", ["s3://no-such-bucket", "s3://turnstone?endpoint=http://[::1]:1"]
)
def test_a_bucket_that_is_not_there_is_away(server: str, settings: Any, address: str) -> None:
    whole = address if "?" in address else f"{address}?endpoint={server}"
    artifacts = addresses.artifacts(f"{whole}&region=us-east-1", Path("/"))
    settings.STORAGES = {**settings.STORAGES, "artifacts": artifacts}

    with pytest.raises(ArtifactsAway):
        store.put(b"content")
    with pytest.raises(ArtifactsAway):
        list(store.all_digests())


def test_a_run_keeps_its_artifacts_in_the_bucket_and_they_go_with_it(
    bucket: Any, claimed: Callable[[], Run]
) -> None:
    run = claimed()
    picture = Image(media_type="image/png", data=PNG)

    told = observe(recorder_of(run), 0, Observation(text=LONG, images=(picture,)))

    assert len(keys(bucket)) == 2
    assert run.turns.get().as_contract() == told
    assert run.artifacts.get(name__endswith="png").content == b64decode(PNG)
    action = Action.objects.get()
    assert action.whole_length == len(LONG)
    assert verify(run).verdict is not Verdict.DIFFERS
    run.delete()
    assert find_strays() == 0
    assert [sweep_one(), sweep_one(), sweep_one()] == [True, True, None]
    assert keys(bucket) == []
