"""The Celery app; `celery -A project worker` finds it here."""

import os

from celery import Celery
from celery.signals import celeryd_after_setup, setup_logging
from django.conf import settings

from project.ops.broker import forgive
from project.ops.core import keep_to_one_core

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

app = Celery("turnstone")
app.set_default()  # for the threads that send wake-ups: Celery's current app is per thread
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["chat.runs.worker"])
app.steps["worker"].add("chat.runs.worker.tasks:Begin")
forgive()


@setup_logging.connect
def keep_the_project_logging(**kwargs: object) -> None:
    """Leave logging as the settings have it, which Celery does when somebody listens."""


@celeryd_after_setup.connect
def stay_on_one_core(**kwargs: object) -> None:
    """Keep the worker's threads together, unless the settings say otherwise."""
    if settings.ONE_CORE:
        keep_to_one_core()


@celeryd_after_setup.connect
def answer_scrapes(**kwargs: object) -> None:
    """Tell Prometheus the worker's figures, where the settings say so."""
    # The settings import this module before there are any models.
    from project.ops.metrics import serve_worker

    serve_worker()
