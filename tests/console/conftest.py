"""A real server, a real browser, and a workspace of its own for every test of the console."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from recollect.server.console import FILES
from tests.processes import RECOLLECT, Child

ROOT: Final = Path(__file__).resolve().parents[2]
AXE: Final = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
_NUMBERS: Final = count()
_PATIENCE_MS: Final = 20_000

expect.set_options(timeout=_PATIENCE_MS)


class Console:
    """One workspace as a person sees it in a browser and as a program reaches it."""

    def __init__(self, address: str, workspace: str, context: BrowserContext) -> None:
        self.address = address
        self.workspace = workspace
        self.context = context
        self.problems: list[str] = []
        self.api = httpx.Client(base_url=address, timeout=60)

    def new_page(self) -> Page:
        """Open a page whose errors fail the test."""
        page = self.context.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on(
            "console",
            lambda told: (
                self.problems.append(f"{told.text} {told.location['url']}")
                if told.type == "error"
                else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((self.address, "data:", "blob:"))
                else self.problems.append(f"a request to {request.url}")
            ),
        )
        return page

    def open(self, section: str = "memory") -> Page:
        """Open a page of the workspace."""
        page = self.new_page()
        page.goto(f"{self.address}{self.path(section)}")
        return page

    def path(self, section: str) -> str:
        """Return where a page of the workspace is."""
        return f"/org/local/ws/{self.workspace}/{section}"

    def go(self, page: Page, section: str) -> None:
        """Go to another page of the workspace as a link does, and wait until it is there."""
        page.evaluate(
            "path => { history.pushState({}, '', path);"
            " dispatchEvent(new PopStateEvent('popstate')) }",
            self.path(section),
        )
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("status", name="Loading…")).to_have_count(0)

    def post(self, path: str, body: object = None, **scope: str) -> Any:
        """Ask the server as a program, and return its answer."""
        answer = self.api.post(path, json={} if body is None else body, params=self._query(scope))
        assert answer.is_success, answer.text
        return answer.json()

    def get(self, path: str, **query: Any) -> Any:
        answer = self.api.get(path, params=self._query(query))
        assert answer.is_success, answer.text
        return answer.json()

    def create_key(self, **wanted: object) -> str:
        """Make a key, and return its secret."""
        answer = self.api.post("/v1/keys", json=wanted)
        assert answer.is_success, answer.text
        return answer.json()["secret"]

    def save(self, content: str, user: str = "ann", agent: str = "-", **fields: object) -> Any:
        """Remember something, as an agent would."""
        return self.post("/v1/records", {"content": content, **fields}, user=user, agent=agent)

    def _query(self, more: dict[str, Any]) -> dict[str, Any]:
        return {"workspace": self.workspace, **more}


@contextmanager
def serving(home: Path, port: int = 0) -> Iterator[str]:
    """Run a server as people run it, and give its address."""
    if not (FILES / "index.html").is_file():
        pytest.fail("The console is not built: run `make console`.", pytrace=False)
    environment = {
        **{name: value for name, value in os.environ.items() if "RECOLLECT" not in name},
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "RECOLLECT_EMBEDDING__MODEL": "none",
    }
    with Child(
        [*RECOLLECT, "--data", str(home / "memory.db"), "serve", "--port", str(port)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        told = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", told)
        assert found is not None, told
        yield found[0]
        server.terminate()


@pytest.fixture(scope="session")
def server_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("console")) as address:
        yield address


# Playwright runs an event loop of its own, beside which no asynchronous test runs: these tests
# have a pytest of their own (see the Makefile).
@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.fail(
            "The console's tests need Chromium: apt install chromium fonts-noto-cjk",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def language() -> str:
    return "en"


def new_context(browser: Browser, language: str = "en") -> BrowserContext:
    """Open a browser as somebody who speaks this language has it."""
    return browser.new_context(
        viewport={"width": 1360, "height": 900},
        locale="zh-CN" if language == "zh" else "en-GB",
        reduced_motion="reduce",
    )


@contextmanager
def opened(address: str, context: BrowserContext) -> Iterator[Console]:
    """Open a workspace of one's own; whatever the browser complains about fails the test."""
    console = Console(address, f"ws{os.getpid()}-{next(_NUMBERS)}", context)
    try:
        yield console
    finally:
        console.api.close()
        for page in context.pages:
            page.close()
    assert console.problems == []


# A browser that has been here before has the console's files: loading them anew takes the longest.
@pytest.fixture(scope="session")
def contexts(browser: Browser) -> dict[str, BrowserContext]:
    return {}


@pytest.fixture
def console(
    server_address: str, browser: Browser, contexts: dict[str, BrowserContext], language: str
) -> Iterator[Console]:
    if language not in contexts:
        contexts[language] = new_context(browser, language)
    with opened(server_address, contexts[language]) as console:
        yield console
