"""Turnstone's project: settings, addresses and the processes that make it up."""

from project.celery import app as celery_app

__all__ = ["celery_app"]
