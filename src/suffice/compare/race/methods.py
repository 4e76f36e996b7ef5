"""The catalogue of methods: those of suffice, baselines of scikit-learn, and boosting of other packages if installed.

One entry serves `suffice compare --methods`, `suffice fit --model` and `suffice fit --model auto`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
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
from suffice.data.files.reading import TableError, nearest
from suffice.learners import ClosedForm, RiskCalibration
from suffice.model_selection.measures import Dataset

# the rule of chance, a yardstick that takes part in every comparison
CHANCE = "most frequent class"
# the methods that `--model auto` tries, the promising and quick ones first
AUTO_METHODS = (
    "TabularClassifier",
    "NaiveBayes",
    "AdditiveTables",
    "LDA",
    "LR Newton",
    "QDA",
    "GaussianNB",
    "NaiveBayes + RC",
)


def as_numbers(numbers: Any, categories: Any) -> ColumnTransformer:
    """Standardise numbers and one-hot encode categories.

    A missing number becomes the median, with an indicator column; a missing category is a category of its own.
    Categories of fewer than 5 rows, and those beyond the 100 most frequent, share a column.
    """
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    indicators = OneHotEncoder(
        min_frequency=5, max_categories=100, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    scaled = make_pipeline(filled, StandardScaler())
    return ColumnTransformer([("numbers", scaled, numbers), ("categories", indicators, categories)])


def as_codes(numbers: Any, categories: Any) -> ColumnTransformer:
    """Encode categories as codes, at most 255 a column with the rarest sharing one, and append the numbers unchanged.

    A missing category is NaN; an unknown one is -1, which boosting reads as missing.
    """
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, max_categories=255)
    return ColumnTransformer([("categories", codes, categories), ("numbers", Present(), numbers)])


class Present(TransformerMixin, BaseEstimator):
    """Drop columns without any number in the training rows: scikit-learn's boosting does not accept them."""

    def fit(self, X: Any, y: Any = None) -> Present:  # noqa: ARG002 - as scikit-learn calls it
        """Find the columns that have numbers."""
        self.columns_ = np.flatnonzero(~np.isnan(np.asarray(X, dtype=float)).all(axis=0))
        return self

    def transform(self, X: Any) -> Array:
        """Keep these columns."""
        return np.asarray(X, dtype=float)[:, self.columns_]


def as_categories(numbers: Any, categories: Any) -> ColumnTransformer:
    """Bin numbers by k-means into five bins; leave categories unchanged."""
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None, random_state=0)
    filled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), bins)
    return ColumnTransformer([("numbers", filled, numbers), ("categories", "passthrough", categories)])


Prepare = Callable[[Any, Any], ColumnTransformer]  # of the columns of numbers and those of categories


@dataclass(frozen=True, eq=False)
class TableRows(Dataset):
    """Rows of a table whose columns have any type, for models that take tables as they are.

    `X` is an Arrow table, `categorical` marks the columns that do not hold numbers, and `kinds` says what columns are
    read as where that differs from their type.
    """

    X: pa.Table
    kinds: Mapping[str, str] = field(default_factory=dict)

    def rows(self, which: Array) -> TableRows:
        """Select rows by their numbers."""
        return replace(self, X=self.X.take(pa.array(which)), y=self.y[which])

    def columns(self, which: Array) -> TableRows:
        """Select columns by their numbers."""
        names = tuple(self.names[j] for j in which)
        kinds = {name: kind for name, kind in self.kinds.items() if name in names}
        return replace(
            self, X=self.X.select(list(names)), names=names, categorical=self.categorical[which], kinds=kinds
        )


