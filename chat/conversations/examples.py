"""The questions that the start page offers to ask; the demo model can answer each of them."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4


@dataclass(frozen=True)
class Example:
    """A question with what it shows; its id makes a double click one question."""

    about: str
    question: str
    client_message_id: UUID = field(default_factory=uuid4)


def examples() -> list[Example]:
    """Return the examples, each under a new id."""
    return [
        Example("Arithmetic", "What is 37 * 43 + 12?"),
        Example("Units", "How many kilometres are 26.2 miles?"),
        Example("Python", "Run this Python: print(sorted({n * n % 7 for n in range(20)}))"),
        Example("Dates", "How many days are there from 1 March 2026 to 24 December 2026?"),
    ]
