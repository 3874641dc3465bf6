"""A person's own conversations, found by their titles."""

from chat.governance import door
from chat.models import Conversation, User
from chat.search.language.query import Query

MOST = 5


def titled(user: User, query: Query) -> list[Conversation]:
    """Return the newest conversations whose title holds all that a query of words asks for.

    A title is the owner's alone, whoever may read the turns. A query with fields is about turns.
    """
    if query.fields or not query.wanted:
        return []
    found = door.own_chats(user)
    for term in query.terms:
        if term.is_negative:
            found = found.exclude(title__icontains=term.text.removeprefix("-").strip('"'))
        else:
            found = found.filter(title__icontains=term.text.strip('"'))
    return list(found[:MOST])
