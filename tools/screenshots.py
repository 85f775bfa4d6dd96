"""Take a picture of every page of the console, in both languages, themes and widths.

    make screenshots
    PYTHONPATH=. .venv/bin/python tools/screenshots.py zh-dark-wide en-light-phone
    PYTHONPATH=. .venv/bin/python tools/screenshots.py en-light-wide long error

Words that are not a language, theme and width name states. The pictures go to screenshots/, which
git ignores: of the demo workspace, and of every page with nothing, with very much, with very long
content, while it loads, and when the server fails.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

TARGET: Final = Path(__file__).resolve().parent.parent / "screenshots"
WIDTHS: Final = {"wide": (1440, 900), "phone": (390, 844)}
LANGUAGES: Final = ("en", "zh")
THEMES: Final = ("light", "dark")
SETTLE_MS: Final = 250
MANY: Final = 300
# A page's name, its address in the workspace, and what is clicked there, one after the other.
_Views = Sequence[tuple[str, str, tuple[str, ...]]]
DEMO: Final[_Views] = (
    ("memory", "memory", ()),
    ("record", "memory?agent=travel", ("article button[aria-expanded]",)),
    ("timeline", "memory/episodic?view=timeline", ()),
    ("search", "memory?q=seat%20座位", ()),
    ("shared", "memory/shared", ()),
    ("knowledge", "memory/knowledge", ()),
    ("document", "memory/knowledge", ("li:last-child button",)),
    ("passages", "memory/knowledge?q=hotel%20酒店", ()),
    ("prompt", "prompt?agent=travel&user=ann&q=seat%20座位", ()),
    ("people", "people", ()),
    ("person", "people/ann", ()),
    ("events", "people/ann?view=timeline", ()),
    ("graph", "people/ann?view=graph", ()),
    ("meetings", "people/ann?view=sessions", ()),
    ("readers", "people/ann?view=readers", ()),
    ("write", "audit?action=write", ("a[href*='/writes/']",)),
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
    ("palette", "memory", ("header button[aria-keyshortcuts]",)),
    ("table", "memory", ("button:has-text('Table'), button:has-text('表格')",)),
)
# The pages that are looked at with other content, and without any.
PAGES: Final[_Views] = (
    ("memory", "memory", ()),
    ("knowledge", "memory/knowledge", ()),
    ("prompt", "prompt?agent=helper&user=ann&q=Who%20is%20in%20Lisbon", ()),
    ("people", "people", ()),
    ("person", "people/ann", ()),
    ("events", "people/ann?view=timeline", ()),
    ("graph", "people/ann?view=graph", ()),
    ("sessions", "sessions", ()),
    ("session", "sessions/monday?user=ann&agent=helper", ()),
    ("agents", "agents", ()),
    ("approvals", "approvals", ()),
    ("audit", "audit", ()),
    ("metrics", "metrics", ()),
    ("settings", "settings", ()),
)
OPENED: Final[_Views] = (("record", "memory", ("article button[aria-expanded]",)),)
STATES: Final[dict[str, tuple[str, _Views]]] = {
    # What is shown, by the name of its state: the workspace that has it, and its pages.
    "demo": ("demo", DEMO),
    "empty": ("empty", PAGES),
    "many": ("many", PAGES),
    "long": ("long", (*PAGES, *OPENED)),
    "loading": ("demo", PAGES),
    "error": ("demo", PAGES),
}
_LONG: Final = {
    "en": "Ann told us at length, and without a full stop, how the offsite in Lisbon was planned ",
    "zh": "安妮详细地说明了里斯本团建的安排没有停顿也没有句号一直说下去直到大家都听懂为止",
}
_NAMES: Final = (
    *("Ada Bell", "Boris Kuhn", "Carla Dietz", "Dora Lind", "Emil Novak", "Fay Ortiz"),
    *("Gus Pine", "Hana Sato", "Ivan Toth", "Jana Voss", "Karl Weiss", "Lena Young"),
)


@contextmanager
def serving(database: Path) -> Iterator[str]:
    """Run a server on a free port, and give its address."""
    command = [sys.executable, "-m", "recollect", "--data", str(database), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        told = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", told)
        assert found is not None, told
        try:
            yield found[0]
        finally:
            server.terminate()


def chromium() -> str:
    """Return the path of the machine's Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        sys.exit("Chromium is needed: apt install chromium fonts-noto-cjk")
    return found


def fill(address: str, language: str) -> None:
    """Load the demo, a workspace with very much, and one with very long content."""
    with httpx.Client(base_url=address, timeout=300) as api:

        def post(path: str, body: Any, **scope: str) -> None:
            api.post(f"/v1/{path}", json=body, params=scope).raise_for_status()

        post("demo", {"language": language})
        _fill_much(post)
        _fill_long(post, _LONG[language])


