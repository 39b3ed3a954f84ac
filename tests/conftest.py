"""What every test may ask for: the database of this run, real servers, an installation, a browser."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest
import pytest_django
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import servers
from tests.installation import Installation
from tests.world import World, stored_world

# How long an example takes is a matter of the machine, not of the code.
hypothesis.settings.register_profile("suite", deadline=None, max_examples=50)
hypothesis.settings.load_profile("suite")
expect.set_options(timeout=20_000)

ON_POSTGRES = os.environ.get("INTERCODER_TEST_DATABASE") == "postgres"
#: Where tests are that read what a page prints or a figure shows.
PRINTED = {"views", "test_views.py", "test_figures.py"}
#: Tests with processes of their own, and those that ask every address.
LONG = {"test_access.py", "test_compose.py", "test_quality.py", "test_start.py", "test_whole_path_api.py"}
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_serialized_rollback", "live_server"}
NEEDS = "cannot run here"
REQUIRED = set(os.environ.get("INTERCODER_REQUIRE", "").replace(",", " ").split())


def do_without(kind: str, why: str) -> NoReturn:
    """Skip a test for want of a server or a browser; fail it where INTERCODER_REQUIRE names the kind."""
    message = f"{kind} tests {NEEDS} ({why}). To run them: {servers.INSTALL[kind]}"
    if kind in REQUIRED:
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def pytest_configure(config: pytest.Config) -> None:
    unknown = REQUIRED - set(servers.INSTALL)
    if unknown:
        known = ", ".join(servers.INSTALL)
        raise pytest.UsageError(f"INTERCODER_REQUIRE names {', '.join(sorted(unknown))}; it knows {known}.")


def pytest_report_header() -> str:
    return f"database: {'PostgreSQL' if ON_POSTGRES else 'SQLite'}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long runs to ``make soak``, and to SQLite what PostgreSQL does not change; long tests first."""
    chosen: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        wanted = item.get_closest_marker("soak") is None or "soak" in config.getoption("markexpr")
        wanted = wanted and (not ON_POSTGRES or is_for_postgres(item))
        (chosen if wanted else left).append(item)
    # Two processes share the tests: what takes minutes must not begin when there is nothing else left to do.
    items[:] = sorted(chosen, key=lambda item: not takes_long(item))
    if left:
        config.hook.pytest_deselected(items=left)


def is_for_postgres(item: pytest.Item) -> bool:
    """Whether a test reads or writes the database of this run, and not just what is printed.

    Every page is asked on PostgreSQL too, by test_access: its queries run on both.
    """
    if item.get_closest_marker("browser") is not None or PRINTED & set(item.path.parts):
        return False
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(fixtures & DATABASE_FIXTURES)


def takes_long(item: pytest.Item) -> bool:
    """Whether a test needs a browser or processes of its own, or asks hundreds of pages."""
    return item.get_closest_marker("browser") is not None or item.path.name in LONG


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays until the end: modules, models, the tests themselves."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=ON_POSTGRES)
def _database_of_this_run() -> None:
    """Nothing passes for PostgreSQL that ran on something else."""
    if missing := os.environ.get("INTERCODER_TEST_POSTGRES_MISSING"):
        do_without("postgres", missing)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what could not run, once per reason, with the command that would make it run."""
    reasons = {
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple) and NEEDS in report.longrepr[2]
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(reason, yellow=True)


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker) -> Iterator[World]:
    """One study with everything in it; the tests of a module undo what they change in it."""
    with stored_world(django_db_blocker) as stored:
        yield stored


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """URL of a real PostgreSQL with C.UTF-8, as docker-compose.yml makes it."""
    try:
        return servers.start_postgres(locales=(("--locale=C.UTF-8",), ("--locale=C",)))
    except servers.ServerMissingError as error:
        do_without("postgres", str(error))


@pytest.fixture(scope="session")
def redis_url() -> str:
    """URL of a real Redis."""
    try:
        return servers.start_redis()
    except servers.ServerMissingError as error:
        do_without("redis", str(error))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folder after a first start with the demo study; who changes it takes a copy."""
    installation = Installation(tmp_path_factory.mktemp("first"))
    try:
        installation.start("--demo", "--no-worker")
    finally:
        installation.stop()
    return installation.folder


@pytest.fixture
def installation(prepared: Path, tmp_path: Path) -> Iterator[Installation]:
    """An installation that was started once before, with the demo study."""
    made = Installation(Path(shutil.copytree(prepared, tmp_path / "data")))
    made.environment["PUBLIC_URL"] = f"http://127.0.0.1:{made.port}"
    yield made
    made.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, one for all tests of a process."""
    executable = servers.find_chromium()
    if executable is None:
        do_without("browser", "no Chromium was found")
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"] if os.getuid() == 0 else []
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs an event loop in this thread; the tests' own queries are as synchronous as ever.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        chromium = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Page of a new browser profile; whatever the page's console calls an error fails the test."""
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert not errors, errors
