"""The memory page: see, search, correct, decide, delete."""

import json
import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect

from tests.console.conftest import Console


def cards(page: Page):
    return page.get_by_role("article")


def test_what_agents_remember_is_shown_narrowed_and_each_view_has_its_address(console: Console):
    console.save("Ann prefers window seats", agent="travel", tags=["seat"], category="preference")
    console.save("The login button was fixed", kind="episodic", tags=["css"])
    console.save("Release after the checks are green", kind="procedural", title="Release")
    page = console.open()
    expect(cards(page)).to_have_count(3)
    expect(page.get_by_text("3 records")).to_be_visible()
    card = cards(page).filter(has_text="window seats")
    expect(card).to_contain_text("Semantic")
    expect(card).to_contain_text("Confidence 100%")
    expect(card).to_contain_text("Agent: travel")

    page.get_by_role("link", name="Episodic").click()
    expect(page).to_have_url(re.compile(r"/memory/episodic"))
    expect(cards(page)).to_have_count(1)
    page.get_by_role("button", name="Timeline").click()
    expect(page.get_by_role("heading", level=2)).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(r"/memory$"))
    expect(cards(page)).to_have_count(3)

    card.get_by_role("button", name="seat", exact=True).click()
    expect(page).to_have_url(re.compile(r"tag=seat"))
    expect(cards(page)).to_have_count(1)
    page.reload()
    expect(cards(page)).to_have_count(1)


def test_a_question_in_plain_words_finds_and_explains(console: Console):
    console.save("Ann prefers window seats")
    console.save("Ben likes green tea", user="ben")
    page = console.open()
    expect(cards(page)).to_have_count(2)
    page.keyboard.press("/")
    page.keyboard.type("which seats does Ann prefer?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Results").get_by_role("article").first).to_contain_text(
        "window seats"
    )
    expect(page.locator("mark").first).to_be_visible()
    page.get_by_role("button", name="Why this?").first.click()
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("Found by")
    expect(drawer.get_by_role("meter").first).to_be_visible()


def test_what_a_record_states_is_shown_narrowed_by_and_corrected(console: Console):
    saved = console.save("Ann lives in Porto", facet="origin")
    console.save("Ann works for Northwind", facet="employer")
    page = console.open()
    card = cards(page).filter(has_text="Porto")
    expect(card).to_contain_text("Origin")
    card.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Attribute").click()
    page.get_by_role("option", name="Home").click()
    dialog.get_by_role("button", name="About").click()
    page.get_by_role("option", name="The person themselves").click()
    dialog.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("Home")
    stored = console.get(f"/v1/records/{saved['id']}", user="ann")
    assert (stored["facet"], stored["about"], stored["content"]) == (
        *("home", "user", "Ann lives in Porto"),
    )
    page.get_by_role("group", name="Filters").get_by_role("button", name="Attribute").click()
    page.get_by_role("option", name="Home").click()
    expect(page).to_have_url(re.compile(r"facet=home"))
    expect(cards(page)).to_have_count(1)


def test_a_record_is_corrected_and_its_history_shows_the_difference(console: Console):
    saved = console.save("Ann works in Porto")
    page = console.open()
    cards(page).get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Content").fill("Ann works in Lisbon")
    dialog.get_by_label("Reason").fill("she moved")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(cards(page)).to_contain_text("Lisbon")
    stored = console.get(f"/v1/records/{saved['id']}", user="ann")
    assert (stored["content"], stored["version"]) == ("Ann works in Lisbon", 2)

    cards(page).get_by_role("button", expanded=False).first.click()
    panel = page.get_by_role("region", name="Details of the record")
    expect(panel.locator("del")).to_contain_text("Porto")
    expect(panel.locator("ins")).to_contain_text("Lisbon")
    expect(panel).to_contain_text("she moved")
    panel.get_by_role("button", name="Take back the last change").click()
    expect(cards(page)).to_contain_text("Porto")


