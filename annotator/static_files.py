"""Static files, gathered once per change of them: hashing and compressing takes longer than starting."""

import fcntl
import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

UNUSED = ["redoc"]  # the API page is Swagger UI's


def collect_static_files() -> None:
    """Gather and compress the static files if any of them changed since the last time."""
    folder = Path(settings.STATIC_ROOT)
    stamp = folder.with_name(f"{folder.name}.stamp")
    sources = fingerprint_sources()
    if is_current(stamp, sources):
        return
    with stamp.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two that start at once must not clear each other's work
        if not is_current(stamp, sources):
            call_command("collectstatic", interactive=False, clear=True, ignore_patterns=UNUSED, verbosity=0)
            stamp.write_text(sources)


def is_current(stamp: Path, sources: str) -> bool:
    """Whether the files were gathered from just these sources."""
    return stamp.is_file() and stamp.read_text() == sources


def fingerprint_sources() -> str:
    """Digest of every static file's path and content; times change when an image is copied."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list(UNUSED):
            digest.update(f"{path}\0".encode())
            digest.update(Path(storage.path(path)).read_bytes())
    return digest.hexdigest()
