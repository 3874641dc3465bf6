"""Read whether the question leans on the one before: "do it again", "the same once more"."""

import json
import re

from agents.providers.demo.request import Request

_AGAIN = re.compile(
    r"(?:please |now |ok,? |can you |could you )*"
    r"(?:(?:do|run|try|calculate|compute|say|show) )?(?:(?:it|that|this|the same)(?: thing)? )?"
    r"(?:again|once more|one more time)(?: please)?[\s.!?]*",
    re.IGNORECASE,
)
_LONGEST = 100


def settle(request: Request) -> str:
    """Return the question that is meant, a question back, or nothing where it is clear."""
    goal = " ".join(request.goal.split())
    if len(goal) > _LONGEST or not _AGAIN.fullmatch(goal):
        return "{}"
    if not request.history:
        return json.dumps({"clarification_question": "What shall I do again?"})
    return json.dumps({"revised_goal": request.history[-1][0]}, ensure_ascii=False)
