"""A whole installation under test: ``manage.py start`` in a folder of its own, on a free port."""

import http.cookiejar
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.servers import free_port

ROOT = Path(__file__).parent.parent


@dataclass
class Installation:
    """Settings of an installation and, once started, its processes."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: psutil.Popen | None = None
    output: list[str] = field(default_factory=list)
    seconds_to_ready: float = 0.0
    processor_seconds_to_ready: float = 0.0

    def command(self, *arguments: str) -> list[str]:
        """Command line of ``manage.py``."""
        return [sys.executable, "manage.py", *arguments]

    def variables(self) -> dict[str, str]:
        """Environment of its commands: nothing of the tests' own."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        data = {"INTERCODER_READ_ENV_FILE": "no", "INTERCODER_DATA": str(self.folder)}
        return {**kept, **data, **self.environment}

    def manage(self, *arguments: str) -> str:
        """Output of a command that succeeds."""
        result = subprocess.run(
            self.command(*arguments), cwd=ROOT, env=self.variables(), capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def start(self, *options: str, through: tuple[str, ...] = ()) -> None:
        """Start everything and return when it says that it is ready."""
        began = time.monotonic()
        self.process = psutil.Popen(
            [*through, *self.command("start", "--port", str(self.port), *options)],
            cwd=ROOT,
            env=self.variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.output = []
        while not any(line.startswith("Ctrl-C") for line in self.output):
            line = self.process.stdout.readline()
            assert line, "".join(self.output)
            if line.startswith("Ready"):
                self.seconds_to_ready = time.monotonic() - began
                self.processor_seconds_to_ready = self.processor_seconds()
            self.output.append(line)

    def children(self) -> list[psutil.Process]:
        """Every process that it started and that still runs."""
        assert self.process is not None
        return [child for child in self.process.children(recursive=True) if is_alive(child)]

    def processor_seconds(self) -> float:
        """Time that its processes kept a processor busy."""
        assert self.process is not None
        return sum(sum(process.cpu_times()) for process in [self.process, *self.children()])

    def find(self, program: str) -> list[psutil.Process]:
        """Those of its processes whose command line holds ``program``."""
        found = []
        for child in self.children():
            try:
                if program in " ".join(child.cmdline()):
                    found.append(child)
            except psutil.Error:  # it ended just now
                continue
        return found

    def links(self) -> dict[str, str]:
        """Sign-in links that it printed, by user name."""
        return dict(re.findall(r"^Sign in as (\w+).*?(http\S+)$", "".join(self.output), re.MULTILINE))

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page."""
        return fetch(f"http://127.0.0.1:{self.port}{path}")

    def stop(self) -> None:
        """End what is left of it."""
        if self.process is None:
            return
        processes = [*self.children(), self.process] if is_alive(self.process) else []
        for process in processes:
            if is_alive(process):
                process.kill()
        self.process.communicate()
        self.process = None


def fetch(url: str) -> tuple[int, str]:
    """Status and text of a page, as a browser with cookies gets it."""
    jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
    try:
        with opener.open(url, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def is_alive(process: psutil.Process) -> bool:
    """Whether a process still runs; a zombie only waits to be counted."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    """Return as soon as ``condition`` holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
