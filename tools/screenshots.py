"""Take a picture of every page of the console, in both languages, themes and widths.

    make screenshots
    PYTHONPATH=. .venv/bin/python tools/screenshots.py zh-dark-wide en-light-phone

They are of the demo workspace and go to screenshots/, which git ignores.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Final

import httpx
from playwright.sync_api import Browser, Page, expect, sync_playwright

TARGET: Final = Path(__file__).resolve().parent.parent / "screenshots"
WIDTHS: Final = {"wide": (1440, 900), "phone": (390, 844)}
LANGUAGES: Final = ("en", "zh")
THEMES: Final = ("light", "dark")
SETTLE_MS: Final = 500
# A page's name, its address in the workspace, and what is clicked there, one after the other.
PAGES: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("memory", "memory", ()),
    ("record", "memory?agent=travel", ("article button[aria-expanded]",)),
    ("timeline", "memory/episodic?view=timeline", ()),
    ("search", "memory?q=seat%20座位", ()),
    ("shared", "memory/shared", ()),
    ("knowledge", "memory/knowledge", ()),
    ("document", "memory/knowledge", ("li:last-child button",)),
    ("passages", "memory/knowledge?q=hotel%20酒店", ()),
    ("sessions", "sessions", ()),
    ("session", "sessions/login-layout?user=ann&agent=frontend", ()),
    ("agents", "agents", ()),
    ("approvals", "approvals", ()),
    ("audit", "audit?user=ann&agent=travel", ()),
    ("metrics", "metrics", ()),
    ("settings", "settings", ()),
    ("clean-up", "memory", (".tiles button",)),
    ("conflicts", "memory", (".tiles button:nth-of-type(2)",)),
    ("explanation", "memory?q=seat%20座位", ("article .border-t button",)),
    ("editor", "memory/procedural", ("article .button--icon-only",)),
    ("agent", "agents", ("main .panel button",)),
    ("key", "settings", ("[aria-labelledby=keys] button",)),
    ("more", "memory", ("main .button--tertiary[aria-haspopup]",)),
    (
        "forget",
        "memory?user=ann",
        ("main .button--tertiary[aria-haspopup]", "[role=menuitem]:last-of-type"),
    ),
    ("nothing", "memory?tag=nothing", ()),
)


@contextmanager
def serving(database: Path) -> Iterator[str]:
    """Run a server on a free port, and give its address."""
    command = [sys.executable, "-m", "recollect", "--data", str(database), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split(" listens on ")[1].split()[0].rstrip(";")
        try:
            yield address
        finally:
            server.terminate()


def chromium() -> str:
    """Return the path of the machine's Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        sys.exit("Chromium is needed: apt install chromium fonts-noto-cjk")
    return found


def take(browser: Browser, address: str, language: str, theme: str, width: str) -> None:
    """Take the pictures of one language, theme and width."""
    columns, rows = WIDTHS[width]
    context = browser.new_context(
        viewport={"width": columns, "height": rows},
        color_scheme="dark" if theme == "dark" else "light",
        locale="zh-CN" if language == "zh" else "en-GB",
        reduced_motion="reduce",
        device_scale_factor=1,
    )
    page = context.new_page()
    for name, place, clicked in PAGES:
        page.goto(f"{address}/org/local/ws/demo/{place}")
        _settle(page)
        for target in clicked:
            page.locator(target).first.click()
            _settle(page)
        page.screenshot(path=TARGET / f"{name}-{language}-{theme}-{width}.png")
    context.close()


def _settle(page: Page) -> None:
    page.locator("h1").wait_for()
    expect(page.locator(".skeleton")).to_have_count(0, timeout=30_000)
    page.wait_for_timeout(SETTLE_MS)


def main() -> None:
    """Load the demo in each language and take all pictures, or those that were asked for."""
    sorts = [*product(LANGUAGES, THEMES, WIDTHS)]
    wanted = [it for it in sorts if "-".join(it) in sys.argv[1:]] or sorts
    TARGET.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for language in dict.fromkeys(it[0] for it in wanted):
            with (
                tempfile.TemporaryDirectory() as folder,
                serving(Path(folder) / "memory.db") as address,
            ):
                httpx.post(
                    f"{address}/v1/demo", json={"language": language}, timeout=300
                ).raise_for_status()
                for _, theme, width in (it for it in wanted if it[0] == language):
                    take(browser, address, language, theme, width)
        browser.close()
    print(f"{len(list(TARGET.glob('*.png')))} pictures are in {TARGET.name}/")


if __name__ == "__main__":
    main()
