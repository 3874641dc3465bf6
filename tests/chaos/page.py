"""A page as a reader sees it: frames are folded the way the browser's own code folds them."""

import re
from dataclasses import dataclass, field
from typing import Any

STATUS = re.compile(r'data-status="(\w+)"')
CURSOR = re.compile(r'data-cursor="(\d+-\d+)"')
APPROVAL = re.compile(r'data-approval="(\d+)"')
STATUSES = {
    "run.started": "running",
    "turn.started": "running",
    "approval.requested": "waiting",
    "run.interrupted": "interrupted",
    "run.ended": "",
}
"""The events that change a run's status, and to what; the end says it itself."""

ENDED = frozenset({"succeeded", "exhausted", "stopped", "failed"})


@dataclass
class Shown:
    """One run as it stands on the page.

    `streamed` holds, for each turn whose thought was seen from its first letter, that text; a
    snapshot in between makes a turn unknown until it is complete.
    """

    run: int
    cursor: str
    status: str
    html: str
    ended_html: str = ""
    streamed: dict[int, str] = field(default_factory=dict)
    shown_by: str = "run.created"
    answer: str | None = None
    approval: int | None = None
    statuses: list[str] = field(default_factory=list)
    oddities: list[str] = field(default_factory=list)

    @property
    def is_live(self) -> bool:
        """Tell whether the page believes that the run goes on."""
        return self.status not in ENDED

    def forget_stream(self) -> None:
        """Note that the whole run was shown anew, as it is stored."""
        self.streamed, self.answer = {}, None


class Page:
    """What one tab shows of a conversation."""

    def __init__(self) -> None:
        self.runs: dict[int, Shown] = {}
        self.messages: dict[str, int] = {}
        self.oddities: list[str] = []
        self.settled = 0

    def hello(self) -> dict[str, Any]:
        """Return what the page tells of itself after a reconnect."""
        live = {str(run.run): run.cursor for run in self.runs.values() if run.is_live}
        return {"type": "hello", "cursors": live, "after": self.settled}

    def has_ended(self, run: int) -> bool:
        """Tell whether the page shows the run's end."""
        return run in self.runs and not self.runs[run].is_live

    def take(self, frame: dict[str, Any]) -> None:
        """Show a frame."""
        match frame["type"]:
            case "run.created":
                self._create(frame)
            case "run.snapshot":
                self._replace(frame)
            case "events":
                self._pass(frame)

    def _create(self, frame: dict[str, Any]) -> None:
        message, run = frame["client_message_id"], frame["run"]
        if self.messages.setdefault(message, run) != run:
            self.oddities.append(f"message {message} became run {self.messages[message]} and {run}")
        html = frame["html"]
        cursor = _first(CURSOR, html)
        if run not in self.runs:
            self.runs[run] = Shown(run, cursor, _first(STATUS, html), html)
            self.runs[run].approval = _approval(html)
            if not self.runs[run].is_live:
                self.runs[run].ended_html = html
        elif _parsed(cursor) > _parsed(self.runs[run].cursor):
            self._replace(frame | {"type": "run.snapshot", "id": cursor})
            self.runs[run].shown_by = frame["type"]

    def _replace(self, frame: dict[str, Any]) -> None:
        shown = self._followed(frame)
        if shown is None:
            return
        shown.html = frame["html"]
        shown.forget_stream()
        shown.approval = _approval(frame["html"])
        self._become(shown, _first(STATUS, frame["html"]))
        if not shown.is_live:
            shown.ended_html = frame["html"]

    def _pass(self, frame: dict[str, Any]) -> None:
        shown = self._followed(frame)
        for event in frame["events"] if shown else ():
            if shown is not None:
                self._step(shown, event)

    def _followed(self, frame: dict[str, Any]) -> Shown | None:
        """Return the run that a frame is news of, None where it tells nothing new."""
        shown = self.runs.get(frame["run"])
        if shown is None:
            self.oddities.append(f"run {frame['run']} is told of and was never shown")
            return None
        if frame["type"] == "run.snapshot" and shown.is_live:
            shown.cursor, shown.shown_by = frame["id"], frame["type"]
            return shown
        if not shown.is_live or _parsed(frame["id"]) <= _parsed(shown.cursor):
            # What an answer to the page's own message showed may still be on its way by the line.
            if frame["type"] == "events" and shown.shown_by != "run.created":
                kinds = [event["type"] for event in frame["events"]]
                shown.oddities.append(
                    f"frame {frame['id']} was sent after {shown.cursor} ({shown.shown_by}): {kinds}"
                )
            return None
        shown.cursor, shown.shown_by = frame["id"], frame["type"]
        return shown

    def _step(self, shown: Shown, event: dict[str, Any]) -> None:
        if event["type"] in STATUSES:
            self._become(shown, STATUSES[event["type"]] or event["status"])
        match event["type"]:
            case "turn.started":
                shown.streamed[event["index"]] = ""
                shown.answer = ""
            case "thought.delta" if event["index"] in shown.streamed:
                shown.streamed[event["index"]] += event["text"]
            case "answer.delta" if shown.answer is not None:
                shown.answer += event["text"]
            case "run.interrupted":
                shown.forget_stream()
            case "run.ended":
                shown.ended_html = event["html"]
        if "html" in event:
            shown.approval = _approval(event["html"])

    def _become(self, shown: Shown, status: str) -> None:
        if not shown.is_live and status != shown.status:
            shown.oddities.append(f"it was {shown.status} and then {status}")
        if status != shown.status:
            shown.statuses.append(status)
        shown.status = status


def _first(pattern: re.Pattern[str], html: str) -> str:
    found = pattern.search(html)
    if found is None:
        raise ValueError(f"A run's HTML lacks {pattern.pattern}: {html[:200]}")
    return found.group(1)


def _approval(html: str) -> int | None:
    found = APPROVAL.search(html)
    return None if found is None else int(found.group(1))


def _parsed(stream_id: str) -> tuple[int, int]:
    attempt, _, seq = stream_id.partition("-")
    return int(attempt), int(seq)
