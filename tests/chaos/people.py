"""The people: they ask, watch, allow, stop, press again, and lose their network at random."""

import asyncio
import random
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.chaos.page import Page
from tests.chaos.stories import Story
from tests.chaos.transports import LOSSES, SILENCE_SECONDS, Address, Frame, OpenTransport, Transport

ANSWER_SECONDS = 5
FIRST_PAUSE, MAX_PAUSE = 0.2, 2.0
AGAIN = 0.1
"""How many of the questions that were answered are sent once more, as a doubtful page would."""

TORN = 0.3
"""How many answers are given twice, the second time in another tab and the other way."""


@dataclass
class Asked:
    """A message of a person's: the story it begins, and the run it became.

    `verdicts` are the answers that its person gave to each approval.
    """

    story: Story
    message: str = field(default_factory=lambda: str(uuid.uuid4()))
    run: int | None = None
    refusals: list[str] = field(default_factory=list)
    stopped_at: float | None = None
    verdicts: dict[int, set[str]] = field(default_factory=dict)


class Tab:
    """One page on one conversation, which comes back after every loss.

    Its network is lost after some `life` seconds; 0 is never.
    """

    def __init__(
        self,
        kind: str,
        address: Address,
        open_line: OpenTransport,
        chance: random.Random,
        life: float,
    ) -> None:
        self.kind = kind
        self.page = Page()
        self.untrue: dict[int, float] = {}
        self.longest_untrue = 0.0
        self.cuts = 0
        self.losses = 0
        self.errors: list[Frame] = []
        self.is_calm = False
        self._address = address
        self._open_line = open_line
        self._chance = chance
        self._life = life
        self._transport: Transport | None = None
        self._changed = asyncio.Event()

    @property
    def has_line(self) -> bool:
        """Tell whether there is a line to send on."""
        return self._transport is not None

    async def live(self) -> None:
        """Follow the conversation until it is cancelled."""
        pause = FIRST_PAUSE
        while True:
            with suppress(*LOSSES):
                async with self._open_line(self._address, self.page.hello()) as line:
                    if await self._follow(line):
                        pause = FIRST_PAUSE
            self._transport = None
            self.losses += 1
            await asyncio.sleep(pause * self._chance.uniform(0.5, 1))
            pause = min(2 * pause, MAX_PAUSE)

    async def say(self, frame: Frame) -> bool:
        """Send a frame, and tell whether there was a line to send it on."""
        if self._transport is None:
            return False
        with suppress(*LOSSES):
            for answer in await self._transport.send(frame):
                self._take(answer)
            return True
        return False

    async def until(self, is_seen: Callable[[], bool], seconds: float) -> bool:
        """Wait until the page shows it, and tell whether it came in time."""
        deadline = time.monotonic() + seconds
        while not is_seen():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)
        return True

    async def _follow(self, line: Transport) -> bool:
        """Show what comes until the line is lost or cut, and tell whether it was of use."""
        caught_up = False
        lives = self._chance.expovariate(1 / self._life) if self._life else float("inf")
        dies_at = time.monotonic() + lives
        while True:
            left = SILENCE_SECONDS if self.is_calm else dies_at - time.monotonic()
            try:
                frames = await asyncio.wait_for(line.receive(), min(left, SILENCE_SECONDS))
            except TimeoutError:
                self.cuts += time.monotonic() >= dies_at and not self.is_calm
                line.cut()
                return caught_up
            except LOSSES:
                return caught_up
            for frame in frames:
                if frame["type"] == "caught_up":
                    caught_up, self._transport = True, line
                    self.page.settled = frame["after"]
                elif frame["type"] == "heartbeat":
                    await line.send({"type": "ping"})
                elif frame["type"] == "closed":
                    return caught_up
                self._take(frame)

    def _take(self, frame: Frame) -> None:
        if frame["type"] == "error":
            self.errors.append(frame)
        else:
            self.page.take(frame)
        self._changed.set()


