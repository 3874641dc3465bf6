"""Write the demo model's reply in the format that the policy asks for."""

import json

from agents.providers.demo.introduction import UNKNOWN
from agents.providers.demo.request import Request


def reply_to(request: Request) -> str:
    """Return the reply to one call."""
    if request.as_json:
        return json.dumps({"kind": "FINAL", "text": UNKNOWN}, ensure_ascii=False)
    return f"This is nothing I have a rule for.\nFinal Answer: {UNKNOWN}"
