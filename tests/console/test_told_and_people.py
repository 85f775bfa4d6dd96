"""What an agent would be told, a person's page, the steps of a write, the palette, the beginning."""

import re

from playwright.sync_api import Page, expect

from tests.console.conftest import Console
from tests.console.test_manners import faults_in_both_themes


def _faults(page: Page) -> list[str]:
    """Return what hinders people in both themes, and whether the page is wider than a phone."""
    faults = faults_in_both_themes(page)
    page.set_viewport_size({"width": 360, "height": 740})
    if page.evaluate(
        "document.getElementById('content').scrollWidth"
        " > document.getElementById('content').clientWidth"
    ):
        faults.append(f"{page.url} is wider than a phone")
    page.set_viewport_size({"width": 1360, "height": 900})
    return faults


def test_what_an_agent_would_be_told_is_shown_tried_and_compared(console: Console):
    kept = console.save("Ann prefers window seats", agent="travel", category="preference")
    console.save("Ann is allergic to nuts", agent="travel", facet="allergy")
    page = console.open("prompt")
    page.get_by_label("Agent").fill("travel")
    page.get_by_label("Person").fill("ann")
    page.get_by_label("Message").fill("Which seat should I book?")
    page.keyboard.press("Control+Enter")
    block = page.get_by_role("region", name="Block")
    expect(block).to_contain_text("window seats")
    expect(block).to_contain_text("allergic to nuts")
    given = console.post(
        "/v1/context", {"message": "Which seat should I book?"}, user="ann", agent="travel"
    )
    assert block.text_content() == given["text"]

    page.get_by_role("button", name="Compare with").click()
    page.get_by_role("button", name="Try a new memory").click()
    page.get_by_label("What would be remembered").fill("Ann wants a seat at the exit")
    expect(page.locator("li").filter(has_text="seat at the exit")).to_be_visible()
    page.get_by_role("button", name="End the comparison").click()
    page.get_by_role("button", name="Items").click()
    page.get_by_role("button", name="Try without: Ann prefers window seats").click()
    page.get_by_role("button", name="Block").click()
    expect(block).to_contain_text("seat at the exit")
    expect(block).not_to_contain_text("window seats")
    # Nothing of it is stored.
    records = console.get("/v1/records", user="ann", agent="travel")["items"]
    assert {it["content"] for it in records} == {
        *("Ann prefers window seats", "Ann is allergic to nuts"),
    }
    assert console.get(f"/v1/records/{kept['id']}", user="ann", agent="travel")["version"] == 1
    assert _faults(page) == []


