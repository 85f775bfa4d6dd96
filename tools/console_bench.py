"""Measure how fast the console is: its weight, its first page, and scrolling through many records.

    make console-bench

Seeded by import. Writes reports/console.json and exits with 1 where a promise is not kept.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from recollect.server.console import FILES
from tools.screenshots import chromium, serving

REPORT: Final = Path(__file__).resolve().parent.parent / "reports" / "console.json"
INTERACTIVE_SECONDS: Final = 1.5
SCRIPT_KILOBYTES: Final = 350
LONG_TASK_MS: Final = 100
FEW, MANY = 10_000, 100_000
SCROLL_STEPS: Final = 400
BATCH: Final = 500
_WATCH: Final = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
}).observe({ entryTypes: ["longtask"] });
"""


def fill(address: str, first: int, last: int) -> None:
    """Save records in batches, as an import does."""
    with httpx.Client(base_url=address, timeout=300) as client:
        for start in range(first, last, BATCH):
            items = [
                {"content": f"Fact number {number} about the project", "tags": [f"t{number % 50}"]}
                for number in range(start, min(start + BATCH, last))
            ]
            client.post(
                "/v1/records/batch", json={"items": items}, params={"user": "ann"}
            ).raise_for_status()


def first_page(browser: Browser, address: str) -> tuple[float, float]:
    """Return after how many seconds the first record can be opened, and the scripts' kilobytes."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    scripts: set[str] = set()
    page.on(
        "response",
        lambda answer: scripts.add(answer.url) if answer.url.endswith(".js") else None,
    )
    begun = time.perf_counter()
    page.goto(f"{address}/org/local/ws/default/memory")
    page.locator("article").first.wait_for()
    seconds = time.perf_counter() - begun
    weight = sum(
        len(gzip.compress((FILES / "assets" / url.rsplit("/", 1)[1]).read_bytes(), 9))
        for url in scripts
        if "/assets/" in url
    )
    context.close()
    return seconds, weight / 1000


def scroll(page: Page) -> None:
    """Turn the wheel over the list again and again."""
    page.mouse.move(700, 600)
    for _ in range(SCROLL_STEPS):
        page.mouse.wheel(0, 2_000)
        page.wait_for_timeout(16)


def longest_task(browser: Browser, address: str) -> tuple[float, int]:
    """Return the longest task in milliseconds while scrolling, and how many records were loaded."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/org/local/ws/default/memory")
    page.locator("article").first.wait_for()
    page.evaluate(_WATCH)
    scroll(page)
    longest = page.evaluate("Math.max(0, ...window.longTasks)")
    reached = page.evaluate(
        "Number(document.querySelector('[role=feed]').lastElementChild.dataset.index)"
    )
    context.close()
    return float(longest), int(reached)


def main() -> int:
    """Measure, report, and judge."""
    figures: dict[str, Any] = {}
    # The console shows records; making vectors of them would only keep it waiting.
    os.environ["RECOLLECT_EMBEDDING__MODEL"] = "none"
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        with serving(Path(folder) / "memory.db") as address:
            fill(address, 0, FEW)
            first_page(browser, address)
            seconds, weight = first_page(browser, address)
            figures["first_page_seconds"] = round(seconds, 2)
            figures["script_kilobytes"] = round(weight, 1)
            fill(address, FEW, MANY)
            longest, reached = longest_task(browser, address)
            figures["longest_task_ms"] = round(longest)
            figures["scrolled_to"] = reached
        browser.close()
    kept = {
        "first_page_seconds": figures["first_page_seconds"] <= INTERACTIVE_SECONDS,
        "script_kilobytes": figures["script_kilobytes"] <= SCRIPT_KILOBYTES,
        "longest_task_ms": figures["longest_task_ms"] <= LONG_TASK_MS,
    }
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps({**figures, "kept": kept}, indent=2) + "\n")
    for name, value in figures.items():
        print(f"{name}: {value}" + ("" if kept.get(name, True) else "  (too much)"))
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
