"""The page of a model: what it holds evaluates to Python's probabilities, and names are text."""

from __future__ import annotations

import json
import math
import re
import tracemalloc
from bisect import bisect_right
from html import unescape

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import (
    AdditiveTables,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MinimaxProbabilityMachine,
    ModelClassifier,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice.report import explain, model_page
from suffice.report.model_page import importances
from tests.report import model_samples as samples
from tests.toy import Unit

real = pytest.mark.data
EACH = [
    pytest.param(name, marks=real if name in ("additive", "mixed", "categories", "impossible") else ())
    for name in samples.MODELS
]


def embedded(html):
    """The numbers that a page holds."""
    return json.loads(re.search(r'<script type="application/json" id="nomogram-data">(.*?)</script>', html).group(1))


def entry(column, value):
    """What a control is set to: a number, or the place of an option; missing is None, an unknown option -2."""
    if value is None or value != value or value is pd.NaT:
        return None
    if "options" not in column:
        return (value - pd.Timestamp(0)) / pd.Timedelta(days=1) if column["dates"] else float(value)
    plain = value.item() if isinstance(value, np.generic) else value
    whole = isinstance(plain, float) and plain.is_integer()
    text = value or "(empty text)" if isinstance(value, str) else repr(int(plain) if whole else plain)
    return column["options"].index(text) if text in column["options"] else -2


def cell(read, x):
    if x is None or x == -2:
        return -1
    return bisect_right(list(map(float, read["bounds"])), x) if "bounds" in read else read["cells"][x]


def added(term, xs):
    """What a term adds to each class; the definition, spelled out."""
    k = range(len(term.get("values", term.get("mean", term.get("coef")))))
    if term["kind"] in ("cells", "map"):
        found = term["values"]
        for read, x in zip(term["reads"], xs, strict=True):
            at = cell(read, x)
            if at < 0:
                return None
            found = found[at]
        return found
    if term["kind"] == "gap":
        return term["values"][xs[0] is None]
    if term["kind"] == "level":
        return term["values"]
    if None in xs:
        return None
    if term["kind"] == "slope":
        return [term["coef"][c] * (xs[0] - term["centre"]) + term["constant"][c] for c in range(len(term["coef"]))]
    if term["kind"] == "square":
        gaps = [xs[0] - term["origin"][c] - term["mean"][c] for c in k]
        return [term["constant"][c] - term["precision"][c] * gaps[c] ** 2 / 2 for c in k]
    gaps = [[x - o - m for x, o, m in zip(xs, term["origin"][c], term["mean"][c], strict=True)] for c in k]
    return [-np.array(gaps[c]) @ np.array(term["precision"][c]) @ np.array(gaps[c]) / 2 for c in k]


def probabilities(data, row):
    scores = np.zeros(len(data["base"]))
    for term in data["terms"]:
        values = added(term, [row[i] for i in term["columns"]])
        if values is not None:
            scores = scores + np.array(values, dtype=float)
    scores = np.array(data["base"], dtype=float) + scores
    weights = [math.exp(score - scores.max()) for score in scores]
    return np.array(weights) / sum(weights)


@pytest.mark.parametrize("name", EACH)
def test_what_the_page_holds_is_the_model(name):
    data = embedded(explain(samples.fitted(name)[0]))
    rows = samples.asked(name)
    named = [column["name"] for column in data["columns"]]
    found = []
    for _, row in rows.iterrows():
        given = {str(key): value for key, value in row.items()}
        entries = [entry(data["columns"][i], given[one]) for i, one in enumerate(named)]
        found.append(probabilities(data, entries))
    assert_allclose(found, samples.answers(name, rows), rtol=0, atol=1e-9)


def test_names_are_text():
    for model in ("odd", "odd tables"):
        html = explain(samples.fitted(model)[0], X=samples.fitted(model)[1])
        scripts = re.findall(r"<script[^>]*>", html)
        assert scripts == ['<script type="application/json" id="nomogram-data">', *3 * ["<script>"]]
        assert "<img" not in html
        assert set(samples.HOSTILE[:3]) <= set(embedded(html)["names"])
        assert {unescape(label) for label in re.findall(r'<th scope="row">(2[^<]*)</th>', html)} >= {"2024-01-01"}


def test_the_page_is_written_and_stands_alone(tmp_path):
    model = GaussianNB().fit(*load_iris(return_X_y=True))
    html = explain(model, tmp_path / "deep" / "page.html")
    assert (tmp_path / "deep" / "page.html").read_text(encoding="utf-8") == html
    assert "default-src 'none'" in unescape(html)
    assert html.count("sha256-") == 3
    assert not re.search(r'(src|href)="(?!#)', html)
    assert "http" not in re.sub(r'http-equiv="', "", html)


@pytest.mark.filterwarnings("ignore")
def test_models_without_sliders_say_why(monkeypatch):
    X, y = load_iris(return_X_y=True)
    html = explain(TabularClassifier(random_state=0).fit(X, y), X=X)
    assert "There are no sliders here: its part" in html
    assert "what columns add to log p of it less the mean of the others" in html
    assert html.count('class="points"') == 4 * 3  # columns and classes
    html = explain(MinimaxProbabilityMachine().fit(X, y), X=X)
    assert "There are no sliders here: several contests of two classes together are not a sum of terms" in html
    html = explain(ModelClassifier(Unit()).fit(X, y), X=X)
    assert "There are no sliders here: the model does not say what it adds up." in html
    rng = np.random.default_rng(0)
    wide = QuadraticDiscriminantAnalysis().fit(rng.normal(size=(100, 31)), np.arange(100) % 2)
    assert "whole covariances of 31 columns are more than a page evaluates, which is 30" in explain(wide)
    monkeypatch.setattr(model_page, "MAX_NUMBERS", 100)
    words = MultinomialNB().fit(rng.poisson(0.1, size=(20, 60)), np.arange(20) % 2)
    assert "60 columns and 2 classes make at least 120 numbers, and a page holds at most 100" in explain(words)
    tables = AdditiveTables(pairs=0).fit(X, y)
    assert re.search(r"the model holds [1-9]\d\d+ numbers, and a page at most 100", explain(tables))


def test_a_pipeline_is_explained_by_its_last_step():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(X, y)
    html = explain(model, X=X)
    assert "what the steps before make of those of the table: StandardScaler" in html
    data = embedded(html)
    assert_allclose(probabilities(data, data["rows"][7]), model.predict_proba(X[7:8])[0], atol=1e-9)


def test_rows_that_are_given_can_be_set():
    model, X = samples.fitted("odd")
    data = embedded(explain(model, X=X))
    rows = [[None if x in ("NaN", -1) else x for x in row] for row in data["rows"]]
    assert len(rows) == 20
    for i in range(20):
        assert_allclose(probabilities(data, rows[i]), model.predict_proba(X[i : i + 1])[0], atol=1e-9)


def test_rows_in_lists_keep_what_is_missing():
    rows = [["a", 1.0], ["b", 2.0], [math.nan, 1.5], ["a", math.nan]] * 5
    model = NaiveBayes().fit(rows, [0, 1, 1, 0] * 5)
    as_lists, as_array = (embedded(explain(model, X=X))["rows"] for X in (rows, np.array(rows, dtype=object)))
    assert as_lists == as_array
    assert -1 in as_lists[2]  # no category, which is not another one
    assert "NaN" in as_lists[3]


def test_columns_beyond_the_first_sixty_are_folded_and_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 75))
    model = GaussianNB().fit(X, X[:, 70] + 0.1 * X.sum(axis=1) > 0)
    html = explain(model)
    assert "15 more columns, which count as they are set" in html
    assert html.index(">70</label>") < html.index("15 more columns")
    data = embedded(html)
    assert len(data["columns"]) == 75
    rows = rng.normal(size=(3, 75))
    names = [int(column["name"]) for column in data["columns"]]
    found = [probabilities(data, [row[j] for j in names]) for row in rows]
    assert_allclose(found, model.predict_proba(rows), atol=1e-9)


