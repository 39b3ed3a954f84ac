"""Make the pictures of the README from the demo study: ``make pictures``."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.installation import ROOT, Installation
from tests.servers import find_chromium

FOLDER = ROOT / "docs" / "pictures"
PICTURES = (
    # who looks, what is opened, name of the file
    ("ada", "/studies/demo/coding/", "coding"),
    ("lead", "/studies/demo/rounds/1/agreement/", "agreement"),
    ("ben", "/studies/demo/reconciliation/", "reconciliation"),
    ("lead", "/studies/demo/", "dashboard"),
)


def main() -> None:
    """Start the demo in a folder of its own and take every picture, light and dark."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        installation = Installation(Path(folder))
        installation.environment["PUBLIC_URL"] = f"http://127.0.0.1:{installation.port}"
        installation.start("--demo")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        try:
            for name in ("ada", "ben", "lead"):
                take_all(browser, installation, name)
        finally:
            browser.close()
            installation.stop()


def take_all(browser: Browser, installation: Installation, name: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(installation.links()[name])
    for who, address, picture in PICTURES:
        if who != name:
            continue
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.goto(f"http://127.0.0.1:{installation.port}{address}")
            page.wait_for_timeout(500)
            page.screenshot(path=FOLDER / f"{picture}{suffix}.png")
    context.close()


if __name__ == "__main__":
    main()
