"""What anybody may send is bounded before it is looked at, by the real server."""

from contextlib import suppress

import pytest

from tests.integration.web_process import Web, read_all

MB = 1_000_000
BODY = 200 * MB
PIECE = b"a" * MB
HEAD = (
    "POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\n{}\r\n\r\n"
)


@pytest.mark.parametrize("way", ["with its length", "in chunks"])
def test_a_strangers_huge_body_is_refused_in_words_and_takes_no_memory(web: Web, way: str) -> None:
    before = most = web.memory()
    in_chunks = way == "in chunks"
    length = "Transfer-Encoding: chunked" if in_chunks else f"Content-Length: {BODY}"
    piece = b"%x\r\n%b\r\n" % (len(PIECE), PIECE) if in_chunks else PIECE
    with web.connect() as line:
        line.sendall(HEAD.format(length).encode())
        with suppress(ConnectionError):
            for _ in range(BODY // len(PIECE)):
                line.sendall(piece)
                most = max(most, web.memory())
        answer = read_all(line)
    most = max(most, web.memory())

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"too large: Turnstone takes 2.6 MB at most" in answer
    assert most - before < 50 * MB


def test_who_asks_first_whether_a_huge_body_is_wanted_is_told_no(web: Web) -> None:
    with web.connect() as line:
        line.sendall(HEAD.format(f"Content-Length: {BODY}\r\nExpect: 100-continue").encode())
        answer = read_all(line)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"100 Continue" not in answer


@pytest.mark.parametrize("way", ["with its length", "in chunks"])
def test_a_body_that_is_no_longer_than_a_question_may_be_is_looked_at(web: Web, way: str) -> None:
    body = b"text=" + b"%C3%A4" * 200_000
    length = f"Content-Length: {len(body)}"
    if way == "in chunks":
        length, body = "Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    with web.connect() as line:
        line.sendall(HEAD.format(f"{length}\r\nConnection: close").encode() + body)
        answer = read_all(line)

    assert answer.startswith(b"HTTP/1.1 403 ")  # Django's: it has no token
    assert b"This form has expired" in answer
