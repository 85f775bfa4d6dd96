"""Sessions, approvals, audit, metrics, settings and the demo workspace."""

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.console.conftest import Console, new_context, opened, serving


def test_the_demo_is_loaded_and_removed_with_one_click(console: Console):
    page = console.open()
    expect(page.get_by_role("heading", name="Three ways to begin")).to_be_visible()
    page.get_by_role("button", name="Try the demo workspace").click()
    expect(page).to_have_url(re.compile(r"/ws/demo/memory"))
    expect(page.get_by_role("article").first).to_be_visible()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page).not_to_have_url(re.compile(r"/ws/demo/"))
    assert (
        console.api.get("/v1/workspace/records", params={"workspace": "demo"}).json()["total"] == 0
    )


def test_a_session_shows_what_was_said_and_how_full_its_window_is(console: Console):
    scope = {"user": "ann", "agent": "helper"}
    console.post(
        "/v1/observe",
        {
            "session": "monday",
            "messages": [
                {"role": "user", "content": "I am vegetarian"},
                {"role": "assistant", "content": "Noted."},
            ],
        },
        **scope,
    )
    long = "\n".join(f"line {number} of what the tool found" for number in range(600))
    console.post(
        "/v1/sessions/monday/tool-results", {"tool": "search", "input": {}, "result": long}, **scope
    )
    console.api.patch(
        "/v1/sessions/monday/scratchpad",
        json={"current_goal": "Book the trip"},
        params={**scope, "workspace": console.workspace},
    )
    page = console.open("sessions")
    page.get_by_role("link", name="monday").click()
    expect(page.get_by_text("I am vegetarian")).to_be_visible()
    window = page.get_by_role("region", name="Window in use")
    expect(window.get_by_role("meter", name="Window in use")).to_be_visible()
    expect(window).to_contain_text("Tokens saved0")
    expect(window).to_contain_text(re.compile(r"Archived results1 \([\d.]+k characters\)"))
    expect(page.get_by_text("Book the trip")).to_be_visible()
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("pre")).to_contain_text("line 3 of what the tool found")


def test_a_proposal_is_approved_in_other_words_or_rejected_with_a_reason(console: Console):
    for content in ("Commits are squashed", "Tabs are four spaces"):
        console.post("/v1/proposals", {"type": "convention", "content": content})
    page = console.open("approvals")
    good = page.get_by_role("listitem").filter(has_text="Commits are squashed")
    good.get_by_role("button", name="Edit").click()
    good.get_by_label("In these words").fill("Commits are squashed and signed")
    good.get_by_role("button", name="Approve in these words").click()
    expect(good).to_have_count(0)
    bad = page.get_by_role("listitem").filter(has_text="Tabs are four spaces")
    bad.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("two is enough")
    dialog.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Nothing is waiting")).to_be_visible()
    shared = console.get("/v1/shared")["items"]
    assert [record["content"] for record in shared] == ["Commits are squashed and signed"]
    (rejected,) = console.get("/v1/proposals", status="rejected")["items"]
    assert rejected["decision"] == "two is enough"
    page.keyboard.press("Control+z")
    expect(bad).to_be_visible()
    page.get_by_role("button", name="Status: Waiting").or_(
        page.get_by_role("button", name="Status")
    ).first.click()
    page.get_by_role("option", name="Approved").click()
    good.get_by_role("button", name="Take back").click()
    expect(good).to_have_count(0)
    assert console.get("/v1/shared")["items"] == []
    assert len(console.get("/v1/proposals")["items"]) == 2


def test_undo_leaves_the_newer_decision_of_somebody_else(console: Console):
    made = console.post("/v1/proposals", {"type": "convention", "content": "Commits are squashed"})
    path = f"/v1/proposals/{made['id']}"
    page = console.open("approvals")
    page.get_by_role("button", name="Approve").click()
    toast = page.get_by_role("alertdialog").filter(has_text="Undo")
    expect(toast).to_be_visible()
    console.post(f"{path}/reopen")
    console.post(f"{path}/reject", {"reason": "too vague"})
    # The browser itself reports a request that is refused.
    with page.expect_console_message(lambda told: "409" in told.text):
        toast.get_by_role("button", name="Undo").click()
    assert console.get(path)["status"] == "rejected"
    console.problems.clear()


