"""The HTML report in a real Chromium: it opens without a complaint, and does what it shows."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.runs import REVISION
from tests.system import pages
from tests.system.chromium import Browser, Page

DARK = "rgb(21, 23, 26)"
LIGHT = "rgb(250, 249, 247)"
PAPER = "getComputedStyle(document.body).backgroundColor"
OPENED = "document.querySelector('.check.open')"
LONG = 45.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def ordinary(home: Path) -> Path:
    return pages.ordinary(home)


@pytest.fixture(scope="module")
def large(home: Path) -> Path:
    return pages.large(home)


@pytest.fixture(scope="module")
def hostile(home: Path) -> Path:
    return pages.hostile(home)


@pytest.fixture
def page(browser: Browser, ordinary: Path) -> Iterator[Page]:
    """The ordinary report. Whatever a test does there, the console has nothing to say about it."""
    with browser.page(ordinary) as opened:
        yield opened
        assert opened.complaints == []


def go(page: Page, selector: str) -> None:
    """Click on what changes the address, and wait until the page has followed."""
    before = page.value("location.hash")
    page.click(selector)
    page.until(f"location.hash !== {json.dumps(before)} && (location.hash || '#') === hashOf(state)")


def test_a_script_that_is_not_its_own_is_refused_and_the_test_would_see_it(
    browser: Browser, ordinary: Path
) -> None:
    with browser.page(ordinary) as opened:
        opened.value(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'caught = 1'}))"
        )
        assert opened.value("typeof caught") == "undefined"
        assert any("Content Security Policy" in said for said in opened.complaints)


def test_top_of_the_page_says_what_the_run_came_to(page: Page) -> None:
    assert page.text("h1") == "Does not conform"
    outcomes = [" ".join(text.split()) for text in page.texts(".outcomes li")]
    assert outcomes == ["2 passed", "1 passed with warnings", "1 failed", "1 incomplete", "1 not applicable"]
    assert "python server.py" in page.text(".facts")


def test_matrix_shows_the_counts_of_every_area_and_revision(page: Page) -> None:
    assert page.texts(".matrix thead th") == ["all", pages.OLDER, REVISION]
    rows = {text.split()[0]: " ".join(text.split()[1:]) for text in page.texts(".matrix tbody tr")}
    assert rows == {
        "http": "· n/a",
        "jsonrpc": "· 0 / 1 1 incomplete",
        "lifecycle": "1 / 1 1 / 1",
        "tools": "· 1 / 2 1 failed 1 warned",
    }
    label = f"tools at {REVISION}: 1 passed with warnings, 1 failed"
    assert page.count(f'.matrix a[aria-label="{label}"]') == 1


def test_cell_of_the_matrix_opens_its_checks(page: Page) -> None:
    go(page, f'.matrix td a[href="#area=tools&revision={REVISION}"]')
    assert page.texts(".run h3 code") == ["tools.unknown-name", "tools.definitions"]
    assert page.texts(".check .opener code") == ["tools.unknown-name", "tools.input-schema"]
    assert page.count(".matrix a[aria-current]") == 1
    assert page.value("document.getElementById('broken').hidden")
    go(page, ".clear")
    assert page.count(".run") == 6


def test_check_opens_with_expected_beside_observed_and_its_frames(page: Page) -> None:
    go(page, ".check.failure .opener")
    assert page.texts(".beside dd") == ["this", "a result with isError"]
    left, right = (
        page.value(f"document.querySelectorAll('.beside > div')[{n}].getBoundingClientRect().x")
        for n in (0, 1)
    )
    assert left < right
    assert page.texts(".sequence .cited .text") == ["tools/list", "result"]
    assert page.texts(".sequence .cited .note") == ["id 60", "id 60 · tools/list"]
    assert page.texts(".parties b") == ["driver", "subject"]
    assert page.texts(".gap button") == ["59 more frames", "58 more frames"]


def test_sequence_shows_more_frames_and_what_is_in_each(page: Page) -> None:
    page.open(Path(page.value("decodeURI(location.pathname)")), pages.LINK)
    before = page.count(".sequence .frame")
    page.click(".gap button")
    assert page.count(".sequence .frame") == before + 40
    page.click(".sequence .cited .arrow")
    assert page.value("document.querySelector('.cited .arrow').getAttribute('aria-expanded')") == "true"
    assert '"method": "tools/list"' in page.text(".sequence .body:not([hidden]) pre")


def test_raw_frames_are_as_they_passed(page: Page) -> None:
    go(page, ".check.failure .opener")
    go(page, ".views button:nth-of-type(2)")
    assert page.texts(".raw .cited pre")[0].strip() == '{"jsonrpc": "2.0", "id": 60, "method": "tools/list"}'
    assert page.count(".sequence") == 0


def test_line_that_reproduces_is_copied_to_the_byte(page: Page, browser: Browser) -> None:
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    go(page, ".check.failure .opener")
    page.click(".reproduce .copy")
    page.until("document.querySelector('.reproduce .copy').textContent === 'Copied'")
    page.call("Page.bringToFront")
    assert page.value("navigator.clipboard.readText()") == pages.REPRODUCE


def test_search_finds_scenarios_checks_requirements_and_what_was_observed(page: Page) -> None:
    page.press("/", 191, "/")
    page.until("document.activeElement.id === 'search'")
    page.write("iserror")
    assert page.texts(".run h3 code") == ["tools.unknown-name"]
    page.press("Escape", 27)
    page.until("document.querySelectorAll('.run').length === 6")
    page.write("lifecycle http")
    assert page.texts(".run .place") == [f"http · {pages.OLDER}"]
    assert page.value("location.hash") == "#q=lifecycle+http"


def test_only_findings_are_left_when_wanted(page: Page) -> None:
    go(page, "#only")
    assert page.texts(".run h3 code") == ["tools.unknown-name", "tools.definitions"]
    assert page.text("#count") == "2 scenario runs, 2 checks with findings"
    go(page, "#only")
    assert page.count(".run") == 6


def test_transport_and_outcome_narrow_the_list(page: Page) -> None:
    page.value("document.getElementById('transport').value = 'http'")
    page.value("document.getElementById('transport').dispatchEvent(new Event('change'))")
    page.until("document.querySelectorAll('.run').length === 1")
    go(page, ".clear")
    go(page, '.outcomes a[href="#outcome=not+applicable"]')
    assert page.texts(".run h3 code") == ["http.ended-session"]


def test_permalink_restores_the_check_in_view(page: Page, browser: Browser, ordinary: Path) -> None:
    link = page.value("document.querySelector('.check.failure .permalink').getAttribute('href')")
    assert link == pages.LINK
    with browser.page(ordinary, f"{link}&view=raw") as another:
        assert another.texts(".check.open .opener code") == ["tools.unknown-name"]
        assert another.count(".raw .cited") == 2
        another.until(f"{OPENED}.getBoundingClientRect().top < innerHeight")


def test_back_undoes_the_last_step(page: Page) -> None:
    go(page, ".check.failure .opener")
    page.value("history.back()")
    page.until("!document.querySelector('.check.open')")


def test_broken_rule_at_the_top_leads_to_its_check(page: Page) -> None:
    assert len(page.texts(".broken li")) == 2
    go(page, ".broken li a")
    assert page.texts(".check.open .opener code") == ["tools.unknown-name"]


def test_keyboard_alone_opens_and_closes_a_check_and_keeps_its_place(page: Page) -> None:
    page.value("document.querySelector('.check.failure .opener').focus()")
    page.press("Enter", 13, "\r")
    page.until(OPENED)
    assert page.value("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.press("Enter", 13, "\r")
    page.until(f"!{OPENED}")
    assert page.value("document.activeElement.getAttribute('aria-expanded')") == "false"


def test_focus_is_seen(page: Page) -> None:
    page.press("Tab", 9)
    page.press("Tab", 9)
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_every_control_has_a_name(page: Page) -> None:
    go(page, ".check.failure .opener")
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "link", "checkbox", "searchbox", "combobox"}
    controls = [node for node in tree if node.get("role", {}).get("value") in roles]
    assert len(controls) > 30
    assert [node for node in controls if not node.get("name", {}).get("value")] == []


def test_dark_follows_the_system_until_the_switch_is_pressed(page: Page) -> None:
    page.media(scheme="light")
    assert page.value(PAPER) == LIGHT
    page.media(scheme="dark")
    page.until(f"{PAPER} === {json.dumps(DARK)}")
    page.click("#theme")
    assert page.value(PAPER) == LIGHT
    page.value("localStorage.clear()")


def test_paper_is_light_without_controls_and_says_what_was_expected(page: Page) -> None:
    page.media(kind="print", scheme="dark")
    assert page.value("getComputedStyle(document.documentElement).colorScheme") == "light"
    for selector in (".tools", "#theme", "#pager"):
        assert page.value(f"getComputedStyle(document.querySelector('{selector}')).display") == "none"
    assert "a result with isError" in page.text(".on-paper")
    assert page.paper().startswith(b"%PDF-")


def test_coverage_shows_rules_and_narrows_them(page: Page) -> None:
    go(page, "#to-coverage")
    assert page.value("document.getElementById('results').hidden")
    every = int(page.text("#rule-count").split()[0])
    assert every == page.count(".rules tbody tr")
    page.value("document.getElementById('rule-search').focus()")
    page.write("TL-19")
    assert page.text("#rule-count") == "1 rule"
    go(page, ".rules:not([hidden]) tr:not([hidden]) a.note")
    assert page.texts(".run h3 code") == ["tools.unknown-name", "tools.definitions"]


def test_no_page_scrolls_sideways_on_a_small_screen(page: Page) -> None:
    go(page, ".check.failure .opener")
    page.size(400, 800)
    assert page.value("document.documentElement.scrollWidth") <= 400


@pytest.mark.timeout(LONG)
def test_thousands_of_checks_are_filtered_and_opened_in_a_page_that_stays_small(
    browser: Browser, large: Path
) -> None:
    with browser.page(large) as page:
        assert page.text("#count") == "1,500 scenario runs, 150 checks with findings"
        nodes = page.count("#runs *")
        assert page.count(".run") == 40 and nodes < 2500
        go(page, "#pager button:last-of-type")
        assert page.text("#pager span") == "Page 2 of 38"
        page.value("document.getElementById('search').focus()")
        page.write("check-7")
        assert page.text("#count").startswith("1,500 scenario runs") and page.count("#runs *") < 2500
        page.write(" scenario-777")
        assert page.texts(".run h3 code") == ["area3.scenario-777"]
        go(page, ".run h3 .opener")
        assert page.count(".check") == 12
        page.open(large, f"#run=area8.scenario-1493/stdio/{REVISION}&check=area8.check-3")
        assert page.texts(".check.open .opener code") == ["area8.check-3"]
        assert page.count("#runs *") < 2500
        assert page.complaints == []


@pytest.mark.timeout(LONG)
def test_hostile_text_is_text(browser: Browser, hostile: Path) -> None:
    with browser.page(hostile, f"{pages.LINK}&view=raw") as page:
        page.until(OPENED)
        assert page.count("img") == page.count("#runs script") == page.count('a[href^="javascript"]') == 0
        shown = page.text(".beside .observed dd")
        assert "<img src=x onerror=" in shown and "\\u202e" in shown and "\u202e" not in shown
        assert "more characters, in the trace" in page.texts(".raw pre")[2]
        assert page.value("document.documentElement.scrollWidth <= innerWidth")
        # Not by the mouse: long lines are still being laid out, and the button may move under it.
        page.value("document.querySelector('.views button:nth-of-type(1)').click()")
        page.until("!location.hash.includes('view=raw') && (location.hash || '#') === hashOf(state)")
        page.value("document.querySelector('.cited .arrow').click()")
        assert page.value("window.caught") is None
        assert page.complaints == []


def test_client_stands_on_the_left_and_its_requests_go_to_the_right(browser: Browser, home: Path) -> None:
    with browser.page(pages.of_a_client(home)) as opened:
        go(opened, ".check.failure .opener")
        assert opened.texts(".parties b") == ["client", "lab"]
        assert opened.texts(".sequence .rightward .text") == ["initialize", "tools/list"]
        assert opened.texts(".sequence .leftward .text") == ["result"]
        assert opened.complaints == []
