"""The Celery app; `celery -A project worker` finds it here."""

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

app = Celery("turnstone")
app.set_default()  # for the threads that send wake-ups: Celery's current app is per thread
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["chat.runs"])


@setup_logging.connect
def keep_the_project_logging(**kwargs: object) -> None:
    """Leave logging as the settings have it, which Celery does when somebody listens."""
