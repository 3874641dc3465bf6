"""Write the demo model's reply in the format that the policy asks for."""

import json
from collections.abc import Callable

from agents.contracts import Purpose
from agents.providers.demo import again, ahead
from agents.providers.demo.answers.quoting import quoted
from agents.providers.demo.formats import structured
from agents.providers.demo.formats.instructions import read_instruction
from agents.providers.demo.formats.planning import Answer, next_move
from agents.providers.demo.formats.steps import Step, action_text, input_texts
from agents.providers.demo.request import Request


def reply_to(request: Request) -> str:
    """Return the reply to one call."""
    reply = _REPLIES.get(request.purpose, _next)
    return reply(request)


def _next(request: Request) -> str:
    move = next_move(request)
    return _node(move) if request.as_json else _text(move, request)


def _inputs(request: Request) -> str:
    call = read_instruction(request.step)
    return _json({} if call is None else call[1])


def _tool_name(request: Request) -> str:
    call = read_instruction(request.step)
    return call[0] if call is not None and call[0] in request.tools else "none"


def _node(move: Step | Answer) -> str:
    if isinstance(move, Answer):
        return _json({"kind": "FINAL", "text": move.text})
    return _json({"kind": "ACTION", "text": move.instruction})


def _text(move: Step | Answer, request: Request) -> str:
    if isinstance(move, Answer):
        return f"{move.thought}\n{_final(move.text, request)}"
    if move.tool not in request.tools:
        missing = f"This needs the tool `{move.tool}`, which is not offered here. {_ASK_AGAIN}"
        return f"The tool that I need is not in the list.\n{_final(missing, request)}"
    if request.wants_action_json:
        return f"{move.thought}\nAction: {action_text(move)}"
    inputs = input_texts(move.inputs)[0]
    return f"{move.thought}\nAction: {move.tool}\nAction Input: {inputs}"


def _final(answer: str, request: Request) -> str:
    if request.wants_action_json:
        return f"<__final_answer__>{answer}</__final_answer__>"
    return f"Final Answer: {answer}"


def _summary(request: Request) -> str:
    work = request.work.partition("Transcript:\n")[2].strip()
    if not work:
        return "I ran out of turns before I could begin."
    return f"I ran out of turns before I was done. This is my work so far:\n\n{quoted(work)}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_LESSON = "I am rule-based and always go the same way, so another try shows nothing new."
_NO_OTHER_PLAN = "I know no other way.\nPlan: answer directly"
_NO_REPAIR = 'I know no other way.\nAction: {"tool": null, "inputs": {}}'
_ASK_AGAIN = "Ask again under a policy that has it; I am a rule-based demo and know no other way."

_REPLIES: dict[str, Callable[[Request], str]] = {
    Purpose.ADAPT_PLAN: lambda _: structured.NO_OTHER_WAY,
    Purpose.CHOOSE_TOOL: _tool_name,
    Purpose.FILL_INPUTS: _inputs,
    Purpose.LEARN: lambda _: _LESSON,
    Purpose.PLAN: ahead.plan,
    Purpose.PLAN_GOALS: structured.goals,
    Purpose.REFLECT: lambda _: "",
    Purpose.PLAN_AGAIN: lambda _: _NO_OTHER_PLAN,
    Purpose.PLAN_STEPS: ahead.named_steps,
    Purpose.REPAIR: lambda _: _NO_REPAIR,
    Purpose.SETTLE_GOAL: again.settle,
    Purpose.STEP: lambda request: structured.step(next_move(request), request),
    Purpose.SOLVE: ahead.synthesis,
    Purpose.SUMMARIZE: _summary,
    Purpose.SYNTHESIZE: ahead.synthesis,
}
"""How a call is answered by its purpose; any other asks for the next step."""
