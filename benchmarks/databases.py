"""An empty database for a measurement, in a process of its own. Nothing is measured here."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from tests.servers import ServerMissingError, start_postgres


def on_each(
    module: str, *arguments: str, postgres: tuple[str, ...] | None = None
) -> Iterator[tuple[str, Any]]:
    """Run ``module`` on SQLite and on PostgreSQL; give the name of the database and each line it printed.

    ``postgres`` are the arguments on PostgreSQL, where they differ.
    """
    yield from _lines("SQLite", "", module, arguments)
    try:
        url = start_postgres()
    except ServerMissingError as error:
        yield "PostgreSQL", f"left out: {error}"
        return
    yield from _lines("PostgreSQL", url, module, arguments if postgres is None else postgres)


def _lines(name: str, url: str, module: str, arguments: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        variables = {"INTERCODER_READ_ENV_FILE": "no", "INTERCODER_DATA": folder, "DATABASE_URL": url}
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        command = [sys.executable, "-m", module, *arguments]
        environment = {**kept, **variables, "SECRET_KEY": "only-for-measurements-" * 3}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                yield name, json.loads(line)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)


def set_up() -> None:
    """Make the tables in the database of this process."""
    import django
    from django.core.management import call_command

    os.environ["DJANGO_SETTINGS_MODULE"] = "annotator.settings"
    django.setup()
    call_command("migrate", verbosity=0)


def say(figure: Any) -> None:
    """Hand one figure to the process that prints it."""
    sys.stdout.write(json.dumps(figure) + "\n")
    sys.stdout.flush()
