"""Importances without rows are about those over the rows learned."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from suffice import (
    AdditiveTables,
    GaussianNB,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.report.model_page import importances


def without_rows(model):
    return importances(model.nomogram(), model.statistics_.overview(), model.class_count_.sum())


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_column_that_says_nothing_counts_for_nothing_in_a_covariance(columns):
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.1).astype(int)
    X = rng.normal(size=(3000, 3))
    X[:, 0] += 4 * y
    X[:, 2] += X[:, 1]
    model = QuadraticDiscriminantAnalysis().fit(X[:, :columns], y)
    found, measured = without_rows(model), model.importances(X[:, :columns])
    assert list(found) == list(measured)
    assert found == pytest.approx(measured, rel=0.1, abs=0.02)


def test_columns_that_say_the_same_share_it_in_a_covariance():
    X, y = load_wine(return_X_y=True)
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    assert without_rows(model) == pytest.approx(model.importances(X), rel=0.15)


def seldom(n=4000):
    """A column that most rows have, and one that few have, where it says more; and one of text."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({"often": rng.normal(size=n) + y, "seldom": rng.normal(size=n) + 3 * y})
    X["word"] = np.where(rng.random(n) < 0.9, np.where(y, "u", "v"), np.where(y, "v", "u"))
    X.loc[rng.random(n) < 0.95, "seldom"] = np.nan
    X.loc[rng.random(n) < 0.97, "word"] = None
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayes(missing="indicator"),
        AdditiveTables(pairs=[("often", "seldom")]),
        GaussianNB(),
    ],
    ids=repr,
)
def test_rows_without_a_value_count_for_nothing(model):
    X, y = seldom()
    X = X[["often", "seldom"]] if isinstance(model, GaussianNB) else X
    model.fit(X, y)
    found, measured = without_rows(model), model.importances(X)
    named = {" & ".join(key) if isinstance(key, tuple) else key: size for key, size in found.items()}
    assert next(iter(named)) == "often"
    assert named == pytest.approx(measured, rel=0.2, abs=0.01)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_in_covariances_too(kind):
    X, y = seldom()
    X = X[["often", "seldom"]]
    model = kind().fit(X, y)
    found, measured = without_rows(model), model.importances(X)  # of rows that lack one, the other counts otherwise
    assert list(found) == ["often", "seldom"]
    assert found["seldom"] == pytest.approx(measured["seldom"], rel=0.2)
