"""The demo model's moves as native calls: its earlier ones in the request, and the next one."""

import json

from agents.providers.base import NativeCall
from agents.providers.demo.formats.planning import Answer, next_move
from agents.providers.demo.request import Request

_ASK_AGAIN = "Ask again under a policy that has it; I am a rule-based demo and know no other way."


def native_reply(request: Request) -> tuple[str, list[NativeCall]]:
    """Return what is said, and the call that is made with it, if any."""
    move = next_move(request)
    if isinstance(move, Answer):
        return move.text, []
    if move.tool not in request.tools:
        return f"This needs the tool `{move.tool}`, which is not offered here. {_ASK_AGAIN}", []
    arguments = json.dumps(move.inputs, ensure_ascii=False)
    known = f"call_{len(request.done) + 1}"
    return move.thought, [NativeCall(index=0, id=known, name=move.tool, arguments=arguments)]
