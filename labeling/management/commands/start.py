"""``python manage.py start``: everything one machine needs, in one process group."""

import os
import socket
import sys
from argparse import ArgumentParser
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.db import connections

from annotator.env import env_str
from annotator.sign_in import sign_in_link
from annotator.static_files import collect_static_files
from annotator.supervisor import HopelessError, Supervisor
from labeling.demo.load import load_demo_study
from labeling.models import User

DEMO_USERS = ("lead", "ada", "ben")
WORKER = ("-m", "celery", "--quiet", "-A", "annotator", "worker", "--loglevel", "warning")
# One process whose threads share what it loads: tasks wait for GitHub and for the database.
POOL = ("--pool", "threads", "--concurrency", "2")
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class Command(BaseCommand):
    help = "Prepare the database, then run the web server and the worker until Ctrl-C."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")
        parser.add_argument(
            "--demo", action="store_true", help="load the demo study and print sign-in links for it"
        )
        parser.add_argument("--no-worker", action="store_true", help="run the web server alone")
        parser.add_argument(
            "--stop-with-parent", action="store_true", help="end when the starting process ends"
        )

    def handle(
        self, *, host: str, port: int, demo: bool, no_worker: bool, stop_with_parent: bool, **_: Any
    ) -> None:
        settings.PUBLIC_URL = os.environ["PUBLIC_URL"] = public_url(host, port)
        refuse_taken_port(host, port)
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        collect_static_files()
        if demo:
            load_demo_study()
        programs = {"web server": [sys.executable, "-m", "gunicorn", "-c", "python:annotator.webserver"]}
        programs["web server"] += ["--bind", address(host, port)]
        if not no_worker:
            programs["worker"] = [sys.executable, *WORKER, *POOL, *QUIET]
        supervisor = Supervisor(
            programs,
            folder=settings.BASE_DIR,
            is_ready=lambda: answers(host, port),
            announce=lambda: self.announce(demo=demo),
            stop_with_parent=stop_with_parent,
        )
        try:
            supervisor.run()
        except HopelessError as error:
            raise CommandError(str(error)) from error

    def announce(self, *, demo: bool) -> None:
        """Say where the site is, and how to get into the demo."""
        self.stdout.write(f"Ready: {settings.PUBLIC_URL}/")
        if demo:
            for user in User.objects.filter(username__in=DEMO_USERS, is_active=True).order_by("pk"):
                self.stdout.write(f"Sign in as {user.username} (once): {sign_in_link(user)}")
        self.stdout.write("Ctrl-C stops it.")
        self.stdout.flush()
        connections.close_all()


def public_url(host: str, port: int) -> str:
    """Address that people type: what PUBLIC_URL says, else where we listen."""
    if env_str("PUBLIC_URL"):
        return str(settings.PUBLIC_URL)
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        raise CommandError(
            f"With --host {host} others reach this machine under a name that only you know. "
            f"Write it into .env or the environment, for example PUBLIC_URL=http://{socket.gethostname()}:{port}"
        )
    return f"http://{address(host, port)}"


def address(host: str, port: int) -> str:
    """Host and port as URLs and gunicorn write them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def refuse_taken_port(host: str, port: int) -> None:
    """Fail before anything is prepared if nobody could listen there."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except (OSError, OverflowError) as error:
            raise CommandError(
                f"Cannot listen on {address(host, port)} ({error}). Stop what listens there, "
                f"or choose another port: python manage.py start --port {port + 1}"
            ) from error


def answers(host: str, port: int) -> bool:
    """Whether the web server serves pages."""
    nearby = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    try:
        with build_opener(ProxyHandler({})).open(
            f"http://{address(nearby, port)}/healthz", timeout=2
        ) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False
