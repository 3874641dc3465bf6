"""The workers that live."""

from django.db import models


class Worker(models.Model):
    """A worker process, by its name in the runs that it holds; it renews `seen_at` while it lives.

    So whether anybody works is read from here: to ask the workers takes them time they may not
    have, and leaves answers behind in Redis.
    """

    name = models.CharField(max_length=100, primary_key=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
