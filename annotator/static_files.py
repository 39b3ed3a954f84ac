"""Static files, gathered once per change of them: hashing and compressing takes longer than starting."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_static_files() -> None:
    """Gather and compress the static files if any of them changed since the last time."""
    stamp = Path(settings.STATIC_ROOT) / "sources"
    sources = fingerprint_sources()
    if stamp.is_file() and stamp.read_text() == sources:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(sources)


def fingerprint_sources() -> str:
    """Digest of every static file's path, size and time."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
