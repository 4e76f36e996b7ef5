"""What the two papers on risk-based calibration share: rows, features, and the descent as printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

import suffice
from papers import Array
from papers.table import Build
from suffice.model_selection.measures import Dataset
from suffice.models import (
    Attempt,
    Categorical,
    Counts,
    FullGaussian,
    Moments,
    Quadratic,
    Statistics,
    project_log,
)

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
MISSING = (
    "catsvsdogs, cifar10, fashion mnist, mnist and yearbook are 512 features of a ResNet18 each, which are not "
    "available; their cells are missing."
)
TRACE = "the printed gradient has a trace in the place of a covariance and no intercept; this is the right one"
PRIOR = "the prior of QDA is not identified, so that already the closed form is another one"
FROZEN = (
    "the print leaves a table as it is where a count would go below zero, but goes on moving the class count that the "
    "table is divided by, so that it no longer sums to one; here such a table sums to one"
)
TINY = 1e-300  # a probability or a class count that is not above zero, in the tables of the print
LAPLACE = suffice.Dirichlet(1.0)
PER_TABLE = suffice.Dirichlet(1.0, per="table")
STANDARD = suffice.GaussianPrior(10.0, 10.0, mean=0.0, covariance=1.0)  # for standardised features
ML: dict[str, Any] = {"prior": None}
# the print says m0 = r for every table; its numbers are those of m0 = r for p(y) and m0 = 1 for p(x_j | y)
MAP_TABLES: dict[str, Any] = {"prior": PER_TABLE, "class_prior": LAPLACE}
MAP_MOMENTS: dict[str, Any] = {"prior": STANDARD, "class_prior": LAPLACE}


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


def bins() -> KBinsDiscretizer:
    """5 bins of each feature by k-means."""
    return KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None, random_state=0)


def standardised(model: Any) -> Any:
    """On standardised features that vary within every class."""
    return make_pipeline(Varying(), StandardScaler(), model)


def categorical(learner: Any, **prior: Any) -> Build:
    """Naive Bayes on features that are in bins already."""
    return lambda _: suffice.CategoricalNB(learner=learner, **(prior or ML))


def nb(learner: Any, **prior: Any) -> Build:
    """Naive Bayes on bins."""
    return lambda _: make_pipeline(bins(), suffice.CategoricalNB(learner=learner, **(prior or ML)))


def printed_nb(learner: Any, **prior: Any) -> Build:
    """Naive Bayes on bins by the rule of the print for counts that would go below zero."""
    model = PrintedTables(prior.get("prior"), class_prior=prior.get("class_prior"))
    return lambda _: make_pipeline(bins(), suffice.ModelClassifier(model, learner=learner))


def qda(learner: Any, **prior: Any) -> Build:
    """Quadratic discriminant analysis."""
    return lambda _: standardised(suffice.QuadraticDiscriminantAnalysis(learner=learner, **(prior or ML)))


def lr(learner: Any, **prior: Any) -> Build:
    """Logistic regression, from moments where the learner has to begin with something."""
    return lambda _: standardised(suffice.LogisticRegression(learner=learner, **(prior or ML)))


def printed_qda(learner: Any, **prior: Any) -> Build:
    """Quadratic discriminant analysis with the gradient as printed."""
    believed = prior.get("prior") or suffice.GaussianPrior(0.0, 0.0)
    model = PrintedGaussian(believed, class_prior=prior.get("class_prior"))
    return lambda _: standardised(suffice.ModelClassifier(model, learner=learner))


class PrintedTables(Categorical):
    """Naive Bayes with the tables of the print, which are not what its text says.

        p(x_j = v | y) = (s_jvy + pseudo-count) / (s_0y + their sum)

    A table stays as it is where a count, *without* its pseudo-count, would go below zero, while the class count s_0y
    that it is divided by goes on moving: such a table no longer sums to one. The rule was inferred from the printed
    numbers, not read.
    """

    def attempt(self, s: Statistics[Counts]) -> Attempt[Counts, Any]:
        """Tables divided by the class count; valid where no count is below zero, and whatever their sum."""
        right = super().attempt(s)
        features: Any = s.domain.features
        sizes, table = features.sizes, s.sums.table
        pseudo, _ = self._smoothed(s)
        own = np.repeat(np.arange(len(sizes)), sizes)
        below = np.array([np.bincount(own, row < 0, len(sizes)) > 0 for row in table])
        prior = np.array([np.bincount(own, row, len(sizes)) for row in pseudo - table])
        total = np.maximum((s.mass[:, None] + prior)[:, own], TINY)
        log_p = np.log(np.maximum(pseudo, TINY)) - np.log(total)
        theta = replace(
            right.parameters,
            log_probability=log_p.T.copy(),
            class_log_prob=np.maximum(right.parameters.class_log_prob, np.log(TINY)),
        )
        valid = replace(s, mass=np.ones(len(s.mass), dtype=bool), sums=Counts(~below[:, own]))
        return Attempt(theta, valid)


class PrintedGaussian(FullGaussian):
    """QDA with the gradient as printed: the trace of the covariance in the place of the covariance, no intercept."""

    def gradient(self, s: Statistics[Moments], eta: Quadratic) -> Quadratic:
        """The right one, and what the print has instead."""
        right = super().gradient(s, eta)
        _, covariance = eta.moments()
        trace = np.trace(covariance, axis1=1, axis2=2)[:, None, None]
        square = right.square + s.mass[:, None, None] * (covariance - trace)
        return replace(right, intercept=0 * right.intercept, square=square)

    def feasible(self, eta: Quadratic, start: Quadratic) -> Quadratic:  # noqa: ARG002 - whatever it began with
        """No variance below 1/100, and means that move with the floor."""
        precision, axes = np.linalg.eigh(-2.0 * eta.square)
        variance = np.maximum(np.where(precision > 0, 1 / precision, 0.0), 1e-2)
        square = np.einsum("kij,kj,klj->kil", axes, -0.5 / variance, axes)
        return replace(eta, intercept=project_log(eta.intercept[None])[0], square=square)
