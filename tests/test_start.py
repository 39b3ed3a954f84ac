"""``manage.py start``, as ``make run`` runs it: real processes, killed in every way."""

import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.installation import ROOT, Installation, fetch, is_alive, wait_until

GUNICORN, CELERY = "gunicorn", "celery"


@pytest.fixture(scope="module")
def running(prepared, tmp_path_factory) -> Iterator[Installation]:
    """Everything runs, with the demo study; what a test kills comes back."""
    folder = tmp_path_factory.mktemp("running") / "data"
    made = Installation(Path(shutil.copytree(prepared, folder)))
    made.start("--demo")
    yield made
    made.stop()


def worker_is_heard(installation: Installation) -> bool:
    checked = subprocess.run(
        installation.command("check", "--fail-level", "WARNING"),
        cwd=ROOT,
        env=installation.variables(),
        capture_output=True,
    )
    return checked.returncode == 0


def test_start_says_where_it_is_and_gives_a_link_to_each_of_the_demo(running):
    assert f"Ready: http://127.0.0.1:{running.port}/\n" in running.output
    links = running.links()
    assert sorted(links) == ["ada", "ben", "lead"]
    assert fetch(links["ada"])[0] == 200
    assert fetch(links["ada"])[0] == 403
    assert running.get("/healthz") == (200, '{"status": "ok"}')
    wait_until(lambda: worker_is_heard(running))


def test_the_second_start_takes_less_than_five_seconds_of_work_to_the_first_page(installation):
    # Processor time: other work on this machine does not count, and the worker starts beside it.
    installation.start("--demo", "--no-worker")
    assert installation.processor_seconds_to_ready < 5


def test_a_killed_worker_starts_again(running):
    wait_until(lambda: running.find(CELERY))
    (worker,) = running.find(CELERY)
    worker.kill()
    wait_until(lambda: running.find(CELERY) not in ([], [worker]))
    assert running.get("/healthz")[0] == 200


def test_killed_web_processes_start_again(running):
    wait_until(lambda: len(running.find(GUNICORN)) == 3)
    killed = running.find(GUNICORN)
    for process in killed:
        process.kill()
    wait_until(lambda: len(set(running.find(GUNICORN)) - set(killed)) == 3)
    wait_until(lambda: is_served(running))


def is_served(installation: Installation) -> bool:
    with suppress(OSError):
        return installation.get("/healthz")[0] == 200
    return False


def test_stopping_leaves_no_process(installation):
    """By Ctrl-C; that every other signal does the same is what the tests of the supervisor say."""
    installation.start()
    wait_until(lambda: installation.find(CELERY))
    children = installation.children()
    installation.process.send_signal(signal.SIGINT)
    assert installation.process.wait(20) == 0
    assert not any(is_alive(child) for child in children)


# The tests of the supervisor say it of two small programs, the next test of all of this and of make.
@pytest.mark.soak
def test_killing_the_parent_leaves_no_process(installation):
    installation.start()
    wait_until(lambda: installation.find(CELERY))
    children = installation.children()
    installation.process.kill()
    installation.process.wait()
    wait_until(lambda: not any(is_alive(child) for child in children), seconds=10)


def test_killing_make_leaves_no_process(installation):
    installation.start("--stop-with-parent", through=("sh", "-c", '"$@"; exit', "make"))
    children = installation.children()
    assert len(children) >= 4
    installation.process.kill()
    installation.process.wait()
    wait_until(lambda: not any(is_alive(child) for child in children), seconds=20)


def test_a_taken_port_is_named_before_anything_is_done(tmp_path):
    installation = Installation(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", installation.port))
        other.listen()
        result = subprocess.run(
            installation.command("start", "--port", str(installation.port)),
            cwd=ROOT,
            env=installation.variables(),
            capture_output=True,
            text=True,
        )
    assert result.returncode == 1
    assert f"choose another port: python manage.py start --port {installation.port + 1}" in result.stderr
    assert not (tmp_path / "intercoder.sqlite3").exists()


def test_listening_for_others_needs_a_name_to_be_found_under(tmp_path):
    installation = Installation(tmp_path)
    result = subprocess.run(
        installation.command("start", "--host", "0.0.0.0"),  # noqa: S104 - it must refuse to
        cwd=ROOT,
        env=installation.variables(),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "PUBLIC_URL=http://" in result.stderr


@pytest.mark.soak
def test_a_hundred_kills_lose_no_process_and_leave_none(installation):
    chance = random.Random(20261130)  # noqa: S311 - repeatable, not secret
    installation.start()
    seen = installation.children()
    for _ in range(100):
        wait_until(installation.children)
        with suppress(psutil.NoSuchProcess, IndexError):  # it ended just now, with its parent
            chance.choice(installation.children()).kill()
        time.sleep(chance.uniform(0.05, 1.0))
        seen += installation.children()
    wait_until(lambda: installation.find(CELERY) and len(installation.find(GUNICORN)) == 3, seconds=120)
    wait_until(lambda: installation.get("/healthz")[0] == 200)
    installation.process.terminate()
    installation.process.wait(20)
    wait_until(lambda: not any(is_alive(process) for process in seen), seconds=10)
