"""The methods that are compared: ours, baselines of scikit-learn, and boosting of other packages where installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import suffice
from suffice._core.vector import Array
from suffice.data.files.sheet import TableError, nearest
from suffice.learners import ClosedForm, RiskCalibration
from suffice.model_selection.measures import Dataset

CHANCE = "most frequent class"  # the rule of chance, which stands beside the methods


def as_numbers(numbers: Any, categories: Any) -> ColumnTransformer:
    """Numbers standardised, categories as columns of 0 and 1.

    A missing number is the median, and a column of 0 and 1 says that it was missing; a missing category is one of its
    own. Categories of fewer than 5 rows, and those beyond the 100 most frequent, share a column.
    """
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    indicators = OneHotEncoder(
        min_frequency=5, max_categories=100, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    scaled = make_pipeline(filled, StandardScaler())
    return ColumnTransformer([("numbers", scaled, numbers), ("categories", indicators, categories)])


def as_codes(numbers: Any, categories: Any) -> ColumnTransformer:
    """First categories as codes, at most 255 a column and the rarest under one code, then numbers as they are.

    A missing category is NaN, an unknown one -1, which boosting takes for missing.
    """
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, max_categories=255)
    return ColumnTransformer([("categories", codes, categories), ("numbers", Present(), numbers)])


class Present(TransformerMixin, BaseEstimator):
    """Columns of numbers as they are, without those that all training rows lack: these stop scikit-learn's boosting."""

    def fit(self, X: Any, y: Any = None) -> Present:  # noqa: ARG002 - as scikit-learn calls it
        """Find the columns that have a number."""
        self.columns_ = np.flatnonzero(~np.isnan(np.asarray(X, dtype=float)).all(axis=0))
        return self

    def transform(self, X: Any) -> Array:
        """These columns."""
        return np.asarray(X, dtype=float)[:, self.columns_]


def as_categories(numbers: Any, categories: Any) -> ColumnTransformer:
    """Numbers in five bins by k-means; categories as they are."""
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None, random_state=0)
    filled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), bins)
    return ColumnTransformer([("numbers", filled, numbers), ("categories", "passthrough", categories)])


Prepare = Callable[[Any, Any], ColumnTransformer]  # of the columns of numbers and those of categories


class Given(NamedTuple):
    """What a method is given of a table with categories and missing values: in a word, in a few, and in a sentence."""

    word: str
    words: str
    sentence: str


NATIVE = Given("native", "native categories", "categories and missing values as they are")
GIVEN: dict[Prepare | None, Given] = {
    None: NATIVE,
    as_codes: NATIVE,
    as_numbers: Given("one-hot", "one-hot, imputed", "one-hot columns, and medians for missing numbers"),
    as_categories: Given("bins", "five bins, imputed", "numbers in five bins, the missing ones by their median"),
}


@dataclass(frozen=True)
class Method:
    """A classifier that takes part: its name, what it is in one line, and how it is made of columns and a seed.

    `prepare` learns besides what the classifier needs of its columns; without it the classifier takes a table as it is.
    `start` is the method that it starts from and should not fall below.
    """

    name: str
    about: str
    make: Callable[[int], Any]
    prepare: Prepare | None = as_numbers
    start: str = ""
    ours: bool = True
    told: Callable[[Dataset], dict[str, Any]] | None = None  # settings that say which prepared columns are categories
    chance: bool = False  # whether it is the rule of chance, which is no rival
    draws_categories: bool = False  # whether it draws numbers by what categories are called

    @property
    def given(self) -> Given:
        """What it is given of a table that has categories and missing values."""
        return GIVEN[self.prepare]

    def build(self, data: Dataset, seed: int) -> Any:
        """The classifier with all that it learns besides, for the columns of a table."""
        model = self.make(seed)
        if self.told is not None:
            model.set_params(**self.told(data))
        if self.prepare is None:
            return model
        return make_pipeline(self.prepare(np.flatnonzero(~data.categorical), np.flatnonzero(data.categorical)), model)


def _kinds(data: Dataset) -> dict[str, Any]:
    """What `columns` says: the codes of these columns are categories."""
    return {"columns": {int(j): "category" for j in np.flatnonzero(data.categorical)}}


def _first(data: Dataset) -> list[int] | None:
    """The columns of `as_codes` that are categories."""
    return list(range(int(data.categorical.sum()))) or None


def _feature_types(data: Dataset) -> dict[str, Any]:
    return {"feature_types": ["nominal" if c else "continuous" for c in data.categorical]}


def _light_boosting() -> list[Method]:
    """LightGBM, where it is installed; it is not imported before it is used."""
    about = "gradient boosting of trees, leaf by leaf (lightgbm)"
    told = _told_light
    return [Method("LightGBM", about, _light, as_codes, ours=False, told=told)] if find_spec("lightgbm") else []


def _explainable_boosting() -> list[Method]:
    """EBM, in the same way."""
    about = "additive shapes by boosting, to be read (interpret)"
    return [Method("EBM", about, _explainable, None, ours=False, told=_feature_types)] if find_spec("interpret") else []


def _told_light(data: Dataset) -> dict[str, Any]:
    first = _first(data)
    return {} if first is None else {"cat_feature": first}  # by that name it does not warn


def _light(seed: int) -> Any:
    return import_module("lightgbm").LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed)


