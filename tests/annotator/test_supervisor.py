"""The supervisor with programs that only sleep, in a process of its own that can be killed."""

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from tests.installation import ROOT, is_alive, wait_until

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
]
HOPELESS = [sys.executable, "-c", "raise SystemExit('no such port')"]


@pytest.fixture
def supervise() -> Iterator[Callable[..., psutil.Popen]]:
    """Start a supervisor of the given programs; it says "ready" once they all run."""
    started: list[psutil.Popen] = []

    def start(*programs: list[str], is_ready: bool = True) -> psutil.Popen:
        script = f"""
            from pathlib import Path
            from annotator.supervisor import Supervisor
            Supervisor(
                dict(enumerate({list(programs)!r})),
                folder=Path("/"),
                is_ready=lambda: {is_ready},
                announce=lambda: print("ready", flush=True),
            ).run()
        """
        command = [sys.executable, "-c", textwrap.dedent(script)]
        process = psutil.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        if is_ready:
            assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        for child in [*children_of(process), process]:
            if child.is_running():
                child.kill()
        process.communicate()


def children_of(process: psutil.Process) -> list[psutil.Process]:
    if not is_alive(process):
        return []
    return [child for child in process.children(recursive=True) if is_alive(child)]


def sleepers_of(process: psutil.Process) -> list[psutil.Process]:
    return [child for child in children_of(process) if "time.sleep" in command_line(child)]


def command_line(process: psutil.Process) -> str:
    """Arguments of a process: one that starts just now has none yet, and one that ended has none any more."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def all_sleepers_of(process: psutil.Process, number: int) -> list[psutil.Process]:
    wait_until(lambda: len(sleepers_of(process)) == number)
    return sleepers_of(process)


def are_gone(processes: list[psutil.Process]) -> bool:
    return not any(is_alive(process) for process in processes)


def test_a_child_that_was_killed_starts_again(supervise):
    supervisor = supervise(SLEEP, SLEEP)
    first, second = all_sleepers_of(supervisor, 2)
    first.kill()
    first.wait()
    assert second in all_sleepers_of(supervisor, 2)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_every_child(supervise, number):
    supervisor = supervise(SLEEP, SLEEP)
    children = children_of(supervisor)
    assert len(children) == 3  # two programs and the guard
    supervisor.send_signal(number)
    assert supervisor.wait(15) == 0
    assert are_gone(children)


@pytest.mark.parametrize("program", [SLEEP, STUBBORN])
def test_no_child_outlives_a_killed_supervisor(supervise, program):
    supervisor = supervise(program)
    time.sleep(0.3)  # the stubborn one needs a moment to become stubborn
    children = children_of(supervisor)
    assert len(children) == 2
    supervisor.kill()
    supervisor.wait()
    wait_until(lambda: are_gone(children), seconds=10)


def test_a_killed_guard_is_replaced_and_knows_the_children(supervise):
    supervisor = supervise(SLEEP)
    (sleeper,) = all_sleepers_of(supervisor, 1)
    (guard,) = set(children_of(supervisor)) - {sleeper}
    guard.kill()
    wait_until(lambda: len(children_of(supervisor)) == 2 and guard not in children_of(supervisor))
    time.sleep(0.5)  # it hears of the sleeper just after its start
    supervisor.kill()
    supervisor.wait()
    wait_until(lambda: are_gone([sleeper]), seconds=10)


def test_a_program_that_never_starts_ends_the_supervisor(supervise):
    supervisor = supervise(HOPELESS, is_ready=False)
    _, errors = supervisor.communicate(timeout=40)
    assert supervisor.returncode == 1
    assert "no such port" in errors
    assert "does not start" in errors
