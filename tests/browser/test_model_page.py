"""The page of a model in a browser: what its controls are set to has Python's probabilities.

Screenshots go to the folder of the environment variable SUFFICE_SCREENSHOTS, or else to one that pytest makes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from suffice.report import explain
from tests.browser.view import background, colours, one, shown, size, whole
from tests.report import model_samples as samples
from tests.report.test_model_page import embedded, entry

pytestmark = [pytest.mark.browser, pytest.mark.data]

PHONE = 390
PAGES = ("additive", "mixed", "linear", "quadratic", "odd tables")
SET = """
const [i, kind, text] = arguments, control = document.querySelector(`[data-column="${i}"]`);
const target = control.querySelector(kind === "option" ? "select" : ".box");
target.value = text;
target.dispatchEvent(new Event(kind === "option" ? "change" : "input", {bubbles: true}));
"""
TOLD = """
const rows = [...document.querySelectorAll(".classes tr[data-class]")];
rows.sort((a, b) => a.dataset.class - b.dataset.class);
return rows.map((row) => row.dataset.probability);
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name in PAGES:
        model, X = samples.fitted(name)
        explain(model, folder / f"{name}.html", X)
    return folder


@pytest.fixture
def visit(opened, pages):
    """Opens the page of a model by its name."""
    return lambda name: opened(pages / f"{name}.html")


def told(page):
    """The probabilities, to the last digit."""
    return np.array(list(map(float, page.execute_script(TOLD))))


def typed(column, x):
    return str(np.datetime64(0, "s") + np.timedelta64(round(86400 * x), "s")) if column["dates"] else repr(float(x))


def set_row(page, columns, row):
    for i, column in enumerate(columns):
        x = entry(column, row[column["name"]])
        option = "options" in column
        text = "" if x is None and not option else str(-1 if x is None else x) if option else typed(column, x)
        page.execute_script(SET, i, "option" if option else "number", text)


@pytest.mark.parametrize("name", PAGES)
def test_rows_that_are_set_have_pythons_probabilities(visit, pages, name):
    page = visit(name)
    columns = embedded((pages / f"{name}.html").read_text(encoding="utf-8"))["columns"]
    rows = samples.asked(name, seed=1)
    expected = samples.answers(name, rows)
    for (_, row), p in zip(rows.iterrows(), expected, strict=True):
        set_row(page, columns, {str(key): value for key, value in row.items()})
        assert abs(told(page) - p).max() < 1e-9


def test_the_first_row_is_a_typical_one(visit):
    page = visit("additive")
    model, X = samples.fitted("additive")
    p = told(page)
    set_row(page, [{"name": "age", "dates": False}], {"age": 17.0})
    assert abs(told(page) - p).max() > 1e-3
    one(page, "#typical").click()
    assert (told(page) == p).all()
    menu = Select(one(page, "#example"))
    menu.select_by_index(3)
    assert abs(told(page) - model.predict_proba(X[2:3])[0]).max() < 1e-9
    assert menu.first_selected_option.text == "row 3"
    one(page, "#typical").click()
    assert menu.first_selected_option.text == "\u2013"
    menu.select_by_index(3)
    set_row(page, [{"name": "age", "dates": False}], {"age": 17.0})
    assert menu.first_selected_option.text == "\u2013"


def test_the_keyboard_will_do(visit):
    page = visit("linear")
    before = told(page)
    slider = one(page, "[data-column='0'] input[type=range]")
    box = one(page, "[data-column='0'] input[type=number]")
    value = float(box.get_attribute("value"))
    slider.send_keys(Keys.ARROW_RIGHT)
    assert float(box.get_attribute("value")) == pytest.approx(value + float(slider.get_attribute("step")))
    assert (told(page) != before).any()
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("13.123456789012345")
    model, _ = samples.fitted("linear")
    row = {c["name"]: c["start"] for c in embedded_of(page)["columns"]}
    row[embedded_of(page)["columns"][0]["name"]] = 13.123456789012345
    rows = pd.DataFrame([row])[list(model.feature_names_in_)]
    assert abs(told(page) - model.predict_proba(rows)[0]).max() < 1e-9
    box.send_keys(Keys.CONTROL, "a", Keys.DELETE)  # a number is needed here
    assert box.get_attribute("aria-invalid") == "true"
    box.send_keys(Keys.TAB)
    assert float(box.get_attribute("value")) == 13.123456789012345
    page = visit("additive")
    menu = one(page, "[data-column] select")
    before = told(page)
    menu.send_keys(Keys.ARROW_DOWN)
    menu.send_keys(Keys.ENTER)
    assert (told(page) != before).any()


