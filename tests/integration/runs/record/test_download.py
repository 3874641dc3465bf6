"""What is downloaded of a run is all that is stored of it, and grows no faster than that."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.utils import timezone

from agents.contracts import Exchange, Outcome, Turn, Usage
from agents.policies.spec import PolicySpec
from agents.record.replay import replay
from agents.record.tape import Recorded, RecordedCall
from agents.tools.catalogue import toolkit
from chat.models import ModelCall, Run, User
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store
from chat.transcripts.download import as_json, as_markdown
from chat.transcripts.portions import PORTION, carried
from tests.integration.here import here
from tests.integration.runs.record.downloading import downloaded
from tests.integration.runs.record.test_model_calls import call, change, request
from tests.stored_turns import store_turn

DOCUMENT = Path(__file__).parents[4] / "docs" / "transcripts.md"


def requests_of(transcript: dict[str, Any]) -> dict[int, str]:
    """Put the requests together as the documentation says."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(), re.M | re.S)
    names: dict[str, Any] = {}
    exec(compile(code, DOCUMENT.name, "exec"), names)  # noqa: S102
    found: dict[int, str] = names["requests_of"](transcript)
    return found


def action_of(one: dict[str, Any]) -> dict[str, Any]:
    """Return what the engine takes for an action of the file."""
    seen = None
    if one["observation"] is not None:
        seen = {"text": one["observation"], "error": one["error"]}
        seen |= {"ends": one["ends"], "images": one["pictures"]}
    call = {"tool": one["tool"], "inputs": one["inputs"]} if one["tool"] else None
    return {"call": call, "observation": seen}


def rebuilt(content: dict[str, Any]) -> Recorded:
    """Return what is recorded of a run, of nothing but its file."""
    turns = []
    for one in content["turns"]:
        actions = list(map(action_of, one["actions"]))
        thought = {"kind": one["kind"], "text": one["thought"]}
        thought |= {"calls": [done["call"] for done in actions if done["call"] is not None]}
        thought |= {"answer": one["answer"], "plan": one["plan"]}
        value = {"index": one["number"] - 1, "thought": thought, "actions": actions}
        turns.append(Turn.model_validate(value))
    calls = [
        RecordedCall(
            turn_index=one["turn"] - 1,
            usage=Usage(input_tokens=one["input_tokens"], output_tokens=one["output_tokens"]),
            error=one["error"] or "",
            **{k: one[k] for k in ("attempt", "purpose", "reply", "reasoning", "stop_reason")},
        )
        for one in content["model_calls"]
    ]
    ended = {k: content[k] for k in ("status", "reason", "answer", "message")}
    return Recorded(
        goal=content["question"],
        history=[Exchange.model_validate(one) for one in content["history"]],
        turns=turns,
        calls=calls,
        outcome=Outcome.model_validate(ended | {"partial": content["is_partial"]}),
    )


@pytest.mark.parametrize("policy", ["planned", "explicit"])
def test_a_run_can_be_rebuilt_and_replayed_from_its_file_alone(
    asked: Callable[..., Run], ada: User, policy: str
) -> None:
    question = "What is 12 * 12, and 144 / 7?"
    model = {"provider": "demo"}
    fields: dict[str, Any] = {"settings": {"planning": "always"}} if policy == "planned" else {}
    run = asked([], question, policy=policy, model=model, tools=("calculator",), **fields)
    here().work(run.pk)

    content = downloaded(run, ada)

    spec = PolicySpec.model_validate(content["policy"]["content"])
    kit = toolkit(spec.tools, find_turns=lambda *_: [], setup=None)
    assert replay(spec, kit, rebuilt(content)) is None
    assert content["status"] == "succeeded"
    assert any(turn["plan"] for turn in content["turns"]) == (policy == "planned")


