"""Model calls as they are stored, for what shows them."""

import json
from typing import Any

from django.utils import timezone

from chat.models import ModelCall, Run
from chat.request import digest_of


def stored_call(run: Run, index: int, request: str, **fields: Any) -> ModelCall:
    """Store a call whose request shares what it can with the call before."""
    before = run.model_calls.order_by("index").last()
    shared = 0
    if before is not None:
        base = ModelCall.objects.with_request(run, before.index).request
        while shared < min(len(base), len(request)) and base[shared] == request[shared]:
            shared += 1
    defaults: dict[str, Any] = {
        "turn_index": index,
        "attempt": 1,
        "purpose": "think",
        "provider": "openai",
        "model": "test-model",
        "base": before,
        "shared": shared,
        "rest": request[shared:],
        "digest": digest_of(request),
        "started_at": timezone.now(),
        "seconds": 0.5,
    }
    return ModelCall.objects.create(run=run, index=index, **defaults | fields)


def request_of(*contents: str) -> str:
    messages = [{"role": "user", "content": content} for content in contents]
    return json.dumps({"model": "test-model", "messages": messages})
