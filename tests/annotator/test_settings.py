"""Settings as an installation gets them: in a process of their own, from the environment alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def manage(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a new installation that keeps its data in ``folder``."""
    clean = {"PATH": os.environ["PATH"], "INTERCODER_READ_ENV_FILE": "no", "INTERCODER_DATA": str(folder)}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**clean, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("public_url", ["https://intercoder.example.org", "http://127.0.0.1:8000"])
def test_a_new_installation_passes_the_deployment_checks(tmp_path, public_url):
    result = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", PUBLIC_URL=public_url)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("environment", "sentences"),
    [
        (
            {"PUBLIC_URL": "http://lab.example.org"},
            [
                "PUBLIC_URL=http://lab.example.org is not encrypted",
                "write PUBLIC_URL=https://lab.example.org",
            ],
        ),
        (
            {"PUBLIC_URL": "https://lab.example.org", "TRUSTED_PROXIES": "0", "DEBUG": "1"},
            ["TRUSTED_PROXIES=0 believes none", "Write TRUSTED_PROXIES=1", "DEBUG=1 shows", "Write DEBUG=0"],
        ),
        ({"PUBLIC_URL": "lab.example.org"}, ["PUBLIC_URL=lab.example.org", "PUBLIC_URL=https://"]),
        ({"INTERCODER_DATA": "/proc/nowhere"}, ["INTERCODER_DATA=/proc/nowhere cannot be written", "chown"]),
        ({"DATABASE_URL": "postgres://me:secret@127.0.0.1:1/name"}, ["DATABASE_URL", "does not answer"]),
    ],
)
def test_check_names_the_setting_and_what_to_write(tmp_path, environment, sentences):
    result = manage(tmp_path, "check", "--fail-level", "WARNING", **environment)
    assert result.returncode == 1
    for sentence in sentences:
        assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert "secret" not in result.stderr


def test_check_says_that_no_worker_runs(installation):
    result = manage(installation.folder, "check")
    assert "No worker is running" in result.stderr
    assert "python manage.py start" in result.stderr


def test_accounts_and_tokens_are_made_on_the_command_line(installation):
    folder = installation.folder
    created = manage(folder, "create_user", "eve", PUBLIC_URL="https://lab.example.org")
    assert "https://lab.example.org/sign-in/link/?sesame=" in created.stdout
    again = manage(folder, "create_user", "eve")
    assert (again.returncode, "taken" in again.stderr) == (1, True)
    token = manage(folder, "create_token", "eve").stdout.strip()
    assert len(token) == 64
    assert not [file for file in folder.glob("*.sqlite3*") if token.encode() in file.read_bytes()]
    nobody = manage(folder, "create_token", "nobody")
    assert (nobody.returncode, "create_user nobody" in nobody.stderr) == (1, True)