def test_two_people_edit_one_record_and_the_second_is_told_and_merges(console: Console):
    saved = console.save("Ann works in Porto")
    page = console.open()
    cards(page).get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Content").fill("Ann works in Porto, at the harbour")
    dialog.get_by_label("Category").fill("work")
    path = f"/v1/records/{saved['id']}"
    query = {"user": "ann", "workspace": console.workspace}
    other = console.api.patch(
        path, json={"content": "Ann works in Braga", "tags": ["moved"]}, params=query
    )
    assert other.is_success
    console.problems.clear()
    dialog.get_by_role("button", name="Save").click()
    merge = page.get_by_role("dialog", name="Somebody else has changed this record")
    expect(merge).to_contain_text("Ann works in Braga")
    # The browser itself reports the refused request.
    console.problems[:] = [told for told in console.problems if "412" not in told]
    merge.get_by_role("button", name="Keep mine").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    stored = console.get(path, user="ann")
    assert stored["content"] == "Ann works in Porto, at the harbour"
    # What only one of them changed is there, whoever it was.
    assert (stored["category"], stored["tags"], stored["version"]) == ("work", ["moved"], 3)


def test_deleting_is_undone_by_one_click_and_many_go_together(console: Console):
    for number in range(3):
        console.save(f"Fact number {number}")
    page = console.open()
    cards(page).filter(has_text="number 0").get_by_role("button", name="Delete").click()
    expect(cards(page)).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(cards(page)).to_have_count(3)

    for box in cards(page).get_by_role("checkbox").all():
        box.check(force=True)
    toolbar = page.get_by_role("toolbar", name="Selected records")
    expect(toolbar).to_contain_text("3 selected")
    toolbar.get_by_role("button", name="Tags").click()
    page.get_by_label("Add tags").fill("sorted")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(cards(page).first).to_contain_text("sorted")
    for box in cards(page).get_by_role("checkbox").all():
        box.check(force=True)
    toolbar.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(cards(page)).to_have_count(0)
    expect(page.get_by_text("3 records deleted")).to_be_visible()
    assert console.get("/v1/workspace/records")["total"] == 0


def test_what_is_expired_is_counted_before_it_is_cleaned_up(console: Console):
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    console.save("The visa appointment is on Tuesday", expires_at=past, category="plan")
    page = console.open()
    page.get_by_role("button", name="Expired").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 record is past its time")
    dialog.get_by_role("button", name="Clean up 1").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert console.get("/v1/workspace/health")["expired"] == 0


def test_conflicts_are_decided_side_by_side(console: Console):
    said = (
        "Ann's flight to Lisbon leaves at 9:40",
        "Ann's flight to Lisbon leaves at 11:15",
    )
    for user in ("ann", "ben"):
        for words in said:
            console.post(
                "/v1/write", {"content": words, "category": "plan"}, user=user, agent="travel"
            )
    page = console.open("memory?user=ann")
    for user, choice in (("ann", "Keep A"), ("ben", "Keep B")):
        console.go(page, f"memory?user={user}")
        page.get_by_role("button", name="Conflicts").click()
        dialog = page.get_by_role("dialog", name="Conflicts")
        expect(dialog).to_contain_text(said[0])
        expect(dialog).to_contain_text(said[1])
        dialog.get_by_role("button", name=choice).click()
        expect(dialog).to_contain_text("No conflicts")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(page.get_by_role("button", name="Conflicts")).to_contain_text("0")
    active = console.get("/v1/workspace/records")["items"]
    kept = {item["scope"]["user"]: item["content"] for item in active}
    assert (kept, len(active)) == ({"ann": said[0], "ben": said[1]}, 2)


def test_a_person_is_forgotten_after_typing_the_name_and_nothing_is_left(console: Console):
    console.save("Ann is allergic to nuts")
    console.save("Ben likes green tea", user="ben")
    page = console.open("memory?user=ann")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Forget a person").click()
    dialog = page.get_by_role("dialog", name="Forget for good")
    expect(dialog).to_contain_text("Records")
    button = dialog.get_by_role("button", name="Forget for good")
    expect(button).to_be_disabled()
    dialog.get_by_label("Type ann to confirm").fill("ann")
    button.click()
    expect(page.get_by_role("dialog", name="Forgotten")).to_contain_text("Nothing is left")
    found = console.get("/v1/workspace/records")
    assert [item["content"] for item in found["items"]] == ["Ben likes green tea"]


