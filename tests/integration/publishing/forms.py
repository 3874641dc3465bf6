"""Who asks for the pages of policies, and where their forms are sent."""

from collections.abc import Callable
from typing import Any

from django.test import Client

from chat.models import Policy, User

Form = Callable[..., dict[str, Any]]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def edit(policy: Policy, what: str = "edit") -> str:
    return f"/policies/{policy.slug}/{policy.latest.number}/{what}/"
