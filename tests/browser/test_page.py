"""The page of a benchmark in a browser: it renders, its controls work, and names of data run nothing.

Screenshots go to the folder of the environment variable SUFFICE_SCREENSHOTS, or else to one that pytest makes.
"""

from __future__ import annotations

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from papers.bench_page import AVERAGE, bench_page
from suffice.report.page import write
from tests.browser.view import background, colours, loaded, one, shown, size, whole
from tests.report import page_sample as sample

pytestmark = pytest.mark.browser

PHONE = 360
ROWS = len(sample.NAMES) + len(sample.HOSTILE)
TABLE = "#rc1-table2 table.data"


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    html = bench_page([sample.table()], sample.results(), sample.times(), ["wine: not available"])
    return write(tmp_path_factory.mktemp("page") / "index.html", html).as_uri()


@pytest.fixture
def page(browser, address):
    yield loaded(browser, address)
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def names(page):
    """The data sets of the table, whose last row is the mean."""
    return [element.text for element in shown(page, f"{TABLE} tbody th") if element.text != AVERAGE]


def test_the_page_renders(page):
    assert len(names(page)) == ROWS
    assert len(shown(page, f"{TABLE} td.number")) == (ROWS + 1) * 2 * len(sample.METHODS)
    assert len(shown(page, f"{TABLE} td.off")) > 0
    assert len(shown(page, "svg")) >= 1 + 1 + len(sample.METHODS) + len(sample.METHODS) + 1
    for picture in shown(page, "figure svg"):
        assert picture.size["width"] > 150
        assert picture.size["height"] > 50
    assert page.execute_script("return document.compatMode") == "CSS1Compat"


def test_hostile_names_are_text(page):
    assert page.title == "Tables of the papers, measured again"
    assert set(sample.HOSTILE) <= set(names(page))
    assert page.find_elements(By.CSS_SELECTOR, "img, main script, main b:not(figcaption b, li b)") == []
    assert [entry.text for entry in shown(page, ".legend button")] == list(sample.METHODS)


def test_the_filter_hides_rows(page):
    box = one(page, "#filter")
    box.send_keys("IRIS")
    assert names(page) == ["iris"]
    assert len(shown(page, "#overview tbody tr")) == 1
    box.clear()
    box.send_keys("<img")
    assert names(page) == [sample.HOSTILE[0]]
    box.send_keys(" nothing")
    assert names(page) == []
    assert len(shown(page, ".no-match")) == 1
    page.execute_script("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", box)
    assert len(names(page)) == ROWS


def test_only_cells_that_are_off(page):
    box = one(page, "#only-off")
    box.click()
    left = shown(page, f"{TABLE} tbody tr")
    assert 0 < len(left) < ROWS
    assert all(row.find_elements(By.CSS_SELECTOR, "td.off") for row in left)
    box.click()
    assert len(names(page)) == ROWS


def test_headings_sort(page):
    head = page.find_elements(By.CSS_SELECTOR, f"{TABLE} th[aria-sort]")[2]  # the printed numbers of the first column
    before = names(page)

    def values():
        found = [row.find_elements(By.TAG_NAME, "td")[1] for row in shown(page, f"{TABLE} tbody tr")]
        return [None if cell.text == "\u2013" else float(cell.text) for cell in found]

    for direction, reverse in (("ascending", False), ("descending", True)):
        head.find_element(By.TAG_NAME, "button").click()
        assert head.get_attribute("aria-sort") == direction
        numbers = [value for value in values() if value is not None]
        assert numbers == sorted(numbers, reverse=reverse)
        assert values() == numbers + [None] * len(sample.HOSTILE)  # dashes come last either way
    assert names(page) != before
    first = one(page, f"{TABLE} th[aria-sort]")
    first.find_element(By.TAG_NAME, "button").send_keys("\n")
    assert first.get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") == "none"


def test_a_data_set_is_picked(page):
    def label():
        return shown(page, ".pane svg[aria-label*='training rows']")[0].get_attribute("aria-label")

    assert label() == "error on the training rows of adult by iteration"
    data, loss = (Select(element) for element in page.find_elements(By.CSS_SELECTOR, "select[id*=curves]"))
    data.select_by_visible_text("iris")
    loss.select_by_visible_text("log loss")
    assert label() == "log loss on the training rows of iris by iteration"
    assert [entry.text for entry in shown(page, ".legend button")] == ["rc", "gd"]  # the others have no such loss
    data.select_by_visible_text(sample.HOSTILE[0])
    assert sample.HOSTILE[0] in label()
    assert len(shown(page, ".pane")) == 2


def test_the_legend_switches_series(page):
    button = shown(page, ".legend button")[1]
    line = f".pane:not([hidden]) g.series[data-series='{button.get_attribute('data-series')}'] path"
    assert len(shown(page, line)) == 1
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert shown(page, line) == []
    button.click()
    assert len(shown(page, line)) == 1


def test_the_theme_follows_the_system_until_it_is_picked(page, address):
    light = background(page)
    colours(page, "dark")
    dark = background(page)
    assert light != dark
    one(page, "#theme").click()
    assert background(page) == light
    colours(page, "light")
    one(page, "#theme").click()
    assert background(page) == dark
    page.get(address + "#again")
    page.refresh()
    assert background(page) == dark  # it is kept


def test_sections_fold_and_links_open_them(page):
    one(page, "#collapse").click()
    assert names(page) == []
    one(page, "nav a[href='#rc1-table2']").click()
    webdriver.support.wait.WebDriverWait(page, 5).until(lambda _: len(names(page)) == ROWS)
    one(page, "#collapse").click()
    one(page, "nav a[href='#rc1-table2']").click()  # the address stays the same
    webdriver.support.wait.WebDriverWait(page, 5).until(lambda _: len(names(page)) == ROWS)
    one(page, "#collapse").click()
    one(page, "#expand").click()
    assert len(names(page)) == ROWS


def test_everything_is_within_reach_of_the_keyboard_and_named(page):
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('button, select, input, svg[role=img], .frame')].filter((e) =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length)))"
        ".map((e) => e.outerHTML)"
    )
    assert unnamed == []


@pytest.mark.parametrize("width", [320, PHONE, 768, 1280])
def test_no_width_scrolls_the_page_sideways(page, width):
    size(page, width, 800, phone=width < 700)
    assert page.execute_script("return document.scrollingElement.scrollWidth") <= width


def test_screenshots(page, screenshots):
    whole(page, screenshots / "desktop-light.png", 1280)
    colours(page, "dark")
    whole(page, screenshots / "desktop-dark.png", 1280)
    colours(page, "light")
    whole(page, screenshots / "phone.png", PHONE, phone=True)
    assert {path.stat().st_size > 20_000 for path in screenshots.glob("*.png")} == {True}
