"""The page of a comparison in a browser: widths, colours, and controls by the keyboard alone."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from suffice.compare.race.methods import CHANCE
from suffice.compare.race.page import ComparisonSettings, compare_page
from suffice.compare.race.run import Race
from suffice.compare.race.table import read_table
from suffice.compare.race.verdict import Comparison
from suffice.report.page import write
from tests.browser.view import background, colours, loaded, one, shown, size, whole

pytestmark = pytest.mark.browser

METHODS = (CHANCE, "GaussianNB", "LDA", "LDA + RC", "LR Newton", "logistic regression", "decision tree")
PHONE = 390


@pytest.fixture(scope="session")
def comparison_address(tmp_path_factory):
    contest = Race(read_table("breast_cancer", None), METHODS, 3, 0, 300.0)
    found = contest.run(2, winner=lambda found: Comparison.of(found).best.method)
    html = compare_page(
        Comparison.of(found), found, contest, ComparisonSettings(command="suffice compare breast_cancer")
    )
    return write(tmp_path_factory.mktemp("page") / "compare.html", html).as_uri()


@pytest.fixture
def page(browser, comparison_address):
    yield loaded(browser, comparison_address)
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_every_method_has_a_row_with_its_number_and_a_dot_in_place(page):
    rows = shown(page, ".dot-plot tbody tr")
    assert len(rows) == len(METHODS)
    numbers = [float(row.find_element(By.CSS_SELECTOR, "td.number").text.split()[0]) for row in rows]
    assert numbers == sorted(numbers)
    dots = [row.find_elements(By.CSS_SELECTOR, ".dot") for row in rows]
    places = [found[0].rect["x"] for found in dots if found]
    assert len(places) >= len(METHODS) - 1  # chance may lie beyond the scale
    assert places == sorted(places)


@pytest.mark.parametrize("width", [PHONE, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_width_scrolls_sideways_and_no_label_leaves_its_picture(page, width, scheme):
    colours(page, scheme)
    size(page, width, 800, phone=width == PHONE)
    assert page.execute_script("return document.scrollingElement.scrollWidth") <= width
    outside = page.execute_script(
        "return [...document.querySelectorAll('.chart text, .dot-plot th, .ticks i')].filter((e) =>"
        " { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth + 1 })"
        ".map((e) => e.textContent)"
    )
    assert outside == []


def test_no_name_of_a_method_is_broken_inside_a_word(page):
    size(page, PHONE, 800, phone=True)
    broken = page.execute_script(
        """return [...document.querySelectorAll('th[scope=row]')].filter((cell) => {
          const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            for (const word of node.textContent.matchAll(/\\S+/g)) {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) return true;
            }
          }
          return false;
        }).map((cell) => cell.textContent)"""
    )
    assert broken == []


def focus(page, wanted, most=80):
    """Press Tab until an element that matches a selector has the focus."""
    for _ in range(most):
        page.switch_to.active_element.send_keys(Keys.TAB)
        if page.execute_script("return document.activeElement.matches(arguments[0])", wanted):
            return page.switch_to.active_element
    raise AssertionError(f"{wanted} is out of reach of the keyboard")


def test_controls_work_by_the_keyboard(page):
    light = background(page)
    focus(page, "#theme").send_keys(Keys.ENTER)
    assert background(page) != light
    head = focus(page, "table.data th[aria-sort] button")
    head.send_keys(Keys.ENTER)
    assert one(page, "table.data th[aria-sort]").get_attribute("aria-sort") == "ascending"
    assert not shown(page, ".folded table")
    focus(page, ".fold > summary").send_keys(Keys.SPACE)
    assert shown(page, ".folded table")
    key = focus(page, ".legend button")
    key.send_keys(Keys.SPACE)
    assert key.get_attribute("aria-pressed") == "false"
    assert shown(page, f".chart g.series[data-series='{key.get_attribute('data-series')}'] path") == []
    focus(page, "pre")


def test_the_filter_keeps_methods_apart_from_columns(page):
    one(page, "#filter").send_keys("lda")
    assert [row.text.split()[0] for row in shown(page, "#differences .block:nth-of-type(2) tbody tr")] == ["LDA", "LDA"]
    assert len(shown(page, "#table tbody tr")) == 2 + 30


def test_screenshots_of_a_comparison(page, screenshots):
    for scheme in ("light", "dark"):
        colours(page, scheme)
        whole(page, screenshots / f"compare-desktop-{scheme}.png", 1280)
        whole(page, screenshots / f"compare-phone-{scheme}.png", PHONE, phone=True)
    assert {path.stat().st_size > 20_000 for path in screenshots.glob("compare-*.png")} == {True}
