"""A run from the question to its end, on real services, with a scripted model."""

from collections.abc import Callable

from django.conf import settings

from chat.models import ModelCall, Run, RunStatus, TurnStatus
from tests.integration.here import here

ACTION = 'Thought: I should compute.\nAction: calculator\nAction Input: {"expression": "2 + 2"}'
ANSWER = "Thought: I know now.\nFinal Answer: It is **4**."


def test_a_run_is_stored_turn_by_turn_with_its_answer(asked: Callable[..., Run]) -> None:
    run = asked([{"say": ACTION}, {"say": ANSWER}], tools=("calculator",))
    here().work(run.pk)

    run.refresh_from_db()
    first, last = run.turns.all()
    assert (run.status, run.reason, run.answer) == (RunStatus.SUCCEEDED, "answered", "It is **4**.")
    assert "<strong>4</strong>" in run.answer_html
    assert (run.provider, run.model, run.attempt) == ("scripted", "scripted", 1)
    assert run.build == settings.BUILD != ""
    [action] = first.actions
    assert (action.tool, action.inputs, action.observation) == (
        "calculator",
        {"expression": "2 + 2"},
        "4",
    )
    assert last.actions == []
    assert {first.status, last.status} == {TurnStatus.COMPLETE}
    assert first.document.run_document.status == RunStatus.SUCCEEDED
    assert [call.turn_index for call in ModelCall.objects.with_requests(run)] == [0, 1]


def test_the_inputs_of_an_action_keep_their_order(asked: Callable[..., Run]) -> None:
    inputs = '{"value": 2, "from_unit": "km", "to_unit": "m"}'
    action = f"Thought: So.\nAction: convert_units\nAction Input: {inputs}"
    run = asked([{"say": action}, {"say": ANSWER}], tools=("convert_units",))
    here().work(run.pk)
    assert list(run.turns.get(index=0).actions[0].inputs or ()) == ["value", "from_unit", "to_unit"]
