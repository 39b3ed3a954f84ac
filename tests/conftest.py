"""What every test may ask for: the database of this run, real servers, a browser."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests import servers

# How long an example takes is a matter of the machine, not of the code.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

ON_POSTGRES = os.environ.get("INTERCODER_TEST_DATABASE") == "postgres"
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
    """Leave the long runs to ``make soak``; on PostgreSQL run what touches the database."""
    chosen: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        wanted = item.get_closest_marker("soak") is None or "soak" in config.getoption("markexpr")
        if ON_POSTGRES:
            wanted = wanted and uses_database(item) and item.get_closest_marker("browser") is None
        (chosen if wanted else left).append(item)
    items[:] = chosen
    if left:
        config.hook.pytest_deselected(items=left)


def uses_database(item: pytest.Item) -> bool:
    """Whether a test reads or writes the database of this run."""
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(fixtures & DATABASE_FIXTURES)


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


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    on_path = (shutil.which(name) for name in names)
    macos = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    return next((found for found in on_path if found), str(macos) if macos.exists() else None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, one for all tests of a process."""
    executable = find_chromium()
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
