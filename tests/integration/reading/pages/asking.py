"""A question as the page's form sends it."""

import uuid
from typing import Any


def question(text: str = "What is 2 + 2?", **fields: Any) -> dict[str, Any]:
    return {"text": text, "policy": "explicit", "client_message_id": str(uuid.uuid4())} | fields
