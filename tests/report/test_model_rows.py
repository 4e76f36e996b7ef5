"""The page of a model with rows: whatever they are kept in, whatever they lack, and what is not to be printed."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from suffice import (
    AdditiveTables,
    GaussianNB,
    KernelMPM,
    LinearDiscriminantAnalysis,
    MinimaxProbabilityMachine,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice._estimator.explaining import name_of
from suffice.report import explain
from tests.report.test_model_page import embedded, probabilities


def answered(html):
    """The most probable class of each row that was given, and its probability in percent, as the page prints them."""
    cells = re.findall(r"<tr><th[^>]*>row (\d+)</th><td[^>]*>([^<]*)</td><td[^>]*>([^<]*)</td>", html)
    return {int(row): (label, float(p)) for row, label, p in cells}


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, MinimaxProbabilityMachine])
def test_rows_that_lack_what_is_needed_have_pythons_answer_and_cannot_be_set(kind):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:, :4].copy(), y
    X[1::3, 2] = np.nan
    model = kind().fit(X, y)
    html = explain(model, X=X)
    data, expected = embedded(html), model.predict_proba(X[:20])
    menu = dict(re.findall(r"<option value=\"(\d+)\"([^>]*)>row \d+[^<]*</option>", html))
    for i in range(20):
        if i % 3 == 1:
            assert data["rows"][i] is None
            assert "disabled" in menu[str(i)]
        else:
            assert_allclose(probabilities(data, data["rows"][i]), expected[i], atol=1e-9)
            assert "disabled" not in menu[str(i)]
        assert answered(html)[i + 1] == (str(expected[i].argmax()), pytest.approx(100 * expected[i].max(), abs=0.051))
    assert "row 2 (lacks 2)" in html
    assert "Rows that were given and lack one cannot be set here" in html


def test_columns_with_whole_numbers_for_names_are_found():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X)
    for model in (GaussianNB(), NaiveBayes(), TabularClassifier(random_state=0)):
        html = explain(model.fit(frame, y), X=frame)
        assert answered(html)[1][0] == "0"
        if model.__class__ is not TabularClassifier:
            assert embedded(html)["rows"][7] == X[7].tolist()


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_a_model_of_an_array_takes_a_data_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LinearDiscriminantAnalysis().fit(X.to_numpy(), y)
    for rows in (X, pl.from_pandas(X), X.to_numpy().tolist()):
        assert embedded(explain(model, X=rows))["rows"][7] == X.iloc[7].tolist()


def texts():
    words = ["good", "late", "price", "login", "thanks"]
    rng = np.random.default_rng(0)
    rows = [" ".join(rng.choice(words, 6, p=p)) for p in ([0.4, 0.1, 0.2, 0.1, 0.2], [0.1, 0.4, 0.2, 0.2, 0.1]) * 30]
    return rows, np.arange(60) % 2, sorted(words)


def test_words_of_a_text_have_their_names():
    rows, y, words = texts()
    model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(rows, y)
    assert [column["name"] for column in embedded(explain(model))["columns"]] == words
    html = explain(model, X=rows)
    data = embedded(html)
    assert data["names"] == words
    for i in range(20):
        assert_allclose(probabilities(data, data["rows"][i]), model.predict_proba(rows[i : i + 1])[0], atol=1e-9)
    assert re.search(r"(good|late) \+\d", html)


def test_a_step_that_names_no_columns_leaves_numbers():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(FunctionTransformer(np.log), GaussianNB()).fit(X, y)
    assert embedded(explain(model, X=X))["names"] == ["0", "1", "2", "3"]
    frame, _ = load_iris(return_X_y=True, as_frame=True)
    scaled = make_pipeline(StandardScaler(), GaussianNB()).fit(frame, y)
    assert embedded(explain(scaled, X=frame))["names"] == list(frame.columns)


def test_pairs_of_named_columns_have_the_importance_of_the_rows():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), AdditiveTables(pairs=1)).fit(X.iloc[:, :4], y)
    pair = " & ".join(X.columns[int(j)] for j in model[-1].pairs_[0])
    html = unescape(explain(model, X=X.iloc[:, :4]))
    size = model[-1].importances(model[:-1].transform(X.iloc[:, :4]))[name_of(model[-1].pairs_[0])]
    bar = re.search(rf"<th[^>]*>{pair}</th>.*?</tr>", html[html.index(">Importances<", html.index("<main")) :])
    assert f"{size:.2f}" in bar.group()
    assert "over 569 rows given" in html


def test_wrong_rows_are_refused_as_by_predict():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for model in (GaussianNB(), NaiveBayes(), MinimaxProbabilityMachine()):
        model.fit(X, y)
        with pytest.raises(ValueError, match="petal width") as told:
            explain(model, X=X.iloc[:, :3])
        with pytest.raises(ValueError, match="petal width") as wanted:
            model.predict(X.iloc[:, :3])
        assert str(told.value) == str(wanted.value)
        text = X.assign(**{X.columns[1]: "wide"})
        with pytest.raises(ValueError, match="sepal width") as told:
            explain(model, X=text)
        with pytest.raises(ValueError, match="sepal width") as wanted:
            model.predict(text)
        assert str(told.value) == str(wanted.value)


def test_a_classifier_that_keeps_rows_has_no_page():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"a fitted classifier of suffice learned from sums.*got KernelMPM"):
        explain(KernelMPM().fit(X[50:], y[50:]))


@pytest.mark.parametrize("model", [NaiveBayes(), AdditiveTables(pairs=0), TabularClassifier(random_state=0)])
def test_what_takes_no_part_is_not_printed(model):
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {
            "customer": [f"C1{i:05}" for i in rng.permutation(n)],
            "words": [f"secret {a} and {b}" for a, b in rng.integers(0, 10**6, (n, 2))],
            "age": rng.normal(size=n),
            "town": rng.choice(["Rome", "Oslo"], n),
        }
    )
    model.fit(X, X.age + (X.town == "Rome") + 0.5 * rng.normal(size=n) > 0.5)
    for html in (explain(model), explain(model, X=X)):
        assert not re.findall(r"C1\d{5}|secret \d", html)
        assert "Rome" in html


def test_more_than_two_classes_have_no_log_odds():
    X, y = load_iris(return_X_y=True)
    for model in (QuadraticDiscriminantAnalysis(), GaussianNB(), TabularClassifier(random_state=0)):
        shown = re.sub(r"<script.*?</script>", "", explain(model.fit(X, y), X=X), flags=re.DOTALL)
        assert "log-odds" not in shown.replace(str(type(model).__doc__).strip().split("\n")[0], "")
        assert "log p of it less the mean of the others" in shown
        assert "what columns add to its log-odds" in explain(model.fit(X[50:], y[50:]), X=X[50:])


def test_rows_without_a_number_are_counted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    y = X.a + X.b > 0
    X.loc[::3, "a"] = np.nan
    html = explain(TabularClassifier(random_state=0).fit(X, y), X=X)
    assert "100 of 300 rows have no value and no point" in html


def test_dates_are_dates_wherever_they_are_shown():
    rng = np.random.default_rng(0)
    n = 600
    day = pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
    X = pd.DataFrame({"day": day, "took": pd.to_timedelta(rng.integers(1, 900, n), unit="h"), "u": rng.normal(size=n)})
    y = ((day.year % 2 == 0) ^ (X.u > 0)).to_numpy() ^ (rng.random(n) < 0.1)
    for model in (AdditiveTables(pairs=[("day", "u")]), TabularClassifier(random_state=0)):
        html = unescape(explain(model.fit(X, y), X=X))
        shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
        assert not re.search(r"\b1\.[89]\d*e\+?0?4|\b1[89]\d{3}\b", re.sub(r"<[^>]*>", " ", shown))
        assert re.search(r"<text[^>]*>2021-01-01</text>", shown)
        assert "in days" in shown
        assert "dates that had a time zone are in UTC" in shown
    table = re.search(
        r'<table class="heat">.*?</table>', unescape(explain(AdditiveTables(pairs=[("day", "u")]).fit(X, y)))
    )
    assert re.search(r"below 202\d-\d\d-\d\d", table.group())
