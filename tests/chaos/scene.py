"""One chaos run from its first question to its audit."""

import argparse
import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from django.db import connection

from chat.models import Run, Turn
from tests.chaos.audit import Findings, audit
from tests.chaos.cast import prepare_people, prepare_stories
from tests.chaos.people import Asked, Tab
from tests.chaos.servers import PATIENCE, Servers
from tests.chaos.strikes import Chaos, Strike

RUNS_OF_ONE = 4
STORY_SECONDS = 2.5
"""A story takes longer than this, so that there are enough of them."""

MAX_UNTRUE = 18.0
"""Seconds: two rounds of the pages' look at the record, and half as much for a busy machine."""

DRAIN_SECONDS = 90
"""How long what is under way may take to end once all servers are up."""


class Scene:
    """The servers, the people and the strikes of one run."""

    def __init__(self, options: argparse.Namespace, servers: Servers, log: TextIO) -> None:
        self._options = options
        self._servers = servers
        self._log = log
        self._is_over = threading.Event()
        self._is_calm = threading.Event()
        self._is_late = threading.Event()
        self._failures: list[BaseException] = []

    def play(self, strikes: list[Strike], seconds: float) -> int:
        """Play it and return the exit code."""
        options = self._options
        count = math.ceil(options.runs / RUNS_OF_ONE)
        at_once = math.ceil(options.runs / count)
        seed, address = options.seed, self._servers.address
        self._people = prepare_people(seed, address, count, at_once, options.life)
        count = int(options.runs * (seconds / STORY_SECONDS + 2))
        self._tell_story = prepare_stories(seed, count, self._servers.stories)
        connection.close()
        self._servers.wait(self._servers.are_ready, "all servers")
        watching = threading.Thread(target=self._watch, name="people")
        watching.start()
        chaos = Chaos(self._servers, strikes, seed)
        self._say(f"Seed {seed}: {len(strikes)} kills in {seconds:.0f} s, {options.runs} at once")
        try:
            chaos.rage(self._note)
            self._drain(watching)
        finally:
            self._is_over.set()
            self._is_late.set()
            watching.join()
        for failure in self._failures:
            raise failure
        is_spared = not any(name.startswith(("worker", "postgres")) for name in chaos.made)
        found = audit(self._people, self._servers.marks, is_spared)
        for one in self._servers.ours:
            if one.late:
                found.wrong.append(f"{one.name} did not end within {PATIENCE:.0f} s of being asked")
        for tab in (tab for person in self._people for tab in person.tabs):
            if tab.longest_untrue > MAX_UNTRUE:
                found.wrong.append(
                    f"A page ({tab.kind}) showed a run at work {tab.longest_untrue:.1f} s after it "
                    "could have known of its end"
                )
        return self._report(chaos, found)

    def _watch(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            self._failures.append(error)

    async def _live(self) -> None:
        tabs = [tab for person in self._people for tab in person.tabs]
        living = [asyncio.create_task(tab.live()) for tab in tabs]
        asking = [
            asyncio.create_task(person.ask_until(self._is_over.is_set, self._tell_story))
            for person in self._people
        ]
        looked = time.monotonic()
        while not all(task.done() for task in asking) and not self._is_late.is_set():
            await asyncio.sleep(0.1)
            passed, looked = time.monotonic() - looked, time.monotonic()
            for person in self._people:
                person.look_for_untrue(passed, self._servers.may_be_asked)
            for tab in tabs:
                tab.is_calm = self._is_calm.is_set()
            for task in living:
                if task.done():
                    task.result()
        for task in (*asking, *living):
            task.cancel()
        ends = await asyncio.gather(*asking, *living, return_exceptions=True)
        self._failures += [end for end in ends if isinstance(end, Exception)]

    def _drain(self, watching: threading.Thread) -> None:
        """Let what is under way come to its end, with all servers up."""
        self._is_over.set()
        self._servers.wait(self._servers.are_ready, "all servers to come back")
        self._is_calm.set()
        self._note("all servers are up")
        began = time.monotonic()
        while watching.is_alive() and time.monotonic() - began < DRAIN_SECONDS:
            self._servers.tend()
            time.sleep(0.05)
        self._note(f"what was under way ended in {time.monotonic() - began:.1f} s")

    def _report(self, chaos: Chaos, found: Findings) -> int:
        tabs: list[Tab] = [tab for person in self._people for tab in person.tabs]
        for line in found.lines():
            self._say(line)
        kinds = ", ".join(f"{count} {name}" for name, count in sorted(chaos.made.items()))
        self._say(f"kills {chaos.made.total()} ({kinds})")
        cuts, losses = sum(tab.cuts for tab in tabs), sum(tab.losses for tab in tabs)
        self._say(f"sockets {len(tabs)}, cut {cuts} times, lost {losses} times in all")
        slowest = max(one.longest_stop for one in self._servers.ours)
        self._say(f"longest stop on request {slowest:.1f} s")
        self._say(f"longest untrue status {max(tab.longest_untrue for tab in tabs):.1f} s")
        told = Counter(asked.story.key.rpartition("-")[0] for asked in self._asked())
        self._say(f"stories {', '.join(f'{count} {kind}' for kind, count in sorted(told.items()))}")
        attempts = sum(Run.objects.values_list("attempt", flat=True))
        self._say(f"runs {Run.objects.count()}, attempts {attempts}")
        self._say(f"turns {Turn.objects.count()}")
        self._say(f"lost {len(found.lost)}")
        self._say(f"duplicated {len(found.duplicated)}")
        self._say(f"wrong status {len(found.wrong)}")
        if not found.are_none:
            self._say(f"Repeat it with SEED={self._options.seed}; the log is {self._log.name}")
        return 0 if found.are_none else 1

    def _asked(self) -> Iterator[Asked]:
        return (asked for person in self._people for asked in person.asked)

    def _say(self, words: str) -> None:
        print(words, flush=True)
        self._note(words)

    def _note(self, words: str) -> None:
        line = f"{time.time():.3f} chaos | {words}"
        print(line, file=self._log, flush=True)
        if self._options.verbose:
            print(line, flush=True)
