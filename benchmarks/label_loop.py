"""The label loop: fetch the next unit and submit three dimensions, beside a bare Django GET and insert.

``python -m benchmarks.label_loop --units 10000 --issues 100000`` measures at full size. The goals: with one
client the median is at most 9 times that of the bare pair, with 8 clients the rate at least 0.12 of its rate;
at most 1.2 times slower for a coder who has submitted thousands of units, at most 1.3 times with all the
issues loaded. Errors, lost, doubled and over-assigned units are counted after every run; one ends it.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil

from benchmarks import databases
from tests.servers import free_port

UNITS = 1_000
ISSUES = 5_000
CLIENTS = 8
LOOPS = 200
TURN = 10
WARM_UP = 20
ANSWERS = {"symptom": ["crash"], "cause": ["logic"], "fix": ["call"]}
JSON = {"Content-Type": "application/json"}


def measure(units: int = UNITS, issues: int = ISSUES) -> Iterator[str]:
    """Yield one line per figure."""
    arguments = ("--child", "--units", str(units), "--issues", str(issues))
    for database, told in databases.on_each("benchmarks.label_loop", *arguments):
        yield f"{database}: {told}"


@dataclass
class Run:
    """What some clients did: seconds of each loop, and what went wrong."""

    seconds: float = 0.0
    processor: float = 0.0
    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def median(self) -> float:
        return 1000 * statistics.median(self.times)

    @property
    def processor_time(self) -> float:
        """Milliseconds of the server's processor for one loop: a busy machine does not change it much."""
        return 1000 * self.processor / len(self.times)

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    def add(self, other: "Run") -> None:
        """Take in what was measured later."""
        self.seconds += other.seconds
        self.processor += other.processor
        self.times += other.times
        self.errors += other.errors

    def __str__(self) -> str:
        p95 = 1000 * statistics.quantiles(self.times, n=20)[-1]
        times = f"median {self.median:.1f} ms, p95 {p95:.1f} ms, {self.rate:.0f}/s"
        return f"{times}, {self.processor_time:.1f} ms of processor"


Loop = Callable[[http.client.HTTPConnection], None]


def clients(server: "Server", loops: list[Loop], times: int) -> Run:
    """Let one client run each of the loops so many times, without a pause."""
    run = Run()

    def work(loop: Loop) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for _ in range(times):
            began = time.perf_counter()
            try:
                loop(connection)
            except (RefusedError, OSError, http.client.HTTPException) as error:
                run.errors.append(repr(error))
                connection.close()
            run.times.append(time.perf_counter() - began)
        connection.close()

    threads = [threading.Thread(target=work, args=(loop,)) for loop in loops]
    began, before = time.perf_counter(), server.processor_seconds()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.seconds, run.processor = time.perf_counter() - began, server.processor_seconds() - before
    return run


def ask(connection: http.client.HTTPConnection, method: str, path: str, **sent: Any) -> tuple[int, bytes]:
    connection.request(method, path, **sent)
    response = connection.getresponse()
    return response.status, response.read()


class RefusedError(Exception):
    """An answer that was not the one to be measured."""


def expect(answer: tuple[int, bytes], status: int) -> bytes:
    if answer[0] != status:
        raise RefusedError(*answer)
    return answer[1]


def bare_pair(connection: http.client.HTTPConnection) -> None:
    """Fetch a page and insert a row, with nothing but Django."""
    for method, expected in (("GET", 200), ("POST", 204)):
        expect(ask(connection, method, "/"), expected)


@dataclass(frozen=True)
class Coder:
    """A signed-in coder and their round."""

    round_id: int
    membership: int
    headers: dict[str, str]

    def loop(self, connection: http.client.HTTPConnection) -> None:
        """Fetch what comes next and hand it in."""
        path = f"/api/v1/rounds/{self.round_id}/queue/next/"
        unit = json.loads(expect(ask(connection, "GET", path, headers=self.headers), 200))
        sent = {"version": unit["version"], "annotations": ANSWERS, "status": "submitted"}
        path, headers = f"/api/v1/assignments/{unit['id']}/", self.headers | JSON
        expect(ask(connection, "PATCH", path, body=json.dumps(sent), headers=headers), 200)


