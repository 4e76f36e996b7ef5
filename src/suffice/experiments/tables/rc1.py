"""The tables of rc1 (Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers).

Training error on the whole data set, 64 iterations at rate 0.1. What reproduces the print: rows with missing values and
classes of fewer than 10 rows are dropped, and the first row of three sets; naive Bayes works on 5 k-means bins of all
features; QDA and logistic regression on standardised features whose variance is at least 1e-5 within every class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

import suffice
from suffice._vector import Array
from suffice.experiments.datasets import Dataset
from suffice.experiments.protocols import WholeSet
from suffice.experiments.table import Build, Column, Rows, Table, first_of, reach
from suffice.learners import ClosedForm, DiscriminativeFrequency, GradientDescent, RiskCalibration

SETS = {
    "adult": "adult_rc",
    "blood transfusion": "blood_transfusion",
    "climate model": "climate_model_rc",
    "diabetes": "diabetes",
    "ecoli": "ecoli_rc",
    "german numer": "german_numer",
    "glass": "glass",
    "haberman": "haberman",
    "heart": "heart_statlog",
    "indian liver": "indian_liver",
    "ionosphere": "ionosphere",
    "iris": "iris",
    "letterrecog": "letter",
    "liver disorder": "liver_disorders_rc",
    "magic": "magic",
    "mammographic": "mammographic",
    "optdigits": "optdigits",
    "pulsar": "pulsar",
    "qsar": "qsar_biodegradation",
    "redwine": "redwine_rc",
    "satellite": "satimage",
    "sonar": "sonar_rc",
    "splice": "splice",
    "svmguide3": "svmguide3",
    "vehicle": "vehicle",
}
HEADLESS = {"glass", "haberman", "mammographic"}  # whose first row was read as a header
QUICK = ("iris", "diabetes", "haberman")


def complete(data: Dataset) -> Dataset:
    """Rows without missing values, less a lost first row and classes of fewer than 10 rows."""
    keep: Array = ~np.asarray(np.isnan(data.X).any(axis=1))
    if data.name in HEADLESS:
        keep[np.flatnonzero(keep)[0]] = False
    data = data.rows(keep)
    labels, size = np.unique(data.y, return_counts=True)
    return data.rows(np.isin(data.y, labels[size >= 10]))


class Varying(BaseEstimator):
    """Keep the features that vary within every class."""

    def fit(self, X: Any, y: Any) -> Varying:
        """Find them."""
        self.kept_ = np.min([X[y == c].var(axis=0) for c in np.unique(y)], axis=0) >= 1e-5
        return self

    def transform(self, X: Any) -> Any:
        """Keep them."""
        return X[:, self.kept_]


def binned(model: Any) -> Any:
    """On 5 bins of each feature by k-means."""
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None, random_state=0)
    return make_pipeline(bins, model)


def standardised(model: Any) -> Any:
    """On standardised features that vary within every class."""
    return make_pipeline(Varying(), StandardScaler(), model)


RC = RiskCalibration(rate=0.1, max_iter=64, stop="best-error", anchor=0.0)
GD = GradientDescent(rate=0.1, max_iter=64, stop="best-error")
DFE = DiscriminativeFrequency(rate=0.1, max_iter=64, stop="best-error")


def nb(learner: Any, prior: Any = None) -> Build:
    """Naive Bayes on bins."""
    return lambda _: binned(suffice.CategoricalNB(prior=prior, learner=learner))


def least(method: str) -> Column:
    """The least training error of all iterations."""

    def value(rows: Rows) -> float | None:
        found = [min(row["curves"]["error"]) if "curves" in row else row["error"] for row in rows.get(method, ())]
        return float(np.mean(found)) if found else None

    return Column(f"{method}_error", value, 3, 0.01)


def when(method: str) -> Column:
    """The iteration of the least training error."""

    def value(rows: Rows) -> float | None:
        found = [first_of(row["curves"]["error"]) for row in rows.get(method, ()) if "curves" in row]
        return float(np.mean(found)) if found else None

    return Column(f"{method}_iter", value, 0, 2)


def columns(first: str, other: str = "gd") -> tuple[Column, ...]:
    """The columns of a table of rc1."""
    return (least(first), least("rc"), when("rc"), least(other), when(other), Column("reach", reach("rc", other), 0, 2))


TABLES = (
    Table(
        "rc1-table2",
        "rc1, Table II: training error of naive Bayes, ML",
        SETS,
        {"ml": nb(ClosedForm()), "rc": nb(RC), "gd": nb(GD)},
        WholeSet(),
        columns("ml"),
        complete,
        QUICK,
    ),
)
