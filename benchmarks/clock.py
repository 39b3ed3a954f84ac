"""What a piece of work takes: on the wall, and of processors. Nothing is measured here.

On a machine that does other things too the wall tells little. What this process and the database's process
for its connection used of a processor hardly changes with the load, so that ratios of it can be compared.
"""

import time
from types import TracebackType
from typing import Self

import psutil


class Clock:
    """Adds up the seconds of the blocks it is entered for."""

    def __init__(self) -> None:
        from django.db import connection

        self.wall = self.processor = 0.0
        self._server: psutil.Process | None = None
        if connection.vendor == "postgresql":
            connection.ensure_connection()
            self._server = psutil.Process(connection.connection.info.backend_pid)

    def __enter__(self) -> Self:
        self._began, self._busy = time.perf_counter(), self._used()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall += time.perf_counter() - self._began
        self.processor += self._used() - self._busy

    def _used(self) -> float:
        if self._server is None:
            return time.process_time()
        server = self._server.cpu_times()
        return time.process_time() + float(server.user + server.system)
