"""The methods that are compared: ours, and baselines of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import suffice
from suffice.learners import ClosedForm, RiskCalibration
from suffice.report.dataset import Dataset
from suffice.tables import TableError, nearest

CHANCE = "most frequent class"


def _numbers(data: Dataset) -> ColumnTransformer:
    """Numbers standardised, categories as columns of 0 and 1; a missing number is the median, a category its own."""
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(_filled(), StandardScaler()), np.flatnonzero(~data.categorical)),
            ("categories", _one_hot(), np.flatnonzero(data.categorical)),
        ]
    )


def _categories(data: Dataset) -> ColumnTransformer:
    """Numbers in five bins by k-means; categories as they are."""
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None, random_state=0)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(_filled(), bins), np.flatnonzero(~data.categorical)),
            ("categories", "passthrough", np.flatnonzero(data.categorical)),
        ]
    )


def _filled() -> SimpleImputer:
    return SimpleImputer(strategy="median", keep_empty_features=True)


def _one_hot() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=30)


Make = Callable[[int], Any]
OURS: dict[str, tuple[Callable[[Dataset], Any], Make]] = {
    "CategoricalNB": (_categories, lambda _: suffice.CategoricalNB()),
    "CategoricalNB + RC": (_categories, lambda _: suffice.CategoricalNB(learner=RiskCalibration())),
    "GaussianNB": (_numbers, lambda _: suffice.GaussianNB()),
    "GaussianNB + RC": (_numbers, lambda _: suffice.GaussianNB(learner=RiskCalibration())),
    "LDA": (_numbers, lambda _: suffice.LinearDiscriminantAnalysis()),
    "LDA + RC": (_numbers, lambda _: suffice.LinearDiscriminantAnalysis(learner=RiskCalibration())),
    "QDA": (_numbers, lambda _: suffice.QuadraticDiscriminantAnalysis()),
    "QDA + RC": (_numbers, lambda _: suffice.QuadraticDiscriminantAnalysis(learner=RiskCalibration())),
    "LR closed form": (_numbers, lambda _: suffice.LogisticRegression(learner=ClosedForm())),
    "LR + RC": (_numbers, lambda _: suffice.LogisticRegression(learner=RiskCalibration())),
    "LR Newton": (_numbers, lambda _: suffice.LogisticRegression()),
    "Fisher": (_numbers, lambda _: suffice.FisherDiscriminant()),
    "Scatter": (_numbers, lambda _: suffice.ScatterDiscriminant()),
    "MPM": (_numbers, lambda _: suffice.MinimaxProbabilityMachine()),
    "MEMPM": (_numbers, lambda _: suffice.MinimumErrorMPM()),
    "Quasi-Bayes": (_numbers, lambda _: suffice.QuasiBayes()),
    "Linear Bayes": (_numbers, lambda _: suffice.LinearBayes()),
}
BASELINES: dict[str, tuple[Callable[[Dataset], Any], Make]] = {
    "kNN": (_numbers, lambda _: KNeighborsClassifier()),
    "SVM": (_numbers, lambda seed: SVC(random_state=seed)),
    "decision tree": (_numbers, lambda seed: DecisionTreeClassifier(random_state=seed)),
    "neural network": (_numbers, lambda seed: MLPClassifier(max_iter=500, random_state=seed)),
    "logistic regression": (_numbers, lambda _: TheirLogisticRegression(max_iter=1000)),
    "gradient boosting": (_numbers, lambda seed: HistGradientBoostingClassifier(random_state=seed)),
    CHANCE: (_numbers, lambda _: DummyClassifier()),
}
METHODS = {**OURS, **BASELINES}


def chosen(names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The methods of these names, whatever their capitals, or all; the rule of chance always takes part."""
    if not names:
        return tuple(METHODS)
    known = {name.lower(): name for name in METHODS}
    names = tuple(name.strip() for name in names if name.strip())
    for name in names:
        if name.lower() not in known:
            raise TableError(
                f"there is no method {name!r}.{nearest(name, METHODS)} The methods are: {', '.join(METHODS)}"
            )
    return tuple(dict.fromkeys([*(known[name.lower()] for name in names), CHANCE]))


def build(method: str, data: Dataset, seed: int) -> Any:
    """A method with all that it learns besides, for the columns of a table."""
    prepare, make = METHODS[method]
    return make_pipeline(prepare(data), make(seed))
