"""Fitted models for the tests of their pages, and rows to set there: random, with gaps and values never learned."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import (
    AdditiveTables,
    BernoulliNB,
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from tests.conftest import DATA

HOSTILE = (
    '<script>document.title="owned"</script>',
    "\"quotes\" & 'more'",
    "</script><img src=x onerror=alert(1)>",
    "",
)


def real(name, rows=None):
    """A data set, its labels as text."""
    table = pd.read_parquet(DATA / f"{name}.parquet").head(rows)
    return table.drop(columns="target"), table["target"].astype(str).to_numpy()


def odd():
    """Columns of all kinds, whose names and categories are hostile, and labels that are dates."""
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {
            HOSTILE[0]: rng.normal(size=n),
            HOSTILE[1]: rng.choice([*HOSTILE, "plain"], n),
            HOSTILE[2]: rng.random(n) < 0.5,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
            "__proto__": rng.integers(0, 5, n),
        }
    )
    y = np.where(X[HOSTILE[0]] + X[HOSTILE[2]] + rng.normal(size=n) > 0.5, "2024-01-01", "2025-06-30")
    X.loc[rng.random(n) < 0.2, HOSTILE[0]] = np.nan
    return X, y.astype("M8[D]")


def _breast():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def _wine():
    return load_wine(return_X_y=True, as_frame=True)


def _counts():
    X, y = load_iris(return_X_y=True)
    return np.floor(10 * X), y


def _words():
    X, y = real("zoo")
    return X.astype(str), y


MODELS = {
    "additive": lambda: (AdditiveTables(pairs=4), *real("adult", 4000)),
    "mixed": lambda: (
        NaiveBayes(columns={"cp": "category", "age": "gaussian"}, missing="indicator"),
        *real("heart_cleveland"),
    ),
    "normal": lambda: (GaussianNB(), *_wine()),
    "linear": lambda: (LinearDiscriminantAnalysis(), *_wine()),
    "logistic": lambda: (LogisticRegression(), *_breast()),
    "plane": lambda: (FisherDiscriminant(), *_breast()),
    "quadratic": lambda: (QuadraticDiscriminantAnalysis(), *_wine()),
    "categories": lambda: (CategoricalNB(), *_words()),
    "impossible": lambda: (CategoricalNB(prior=None), *_words()),
    "odd": lambda: (NaiveBayes(missing="indicator"), *odd()),
    "odd tables": lambda: (AdditiveTables(pairs=[(0, 1), (3, 4)]), *odd()),
    "counts": lambda: (PoissonNB(), *_counts()),
    "present": lambda: (BernoulliNB(binarize=20.0), *_counts()),
}


@cache
def fitted(name):
    """A model of some rows, and the rows."""
    model, X, y = MODELS[name]()
    return model.fit(X, y), X


def asked(name, n=10, seed=0):
    """Rows to set: each entry that of another row, some numbers between those learned, some missing, some unknown."""
    model, X = fitted(name)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X)
    optional = all(term.optional for term in model.nomogram().terms)
    picked = {}
    for column in frame:
        values = frame[column].to_numpy()[rng.integers(0, len(frame), n)]
        if values.dtype.kind == "f" and name not in ("counts", "present"):
            values = values + np.where(rng.random(n) < 0.5, rng.normal(scale=0.1, size=n), 0.0)
        if optional:
            values = values.astype(object) if values.dtype.kind in "biuO" else values
            values[rng.random(n) < 0.15] = np.datetime64("NaT") if values.dtype.kind == "M" else np.nan
        if values.dtype == object and any(isinstance(v, str) for v in values):
            values[rng.random(n) < 0.1] = "never learned"
        picked[column] = values
    rows = pd.DataFrame(picked)
    for column in rows:
        if frame[column].dtype.kind in "if":
            rows[column] = rows[column].astype(float)
    return rows


def answers(name, rows):
    """Python's probabilities of rows."""
    model, X = fitted(name)
    return model.predict_proba(rows if isinstance(X, pd.DataFrame) else rows.to_numpy(dtype=float))
