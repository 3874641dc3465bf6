"""What went wrong with a command is told in words that its page can show."""

import json
import uuid

import pytest
from django.db import InterfaceError, OperationalError

from chat.live import client_frames
from chat.live.access import Refused
from chat.live.commands import UNREACHABLE, rejection

MESSAGE_ID = uuid.uuid4()
QUESTION = client_frames.Send(
    type="send", client_message_id=MESSAGE_ID, text="Hello", policy="explicit"
)


def told(
    error: Exception, frame: client_frames.ClientFrame | None = QUESTION
) -> tuple[str, str, str]:
    rejected = json.loads(rejection(error, frame))
    return rejected["code"], rejected["message"], rejected["client_message_id"]


@pytest.mark.parametrize("error", [OperationalError("gone"), InterfaceError("closed")])
def test_a_question_that_the_database_could_not_take_may_be_sent_again(error: Exception) -> None:
    assert told(error) == ("unavailable", UNREACHABLE, str(MESSAGE_ID))


def test_a_refusal_says_why() -> None:
    assert told(Refused("forbidden", "Not yours.")) == ("forbidden", "Not yours.", str(MESSAGE_ID))


def test_a_fault_of_ours_is_not_told_in_its_own_words(caplog: pytest.LogCaptureFixture) -> None:
    code, message, _ = told(RuntimeError("secret"))
    assert code == "internal"
    assert "secret" not in message
    assert "secret" in caplog.text