class Given(NamedTuple):
    """How a method receives categories and missing values: in a word, in a few words, and in a sentence."""

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
    """An entry of the catalogue: a classifier, its names, and how it is built for the columns of a table.

    Parameters
    ----------
    name : str
        The name in comparisons.
    about : str
        One line that says what it is.
    make : callable
        Returns the classifier for a seed.
    prepare : callable or None
        Preprocessing that is learned with the classifier; None for a classifier that takes tables as they are.
    start : str
        The method whose solution it starts from, and which it should not fall below.
    ours : bool
        True for a classifier of suffice.
    categories : callable, optional
        Returns the settings that tell the classifier which prepared columns are categories.
    short : str
        The name on the command line of `fit`, if there is a shorter one.
    draws_categories : bool
        True if its random numbers depend on how categories are called.
    is_chance : bool
        True for the rule of chance, which is a yardstick and not a rival.
    """

    name: str
    about: str
    make: Callable[[int], Any]
    prepare: Prepare | None = as_numbers
    start: str = ""
    ours: bool = True
    categories: Callable[[Dataset], dict[str, Any]] | None = None
    short: str = ""
    draws_categories: bool = False
    is_chance: bool = False

    @property
    def given(self) -> Given:
        """How it receives categories and missing values."""
        return GIVEN[self.prepare]

    @property
    def model_name(self) -> str:
        """The name to type after `fit --model`."""
        return self.short or self.name

    @property
    def takes_tables(self) -> bool:
        """True if it takes columns of any type; otherwise, fitted without preprocessing, it takes numbers only."""
        return self.prepare is None

    @property
    def can_be_saved(self) -> bool:
        """True if `fit` can write it to a model file, which has no place for preprocessing by scikit-learn."""
        return self.ours and self.prepare in (None, as_numbers)

    def build(self, data: Dataset, seed: int) -> Any:
        """Return the classifier, with its preprocessing, for the columns of a table."""
        if isinstance(data, TableRows):
            return self.estimator(data.kinds, seed)
        model = self.make(seed)
        if self.categories is not None:
            model.set_params(**self.categories(data))
        if self.prepare is None:
            return model
        return make_pipeline(self.prepare(np.flatnonzero(~data.categorical), np.flatnonzero(data.categorical)), model)

    def estimator(self, kinds: Mapping[str, str], seed: int) -> Any:
        """Return the classifier without preprocessing, for a table; `kinds` says what columns are read as."""
        model = self.make(seed)
        return model.set_params(columns=dict(kinds)) if kinds and self.takes_tables else model


