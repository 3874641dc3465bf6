"""A worker's sign of life: a row that it renews, by the database's clock."""

from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from chat.models import Worker

SECONDS: float = settings.LEASE_SECONDS
"""How long a worker counts as alive that is not heard of; as for the runs that it holds."""

FORGOTTEN = timedelta(days=1)


def show(worker: str) -> None:
    """Say that a worker lives, in one statement."""
    Worker.objects.bulk_create(
        [Worker(name=worker, seen_at=Now())],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["seen_at"],
    )


def take_back(worker: str) -> None:
    """Say that a worker takes up no more; forget those that died long ago, too."""
    Worker.objects.filter(name=worker).delete()
    Worker.objects.filter(seen_at__lt=Now() - FORGOTTEN).delete()
