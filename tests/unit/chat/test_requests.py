"""What two requests share is found exactly."""

from hypothesis import given
from hypothesis import strategies as st

from chat.runs.record.pieces import shared_length


@given(st.text(), st.text(), st.text())
def test_the_shared_length_is_that_of_the_common_prefix(common: str, a: str, b: str) -> None:
    before, after = common + a, common + b
    length = shared_length(before, after)
    assert before[:length] == after[:length]
    assert length in (len(before), len(after)) or before[length] != after[length]
