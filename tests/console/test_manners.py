"""Both languages, both themes, keyboard, phones, screen readers, live updates, signing in."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.conftest import AXE, Console, new_context, opened, serving

_SECTIONS = [
    ["memory", "memory/episodic?view=timeline", "memory/shared", "memory/knowledge", "sessions"],
    ["agents", "approvals", "audit", "metrics", "settings"],
]


def serious_violations(page: Page, rules: str = "") -> list[str]:
    """Return what hinders people who use assistive technology, of all rules or of this one."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    only = f", runOnly: ['{rules}']" if rules else ""
    found = page.evaluate(f"axe.run(document, {{resultTypes: ['violations']{only}}})")
    return [
        f"{page.url} {violation['id']}: {violation['nodes'][0]['failureSummary']}"
        f" {violation['nodes'][0]['html'][:200]}"
        for violation in found["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]


def settle(page: Page) -> None:
    """Wait until no colour or place is changing any more."""
    page.evaluate("Promise.allSettled(document.getAnimations().map(it => it.finished))")


def faults_in_both_themes(page: Page) -> list[str]:
    settle(page)
    faults = serious_violations(page)
    # The other theme has the same elements in other colours.
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html.dark")).to_be_attached()
    settle(page)
    faults += serious_violations(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    expect(page.locator("html.dark")).to_have_count(0)
    return faults


def fill(console: Console) -> None:
    console.save("Ann prefers window seats", agent="travel", tags=["seat"], category="preference")
    console.save("The login button was fixed", kind="episodic")
    console.post("/v1/proposals", {"type": "convention", "content": "Commits are squashed"})
    console.post(
        "/v1/observe",
        {"session": "monday", "messages": [{"role": "user", "content": "I am vegetarian"}]},
        user="ann",
    )


@pytest.mark.parametrize("sections", _SECTIONS)
def test_every_page_serves_assistive_technology_both_themes_and_phones(
    console: Console, sections: list[str]
):
    fill(console)
    page = console.open(sections[0])
    faults: list[str] = []
    for section in sections:
        page.set_viewport_size({"width": 1360, "height": 900})
        console.go(page, section)
        faults += faults_in_both_themes(page)
        page.set_viewport_size({"width": 360, "height": 740})
        if page.evaluate(
            "document.getElementById('content').scrollWidth"
            " > document.getElementById('content').clientWidth"
        ):
            faults.append(f"{section} is wider than a phone")
    assert faults == []


def test_dialogs_and_panels_serve_assistive_technology_and_phones(console: Console):
    fill(console)
    page = console.open()
    page.get_by_role("article").first.get_by_role("button", expanded=False).first.click()
    expect(page.get_by_role("region", name="Details of the record")).to_be_visible()
    faults = faults_in_both_themes(page)
    page.set_viewport_size({"width": 360, "height": 740})
    expect(page.get_by_role("dialog", name="Details of the record")).to_be_visible()
    faults += faults_in_both_themes(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open navigation").click()
    page.get_by_role("link", name="Memory").click()
    page.get_by_role("button", name="Add a memory").click()
    expect(page.get_by_role("dialog", name="New memory")).to_be_visible()
    assert faults + faults_in_both_themes(page) == []


@pytest.mark.parametrize("language", ["zh"])
def test_every_page_speaks_chinese(console: Console):
    fill(console)
    page = console.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("记忆")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    for name in ("会话", "Agent", "审批", "审计", "指标", "设置"):
        page.get_by_role("navigation", name="栏目").get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.get_by_role("button", name="语言: 中文").click()
    page.get_by_role("menuitemradio", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")


def test_what_an_agent_saves_appears_by_itself(console: Console):
    console.save("Ann prefers window seats")
    page = console.open()
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.locator("[data-live=true]")).to_be_visible()
    console.save("Ben likes green tea", user="ben")
    expect(page.get_by_role("article")).to_have_count(2)


def test_records_are_walked_and_help_is_shown_by_keyboard(console: Console):
    console.save("first fact")
    console.save("second fact")
    page = console.open()
    expect(page.get_by_role("article")).to_have_count(2)
    page.keyboard.press("j")
    panel = page.get_by_role("region", name="Details of the record")
    expect(panel).to_contain_text("second fact")
    page.keyboard.press("j")
    expect(panel).to_contain_text("first fact")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()


def _tab_to(page: Page, name: str) -> None:
    """Press Tab until something with this name has the focus."""
    named = """() => {
      const it = document.activeElement;
      if (it === document.body || it.id === "content") return "";
      const labels = [...(it.labels ?? [])].map((label) => label.textContent);
      return [it.getAttribute("aria-label"), it.textContent, ...labels].join(" ");
    }"""
    for _ in range(60):
        page.keyboard.press("Tab")
        if name in page.evaluate(named):
            return
    pytest.fail(f"Tab does not reach {name}")


def test_edit_undo_approve_resolve_and_forget_need_no_mouse(console: Console):
    saved = console.save("Ann works in Porto")
    for time in ("9:40", "11:15"):
        content = {"content": f"Ann's flight to Lisbon leaves at {time}", "category": "plan"}
        console.post("/v1/write", content, user="ann", agent="travel")
    console.post("/v1/proposals", {"type": "convention", "content": "Commits are squashed"})
    path = f"/v1/records/{saved['id']}"
    page = console.open("memory?user=ann")
    expect(page.get_by_role("article")).to_have_count(3)

    for _ in range(3):
        page.keyboard.press("j")
    panel = page.get_by_role("region", name="Details of the record")
    expect(panel).to_contain_text("Porto")
    page.keyboard.press("e")
    expect(page.get_by_label("Content")).to_be_visible()
    _tab_to(page, "Content")
    page.keyboard.press("Control+a")
    page.keyboard.type("Ann works in Lisbon")
    _tab_to(page, "Save")
    page.keyboard.press("Enter")
    expect(panel).to_contain_text("Lisbon")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert console.get(path, user="ann")["content"] == "Ann works in Lisbon"
    page.keyboard.press("Control+z")
    expect(page.get_by_role("article").filter(has_text="Porto")).to_have_count(1)
    assert console.get(path, user="ann")["content"] == "Ann works in Porto"
    page.keyboard.press("Escape")

    _tab_to(page, "Conflicts")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Conflicts")
    expect(dialog.locator("[data-queued]")).to_be_focused()
    page.keyboard.press("1")
    expect(dialog).to_contain_text("No conflicts")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="Conflicts")).to_contain_text("1")

    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("approvals")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Approvals")
    expect(page.get_by_role("listitem").filter(has_text="Commits")).to_be_visible()
    _tab_to(page, "Approve")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is waiting")).to_be_visible()
    expect(page.get_by_text("Shared with all agents")).to_be_visible()
    assert len(console.get("/v1/shared")["items"]) == 1

    console.go(page, "memory?user=ann")
    _tab_to(page, "More")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Type ann to confirm")).to_be_visible()
    _tab_to(page, "Type ann to confirm")
    page.keyboard.type("ann")
    _tab_to(page, "Forget for good")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Forgotten")).to_contain_text("Nothing is left")


def _use_memory_of_a_person_that_is_named(console: Console, page: Page) -> None:
    """Sign in with a key that reaches everybody and lists nobody."""
    writer = console.create_key(name="agents", role="writer", all_users=True)
    page.get_by_role("button", name="Signed in").click()
    page.get_by_role("menuitem", name="Sign out").click()
    page.get_by_label("Key").fill(writer)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Whose memory: Nobody in particular").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Person").fill("ann")
    dialog.get_by_role("button", name="Show").click()
    console.go(page, "memory?user=ann")
    expect(page.get_by_role("article")).to_contain_text("window seats")
    page.get_by_role("button", name="Add a memory").click()
    page.get_by_role("dialog").get_by_label("Content").fill("Ann likes green tea")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("article")).to_have_count(2)


