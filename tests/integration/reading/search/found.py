"""A turn with something of everything, and which runs a query finds."""

from chat.models import TurnDocument, User
from chat.search.find import find
from chat.search.language.query import parse


def found(user: User, text: str) -> list[int]:
    """Return the runs of the turns that fit, oldest first."""
    page = find(user, parse(text))
    turns = TurnDocument.objects.filter(pk__in=page.turn_ids).order_by("pk")
    return list(turns.values_list("run_document", flat=True))


EVERYTHING = {
    "thought": "The requests were timing out; I'm running it twice.",
    "plan": {"goals": ["Find the lighthouse."]},
    "tool": "python_repl",
    "inputs": {"code": "import foo_bar\nfoo_bar.baz(3.14)", "nested": [{"deep_key": "treasure"}]},
    "observation": "See https://example.com/a/b?x=1 for C++ and 東京の人口 مرحبا 🚀 don't",
}
