"""What verifying a run comes to."""

from chat.models import Run
from chat.operations.verify import Verdict, verify


def verdict(run: Run) -> tuple[Verdict, str]:
    run.refresh_from_db()
    found = verify(run)
    return found.verdict, found.found
