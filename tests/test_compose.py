"""docker-compose.yml without Docker: its structure, and the same programs run by hand on the same servers."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import psycopg
import pytest
import yaml

from tests.installation import ROOT, Installation, fetch, wait_until
from tests.servers import free_port

OURS = ("migrate", "web", "worker")
SERVICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "build": {"const": "."},
        "image": {"type": "string", "pattern": r"^(intercoder|\w+:\d+-bookworm)$"},
        "command": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "env_file": {"const": ".env"},
        "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        "volumes": {"type": "array", "items": {"type": "string", "pattern": r"^\w+:/[\w/]+$"}},
        "ports": {"type": "array", "items": {"type": "string"}},
        "depends_on": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {"condition": {"enum": ["service_healthy", "service_completed_successfully"]}},
                "required": ["condition"],
                "additionalProperties": False,
            },
        },
        "healthcheck": {
            "type": "object",
            "properties": {
                "test": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 2,
                    "contains": {"const": "CMD"},
                },
                "interval": {"$ref": "#/$defs/seconds"},
                "timeout": {"$ref": "#/$defs/seconds"},
                "start_period": {"$ref": "#/$defs/seconds"},
                "retries": {"type": "integer", "minimum": 1},
            },
            "required": ["test", "interval", "timeout", "retries"],
            "additionalProperties": False,
        },
        "restart": {"enum": ["unless-stopped", "no"]},
        "stop_grace_period": {"$ref": "#/$defs/seconds"},
        "init": {"type": "boolean"},
        "read_only": {"const": True},
        "tmpfs": {"const": ["/tmp"]},  # noqa: S108 - a folder of the container
        "cap_drop": {"const": ["ALL"]},
        "security_opt": {"const": ["no-new-privileges:true"]},
    },
    "required": ["image", "restart"],
    "additionalProperties": False,
}
COMPOSE = {
    "type": "object",
    "properties": {
        "name": {"const": "intercoder"},
        "services": {"type": "object", "additionalProperties": SERVICE},
        "volumes": {"type": "object", "additionalProperties": {"type": "null"}},
    },
    "patternProperties": {"^x-": {}},
    "required": ["services", "volumes"],
    "additionalProperties": False,
    "$defs": {"seconds": {"type": "string", "pattern": r"^\d+s$"}},
}


@pytest.fixture(scope="module")
def text() -> str:
    return (ROOT / "docker-compose.yml").read_text()


@pytest.fixture(scope="module")
def services(text) -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return loaded


def test_the_file_has_the_shape_that_compose_reads(text):
    jsonschema.Draft202012Validator(COMPOSE).validate(yaml.safe_load(text))


def test_every_volume_and_every_dependency_exists(text, services):
    named = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    assert named == set(yaml.safe_load(text)["volumes"])
    for service in services.values():
        for name, needed in service.get("depends_on", {}).items():
            is_one_shot = services[name]["restart"] == "no"
            assert (needed["condition"] == "service_completed_successfully") == is_one_shot
            assert is_one_shot or "healthcheck" in services[name]


def test_what_runs_for_ever_is_watched_and_restarted(services):
    for name in set(services) - {"migrate"}:
        assert services[name]["restart"] == "unless-stopped"
        assert "healthcheck" in services[name]


def test_every_variable_stands_in_the_example(text):
    example = (ROOT / ".env.example").read_text()
    for name in re.findall(r"\$\{(\w+)", text):
        assert re.search(rf"^#?{name}=", example, re.MULTILINE), name


def test_every_setting_stands_in_the_example():
    source = "".join((ROOT / "annotator" / name).read_text() for name in ("settings.py", "webserver.py"))
    example = (ROOT / ".env.example").read_text()
    for name in set(re.findall(r'env_\w+\(\s*"(\w+)"', source)) - {"DEBUG", "INTERCODER_READ_ENV_FILE"}:
        assert re.search(rf"^#?{name}=", example, re.MULTILINE), name


def test_the_database_sorts_by_code_point(services):
    assert "--locale=C.UTF-8" in services["db"]["environment"]["POSTGRES_INITDB_ARGS"]


def test_nothing_but_the_site_is_open_to_the_network(services):
    assert [name for name in services if "ports" in services[name]] == ["web"]
    assert services["web"]["ports"] == ["${LISTEN:-127.0.0.1:8000}:8000"]


def test_the_image_runs_without_root_and_holds_no_secret():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert sum(line.startswith("FROM ") for line in lines) == 2
    after_user = lines[lines.index("USER intercoder") :]
    assert not any(line.startswith(("RUN", "COPY")) for line in after_user)
    assert ".*" in (ROOT / ".dockerignore").read_text().splitlines()


@pytest.fixture
def team(services, tmp_path, postgres_url, redis_url) -> Iterator[Installation]:
    """The environment of docker-compose.yml, with servers of this machine for its names."""
    name = f"team_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    environment = services["web"]["environment"] | {
        "DATABASE_URL": postgres_url.rsplit("/", 1)[0] + f"/{name}",
        "REDIS_URL": redis_url,
        "INTERCODER_DATA": str(tmp_path),
    }
    yield Installation(tmp_path, environment)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def run(command: list[str], team: Installation) -> subprocess.Popen[bytes]:
    """Run a program of the compose file as the image would: from the folder of the project."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.Popen(command, cwd=ROOT, env={**team.variables(), "PATH": path})


@pytest.mark.postgres
@pytest.mark.redis
def test_the_programs_of_the_file_work_together(services, team):
    assert run(services["migrate"]["command"], team).wait(120) == 0
    port = free_port()
    team.environment["PUBLIC_URL"] = f"http://127.0.0.1:{port}"
    team.manage("shell", "-c", "from annotator.static_files import collect_static_files as c; c()")
    web_command = [part.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for part in services["web"]["command"]]
    running = [run(web_command, team), run(services["worker"]["command"], team)]
    try:
        probe = services["web"]["healthcheck"]["test"][1:]
        probe = [part.replace("127.0.0.1:8000", f"127.0.0.1:{port}") for part in probe]
        wait_until(lambda: run(probe, team).wait(30) == 0)
        wait_until(lambda: run(services["worker"]["healthcheck"]["test"][1:], team).wait(30) == 0)
        link = team.manage("create_user", "eve").split()[-1]
        assert fetch(link)[0] == 200
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)