@pytest.mark.filterwarnings("ignore::suffice.learners.StaleWarning")
def test_stale_models_say_so():
    X, y = load_iris(return_X_y=True)
    model = AdditiveTables(pairs=0).fit(X[::2], y[::2])
    assert "it is stale" not in explain(model)
    assert "it is stale" in explain(model.partial_fit(X[1::2], y[1::2]))


def test_only_fitted_classifiers_of_ours_are_explained():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"explain takes a fitted classifier of suffice.*got GaussianNB"):
        explain(TheirGaussianNB().fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        explain(GaussianNB())


def cells_of(html, caption):
    """The cells of a table by its caption: a list of texts for each row, its name first."""
    table = html[html.index(f"<caption>{caption}</caption>") :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body)
    return [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)", row)] for row in rows]


def test_negative_means_are_shown_as_they_are():
    X = np.random.default_rng(0).normal(-2.0, 1.0, size=(100, 3))
    y = np.arange(100) % 2
    rows = cells_of(explain(GaussianNB().fit(X, y)), "Sums of numbers by class")
    shown = {int(name): [float(mean.replace("\u2212", "-")) for mean in cells[1::3]] for name, *cells in rows}
    assert_allclose([shown[j] for j in range(3)], [[X[y == c, j].mean() for c in (0, 1)] for j in range(3)], atol=0.005)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "room"),
    [
        (GaussianNB(), 1000),
        (QuadraticDiscriminantAnalysis(), 20_000),
        (AdditiveTables(pairs=0), 300),
        (TabularClassifier(random_state=0), 20_000),
    ],
)
def test_sums_are_of_the_columns_that_count_or_of_the_first(model, room, monkeypatch):
    monkeypatch.setattr(model_page, "MAX_NUMBERS", room)  # too little for sliders of all but the first
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 100)), np.arange(2000) % 2
    X[:, 90:] += 2 * y[:, None]
    html = explain(model.fit(X, y))
    shown = [int(row[0]) for row in cells_of(html, "Sums of numbers by class")]
    assert len(shown) == 40
    if isinstance(model, TabularClassifier):  # whose trees look at several columns at a time
        assert "The first 40 columns of the table; 60 more are not shown." in html
        assert shown == list(range(40))
    else:
        assert "The 40 columns that count most; 60 more are not shown." in html
        assert set(shown[:10]) == set(range(90, 100))


def test_the_importances_of_many_normal_classes_take_little_memory():
    k, d = 60, 30
    y = np.arange(60 * k) % k
    X = np.random.default_rng(0).normal(size=(len(y), d)) + y[:, None] * (np.arange(d) > 20) / 10
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    tracemalloc.start()
    sizes = importances(model.nomogram(), model.statistics_.overview(), len(y))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(list(sizes)[:9]) == set(range(21, 30))
    assert most < 600e6  # a thousand rows a class made 108 million entries, 860 MB, three times over


@pytest.mark.filterwarnings("ignore")
def test_the_columns_learned_from_are_counted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"same": 1.0, "id": [f"row {i}" for i in range(300)], "a": rng.normal(size=300)})
    X["b"], y = rng.integers(0, 5, 300), np.arange(300) % 2
    for model in (TabularClassifier(random_state=0), NaiveBayes(), AdditiveTables()):
        html = explain(model.fit(X, y))
        assert "learned from 300 rows with 2 of 4 columns and 2 classes" in html
        assert '<th scope="row">learned from</th><td>2 of 4 columns</td>' in html
    assert "learned from 300 rows with 2 columns and 2 classes" in explain(GaussianNB().fit(X[["a", "b"]], y))
