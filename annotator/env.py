"""Settings from the environment. A value that cannot be right stops the start and says what to write."""

import os
import re
import secrets
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environ import Env

_YES = {"1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off"}
_DATABASE_OPTIONS: dict[str, dict[str, Any]] = {
    "django.db.backends.postgresql": {},
    "django.db.backends.sqlite3": {
        # A transaction that will write says so at its start: it waits its turn instead of failing half way.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        # Readers never wait for the writer; with WAL, NORMAL loses no commit when the process dies.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    },
}


def read_env_file(path: Path) -> None:
    """Take what the environment does not say already from ``path``, if there is such a file."""
    if path.is_file():
        Env.read_env(path)


def env_str(name: str, default: str = "") -> str:
    """Text of the variable, without surrounding blanks; empty counts as not set."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    """Yes or no."""
    raw = env_str(name)
    if not raw:
        return default
    if raw.lower() not in _YES | _NO:
        raise ImproperlyConfigured(f"{name}={raw} is neither yes nor no. Write {name}=1 or {name}=0.")
    return raw.lower() in _YES


def env_int(name: str, default: int, *, minimum: int = 0) -> int:
    """Whole number of at least ``minimum``."""
    raw = env_str(name, str(default))
    if not raw.isdecimal() or int(raw) < minimum:
        raise ImproperlyConfigured(
            f"{name}={raw} is not a whole number of at least {minimum}. Write for example {name}={default}."
        )
    return int(raw)


def env_url(name: str, default: str = "", *, schemes: tuple[str, ...], example: str) -> str:
    """Absolute URL with one of ``schemes``, without a slash at its end; empty when not set."""
    raw = env_str(name, default).rstrip("/")
    if not raw:
        return ""
    try:
        parts = urlsplit(raw)
        known = parts.scheme in schemes and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is no number, an unclosed bracket
        known = False
    if not known or (schemes[0] in {"http", "https"} and not parts.hostname):
        raise ImproperlyConfigured(
            f"{name}={raw} is no address that fits. Write for example {name}={example}"
        )
    return raw


def env_urls(name: str, default: str, *, example: str) -> list[str]:
    """HTTP(S) addresses, separated by commas or blanks."""
    raw = env_str(name, default).replace(",", " ").split()
    for url in raw:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ImproperlyConfigured(f"{name} holds {url}, no address. Write for example {name}={example}")
    return [url.rstrip("/") for url in raw]


def env_folder(name: str, default: Path) -> Path:
    """Absolute path of a folder that this process can write to; made if absent."""
    path = Path(env_str(name, str(default))).expanduser().resolve()
    try:
        made_folder(path)
        tempfile.TemporaryFile(dir=path).close()  # the only proof: a read-only disk fools a look at the mode
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}={path} cannot be written ({error.strerror}). Write {name}= a folder that user "
            f"{os.getuid()} may write to, or give it this one: chown {os.getuid()} {path}"
        ) from error
    return path


def made_folder(path: Path) -> Path:
    """Return ``path`` itself, a folder for this user alone; made if absent."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def env_database(name: str, default: str) -> dict[str, Any]:
    """Django's settings of the database that a URL names."""
    url = env_str(name, default)
    try:
        database: dict[str, Any] = Env.db_url_config(url)
    except (ValueError, ImproperlyConfigured):
        database = {}
    options = _DATABASE_OPTIONS.get(str(database.get("ENGINE")))
    if options is None or not database["NAME"]:
        raise ImproperlyConfigured(
            f"{name}={_without_password(url)} is neither PostgreSQL nor SQLite. "
            f"Write for example {name}=postgres://intercoder:password@127.0.0.1:5432/intercoder"
        )
    database["OPTIONS"] = {**options, **database.get("OPTIONS", {})}
    if database["ENGINE"] == "django.db.backends.postgresql":
        from annotator.cursors import PREPARED  # needs the client library of PostgreSQL

        database["OPTIONS"] |= PREPARED
    return {**database, "CONN_MAX_AGE": 300, "CONN_HEALTH_CHECKS": True}


def env_email(name: str, default: str) -> dict[str, Any]:
    """Django's settings of the mail server that a URL names."""
    try:
        email: dict[str, Any] = Env.email_url_config(env_str(name, default))
    except (ValueError, ImproperlyConfigured) as error:
        raise ImproperlyConfigured(
            f"{name} does not name a mail server. "
            f"Write for example {name}=smtp+tls://user:password@mail.example.org:587"
        ) from error
    return email


def _without_password(url: str) -> str:
    """Keep secrets out of messages and logs."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", url)


def env_secret(name: str, path: Path) -> str:
    """Secret from the environment, else from ``path``: created once, readable by its owner alone."""
    secret = env_str(name)
    if secret:
        return secret
    if not path.exists():
        create_secret(path)
    secret = path.read_text().strip()
    if not secret:
        raise ImproperlyConfigured(
            f"{path} is empty. Delete it to have a new secret made, or write {name}=…."
        )
    return secret


def create_secret(path: Path) -> None:
    """Write a new secret, whole or not at all, also when two processes start at once."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was first; its secret is the one
    finally:
        draft.unlink()