def test_the_file_tells_all_that_is_stored(told: Run, ada: User) -> None:
    Run.objects.filter(pk=told.pk).update(input_tokens=40, output_tokens=80)

    content = downloaded(told, ada)

    assert content["form"] == "turnstone-run/3"
    assert (content["owner"], content["conversation"]) == ("ada", told.conversation_id)
    assert (content["parent"], content["again_of"], content["attempt"]) == (None, None, 1)
    assert (content["input_tokens"], content["output_tokens"]) == (40, 80)
    (turn,) = content["turns"]
    assert turn["answer"] == "It \u202e turns."
    assert turn["plan"] == {"goals": ["one"]}
    (action,) = turn["actions"]
    assert (action["tool"], action["observation"]) == ("browser_screenshot", "A page.")
    assert action["pictures"] == [{"media_type": "image/png", "data": "AAAA"}]
    assert list(action["inputs"]) == ["b", "a"]
    assert (action["ends"], action["error"], action["approval"]) == ("answered", None, None)
    assert (action["started_at"], action["ended_at"]) == (turn["started_at"], turn["ended_at"])
    assert (action["started_at"] is not None, action["seconds"]) == (True, 0)
    assert content["model_calls"][0]["first_token_seconds"] == 0.25
    assert content["cost"] == content["model_calls"][0]["cost"] == 0  # of a scripted model


def test_the_requests_are_put_together_to_the_letter(told: Run, ada: User) -> None:
    content = downloaded(told, ada)

    assert requests_of(content) == {n + 1: request(n) for n in range(4)}


def test_a_request_that_was_stored_wrongly_is_noticed(told: Run, ada: User) -> None:
    change(told, "Thought 1", "Thought 8")

    content = downloaded(told, ada)

    with pytest.raises(ValueError, match="call 3 is not what was sent"):
        requests_of(content)


def test_the_file_grows_with_the_turns_and_not_with_their_square(
    claimed: Callable[[], Run],
) -> None:
    def size(turns: int) -> int:
        run = claimed()
        log = CallLog(run, 0)
        for number in range(turns):
            store(run, log.row(call(request(number)), 0))
        return sum(map(len, as_json(run)))

    assert size(80) < 4.5 * size(20)


def test_a_portion_of_the_file_is_never_much_longer_than_it_may_be(
    claimed: Callable[[], Run],
) -> None:
    run, now = claimed(), timezone.now()
    for n in range(12):
        store_turn(
            run,
            n,
            kind="thought",
            status="complete",
            observation="x" * 90_000,
            started_at=now,
            ended_at=now,
        )

    async def pieces() -> list[int]:
        return [len(piece) async for piece in carried(as_json(run), "")]

    lengths = async_to_sync(pieces)()

    assert len(lengths) > 3
    assert max(lengths) < PORTION + 100_000


async def test_no_connection_is_kept_while_a_page_takes_its_time(told: Run) -> None:
    pool = connection.pool  # type: ignore[attr-defined] # of the Postgres backend
    before = pool.get_stats()

    pieces = carried(as_json(told), "")
    first = await anext(pieces)

    now = pool.get_stats()
    assert first.startswith(b"{")
    assert now["requests_num"] > before["requests_num"]
    assert now["pool_available"] == before["pool_available"]
    assert [piece async for piece in pieces] == []


@pytest.mark.parametrize(("form", "ending"), [(as_json, ""), (as_markdown, "_Cut._")])
def test_a_file_of_a_run_that_was_deleted_meanwhile_shows_that_it_is_not_whole(
    told: Run, form: Any, ending: str
) -> None:
    pieces = form(told)
    begun = next(pieces)
    Run.objects.filter(pk=told.pk).delete()

    async def rest() -> str:
        return "".join([piece.decode() async for piece in carried(pieces, ending)])

    text = begun + async_to_sync(rest)()

    assert text.endswith(ending)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


def test_verifying_keeps_no_request_but_those_that_others_begin_with(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    log = CallLog(run, 0)
    for number in range(30):
        store(run, log.row(call(request(number)), 0))

    seen = []
    for one in ModelCall.objects.with_requests(run):
        seen.append(hashlib.sha256(one.request.encode()).hexdigest())
        one.request = ""

    assert seen == list(run.model_calls.values_list("digest", flat=True))