def test_a_person_is_shown_with_sources_names_and_readers(console: Console):
    console.post(
        "/v1/observe",
        {"session": "monday", "messages": [{"role": "user", "content": "I am allergic to nuts"}]},
        user="ann",
        agent="travel",
    )
    turn = console.get("/v1/turns", user="ann", agent="travel")["items"][0]["id"]
    evidence = [{"turn": turn, "start": 0, "end": 21}]
    console.save("I am allergic to nuts", agent="travel", facet="allergy", evidence=evidence)
    console.save("Ann's brother Ben lives in Lisbon", agent="travel", facet="family")
    console.save("Ben works with PostgreSQL", agent="travel")
    console.post("/v1/context", {"message": "Where is Ben?"}, user="ann", agent="travel")
    page = console.open("people")
    page.get_by_role("link", name=re.compile("ann")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("ann")
    line = page.get_by_role("listitem").filter(has_text="allergic to nuts")
    expect(line.locator("q")).to_have_text("I am allergic to nuts")
    expect(line.get_by_role("link", name="monday")).to_be_visible()
    faults = _faults(page)

    page.get_by_role("button", name="Graph").click()
    graph = page.get_by_role("group", name="People and things that the memory of ann tells of")
    graph.get_by_role("button").first.focus()
    expect(graph.locator("[data-name=Lisbon]")).to_be_attached()
    seen = set[str]()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp") * 3:
        page.keyboard.press(key)
        seen.add(page.evaluate("document.activeElement.dataset.name"))
    assert len(seen) > 1
    page.get_by_role("button", name="List", exact=True).click()
    page.get_by_role("button", name=re.compile("^Ben")).click()
    expect(page.get_by_role("region", name="Ben")).to_contain_text("PostgreSQL")
    faults += _faults(page)

    page.get_by_role("button", name="Timeline").click()
    page.get_by_role("button", name="Recalled").click()
    expect(page.get_by_text("“Where is Ben?”")).to_be_visible()
    faults += _faults(page)
    page.get_by_role("button", name="Read by agents").click()
    expect(page.get_by_role("heading", name="travel")).to_be_visible()
    assert faults == []


def test_a_write_is_followed_from_its_message_to_its_record(console: Console):
    console.post("/v1/write", {"content": "The API runs on port 8080."}, user="ann", agent="ops")
    console.post("/v1/write", {"content": "The API runs on port 9090."}, user="ann", agent="ops")
    page = console.open("memory?user=ann&agent=ops")
    page.get_by_role("article").first.get_by_role("button", expanded=False).first.click()
    panel = page.get_by_role("region", name="Details of the record")
    panel.get_by_role("button", name="How it was written").click()
    panel.get_by_role("link", name=re.compile("Written|Confirmed")).first.click()
    steps = page.get_by_role("list", name="Time of each step")
    for step in ("Route", "Extracted", "Judged against what is known", "Stored"):
        expect(steps.get_by_role("listitem").filter(has_text=step).first).to_be_visible()
    expect(steps).to_contain_text(re.compile(r"[\d.]+ ms"))
    expect(steps).to_contain_text("port 9090")
    assert _faults(page) == []


def test_the_palette_goes_anywhere_and_runs_actions(console: Console):
    console.save("Ann prefers window seats")
    page = console.open("settings")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Go to anything, run anything")
    expect(box).to_be_focused()
    faults = faults_in_both_themes(page)
    page.keyboard.type("window")
    expect(page.get_by_role("option", name=re.compile("window seats"))).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Details of the record")).to_contain_text("window seats")
    page.keyboard.press("Control+k")
    page.keyboard.type("audit")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit")
    page.keyboard.press("Control+k")
    page.keyboard.type("add a mem")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="New memory")).to_be_visible()
    assert faults == []


def test_an_empty_server_shows_three_ways_to_begin(console: Console):
    page = console.open()
    expect(page.get_by_role("heading", name="Three ways to begin")).to_be_visible()
    for name in ("Look around", "Connect an agent", "Bring what you have"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.get_by_role("button", name="Python", exact=True).click()
    expect(page.locator("pre", has_text="Memory.open")).to_contain_text(console.workspace)
    faults = _faults(page)
    console.go(page, "welcome")
    expect(page.locator("[data-arrived=false]")).to_be_visible()
    page.get_by_role("button", name="HTTP", exact=True).click()
    line = {"role": "user", "content": "I like window seats on trains"}
    console.post("/v1/observe", {"messages": [line]}, user="ann", agent="helper")
    expect(page.locator("[data-arrived=true]")).to_contain_text("helper")
    faults += _faults(page)
    console.go(page, "memory")
    page.get_by_label("File to import").or_(page.get_by_role("article")).first.wait_for(
        state="attached"
    )
    assert faults == []


def test_a_chat_history_is_imported_from_the_first_page(console: Console):
    page = console.open()
    chat = b'{"role": "user", "content": "I moved to Lyon", "timestamp": "2026-01-05T10:00:00Z"}\n'
    page.get_by_label("File to import").set_input_files(
        {"name": "chat.jsonl", "mimeType": "application/x-ndjson", "buffer": chat}
    )
    expect(page.get_by_text("1 message from chat.jsonl is in")).to_be_visible()
    assert len(console.get("/v1/turns", user="ann", agent="-")["items"]) == 1