@dataclass(frozen=True)
class Server:
    """A web server: its port, and the process whose children answer."""

    port: int
    process: psutil.Process

    def processor_seconds(self) -> float:
        return sum(sum(child.cpu_times()[:2]) for child in self.process.children(recursive=True))


@contextmanager
def web_server(application: str) -> Iterator[Server]:
    """Serve an application as an installation does."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "python:annotator.webserver"]
    command += ["--bind", f"127.0.0.1:{port}", application]
    with subprocess.Popen(command, env=os.environ | {"PUBLIC_URL": f"http://127.0.0.1:{port}"}) as server:
        try:
            _wait_for(port)
            yield Server(port, psutil.Process(server.pid))
        finally:
            server.terminate()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            ask(connection, "GET", "/healthz")
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            connection.close()
            return


def run(units: int, issues: int) -> None:
    """Measure on the database of this process."""
    databases.set_up()
    from benchmarks import label_loop_data as data

    data.make_bare_table()
    study = data.make_study(units)
    coders = [data.make_coder(study, place) for place in range(CLIENTS + 1)]
    veteran = data.make_veteran(study, submitted=units, left=LOOPS + WARM_UP)
    data.gather_statistics()
    with (
        web_server("benchmarks.bare:application") as bare,
        web_server("annotator.wsgi:application") as server,
    ):
        measured = Measured(bare, server)
        one = measured.loops([coders[0]])
        databases.say(f"1 client: {one}; goals 9 x the median, 8 x the processor time")
        databases.say(f"{CLIENTS} clients: {measured.loops(coders[1:])}; goal 0.12 of the bare rate")
        old = measured.loops([veteran])
        databases.say(f"with {units:,} units submitted: {old.slower_than(one)} x; goal 1.2")
        data.add_issues(study, issues)
        data.gather_statistics()
        full = measured.loops([coders[0]])
        databases.say(f"with {issues:,} issues loaded: {full.slower_than(one)} x; goal 1.3")


@dataclass
class Pair:
    """The label loop and the bare pair, measured at the same time."""

    bare: Run = field(default_factory=Run)
    loop: Run = field(default_factory=Run)

    @property
    def ratio(self) -> float:
        return self.loop.median / self.bare.median

    def slower_than(self, other: "Pair") -> str:
        """How many times slower, each against the bare pair of its own time."""
        return f"{self.ratio / other.ratio:.2f}"

    def __str__(self) -> str:
        share, work = self.loop.rate / self.bare.rate, self.loop.processor_time / self.bare.processor_time
        ratios = f"{self.ratio:.1f} x its median, {share:.2f} of its rate, {work:.1f} x its processor time"
        return f"{self.loop}; bare {self.bare}; {ratios}"


@dataclass
class Measured:
    """Two servers, asked in turns: whatever else the machine does meets both."""

    bare: Server
    server: Server

    def loops(self, coders: list[Coder]) -> Pair:
        """Run the loop, and stop if anything was lost, doubled or dealt too often."""
        from benchmarks import label_loop_data as data

        before, pair = data.handed_in(coders), Pair()
        clients(self.bare, [bare_pair] * len(coders), WARM_UP)
        warm = clients(self.server, [coder.loop for coder in coders], WARM_UP)
        for _ in range(LOOPS // TURN):
            pair.bare.add(clients(self.bare, [bare_pair] * len(coders), TURN))
            pair.loop.add(clients(self.server, [coder.loop for coder in coders], TURN))
        errors = warm.errors + pair.loop.errors + pair.bare.errors
        faults = data.faults(coders, before + len(coders) * (LOOPS + WARM_UP)) | {"errors": len(errors)}
        if any(faults.values()):
            raise SystemExit(f"{faults} {errors[:3]}")
        return pair


def main() -> None:
    """Print the figures, or measure as the child that ``databases`` starts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--issues", type=int, default=ISSUES)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run(options.units, options.issues)
        return
    for line in measure(options.units, options.issues):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
