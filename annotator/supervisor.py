"""Keeps programs running as children of this process, and lets none of them outlive it."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from annotator import guard

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.2
STOP_SECONDS = 10.0  # enough for a page and a short task; a longer one is repeated when its lease runs out
STEADY_SECONDS = 60.0  # a child that ran this long is no longer in trouble
LONGEST_PAUSE_SECONDS = 30.0
HOPELESS_FAILURES = 5


class HopelessError(Exception):
    """A program ended again and again before the whole was ever ready."""


class Guard:
    """The small process that ends the children of this one when this one is gone, however it went."""

    def __init__(self) -> None:
        self._pids: set[int] = set()
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        script = [sys.executable, "-I", "-S", guard.__file__]
        return subprocess.Popen(script, stdin=subprocess.PIPE, text=True, bufsize=1)

    def watch(self, pid: int) -> None:
        """End ``pid`` when this process ends."""
        self._pids.add(pid)
        self._tell("+", pid)

    def forget(self, pid: int) -> None:
        """Leave ``pid`` alone from now on: the number may soon be somebody else's."""
        self._pids.discard(pid)
        self._tell("-", pid)

    def check(self) -> None:
        """Start the guard again if it was killed."""
        if self._process.poll() is None:
            return
        self._process = self._start()
        for pid in self._pids:
            self._tell("+", pid)

    def close(self) -> None:
        """End the guard and whatever it still watches."""
        self._process.communicate()

    def _tell(self, sign: str, pid: int) -> None:
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # the guard was killed: the next check starts another one
                self._process.stdin.write(f"{sign}{pid}\n")


@dataclass
class Child:
    """A program and its present process, if it has one."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    start_at: float = 0.0

    def note_end(self, now: float) -> float:
        """Count an end that nobody asked for; the seconds until the next start double with each."""
        self.failures = 1 if now - self.started > STEADY_SECONDS else self.failures + 1
        pause = min(LONGEST_PAUSE_SECONDS, 2.0 ** (self.failures - 1) / 2)
        self.process, self.start_at = None, now + pause
        return pause


class Supervisor:
    """Runs every program until a signal, and starts again what ended by itself."""

    def __init__(
        self,
        programs: Mapping[str, Sequence[str]],
        *,
        folder: Path,
        is_ready: Callable[[], bool],
        announce: Callable[[], None],
        stop_with_parent: bool = False,
    ) -> None:
        self.children = [Child(name, command) for name, command in programs.items()]
        self.folder = folder
        self.is_ready = is_ready
        self.announce = announce
        self.parent = os.getppid() if stop_with_parent else None
        self.ready = False
        self.stopping = False

    def run(self) -> None:
        """Stay until SIGTERM, SIGINT or SIGHUP, or until the parent that was to be followed is gone."""
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, self._ask_to_stop)
        self.guard = Guard()
        try:
            while not self.stopping:
                self._tick(time.monotonic())
                time.sleep(TICK_SECONDS)
        finally:
            self._end_children()
            self.guard.close()

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def _tick(self, now: float) -> None:
        self.guard.check()
        for child in self.children:
            if child.process is None and now >= child.start_at:
                self._start(child, now)
            elif child.process is not None and child.process.poll() is not None and not self.stopping:
                self._after_end(child, child.process, now)
        if not self.ready and self.is_ready():
            self.ready = True
            self.announce()
        if self.parent is not None and os.getppid() != self.parent:
            self.stopping = True

    def _start(self, child: Child, now: float) -> None:
        child.process = subprocess.Popen(child.command, cwd=self.folder, stdin=subprocess.DEVNULL)
        child.started = now
        self.guard.watch(child.process.pid)

    def _after_end(self, child: Child, process: subprocess.Popen[bytes], now: float) -> None:
        self.guard.forget(process.pid)
        pause = child.note_end(now)
        if not self.ready and child.failures >= HOPELESS_FAILURES:
            raise HopelessError(f"The {child.name} does not start; its last lines above say why.")
        how = how_it_ended(process.returncode)
        logger.warning("The %s ended (%s); it starts again in %.1f s.", child.name, how, pause)

    def _end_children(self) -> None:
        running = [child.process for child in self.children if child.process is not None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self.guard.forget(process.pid)


def how_it_ended(returncode: int) -> str:
    """Exit of a process in words."""
    return f"exit code {returncode}" if returncode >= 0 else f"signal {signal.Signals(-returncode).name}"