class Person:
    """Somebody with one conversation in several tabs, who has `at_once` questions under way."""

    def __init__(self, tabs: list[Tab], chance: random.Random, at_once: int) -> None:
        self.tabs = tabs
        self.asked: list[Asked] = []
        self._chance = chance
        self._at_once = at_once

    async def ask_until(
        self, is_over: Callable[[], bool], tell: Callable[[], Asked | None]
    ) -> None:
        """Ask one question after the other, several at once, until told to stop."""

        async def ask_on() -> None:
            while not is_over() and (asked := tell()) is not None:
                self.asked.append(asked)
                await self._ask(asked)
                await self._watch(asked)

        await asyncio.gather(*(ask_on() for _ in range(self._at_once)))

    def look_for_untrue(self, seconds: float, is_fair: bool) -> None:
        """Note for how long a page has shown a run at work whose end another page shows.

        Only while it is fair: the page has its line, and the server can know better.
        """
        for asked in self.asked:
            run = asked.run
            if run is None or not any(one.page.has_ended(run) for one in self.tabs):
                continue
            for tab in self.tabs:
                is_untrue = is_fair and tab.has_line and not tab.page.has_ended(run)
                tab.untrue[run] = tab.untrue.get(run, 0) + seconds if is_untrue else 0
                tab.longest_untrue = max(tab.longest_untrue, tab.untrue[run])

    async def _ask(self, asked: Asked) -> None:
        """Send the message until it is answered, under the one id it has."""
        tab = self._chance.choice(self.tabs)
        frame = {
            "type": "send",
            "client_message_id": asked.message,
            "text": asked.story.question,
            "policy": asked.story.key,
        }
        while asked.message not in tab.page.messages:
            seen = len(tab.errors)
            if not await tab.say(frame):
                await asyncio.sleep(0.1)
                continue
            await tab.until(
                lambda seen=seen: (
                    asked.message in tab.page.messages  # type: ignore[misc]
                    or _refusal(tab, seen, asked.message) is not None
                ),
                ANSWER_SECONDS,
            )
            refusal = _refusal(tab, seen, asked.message)
            if refusal is not None:
                asked.refusals.append(refusal)
                await asyncio.sleep(1)
        asked.run = tab.page.messages[asked.message]
        if self._chance.random() < AGAIN:
            await tab.say(frame)

    async def _watch(self, asked: Asked) -> None:
        """Watch until all pages show the end; on the way allow, refuse and stop."""
        began = time.monotonic()
        run = asked.run
        assert run is not None
        tab = self._chance.choice(self.tabs)
        told: dict[object, float] = {}
        while not all(one.page.has_ended(run) for one in self.tabs):
            await asyncio.sleep(0.1)
            now = time.monotonic()
            after = asked.story.stop_after
            waits_for = tab.page.runs[run].approval if run in tab.page.runs else None
            wish = "stop" if after is not None and now - began > after else waits_for
            if wish is None or now - told.get(wish, 0) < ANSWER_SECONDS:
                continue
            told[wish] = now
            if waits_for is not None and wish == waits_for:
                await self._answer(asked, tab, waits_for)
            elif tab.has_line:
                asked.stopped_at = asked.stopped_at or now  # it may arrive though its line is lost
                await tab.say({"type": "stop", "run": run})

    async def _answer(self, asked: Asked, tab: Tab, approval: int) -> None:
        """Say yes or no, the same each time; some say both, and one of them will count."""
        verdicts = asked.verdicts.setdefault(approval, set())
        yes = (approval * 7 + len(asked.story.key)) % 3 > 0
        wishes = [(tab, "grant" if yes else "deny")]
        if self._chance.random() < TORN:
            wishes.append((self._chance.choice(self.tabs), "deny" if yes else "grant"))
        for one, decision in wishes:
            frame = {"type": "approve", "approval": approval, "decision": decision}
            verdicts.add(decision)
            await one.say(frame)


def _refusal(tab: Tab, seen: int, message: str) -> str | None:
    for error in tab.errors[seen:]:
        if error.get("client_message_id") == message:
            return f"{error['code']}: {error['message']}"
    return None
