"""Nomograms: every classifier that has one adds up to its own probabilities."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris

from suffice import (
    AdditiveTables,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    ModelClassifier,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice._core.probability import log_posterior
from suffice.models import Contests, HasNomogram, NoNomogramError
from suffice.models.compose.experts import Experts
from suffice.models.tables.categorical import Leaves
from suffice.models.terms import Cells, Gap, Map, Square
from tests.toy import Unit
from tests.zoo import every


def drawn(entry):
    return isinstance(entry.model().base_model, HasNomogram)


def columns(X):
    return {j: np.asarray(X)[:, j] for j in range(np.shape(X)[1])}


@pytest.mark.filterwarnings("ignore")  # of how learning went
@every(drawn)
@pytest.mark.parametrize("k", [2, 3])
def test_scores_are_those_of_the_model(entry, k):
    X, y = entry.draw(k, k=k)
    model = entry.estimator().fit(X, y)
    pairwise = isinstance(entry.model(), Contests) and k > 2
    if pairwise or (isinstance(entry.model(), Experts | Leaves) and not isinstance(model, AdditiveTables)):
        with pytest.raises(NoNomogramError, match="contests of two classes" if pairwise else "several columns at a"):
            model.nomogram()
        return
    found = model.nomogram()
    assert_allclose(log_posterior(found.scores(columns(X))), model.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    if entry.missing and all(term.optional for term in found.terms):
        holes = entry.holed(X, 3)
        assert_allclose(log_posterior(found.scores(columns(holes))), model.predict_log_proba(holes), atol=1e-9)


def test_squares_are_normal_densities():
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB(prior=None).fit(X, y)
    term = model.nomogram().terms[3]
    assert isinstance(term, Square)
    rows = [X[y == c, 3] for c in (0, 1)]
    mean, spread = np.mean(rows[0]), np.std(rows[0])
    assert_allclose(term.value(X[:, 3])[:, 0], norm.logpdf(X[:, 3], mean, spread), rtol=1e-9)


def test_what_is_missing_and_what_was_never_learned():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"u": rng.normal(size=200), "v": rng.choice(["a", "b", "c"], 200)})
    y = (X.u + (X.v == "a") + rng.normal(size=200) > 0).to_numpy()
    X.loc[y & (rng.random(200) < 0.5), "u"] = np.nan
    model = NaiveBayes(missing="indicator").fit(X, y)
    found = model.nomogram()
    assert [(type(term), term.key) for term in found.terms] == [(Cells, "u"), (Cells, "v"), (Gap, "u")]
    asked = pd.DataFrame({"u": [np.nan, 0.3, -9.0, np.nan], "v": ["a", None, "never", "never"]})
    scores = found.scores({name: asked[name].to_numpy() for name in asked})
    assert_allclose(log_posterior(scores), model.predict_log_proba(asked), atol=1e-12)


def test_pairs_are_maps_and_means_are_in_the_base():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = AdditiveTables(pairs=2).fit(X, y)
    found = model.nomogram()
    maps = [term.key for term in found.terms if isinstance(term, Map)]
    assert maps == model.pairs_
    contributions = model.contributions(X[:5])
    rows = {name: X[name].to_numpy()[:5] for name in X}
    for name in ("worst area", maps[0]):
        values = sum(t.value(*(rows[c] for c in t.columns)) for t in found.terms if t.key == name)
        at = contributions.names.index(" & ".join(name) if isinstance(name, tuple) else name)
        expected = contributions.terms[:, :, at]
        assert_allclose(values - values.mean(axis=1, keepdims=True), expected, atol=1e-12)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, LogisticRegression, GaussianNB])
def test_terms_are_the_contributions(kind):
    X, y = load_iris(return_X_y=True)
    model = kind().fit(X, y)
    found, drawn = model.contributions(X[::10]), model.nomogram()
    assert [term.key for term in drawn.terms] == found.names
    for at, term in enumerate(drawn.terms):
        values = term.value(X[::10, at])
        assert_allclose(values - values.mean(axis=1, keepdims=True), found.terms[:, :, at], atol=1e-11)


def test_models_without_a_nomogram_say_why():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(NoNomogramError, match="several columns at a time"):
        TabularClassifier(random_state=0).fit(X[:200], y[:200]).nomogram()
    model = ModelClassifier(Unit())
    with pytest.raises(AttributeError) as refused:
        model.nomogram  # noqa: B018
    assert "Unit is not a sum of terms by column: its model would have to be `HasNomogram`" in str(
        refused.value.__cause__
    )


def clocked(n=300, seed=0):
    """Moments, days, durations and times of day, all of which say something; and what they say."""
    rng = np.random.default_rng(seed)
    hours = rng.integers(0, 9000, (n, 3))
    X = pd.DataFrame(
        {
            "moment": pd.Timestamp("2024-01-01") + pd.to_timedelta(hours[:, 0], unit="h"),
            "span": pd.to_timedelta(hours[:, 1], unit="h"),
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(h) // 24) for h in hours[:, 2]],
            "clock": [datetime.time(int(h) % 24, int(h) % 60) for h in hours[:, 0]],
        }
    )
    return X, hours.sum(axis=1) + rng.normal(scale=1000, size=n) > 13000


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_dates_and_durations_are_read_as_in_the_rows(library):
    X, y = clocked()
    model = NaiveBayes().fit(X, y)
    rows = pl.from_pandas(X) if library is pl.DataFrame else X
    asked = model.predict_log_proba(rows)
    for entries in (
        {name: rows[name].to_numpy() for name in rows.columns},
        {name: rows[name] for name in rows.columns},
    ):
        assert_allclose(log_posterior(model.nomogram().scores(entries)), asked, atol=1e-12)
    assert len(np.unique(np.round(asked, 6), axis=0)) > 100


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, MinimaxProbabilityMachine])
def test_no_score_is_given_where_a_column_that_is_needed_is_missing(kind):
    X, y = load_breast_cancer(return_X_y=True)
    found = kind().fit(X[:, :4], y).nomogram()
    holes = X[:5, :4].copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 3 has no number in column 1.*ask predict_proba"):
        found.scores(columns(holes))
    with pytest.raises(ValueError, match=r"there are none of \[2, 3\]"):
        found.scores(columns(holes[:, :2]))
