"""Why a line is closed is said in numbers that a server may send."""

import pytest

from chat.live import viewer


@pytest.mark.parametrize(
    "code", [viewer.SIGNED_OUT, viewer.NOT_FOUND, viewer.TOO_SLOW, viewer.TRY_LATER]
)
def test_a_close_code_is_one_of_an_application(code: int) -> None:
    assert 4000 <= code <= 4999
