import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chat.search.plain_text import unmarked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is **129**, *surely*.", "It is 129, surely."),
        ("**bold and *more* so**", "bold and more so"),
        ("***both***", "both"),
        ("- Sums: *What is 3 * 4?*, *5 * 6*", "- Sums: What is 3 * 4?, 5 * 6"),
        ("## Result\n* one\n* two", "Result\n- one\n- two"),
        ("```python\nf(**kwargs)\n```", "\nf(**kwargs)\n"),
        ("Use `a * b` or `**kwargs`.", "Use a * b or **kwargs."),
        ("2 * 3 * 4, 2**3 and f(*args)", "2 * 3 * 4, 2**3 and f(*args)"),
        ("half of it** is **left", "half of it is left"),
        ("a ** b", "a ** b"),
        ("snake_case and __init__", "snake_case and __init__"),
    ],
)
def test_markdown_becomes_plain_text(text: str, expected: str) -> None:
    assert unmarked(text) == expected


@given(st.text(alphabet="*`#a \n~_", max_size=60) | st.text(max_size=60))
def test_nothing_but_signs_is_taken_away(text: str) -> None:
    assume("```" not in text and "~~~" not in text)

    assert [c for c in unmarked(text) if c.isalnum()] == [c for c in text if c.isalnum()]
