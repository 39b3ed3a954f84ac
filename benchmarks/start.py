"""Start, memory and throughput of the web server and the worker, on SQLite."""

import http.client
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.installation import Installation

CLIENTS = 8
SECONDS = 5.0


def measure() -> Iterator[str]:
    """Yield one line per figure."""
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder))
        for which in ("first", "second"):
            installation.start("--demo")
            yield f"{which} start, until the first page: {installation.seconds_to_ready:.2f} s"
            if which == "first":
                installation.stop()
        try:
            time.sleep(5)  # the worker loads what it needs
            shares = [child.memory_full_info().pss for child in installation.children()]
            yield f"memory of {len(shares)} processes at rest (PSS): {sum(shares) / 2**20:.0f} MiB"
            for path in ("/healthz", "/sign-in/"):
                yield throughput(installation.port, path)
        finally:
            installation.stop()


def throughput(port: int, path: str) -> str:
    """Requests per second and their times with several clients that never pause."""
    times: list[float] = []
    end = time.monotonic() + SECONDS
    clients = [threading.Thread(target=ask, args=(port, path, end, times)) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    median, p95 = 1000 * statistics.median(times), 1000 * statistics.quantiles(times, n=20)[-1]
    rate = len(times) / SECONDS
    return f"{path} with {CLIENTS} clients: {rate:.0f}/s, median {median:.1f} ms, p95 {p95:.1f} ms"


def ask(port: int, path: str, end: float, times: list[float]) -> None:
    """Ask for one page over one connection until ``end``; add how long each answer took."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while time.monotonic() < end:
        began = time.perf_counter()
        connection.request("GET", path)
        connection.getresponse().read()
        times.append(time.perf_counter() - began)
    connection.close()
