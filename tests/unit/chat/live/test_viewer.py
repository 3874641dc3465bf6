"""A page may leave so much unread, and not a character more."""

from chat.live import client_frames
from chat.live.viewer import TOO_SLOW, Viewer
from chat.stream import frames

BAD = "no frame"


async def test_a_page_is_cut_off_by_what_goes_beyond_what_it_may_leave_unread() -> None:
    sent: list[str] = []
    closed: list[int] = []

    async def send(text: str) -> None:
        sent.append(text)

    async def close(code: int) -> None:
        closed.append(code)

    viewer = Viewer(7, None, send, close, len(frames.HEARTBEAT))
    await viewer.serve(client_frames.Ping(type="ping", answer=True))
    assert (sent, closed, viewer.is_open) == ([frames.HEARTBEAT], [], True)

    await viewer.receive(BAD)
    await viewer.receive(BAD)

    assert (len(sent), closed, viewer.is_open) == (2, [TOO_SLOW], False)