def _methods() -> Iterator[Method]:
    """Yield all methods in the order in which they start: roughly by cost, with frequent winners not last."""
    nb, cnb, gnb, lr = suffice.NaiveBayes, suffice.CategoricalNB, suffice.GaussianNB, suffice.LogisticRegression
    qda, lda = suffice.QuadraticDiscriminantAnalysis, suffice.LinearDiscriminantAnalysis
    rc, moved = RiskCalibration, "sums moved to lower the training risk"
    peer = partial(Method, ours=False)
    # our estimators for tables: codes of these columns are categories
    table = partial(
        Method,
        prepare=None,
        categories=lambda data: {"columns": {int(j): "category" for j in np.flatnonzero(data.categorical)}},
    )
    # for boosting after `as_codes`: the numbers of the categorical columns, which come first; None if there are none
    first: Callable[[Dataset], Any] = lambda data: list(range(int(data.categorical.sum()))) or None  # noqa: E731
    chance = "baseline: always predicts the most frequent class"
    yield peer(CHANCE, chance, lambda _: DummyClassifier(), None, is_chance=True)
    yield table("NaiveBayes", "naive Bayes for tables as they are: bins and categories", lambda _: nb(), short="nb")
    yield Method("LDA", "linear discriminant analysis: Gaussian, one covariance", lambda _: lda(), short="lda")
    yield Method("GaussianNB", "naive Bayes, numbers Gaussian in each class", lambda _: gnb(), short="gaussian-nb")
    yield Method("CategoricalNB", "naive Bayes, numbers in five bins", lambda _: cnb(), as_categories)
    penalised = "penalised logistic regression (scikit-learn)"
    yield peer("logistic regression", penalised, lambda _: TheirLogisticRegression(max_iter=1000))
    tree = "one fully grown tree (scikit-learn)"
    yield peer("decision tree", tree, lambda seed: DecisionTreeClassifier(random_state=seed))
    yield Method("QDA", "quadratic discriminant analysis, a covariance per class", lambda _: qda(), short="qda")
    yield Method("LR closed form", "logistic regression from one pass of sums", lambda _: lr(learner=ClosedForm()))
    network = "Bayesian network: each column depends on "
    yield table("TreeAugmentedNB", f"{network}one other", lambda _: suffice.TreeAugmentedNB(), short="tan")
    yield table("KDependenceNB", f"{network}two others", lambda _: suffice.KDependenceNB(), short="kdb")
    yield table("AODE", "Bayesian networks, one for each column, weighted", lambda _: suffice.AODE(), short="aode")
    shapes = "interpretable: a shape per column and maps of pairs"
    yield table("AdditiveTables", shapes, lambda _: suffice.AdditiveTables(), short="additive")
    yield table(
        "TabularClassifier",
        "tables, trees and a Gaussian density, weighted",
        lambda seed: suffice.TabularClassifier(random_state=seed),
        short="tabular",
        draws_categories=True,
    )
    yield peer(
        "gradient boosting",
        "boosted trees on binned columns (scikit-learn)",
        lambda seed: HistGradientBoostingClassifier(random_state=seed),
        as_codes,
        categories=lambda data: {"categorical_features": first(data)},
    )
    start, short = "NaiveBayes", "nb-calibrated"
    yield table("NaiveBayes + RC", f"NaiveBayes, {moved}", lambda _: nb(learner=rc()), start=start, short=short)
    start = "CategoricalNB"
    yield Method("CategoricalNB + RC", f"{start}, {moved}", lambda _: cnb(learner=rc()), as_categories, start)
    yield Method("LDA + RC", f"LDA, {moved}", lambda _: lda(learner=rc()), start="LDA")
    yield Method("GaussianNB + RC", f"GaussianNB, {moved}", lambda _: gnb(learner=rc()), start="GaussianNB")
    yield Method("LR + RC", f"LR, {moved}", lambda _: lr(learner=rc()), start="LR closed form")
    yield Method("LR Newton", "logistic regression by Newton's method", lambda _: lr(), short="logistic")
    tangent = "direction, cut where the plane is tangent"
    yield Method("Fisher", f"Fisher's {tangent}", lambda _: suffice.FisherDiscriminant())
    yield Method("Scatter", f"LDA's {tangent}", lambda _: suffice.ScatterDiscriminant())
    yield Method("MPM", "minimax probability machine: best worst case", lambda _: suffice.MinimaxProbabilityMachine())
    yield Method("MEMPM", "minimax machine, classes weighted by their shares", lambda _: suffice.MinimumErrorMPM())
    yield Method("Quasi-Bayes", "the plane tangent where QDA's border passes", lambda _: suffice.QuasiBayes())
    yield Method("Linear Bayes", "the plane of least error for Gaussian classes", lambda _: suffice.LinearBayes())
    yield peer("kNN", "the five nearest rows (scikit-learn)", lambda _: KNeighborsClassifier())
    # packages that may be missing are imported only when they are used
    if find_spec("lightgbm"):
        yield peer(
            "LightGBM",
            "gradient boosting of trees, leaf by leaf (lightgbm)",
            lambda seed: import_module("lightgbm").LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed),
            as_codes,
            # the setting has several names; given this one, LightGBM does not warn
            categories=lambda data: {"cat_feature": first(data)} if first(data) else {},
        )
    yield Method("QDA + RC", f"QDA, {moved}", lambda _: qda(learner=rc()), start="QDA")
    yield peer("SVM", "support vectors, Gaussian kernel (scikit-learn)", lambda seed: SVC(random_state=seed))
    layer = "one hidden layer of 100 units (scikit-learn)"
    yield peer("neural network", layer, lambda seed: MLPClassifier(max_iter=500, random_state=seed))
    if find_spec("interpret"):
        glassbox = "interpret.glassbox"
        yield peer(
            "EBM",
            "interpretable: additive shapes by boosting (interpret)",
            lambda seed: import_module(glassbox).ExplainableBoostingClassifier(n_jobs=1, random_state=seed),
            None,
            categories=lambda data: {"feature_types": ["nominal" if c else "continuous" for c in data.categorical]},
        )


METHODS = {method.name: method for method in _methods()}
_BY_ANY_NAME = {name.lower(): method for method in METHODS.values() for name in (method.name, method.model_name)}


def is_chance(method: str) -> bool:
    """True if a method, given by its name, is the rule of chance."""
    return METHODS[method].is_chance


def choose_methods(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the methods of these names, short or full, in any case; or all. The rule of chance always takes part."""
    if names is None:
        return tuple(METHODS)
    picked = {_named(name, "method", METHODS).name for name in names if name.strip()} | {CHANCE}
    return tuple(name for name in METHODS if name in picked)


def model_named(name: str) -> Method:
    """Return the method of a name, short or full, that `fit` can save."""
    known = [method.model_name for method in METHODS.values() if method.can_be_saved]
    method = _named(name, "model", ["auto", *known])
    if not method.can_be_saved:
        raise TableError(
            f"{method.name} cannot be written to a model file, which holds models of suffice without preprocessing. "
            f"The models are: {', '.join(['auto', *known])}"
        )
    return method


def _named(name: str, what: str, names: Iterable[str]) -> Method:
    wanted = name.strip().lower()
    if wanted not in _BY_ANY_NAME:
        raise TableError(f"there is no {what} {wanted!r}.{nearest(wanted, names)} The {what}s are: {', '.join(names)}")
    return _BY_ANY_NAME[wanted]