def test_the_audit_follows_a_record_and_replays_a_prompt(console: Console):
    saved = console.save("Ann prefers window seats", agent="travel")
    console.post("/v1/context", {"message": "Book a seat Ann prefers"}, user="ann", agent="travel")
    # What happened to Ann's memory stands among all that happened in the workspace.
    page = console.open("audit")
    page.get_by_role("button", name="Follow: Ann prefers").first.click()
    expect(page).to_have_url(re.compile(saved["id"]))
    page.get_by_role("button", name="Replay").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Book a seat Ann prefers")
    expect(dialog).to_contain_text("Ann prefers window seats")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Verify the chain").click()
    expect(page.get_by_text("Intact")).to_be_visible()


def test_an_agent_is_set_up_in_a_form_that_checks_what_is_typed(console: Console):
    console.save("Ann prefers window seats", agent="travel")
    page = console.open("agents")
    page.get_by_role("button", name="Configure").click()
    dialog = page.get_by_role("dialog", name="Memory of travel")
    dialog.get_by_role("button", name="Advanced").click()
    dialog.get_by_label("Records looked up").fill("5000")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("A whole number from 1 to 1000")
    dialog.get_by_label("Records looked up").fill("7")
    dialog.get_by_text("Use memory").click()
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Memory is off")).to_be_visible()
    answer = console.api.get("/v1/agents/travel")
    assert answer.is_success, answer.text
    agent = answer.json()
    assert (agent["enabled"], agent["prefetch_limit"]) == (False, 7)
    console.api.delete("/v1/agents/travel")


def test_an_agent_is_moved_to_a_store_of_its_own_that_is_tried_first(console: Console):
    name = f"mover-{console.workspace}"
    console.save("Ann prefers window seats", agent=name)
    page = console.open("agents")
    card = page.get_by_role("main").get_by_role("listitem").filter(has_text=name)
    card.get_by_role("button", name="Configure").click()
    dialog = page.get_by_role("dialog", name=f"Memory of {name}")
    dialog.get_by_role("button", name="Storage").click()
    page.get_by_role("option", name="A PostgreSQL server").click()
    dialog.get_by_label("Address").fill("postgresql://nobody@127.0.0.1:1/none")
    dialog.get_by_role("button", name="Test the connection").click()
    expect(dialog.get_by_role("status")).not_to_have_text("")
    expect(dialog.get_by_role("status")).not_to_contain_text("can be used")
    console.problems[:] = [told for told in console.problems if "/try" not in told]
    dialog.get_by_role("button", name="Storage").click()
    page.get_by_role("option", name="A file of its own").click()
    dialog.get_by_role("button", name="Test the connection").click()
    expect(dialog.get_by_role("status")).to_contain_text("can be used")
    dialog.get_by_role("button", name="Save and move").click()
    expect(card.locator("[data-move=moved]")).to_contain_text("still kept")
    kept = console.get("/v1/records", user="ann", agent=name)["items"]
    assert [it["content"] for it in kept] == ["Ann prefers window seats"]
    card.get_by_role("button", name="Erase the old copy").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase the old copy").click()
    expect(card.locator("[data-move]")).to_have_count(0)
    expect(card).to_contain_text(f"Kept in {name}.db")


def test_metrics_and_settings_tell_what_the_server_does_and_runs_with(console: Console):
    page = console.open("metrics")
    expect(page.get_by_role("heading", name="Hit rate")).to_be_visible()
    expect(page.get_by_role("img").first).to_be_visible()
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Find a setting").fill("embedding.model")
    expect(page.get_by_text("RECOLLECT_EMBEDDING__MODEL")).to_be_visible()


def test_a_store_beside_the_database_shows_how_far_it_is(browser: Browser, tmp_path: Path):
    chosen = '[storage]\nvectors = "qdrant://127.0.0.1:1"\nvectors_from = 1\n'
    (tmp_path / "recollect").mkdir()
    (tmp_path / "recollect" / "settings.toml").write_text(chosen)
    with serving(tmp_path) as address, opened(address, new_context(browser)) as console:
        console.save("Ann keeps bees behind the house")
        stores = console.open("metrics").get_by_role("region", name="Stores beside the database")
        expect(stores).to_contain_text("qdrant://127.0.0.1:1")
        expect(stores).to_contain_text("0 of 1 units")
