"""The project: settings, addresses and processes that wire the apps together."""

from annotator.celery import app as celery_app

__all__ = ["celery_app"]