def embedded_of(page):
    return page.execute_script("return JSON.parse(document.getElementById('nomogram-data').textContent)")


def test_missing_is_a_box_to_tick(visit):
    page = visit("additive")
    control = one(page, "[data-column] input[type=checkbox]")
    p = told(page)
    control.send_keys(Keys.SPACE)
    assert (told(page) != p).any()
    assert control.find_element(By.XPATH, "../..").find_element(By.CSS_SELECTOR, "[type=range]").is_enabled() is False
    control.send_keys(Keys.SPACE)
    assert (told(page) == p).all()


def test_the_waterfall_adds_up_to_the_log_odds(visit):
    page = visit("additive")
    p = told(page)
    steps = [item.text.replace("\u2212", "-") for item in shown(page, ".waterfall .number")]
    *parts, total = map(float, steps)
    assert total == pytest.approx(np.log(p[1] / p[0]), abs=0.006)
    assert sum(parts) == pytest.approx(total, abs=0.01 * len(parts))
    Select(one(page, "#against")).select_by_index(1)
    assert float(shown(page, ".waterfall .total .number")[0].text.replace("\u2212", "-")) == pytest.approx(-total)


def test_bars_are_as_long_as_they_say(visit):
    page = visit("additive")
    boxes = page.execute_script(
        "const box = (e) => { const { left, right } = e.getBoundingClientRect(); return [left, right]; };"
        "return [...document.querySelectorAll('.lane')].map((e) => [box(e), box(e.querySelector('.fill'))])"
    )
    lanes, fills = (np.array(part) for part in zip(*boxes, strict=True))
    assert (fills[:, 0] > lanes[:, 0] - 1).all()
    assert (fills[:, 1] < lanes[:, 1] + 1).all()
    widths = (fills[:, 1] - fills[:, 0]) / (lanes[:, 1] - lanes[:, 0])
    assert widths[:2] == pytest.approx(told(page), abs=0.01)


def test_the_filter_hides_columns(visit):
    page = visit("additive")
    one(page, "#filter").send_keys("MARITAL")
    assert [element.text for element in shown(page, ".control > label")] == ["marital-status"]


def test_hostile_names_are_text(visit):
    page = visit("odd tables")
    assert page.title == "Additive Tables: a model to look at"
    assert page.find_elements(By.CSS_SELECTOR, "img, main script:not([type='application/json'])") == []
    labels = {element.text for element in shown(page, ".control > label")}
    assert set(samples.HOSTILE[:3]) <= labels
    status = one(page, ".nomogram [role=status]")
    WebDriverWait(page, 5).until(lambda _: status.get_attribute("textContent").startswith("Most probable: 202"))


def test_everything_has_a_name(visit):
    for name in PAGES:
        unnamed = visit(name).execute_script(
            "return [...document.querySelectorAll('button, select, input, svg[role=img], .frame')].filter((e) =>"
            " !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length)))"
            ".map((e) => e.outerHTML)"
        )
        assert unnamed == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, PHONE, 768, 1280])
def test_no_width_scrolls_the_page_sideways(visit, name, width):
    page = visit(name)
    size(page, width, 800, phone=width < 700)
    assert page.execute_script("return document.scrollingElement.scrollWidth") <= width
    broken = page.execute_script(
        "return [...document.querySelectorAll('.nomogram, .shapes')].flatMap((part) => [...part.querySelectorAll('*')])"
        ".filter((e) => !e.closest('.frame, .spoken, svg') && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    assert broken == []


def test_screenshots(visit, screenshots):
    page = visit("additive")
    light = background(page)
    whole(page, screenshots / "model-light.png", 1280)
    colours(page, "dark")
    assert background(page) != light
    whole(page, screenshots / "model-dark.png", 1280)
    whole(page, screenshots / "model-phone-dark.png", PHONE, phone=True)
    colours(page, "light")
    whole(page, screenshots / "model-phone.png", PHONE, phone=True)
    assert {path.stat().st_size > 20_000 for path in screenshots.glob("model-*.png")} == {True}
