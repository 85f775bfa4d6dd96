"""The knowledge pages: add documents, look into them, test the search, delete."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.console.conftest import Console

_POLICY = """# Travel policy

Keep the receipts.

## Hotels

A hotel may cost up to 160 euros a night.

## Trains

Take the train where it is faster.
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    policy = tmp_path / "policy.md"
    policy.write_text(_POLICY)
    chinese = tmp_path / "差旅.txt"
    chinese.write_bytes("酒店每晚不超过一千二百元。".encode("gb18030"))
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 cut off")
    return [policy, chinese, broken]


def test_files_are_dropped_on_the_page(console: Console):
    page = console.open("memory/knowledge")
    zone = page.locator("[data-drop-zone]")
    expect(zone).to_contain_text("Drop files here")
    carried = page.evaluate_handle(
        """texts => {
            const carried = new DataTransfer();
            for (const [name, text] of Object.entries(texts))
                carried.items.add(new File([text], name, { type: "text/markdown" }));
            return carried;
        }""",
        {"policy.md": _POLICY, "notes.md": "# Notes\n\nThe office is closed on Friday."},
    )
    zone.dispatch_event("dragover", {"dataTransfer": carried})
    expect(zone).to_contain_text("Let go to add them")
    zone.dispatch_event("drop", {"dataTransfer": carried})
    expect(page.get_by_role("region", name="Uploads")).to_contain_text("2 of 2 done")
    expect(zone).to_contain_text("Drop files here")
    kept = console.get("/v1/knowledge/documents", agent="-", user="-")["items"]
    assert sorted(it["source"] for it in kept) == ["notes.md", "policy.md"]


def test_files_are_chosen_read_searched_shown_and_deleted(console: Console, files: list[Path]):
    page = console.open("memory/knowledge")
    expect(page.get_by_text("No documents yet")).to_be_visible()
    page.get_by_label("Choose files").set_input_files(files)
    uploads = page.get_by_role("region", name="Uploads")
    expect(uploads).to_contain_text("3 of 3 done")
    expect(uploads.get_by_role("listitem").filter(has_text="policy.md")).to_contain_text("Ready")
    expect(uploads.get_by_role("listitem").filter(has_text="broken.pdf")).to_contain_text("Failed")
    documents = page.get_by_role("list", name="Documents")
    expect(documents.get_by_role("listitem")).to_have_count(3)

    page.keyboard.press("/")
    page.keyboard.type("how much may a hotel cost?")
    page.keyboard.press("Enter")
    passages = page.get_by_role("list", name="Passages")
    best = passages.get_by_role("listitem").first
    expect(best).to_contain_text("160 euros")
    expect(best.locator("mark").first).to_have_text(re.compile("^hotels?$", re.IGNORECASE))
    best.get_by_role("button").click()
    text = page.get_by_role("region", name="Text")
    expect(text.locator("mark")).to_contain_text("160 euros")
    chunks = page.get_by_role("region", name="Chunks")
    chunks.get_by_role("button").filter(has_text="Take the train").click()
    expect(text.locator("mark")).to_contain_text("Take the train")
    page.go_back()
    expect(passages).to_be_visible()
    page.get_by_role("button", name="Clear the search").click()

    broken = documents.get_by_role("listitem").filter(has_text="broken")
    broken.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    expect(documents.get_by_role("listitem")).to_have_count(2)
    left = console.get("/v1/knowledge/documents", agent="-", user="-")["items"]
    assert sorted(it["source"] for it in left) == ["policy.md", "差旅.txt"]
