"""What a reviewer would otherwise have to look for: style, types, a migration that nobody made."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).parent.parent


def run_tool(*arguments: str) -> None:
    """Run a tool on the whole project; what it complains about is the failure."""
    result = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_ruff_has_nothing_to_say():
    run_tool("ruff", "check", ".")


def test_every_file_is_formatted():
    run_tool("ruff", "format", "--check", ".")


@pytest.mark.timeout(600)
def test_types_are_right():
    run_tool("mypy")


@pytest.mark.django_db
def test_no_migration_is_missing():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
