"""What must not happen: a maker locked out, an edit lost, a page gone with the server."""

import re
import socket
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.console.conftest import Console, new_context, opened, serving


def cards(page: Page) -> Locator:
    return page.get_by_role("article")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _change(console: Console, page: Page, words: str) -> None:
    page.get_by_role("article").get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Content").fill(words)
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("article")).to_contain_text(words)


def test_the_first_key_lets_its_maker_in_and_a_stopped_server_is_waited_for(
    browser: Browser, tmp_path: Path
):
    port = free_port()
    context = new_context(browser)
    server = ExitStack()
    address = server.enter_context(serving(tmp_path, port))
    with server, opened(address, context) as console:
        saved = console.save("Ann prefers window seats", agent="travel")
        page = console.open()
        _change(console, page, "Ann prefers aisle seats")
        console.go(page, "settings")
        page.get_by_role("button", name="New key").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("signed in with it at once")
        expect(dialog.get_by_role("button", name="Role")).to_have_count(0)
        dialog.get_by_label("Name").fill("boss")
        dialog.get_by_role("button", name="Create").click()
        expect(dialog).to_contain_text("rk_")
        secret = dialog.locator("pre").inner_text()
        page.keyboard.press("Escape")
        page.mouse.click(5, 5)
        expect(page.get_by_role("button", name="Signed in")).to_be_attached()
        expect(dialog).to_contain_text(secret)
        dialog.get_by_role("button", name="I have kept it").click()
        expect(page).to_have_url(re.compile("/settings"))
        expect(page.get_by_role("listitem").filter(has_text="boss")).to_contain_text("Admin")
        console.go(page, "memory")
        _change(console, page, "Ann prefers seats at the front")
        console.api.headers["Authorization"] = f"Bearer {secret}"
        path = f"/v1/records/{saved['id']}/history"
        history = console.get(path, user="ann", agent="travel")["items"]
        assert [version["changed_by"] for version in history] == ["travel", "local", "boss"]

        server.close()
        page.get_by_role("link", name="Sessions").click()
        lost = page.get_by_role("alert").filter(has_text="it goes on by itself")
        expect(lost).to_be_visible()
        expect(cards(page)).to_have_count(1)
        with serving(tmp_path, port):
            expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
            expect(lost).to_have_count(0)
            expect(page.locator("[data-live=true]")).to_be_visible()
            page.close()
        # The browser itself reports the requests that found nobody.
        console.problems.clear()


def test_undo_takes_back_what_it_names_and_nothing_else(console: Console):
    saved = console.save("Ann works in Porto")
    proposal = console.post("/v1/proposals", {"type": "convention", "content": "Commits are small"})
    console.post(f"/v1/proposals/{proposal['id']}/approve")
    page = console.open()
    own = cards(page).filter(has_text="Ann works")
    own.get_by_role("button", name="Edit").click()
    page.get_by_role("dialog").get_by_label("Content").fill("Ann works in Lisbon")
    path = f"/v1/records/{saved['id']}"
    # The page shows a change before the server has it.
    with page.expect_response(re.compile(path)):
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(own).to_contain_text("Lisbon")
    edited = console.get(path, user="ann")
    own.get_by_role("button", name="Delete").click()
    expect(own).to_have_count(0)
    toast = page.get_by_role("alertdialog").filter(has_text="deleted")
    # Two clicks in one moment, as of an impatient finger.
    with page.expect_response(re.compile(f"{path}/undo")):
        toast.get_by_role("button", name="Undo").evaluate("it => { it.click(); it.click() }")
    expect(own).to_contain_text("Lisbon")
    expect(toast).to_have_count(0)
    restored = console.get(path, user="ann")
    assert (restored["content"], restored["version"]) == ("Ann works in Lisbon", 4)
    assert restored["last_confirmed"] == edited["last_confirmed"]

    shared = cards(page).filter(has_text="Commits are small")
    shared.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(shared).to_have_count(0)
    with page.expect_response(re.compile("/v1/shared/.*/undo")):
        page.get_by_role("alertdialog").filter(has_text="deleted").get_by_role(
            "button", name="Undo"
        ).click()
    expect(shared).to_have_count(1)
    assert len(console.get("/v1/shared")["items"]) == 1


def test_audit_and_replay_name_what_they_are_about_and_lead_there(console: Console):
    console.save("Ann prefers window seats", agent="travel", title="Seats")
    text = "# Quiet coach\n\nThe quiet coach has window seats in rows 1 to 4.\n"
    where = {"workspace": console.workspace, "user": "ann", "agent": "-", "source": "coach.md"}
    answer = console.api.put("/v1/knowledge/documents", params=where, content=text)
    assert answer.is_success, answer.text
    asked = {"message": "Which window seats are in the quiet coach?"}
    console.post("/v1/context", asked, user="ann", agent="travel")
    page = console.open("audit")
    row = page.get_by_role("listitem").filter(has_text="Which window seats")
    expect(row.locator("time")).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
    row.get_by_role("button", name="Replay").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Document · Unchanged")
    expect(dialog.get_by_role("link", name="coach")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Seats", exact=True).first.click()
    panel = page.get_by_role("region", name="Details of the record")
    expect(panel).to_contain_text("Ann prefers window seats")


def _ring(of: Locator) -> str:
    return of.evaluate(
        "it => [getComputedStyle(it).outlineStyle, getComputedStyle(it).outlineWidth].join(' ')"
    )


def test_the_keyboard_is_seen_where_it_is_and_the_list_follows_it(console: Console):
    console.post(
        "/v1/records/batch",
        {"items": [{"content": f"Fact number {number}"} for number in range(24)]},
        user="ann",
    )
    page = console.open()
    expect(cards(page).first).to_be_visible()
    page.keyboard.press("Tab")
    for spot in (
        page.get_by_role("navigation", name="Sections").get_by_role("link").first,
        page.get_by_role("navigation", name="Kinds of memory").get_by_role("link").first,
        cards(page).first.get_by_role("button", expanded=False).first,
    ):
        spot.focus()
        assert _ring(spot) == "solid 2px", spot
    for _ in range(16):
        page.keyboard.press("j")
    expect(page.locator("[data-panel]")).to_contain_text("Fact number")
    opened = page.locator("[data-panel]").get_attribute("data-panel")
    expect(page.locator(f'[data-record="{opened}"]')).to_be_in_viewport()
    headings = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(it => Number(it.tagName[1]))"
    )
    assert all(later <= earlier + 1 for earlier, later in pairwise(headings))