def _make_a_key_for_everybody(console: Console, page: Page) -> None:
    """See that it is chosen, and told how many users that are."""
    console.go(page, "settings")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("bot")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_role("button", name="Whose memory it opens").click()
    page.get_by_role("option", name="all users").click()
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_contain_text("all users: 2 now, and whoever comes later")
    dialog.get_by_role("button", name="I have kept it").click()


def test_a_server_with_keys_asks_for_one_and_shows_what_its_role_allows(
    browser: Browser, tmp_path: Path
):
    with serving(tmp_path) as address, opened(address, new_context(browser)) as console:
        console.save("Ann prefers window seats")
        console.save("Ben likes green tea", user="ben")
        admin = console.create_key(name="console", role="admin")
        console.api.headers["Authorization"] = f"Bearer {admin}"
        reader = console.create_key(name="Ann's own", role="reader", users=["ann"])
        page = console.open()
        expect(page).to_have_url(re.compile("/sign-in"))
        page.get_by_label("Key").fill("rk_wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_label("Key")).to_have_attribute("aria-invalid", "true")
        page.get_by_label("Key").fill(admin)
        page.get_by_role("button", name="Sign in").click()
        ben = page.get_by_role("article").filter(has_text="green tea")
        ben.get_by_role("button", name="Delete").click()
        expect(page.get_by_role("article")).to_have_count(1)
        _make_a_key_for_everybody(console, page)
        page.get_by_role("button", name="Signed in").click()
        page.get_by_role("menuitem", name="Sign out").click()
        expect(page).to_have_url(re.compile("/sign-in"))
        page.get_by_label("Key").fill(reader)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("Signed in as Ann's own (Reader)")).to_be_visible()
        console.go(page, "memory")
        expect(page.get_by_role("article")).to_contain_text("window seats")
        expect(page.get_by_role("button", name="Delete")).to_have_count(0)
        expect(page.get_by_role("button", name="Add a memory")).to_have_count(0)
        expect(page.get_by_role("link", name="Metrics")).to_have_count(0)
        page.get_by_role("link", name="Sessions").click()
        expect(page.get_by_text("No conversations yet")).to_be_visible()
        _use_memory_of_a_person_that_is_named(console, page)
        # The browser itself reports the refused requests.
        console.problems[:] = [told for told in console.problems if "401" not in told]
