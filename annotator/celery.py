"""Background work.

The broker is only a doorbell: lost or doubled messages change nothing, the database is the queue.
"""

import os
import warnings

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import worker_ready, worker_shutting_down
from celery.worker.consumer import Consumer

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
# NumPy reads it when it is loaded. Its tables are small: a second thread only burns time of the processor,
# a fifth to a third more for a report of 300 units.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Meant for pickled messages, which can run code; ours are JSON, and containers often run as root.
warnings.filterwarnings("ignore", "You're running the worker with superuser", category=SecurityWarning)

app = Celery("annotator")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def start_watch(sender: Consumer, **_: object) -> None:
    """Begin the heartbeat and the sweep of this worker."""
    from annotator.watch import start  # it loads models, which Django must be ready for

    start(worker=sender.hostname)


@worker_shutting_down.connect
def stop_watch(**_: object) -> None:
    """End them."""
    from annotator.watch import stop

    stop()
