"""How often a password is guessed: counted before it is looked at, which costs the most.

allauth counts in the cache by ACCOUNT_RATE_LIMITS: the tries of one address, those of one address
for one name, and those for one name wherever they come from. Here stands what that means for a
person: whom it is counted for, and how long they wait.
"""

import time

from allauth.core.internal.ratelimit import (
    SingleRateLimitUsage,
    consume,
    get_cache_key,
    get_ip,
    get_rates,
)
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest

APP = "allauth.account"
FAILED, FAILED_ANYWHERE = "login_failed", "login_failed_anywhere"
MINUTE = 60


def address_of(request: HttpRequest) -> str:
    """Return the address that tries are counted for; of IPv6 the network."""
    return str(get_ip(request))


def count_anywhere(request: HttpRequest, name: str) -> list[SingleRateLimitUsage]:
    """Count a try for a name, whoever makes it; raises ValidationError for one too many."""
    usage = consume(request, app=APP, action=FAILED_ANYWHERE, key=name)
    if usage is None:
        raise ValidationError("", code="too_many_login_attempts")
    return list(usage.usage)


def refusal(request: HttpRequest, key: str, name: str) -> str:
    """Say how long to wait, for one name and from one address (`key`)."""
    seconds = max(_wait(request, FAILED, key), _wait(request, FAILED_ANYWHERE, name))
    if seconds > MINUTE:
        minutes = -int(-seconds // MINUTE)
        return f"Too many wrong passwords. Try again in {minutes} minutes."
    return f"Too many wrong passwords. Try again in {max(1, round(seconds))} seconds."


def _wait(request: HttpRequest, action: str, key: str) -> float:
    """Return the seconds until a further try is looked at, 0 if one would be now."""
    now = time.time()
    waits = [0.0]
    for rate in get_rates(app=APP, action=action):
        counted = get_cache_key(request, app=APP, action=action, rate=rate, key=key)
        recent = [at for at in cache.get(counted, []) if at > now - rate.duration]
        if len(recent) >= rate.amount:
            waits.append(recent[rate.amount - 1] + rate.duration - now)
    return max(waits)
