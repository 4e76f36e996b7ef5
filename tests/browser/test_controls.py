"""Controls of a model's page in a browser: skewed numbers, dates, long words, many columns, rows that none may set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from suffice import AdditiveTables, CategoricalNB, GaussianNB, LinearDiscriminantAnalysis, NaiveBayes
from suffice.report import explain
from tests.browser.test_model_page import told
from tests.browser.view import one, shown, size

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(opened, tmp_path):
    """Opens the page of a model."""

    def go(model, X=None):
        explain(model, tmp_path / "page.html", X)
        return opened(tmp_path / "page.html")

    return go


def test_skewed_numbers_have_a_slider_that_reaches_most_of_them(visit):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"revenue": np.exp(rng.normal(10, 2.5, 1001)).round(2)})
    model = NaiveBayes().fit(X, np.log(X.revenue) + rng.normal(size=1001) > 10)
    page = visit(model)
    box, slider = one(page, ".control .box"), one(page, ".control [type=range]")
    start = float(box.get_attribute("value"))
    assert abs((X.revenue < start).mean() - 0.5) < 0.01
    found = [start]
    for _ in range(60):
        slider.send_keys(Keys.ARROW_LEFT)
        found.append(float(box.get_attribute("value")))
    assert (np.diff(found) < 0).all()
    assert found[-1] < X.revenue.quantile(0.2)
    assert slider.get_attribute("aria-valuetext") == str(int(found[-1]))
    assert abs(told(page) - model.predict_proba(pd.DataFrame({"revenue": found[-1:]}))[0]).max() < 1e-9


def test_dates_are_typed_as_dates(visit):
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700 * 24, 600), unit="h")
    X = pd.DataFrame({"when": when, "took": pd.to_timedelta(rng.integers(0, 900, 600), unit="h")})
    y = (when.month < 7) ^ (X.took > pd.Timedelta(days=20)).to_numpy() ^ (rng.random(600) < 0.1)
    model = AdditiveTables(pairs=[("when", "took")]).fit(X, y)
    page = visit(model, X)
    assert {label.text for label in shown(page, ".control > label:first-child")} == {"when", "took (days)"}
    box = one(page, ".control .box[type=text]")
    Select(one(page, "#example")).select_by_index(1)
    for text, moment in (("2024-07-01", "2024-07-01"), ("2025-03-04 17:30", "2025-03-04T17:30")):
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(text)
        asked = pd.DataFrame({"when": [pd.Timestamp(moment)], "took": X.took[:1]})
        assert box.get_attribute("aria-invalid") == "false"
        assert abs(told(page) - model.predict_proba(asked)[0]).max() < 1e-9
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("2024-13")
    assert box.get_attribute("aria-invalid") == "true"
    box.send_keys(Keys.TAB)
    assert box.get_attribute("value") == "2025-03-04 17:30"
    assert "when = 2025-03-04 17:30" in one(page, ".waterfall").text


def test_the_filter_finds_what_is_folded_away(visit):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 90)), columns=[f"c{j:02}" for j in range(90)])
    page = visit(GaussianNB().fit(X, X.c00 + X.c01 > 0))
    folded = page.find_elements(By.CSS_SELECTOR, ".set .fold .control > label:first-child")
    name = folded[-1].get_attribute("textContent")
    one(page, "#filter").send_keys(name)
    assert [label.text for label in shown(page, ".control > label:first-child")] == [name]
    one(page, "#filter").send_keys(Keys.CONTROL, "a", Keys.DELETE)
    assert len(shown(page, ".control > label:first-child")) == 60


def test_a_row_that_every_class_is_ruled_out_of(visit):
    X = np.array([["a", "u"], ["a", "u"], ["b", "v"], ["b", "v"], ["a", "v"], ["b", "v"]], dtype=object)
    model = CategoricalNB(prior=None).fit(X, np.array([0, 0, 1, 1, 0, 1]))
    page = visit(model)
    menus = [Select(menu) for menu in page.find_elements(By.CSS_SELECTOR, ".control select")]
    for first, second, p, total in (("a", "u", [1, 0], "rules it out"), ("b", "u", [0.4, 0.6], "+0.41")):
        menus[0].select_by_visible_text(first)
        menus[1].select_by_visible_text(second)
        assert told(page) == pytest.approx(p)
        assert one(page, ".waterfall .total .number").text == total
        assert one(page, "#ruled-out").is_displayed() == (first == "b")
    assert told(page) == pytest.approx(model.predict_proba(np.array([["b", "u"]], dtype=object))[0])


def test_a_row_that_lacks_a_number_cannot_be_picked(visit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + X[:, 1] > 0
    X[4, 1] = np.nan
    page = visit(LinearDiscriminantAnalysis().fit(X, y), X)
    options = Select(one(page, "#example")).options
    assert [option.text for option in options if not option.is_enabled()] == ["row 5 (lacks 1)"]


@pytest.mark.parametrize("width", [390, 1280])
def test_long_words_and_long_numbers_keep_to_their_place(visit, width):
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame({"word": rng.choice(["x" * 64, "short"], n), "large": 1.7e12 + rng.integers(0, 9000, n) / 8})
    page = visit(NaiveBayes(columns={"large": "bins"}).fit(X, (X.word == "short") ^ (X.large > 1.7e12 + 500)))
    size(page, width, 800, phone=width < 700)
    assert page.execute_script("return document.scrollingElement.scrollWidth") <= width
    outside = page.execute_script(
        "return [...document.querySelectorAll('.nomogram, .shapes')].flatMap((part) => [...part.querySelectorAll('*')])"
        ".filter((e) => !e.closest('.frame, .spoken, svg, option') && e.getBoundingClientRect().right"
        " > e.closest('.control, .shape, .nomogram').getBoundingClientRect().right + 1)"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    assert outside == []
    cut = page.execute_script(
        "return [...document.querySelectorAll('.box')].filter((e) => e.scrollWidth > e.clientWidth).length"
    )
    assert cut == 0
    ticks = [text.text for text in page.find_elements(By.CSS_SELECTOR, ".shape .x text")]
    assert len(set(ticks)) == len(ticks) > 0


def test_what_adds_nothing_has_no_colour(visit):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"word": rng.choice(["a", "b", "c"], 3000), "number": rng.normal(size=3000)})
    y = np.digitize(X.number, [-0.5, 0.5])
    page = visit(AdditiveTables(pairs=0).fit(X, y))
    cells = page.find_elements(By.CSS_SELECTOR, ".heat tbody td")
    assert cells
    for cell in cells:
        assert abs(float(cell.text.replace("\u2212", "-"))) < 0.25
        assert float(page.execute_script("return arguments[0].style.getPropertyValue('--share')", cell)) < 0.5
        assert cell.text not in ("+0.00", "\u22120.00")
