import os
import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotator import env
from annotator.cursors import PREPARED


@pytest.mark.parametrize(("raw", "value"), [("1", True), ("Yes", True), ("off", False), ("", True)])
def test_yes_and_no_have_several_spellings(monkeypatch, raw, value):
    monkeypatch.setenv("DEBUG", raw)
    assert env.env_bool("DEBUG", True) is value


@pytest.mark.parametrize(
    ("raw", "read", "advice"),
    [
        ("maybe", lambda: env.env_bool("X", False), "Write X=1 or X=0"),
        ("-1", lambda: env.env_int("X", 8), "Write for example X=8"),
        ("many", lambda: env.env_int("X", 8), "Write for example X=8"),
        (
            "example.org",
            lambda: env.env_url("X", schemes=("https",), example="https://a.org"),
            "X=https://a.org",
        ),
        (
            "https://",
            lambda: env.env_url("X", schemes=("https",), example="https://a.org"),
            "X=https://a.org",
        ),
        (
            "https://a:b",
            lambda: env.env_url("X", schemes=("https",), example="https://a.org"),
            "X=https://a.org",
        ),
        ("https://a.org ftp://b", lambda: env.env_urls("X", "", example="https://a.org"), "holds ftp://b"),
        ("mysql://me:secret@host/name", lambda: env.env_database("X", ""), "X=postgres://"),
        ("carrier-pigeon://roof", lambda: env.env_email("X", ""), "X=smtp"),
    ],
)
def test_a_wrong_value_stops_the_start_and_says_what_to_write(monkeypatch, raw, read, advice):
    monkeypatch.setenv("X", raw)
    with pytest.raises(ImproperlyConfigured) as caught:
        read()
    assert advice in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INTERCODER_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(ImproperlyConfigured, match=r"INTERCODER_DATA=.*/file/data cannot be written"):
        env.env_folder("INTERCODER_DATA", tmp_path)


def test_the_secret_is_made_once_and_for_its_owner_alone(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    path = tmp_path / "secret_key"
    first = env.env_secret("SECRET_KEY", path)
    assert len(first) > 50
    assert env.env_secret("SECRET_KEY", path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["secret_key"]


def test_the_environment_wins_over_the_secret_file_and_the_env_file(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text("SECRET_KEY=from-file\nGITHUB_TOKEN=from-file\n")
    monkeypatch.setenv("SECRET_KEY", "from-environment")
    monkeypatch.setenv("GITHUB_TOKEN", "")
    monkeypatch.delenv("GITHUB_TOKEN")
    env.read_env_file(tmp_path / ".env")
    assert env.env_secret("SECRET_KEY", tmp_path / "unused") == "from-environment"
    assert env.env_str("GITHUB_TOKEN") == "from-file"


def test_sqlite_waits_for_its_turn_to_write(monkeypatch, tmp_path):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    options = env.env_database("DATABASE_URL", f"sqlite:///{tmp_path}/db")["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]


def test_postgres_takes_options_from_its_url(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://me:p%40ss@host:6543/name?sslmode=require")
    database = env.env_database("DATABASE_URL", "")
    assert (database["USER"], database["PASSWORD"], database["PORT"]) == ("me", "p@ss", 6543)
    assert database["OPTIONS"] == {"sslmode": "require"} | PREPARED