def test_the_progress_of_a_forgetting_is_shown_as_it_comes(console: Console):
    console.save("Ann is allergic to nuts")
    # The server's stream, held up after its first line.
    console.context.add_init_script("""
        const send = window.fetch;
        window.fetch = async (request, ...rest) => {
          const response = await send(request, ...rest);
          if (!String(request.url ?? request).includes("/v1/forget/stream")) return response;
          const lines = await response.text();
          const step = '{"progress": {"done": 3, "total": 10}}\\n';
          return new Response(new ReadableStream({
            start(out) {
              out.enqueue(new TextEncoder().encode(step.slice(0, 20)));
              out.enqueue(new TextEncoder().encode(step.slice(20)));
              window.goOn = () => {
                out.enqueue(new TextEncoder().encode(lines));
                out.close();
              };
            },
          }), { headers: { "Content-Type": "application/x-ndjson" } });
        };
    """)
    page = console.open("memory?user=ann")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Forget a person").click()
    dialog = page.get_by_role("dialog", name="Forget for good")
    dialog.get_by_label("Type ann to confirm").fill("ann")
    dialog.get_by_role("button", name="Forget for good").click()
    bar = dialog.get_by_role("progressbar", name="3 of 10 erased")
    expect(bar).to_have_attribute("aria-valuenow", "3")
    expect(bar).to_have_attribute("aria-valuemax", "10")
    page.evaluate("window.goOn()")
    expect(page.get_by_role("dialog", name="Forgotten")).to_contain_text("Nothing is left")


def test_a_hostile_record_shows_harmlessly(console: Console):
    console.save("<script>document.title='owned'</script><img src=x onerror=alert(1)>")
    console.save("\u202eright to left \u202c مرحبا 🎉" + "x" * 50_000, user="bob")
    console.save("many tags", tags=[f"tag{number}" for number in range(1_000)], user="cy")
    page = console.open()
    expect(cards(page)).to_have_count(3)
    expect(page.get_by_text("<script>document.title")).to_be_visible()
    assert page.title().startswith("Memory")
    wide = page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth")
    assert not wide
    cards(page).filter(has_text="right to left").get_by_role("button", expanded=False).first.click()
    expect(page.get_by_role("region", name="Details of the record")).to_be_visible()


def test_what_is_shown_can_be_taken_away_as_a_file(console: Console):
    console.save("Ann likes green tea")
    console.save("The release is on Thursday")
    page = console.open()

    def exported() -> list[str]:
        page.get_by_role("button", name="More").click()
        with page.expect_download() as started:
            page.get_by_role("menuitem", name="Export what is shown").click()
        lines = started.value.path().read_text().splitlines()
        return sorted(json.loads(line)["content"] for line in lines)

    expect(cards(page)).to_have_count(2)
    assert exported() == ["Ann likes green tea", "The release is on Thursday"]
    console.go(page, "memory?q=green+tea")
    expect(cards(page)).to_have_count(1)
    assert exported() == ["Ann likes green tea"]


def test_the_profile_shows_what_stands_in_every_prompt_and_lets_a_person_change_it(
    console: Console,
):
    console.save("Ann is allergic to nuts", facet="allergy", about="user")
    console.save("Ann lives in Lyon", facet="home", about="user")
    console.save("The harbour opens in May")
    page = console.open("memory?user=ann")
    profile = page.get_by_role("region", name="Profile")
    profile.get_by_role("button", expanded=False).click()
    expect(profile.get_by_role("listitem")).to_have_count(2)
    expect(profile.get_by_role("listitem").first).to_contain_text("Allergy")

    profile.get_by_role("button", name="Ann lives in Lyon", exact=True).click()
    expect(page).to_have_url(re.compile(r"record=mem_"))
    profile.get_by_role("button", name="Edit: Ann lives in Lyon").click()
    page.get_by_role("textbox", name="Content").fill("Ann lives in Nice")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(profile).to_contain_text("Ann lives in Nice")
    profile.get_by_role("button", name="Hide from the profile: Ann lives in Nice").click()
    expect(profile.get_by_role("listitem")).to_have_count(1)
    profile.get_by_role("button", name="1 more is hidden or has no room").click()
    profile.get_by_role("button", name="Show in the profile: Ann lives in Nice").click()
    expect(profile.get_by_role("listitem")).to_have_count(2)
