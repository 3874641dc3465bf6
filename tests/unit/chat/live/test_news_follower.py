"""News of new runs are held back until the record is told, and then told in their order."""

from chat.live.followers import NewsFollower
from chat.live.reader import Entry
from chat.stream.streams import StreamId


def entry(run_id: int) -> Entry:
    return Entry(StreamId(run_id, 0), f"frame {run_id}", str(run_id))


async def test_news_that_come_while_the_record_is_told_are_told_after_it() -> None:
    told: list[tuple[int, str]] = []

    async def tell(run_id: int, frame: str) -> None:
        told.append((run_id, frame))

    news = NewsFollower(7, StreamId(0, 0), tell, lambda: None, lambda run_id: False)
    await news.deliver([entry(1)])
    await news.deliver([entry(2)])
    assert told == []

    await news.let_through()
    await news.deliver([entry(3)])

    assert told == [(1, "frame 1"), (2, "frame 2"), (3, "frame 3")]