def _explainable(seed: int) -> Any:
    return import_module("interpret.glassbox").ExplainableBoostingClassifier(n_jobs=1, random_state=seed)


def _methods() -> list[Method]:
    """All methods in the order in which they begin: roughly the cheapest first, those that often win not last."""
    qda, lda, lr = suffice.QuadraticDiscriminantAnalysis, suffice.LinearDiscriminantAnalysis, suffice.LogisticRegression
    moved = "its sums moved to the least training risk"
    return [
        Method(
            CHANCE,
            "no method: always the class of most rows",
            lambda _: DummyClassifier(),
            None,
            ours=False,
            chance=True,
        ),
        Method("NaiveBayes", "naive Bayes for tables as they are: bins and categories", _naive, None, told=_kinds),
        Method("LDA", "linear discriminant analysis: normal, one covariance", lambda _: lda()),
        Method("GaussianNB", "naive Bayes, numbers normal in each class", lambda _: suffice.GaussianNB()),
        Method("CategoricalNB", "naive Bayes, numbers in five bins", lambda _: suffice.CategoricalNB(), as_categories),
        Method(
            "logistic regression",
            "penalised logistic regression (scikit-learn)",
            lambda _: TheirLogisticRegression(max_iter=1000),
            ours=False,
        ),
        Method(
            "decision tree",
            "one tree, grown to its end (scikit-learn)",
            lambda seed: DecisionTreeClassifier(random_state=seed),
            ours=False,
        ),
        Method("QDA", "quadratic discriminant analysis, a covariance a class", lambda _: qda()),
        Method("LR closed form", "logistic regression from one pass of sums", lambda _: lr(learner=ClosedForm())),
        Method("AdditiveTables", "a shape a column and maps of pairs, to be read", _additive, None, told=_kinds),
        Method(
            "TabularClassifier",
            "tables, trees and a normal density, weighed",
            _tabular,
            None,
            told=_kinds,
            draws_categories=True,
        ),
        Method(
            "gradient boosting",
            "boosted trees on binned columns (scikit-learn)",
            lambda seed: HistGradientBoostingClassifier(random_state=seed),
            as_codes,
            ours=False,
            told=lambda data: {"categorical_features": _first(data)},
        ),
        Method(
            "CategoricalNB + RC",
            f"CategoricalNB, {moved}",
            lambda _: suffice.CategoricalNB(learner=RiskCalibration()),
            as_categories,
            "CategoricalNB",
        ),
        Method("LDA + RC", f"LDA, {moved}", lambda _: lda(learner=RiskCalibration()), start="LDA"),
        Method(
            "GaussianNB + RC",
            f"GaussianNB, {moved}",
            lambda _: suffice.GaussianNB(learner=RiskCalibration()),
            start="GaussianNB",
        ),
        Method("LR + RC", f"LR, {moved}", lambda _: lr(learner=RiskCalibration()), start="LR closed form"),
        Method("LR Newton", "logistic regression by Newton's method", lambda _: lr()),
        Method("Fisher", "Fisher's direction, cut where the plane is tangent", lambda _: suffice.FisherDiscriminant()),
        Method("Scatter", "direction of LDA, cut where the plane is tangent", lambda _: suffice.ScatterDiscriminant()),
        Method(
            "MPM", "minimax probability machine: the best worst case", lambda _: suffice.MinimaxProbabilityMachine()
        ),
        Method("MEMPM", "minimax machine, classes counted by their shares", lambda _: suffice.MinimumErrorMPM()),
        Method("Quasi-Bayes", "the plane that touches where QDA's border passes", lambda _: suffice.QuasiBayes()),
        Method("Linear Bayes", "the plane of least error for normal classes", lambda _: suffice.LinearBayes()),
        Method("kNN", "the five nearest rows (scikit-learn)", lambda _: KNeighborsClassifier(), ours=False),
        *_light_boosting(),
        Method("QDA + RC", f"QDA, {moved}", lambda _: qda(learner=RiskCalibration()), start="QDA"),
        Method(
            "SVM", "support vectors, Gaussian kernel (scikit-learn)", lambda seed: SVC(random_state=seed), ours=False
        ),
        Method(
            "neural network",
            "one hidden layer of 100 units (scikit-learn)",
            lambda seed: MLPClassifier(max_iter=500, random_state=seed),
            ours=False,
        ),
        *_explainable_boosting(),
    ]


def _naive(_: int) -> Any:
    return suffice.NaiveBayes()


def _tabular(seed: int) -> Any:
    return suffice.TabularClassifier(random_state=seed)


def _additive(_: int) -> Any:
    return suffice.AdditiveTables()


METHODS = {method.name: method for method in _methods()}


def is_chance(method: str) -> bool:
    """Whether a method, by its name, is the rule of chance."""
    return METHODS[method].chance


def chosen(names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The methods of these names, whatever their capitals, or all; the rule of chance always takes part."""
    if not names:
        return tuple(METHODS)
    known = {name.lower(): name for name in METHODS}
    wanted = [name.strip().lower() for name in names if name.strip()]
    for name in wanted:
        if name not in known:
            raise TableError(
                f"there is no method {name!r}.{nearest(name, METHODS)} The methods are: {', '.join(METHODS)}"
            )
    picked = {known[name] for name in wanted} | {CHANCE}
    return tuple(name for name in METHODS if name in picked)