def _fill_much(post: Any) -> None:
    for number in range(MANY):
        one, other = _NAMES[number % 12], _NAMES[(number * 5 + number // 12) % 12]
        said = f"{one} {number // 12} works with {other} {number // 8} in Lisbon"
        who = {"workspace": "many", "user": "ann" if number % 3 else f"person {number}"}
        post("records", {"content": said, "tags": [f"tag {number % 40}"]}, agent="helper", **who)
    for number in range(40):
        line = {"role": "user", "content": f"Message {number} about the offsite"}
        told = {"session": "monday" if number < 20 else f"day {number}", "messages": [line]}
        agent = "helper" if number < 20 else f"agent {number}"
        post("observe", told, workspace="many", user="ann", agent=agent)
        wanted = {"type": "convention", "content": f"Rule {number} is about part {number}"}
        post("proposals", wanted, workspace="many")


def _fill_long(post: Any, words: str) -> None:
    name = (words.replace(" ", "") * 3)[:90]
    tags = [f"{words[:30]}{number}" for number in range(30)]
    for user, agent in (("ann", "helper"), (name, name)):
        who = {"workspace": "long", "user": user, "agent": agent}
        told = {"content": words * 30, "title": words, "tags": tags, "category": words[:60]}
        post("records", told, **who)
        post("records", {"content": "x" * 3_000, "kind": "episodic"}, **who)
        lines = [{"role": "user", "content": it} for it in (words * 20, "y" * 2_000)]
        post("observe", {"session": "monday", "messages": lines}, **who)
        post("observe", {"session": name, "messages": lines}, **who)
        post("proposals", {"type": "preference", "content": words * 20, "title": words}, **who)


def take(
    context: BrowserContext, address: str, state: str, views: _Views, workspace: str, sort: str
) -> None:
    """Take the pictures of the pages in one state."""
    page = context.new_page()
    page.set_default_timeout(60_000)
    if state in ("loading", "error"):
        page.route("**/v1/**", lambda route: _hindered(route, state))
    for name, place, clicked in views:
        page.goto(f"{address}/org/local/ws/{workspace}/{place}")
        _settle(page, state)
        for target in clicked:
            try:
                page.locator(target).first.click(timeout=10_000)
            except PlaywrightError:
                print(f"{name} ({state}, {sort}) is not as expected: there is no {target}")
            _settle(page, state)
        told = name if state == "demo" else f"{name}-{state}"
        page.screenshot(path=TARGET / f"{told}-{sort}.png")
    # How a list is shown is remembered.
    page.evaluate("localStorage.clear()")
    page.close()


def _hindered(route: Route, state: str) -> None:
    """Let only who is signed in be known; all else is waited for, or fails."""
    if "/v1/whoami" in route.request.url:
        route.continue_()
    elif state == "error":
        told = {"code": "database_unreachable", "detail": "The database does not answer"}
        route.fulfill(status=503, json={**told, "hint": "Try again in a minute."})


def _settle(page: Page, state: str) -> None:
    page.locator("h1").first.wait_for()
    if state == "error":
        try:
            page.locator("[role=alert]").first.wait_for(timeout=8_000)
        except PlaywrightError:
            print(f"{page.url} says nothing of what went wrong")
    elif state != "loading":
        for waiting in (".skeleton", ".spinner"):
            expect(page.locator(waiting)).to_have_count(0, timeout=30_000)
    page.wait_for_timeout(SETTLE_MS)


def _context(browser: Browser, language: str, theme: str, width: str) -> BrowserContext:
    columns, rows = WIDTHS[width]
    return browser.new_context(
        viewport={"width": columns, "height": rows},
        color_scheme="dark" if theme == "dark" else "light",
        locale="zh-CN" if language == "zh" else "en-GB",
        reduced_motion="reduce",
        device_scale_factor=1,
    )


def main() -> None:
    """Take all pictures, or those that were asked for."""
    asked = set(sys.argv[1:])
    sorts = [*product(LANGUAGES, THEMES, WIDTHS)]
    wanted = [it for it in sorts if "-".join(it) in asked] or sorts
    states = [it for it in STATES if it in asked] or [*STATES]
    TARGET.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for language in dict.fromkeys(it[0] for it in wanted):
            with (
                tempfile.TemporaryDirectory() as folder,
                serving(Path(folder) / "memory.db") as address,
            ):
                fill(address, language)
                for _, theme, width in (it for it in wanted if it[0] == language):
                    context = _context(browser, language, theme, width)
                    for state in states:
                        workspace, views = STATES[state]
                        sort = f"{language}-{theme}-{width}"
                        take(context, address, state, views, workspace, sort)
                    context.close()
        browser.close()
    print(f"{len(list(TARGET.glob('*.png')))} pictures are in {TARGET.name}/")


if __name__ == "__main__":
    main()
