"""Ask the person at the terminal whether a risky action may run."""

import json
import select
import termios
from dataclasses import dataclass
from typing import TextIO

from agents.act.approval import ApprovalAnswer
from agents.contracts import ToolCall
from agents.control import Control
from agents.tools.spec import Tool
from agents.unicode_safety import escape_of, revealed

_TICK = 0.2
_YES, _NO = ("y", "yes"), ("", "n", "no")


@dataclass(frozen=True)
class AtTheTerminal:
    """Show a call in full, with nothing hidden in it, and read a line from who sits there.

    Only y and yes allow it; whatever else is said goes to the model with the refusal.
    """

    asked: TextIO
    out: TextIO
    control: Control

    def __call__(self, tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        """Return what was said; raises Stopped or OutOfTime while nothing is."""
        inputs = json.dumps(call.inputs, indent=2, ensure_ascii=False)
        shown = revealed(inputs, escape_of)
        # What was typed before the question was there is no answer to it.
        termios.tcflush(self.asked.fileno(), termios.TCIFLUSH)
        print(f"\nMay {tool.name} be called with exactly this?\n{shown}", file=self.out)
        if why:
            print(why, file=self.out)
        print("[y/N, or what to do instead] ", end="", file=self.out, flush=True)
        said = self._line().strip()
        if said.lower() in _YES:
            return ApprovalAnswer(granted=True)
        return ApprovalAnswer(granted=False, feedback="" if said.lower() in _NO else said)

    def _line(self) -> str:
        while not select.select([self.asked], [], [], _TICK)[0]:
            self.control.check()
        return self.asked.readline()
