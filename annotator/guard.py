"""The process that ends the children of its parent when the parent is gone, however it went.

The guard reads lines ``+<pid>`` and ``-<pid>`` from its standard input. Only the parent holds the other end,
so end of file means that the parent ended, also by SIGKILL; no signal has to be caught for it, and it works
on Linux and macOS alike. It runs as a plain script (``python -I -S guard.py``) and loads nothing else.
"""

import os
import signal
import sys
import time

GRACE_SECONDS = 2.0  # whoever killed the parent wants it gone; leases heal what is cut short


def main() -> None:
    """Follow the parent's children until it ends, then end what is left of them."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the guard goes last
    children: set[int] = set()
    for line in sys.stdin:
        pid = int(line[1:])
        if line[0] == "+":
            children.add(pid)
        else:
            children.discard(pid)
    end(children)


def end(children: set[int]) -> None:
    """Ask the processes to stop, and after a while stop asking."""
    deadline = time.monotonic() + GRACE_SECONDS
    left = {pid for pid in children if send(pid, signal.SIGTERM)}
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = {pid for pid in left if send(pid, 0)}
    for pid in left:
        send(pid, signal.SIGKILL)


def send(pid: int, number: int) -> bool:
    """Whether the process was there to receive the signal."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
