"""Search from sums equals scikit-learn's, which fits every candidate to every split."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import (
    BernoulliNB,
    CategoricalNB,
    Dirichlet,
    FisherDiscriminant,
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.labels import OneHot
from suffice.data import Memory
from suffice.learners import ClosedForm, Observed, RiskCalibration
from suffice.model_selection import GridSearch
from suffice.model_selection.validation import ReadRows, Summed
from suffice.models import DiagonalGaussian, TiedDiagonalGaussian
from suffice.models.compose.blocks import Product
from tests.model_selection.test_cross_validate import mixed
from tests.zoo import ZOO, every

pytestmark = pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning")
PRIORS = [None, "default", GaussianPrior(4, 6, covariance="total"), GaussianPrior("evidence", "evidence", kind="niw")]
TABLES = [None, "default", Dirichlet(0.5), Dirichlet("evidence", base="marginal")]


def sample(kind, n=120):
    rng = np.random.default_rng(5)
    y = np.array(["a", "b", "c"])[np.arange(n) % 3]
    numbers = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + 0.7 * (np.arange(n) % 3)[:, None]
    if kind == "mixed":
        return mixed(rng, n)[0], y
    found = {"numbers": numbers, "words": np.round(numbers).astype(int).astype(str), "counts": np.abs(numbers).round()}
    return found[kind], y


# estimator, settings, rows, how often rows are summed for all of them
GRIDS = [
    (GaussianNB(), {"prior": PRIORS, "tied": [True, False], "class_prior": [None, "uniform"]}, "numbers", 1),
    (
        QuadraticDiscriminantAnalysis(),
        {"prior": PRIORS, "tying": [0, 0.3, 1], "shrinkage": [None, "oas"]},
        "numbers",
        1,
    ),
    (LinearDiscriminantAnalysis(), {"shrinkage": [None, 0.2, "evidence"], "n_components": [None, 1]}, "numbers", 1),
    (LinearDiscriminantAnalysis(), {"class_weight": [None, "balanced", {"a": 3.0}]}, "numbers", 1),
    (LogisticRegression(learner=ClosedForm()), {"prior": PRIORS}, "numbers", 1),
    (
        FisherDiscriminant(),
        {"ridge": [1e-6, 0.1], "class_prior": [None, "uniform"], "multi_class": ["ovo", "ovr"]},
        "numbers",
        1,
    ),
    (CategoricalNB(), {"prior": TABLES, "class_prior": [None, Dirichlet(5)]}, "words", 1),
    (CategoricalNB(), {"categories": [None, {0: [str(v) for v in range(-12, 13)]}], "prior": TABLES}, "words", 2),
    (MultinomialNB(), {"prior": [None, Dirichlet(0.1), Dirichlet(2)]}, "counts", 1),
    (BernoulliNB(), [{"prior": [Dirichlet(0.1), Dirichlet(2)]}, {"class_prior": ["uniform"]}], "counts", 1),
    (NaiveBayes(), {"n_bins": [4, 16], "strategy": ["quantile", "mdl"], "min_frequency": [1, 30]}, "mixed", 1),
    (
        NaiveBayes(),
        {"prior": TABLES[2:], "numeric": ["bins", "gaussian"], "missing": ["ignore", "indicator"]},
        "mixed",
        4,
    ),
    (ModelClassifier(), {"model": [DiagonalGaussian(), TiedDiagonalGaussian()]}, "numbers", 1),
]


@pytest.fixture
def sums(monkeypatch):
    """Which parts of the rows were summed."""
    calls, total = [], ReadRows.sum

    def counted(self, parts):
        calls.extend(parts)
        return total(self, parts)

    monkeypatch.setattr(ReadRows, "sum", counted)
    return calls


def assert_same(ours, theirs, tolerance=1e-10):
    """All results, except for times."""
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    for name, found in ours.cv_results_.items():
        expected = theirs.cv_results_[name]
        if "_test_" in name:
            assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=name)
        elif "time" in name:
            assert found.shape == expected.shape
            assert (found >= 0).all()
        else:
            assert list(map(str, found)) == list(map(str, expected))
    for name in ("best_index_", "best_params_", "n_splits_", "multimetric_"):
        assert str(getattr(ours, name, None)) == str(getattr(theirs, name, None)), name
    assert hasattr(ours, "best_score_") == hasattr(theirs, "best_score_")
    assert hasattr(ours, "best_estimator_") == hasattr(theirs, "best_estimator_")


def both(estimator, grid, X, y, params=None, **settings):
    """Ours and scikit-learn's."""
    theirs = GridSearchCV(estimator, grid, **({"error_score": "raise"} | settings)).fit(X, y, **(params or {}))
    return GridSearch(estimator, grid, **settings).fit(X, y, **(params or {})), theirs


@pytest.mark.parametrize(("estimator", "grid", "kind", "times"), GRIDS, ids=lambda v: type(v).__name__)
def test_it_equals_scikit_learns_and_reads_the_sums_once(estimator, grid, kind, times, sums, fits):
    X, y = sample(kind)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    theirs = GridSearchCV(estimator, grid, scoring="neg_log_loss", cv=cv, error_score="raise").fit(X, y)
    fits.clear()
    ours = GridSearch(estimator, grid, scoring="neg_log_loss", cv=cv).fit(X, y)
    assert len(fits) == 1  # the best one, to all rows
    assert len(sums) == 4 * times
    assert_same(ours, theirs)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-10)


@every(lambda entry: entry.adds)
def test_it_equals_refitting_for_every_classifier(entry):
    X, y = entry.draw(3, n=90)
    grid = {"learner": [None, ClosedForm()]}
    ours, theirs = both(entry.estimator(), grid, X, y, cv=3, scoring="neg_log_loss")
    assert_same(ours, theirs, max(1e-10, entry.tolerance))


@pytest.mark.parametrize(
    "scoring", [None, "accuracy", ["accuracy", "neg_log_loss"], lambda fit, X, y: {"one": fit.score(X, y), "two": 2.0}]
)
def test_scores_and_weights(scoring, rng):
    X, y = sample("numbers")
    refit = True if scoring is None or isinstance(scoring, str) else "accuracy" if isinstance(scoring, list) else "one"
    grid = {"prior": PRIORS}
    assert_same(*both(GaussianNB(), grid, X, y, scoring=scoring, refit=refit))
    if not callable(scoring):
        weight = rng.choice([0.0, 1.0, 2.0], len(y))
        assert_same(*both(GaussianNB(), grid, X, y, {"sample_weight": weight}, scoring=scoring, refit=refit))


@pytest.mark.parametrize(
    "cv", [KFold(3), ShuffleSplit(3, random_state=0), GroupKFold(3)], ids=lambda cv: type(cv).__name__
)
def test_any_splits_and_frames(cv):
    X, y = sample("numbers")
    X = pd.DataFrame(X, columns=list("tuvw"))
    params = {"groups": np.arange(len(y)) // 6} if isinstance(cv, GroupKFold) else {}
    ours, theirs = both(GaussianNB(), {"prior": PRIORS}, X, y, params, cv=cv)
    assert_same(ours, theirs)
    assert ours.feature_names_in_.tolist() == list("tuvw")


def test_how_the_best_is_refitted():
    X, y = sample("numbers")
    grid = {"prior": PRIORS}
    assert_same(*both(GaussianNB(), grid, X, y, refit=False))
    assert_same(*both(GaussianNB(), grid, X, y, refit=False, scoring=["accuracy", "neg_log_loss"]))
    assert_same(*both(GaussianNB(), grid, X, y, refit=lambda results: 2))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_no_function_of_sums_is_fitted(fits, sums):
    X, y = sample("numbers")
    grid = {"learner": [None, RiskCalibration(0.1, stop=None, max_iter=3)], "prior": ["default", None]}
    ours, theirs = both(GaussianNB(), grid, X, y, cv=3)
    assert_same(ours, theirs)
    assert len(fits) == (4 * 3 + 1) + (2 * 3 + 1)
    assert len(sums) == 3
    assert_same(*both(RidgeClassifier(), {"alpha": [0.1, 10]}, X, y))
    line = make_pipeline(StandardScaler(), GaussianNB())
    assert_same(*both(line, {"gaussiannb__prior": PRIORS}, X, y))


def test_what_cannot_be_fitted_is_an_error_or_has_its_score(rng):
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2))
    X[:, 1] = X[:, 0]
    grid = {"prior": [None, "default"]}
    with pytest.raises(ValueError, match="singular"):
        GridSearch(QuadraticDiscriminantAnalysis(), grid).fit(X, y)
    with pytest.warns(sklearn.exceptions.FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        assert_same(*both(QuadraticDiscriminantAnalysis(), grid, X, y, error_score=np.nan))
    with pytest.warns(sklearn.exceptions.FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        assert_same(*both(QuadraticDiscriminantAnalysis(), {"tying": [0.5, 7]}, X, y, error_score=np.nan))
    with pytest.raises(ValueError, match="tying must be a number from 0 to 1, got 7"):
        GridSearch(QuadraticDiscriminantAnalysis(), {"tying": [0.5, 7]}).fit(X, y)
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        GridSearch(QuadraticDiscriminantAnalysis(), {"tying": [7]}, error_score=0.0).fit(X, y)


def test_scores_that_fail(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2

    def fails(fit, X, y):
        raise RuntimeError("no score today")

    with pytest.raises(RuntimeError, match="no score today"):
        GridSearch(GaussianNB(), {"tied": [True]}, scoring=fails).fit(X, y)
    with pytest.warns(UserWarning, match="no score today"):
        search = GridSearch(GaussianNB(), {"tied": [True]}, scoring=fails, error_score=0.5).fit(X, y)
    assert search.best_score_ == 0.5


def test_refusals(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(TypeError, match="GridSearch takes rows in memory"):
        GridSearch(GaussianNB(), {"tied": [True]}).fit(Memory(X, y))
    with pytest.raises(ValueError, match="Invalid parameter 'typo' for estimator GaussianNB"):
        GridSearch(GaussianNB(), {"typo": [1]}).fit(X, y)
    with pytest.raises(ValueError, match="GridSearch has nothing to try"):
        GridSearch(GaussianNB(), {"tied": [True]}, cv=[]).fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        GridSearch(GaussianNB(), {"tied": [True]}, cv=KFold(3)).fit(X)
    with pytest.raises(ValueError, match="inconsistent"):
        GridSearch(GaussianNB(), {"tied": [True]}).fit(X, y[:9])


def test_rows_and_estimator_stay_as_they_are():
    X, y = sample("numbers")
    estimator, before = GaussianNB(), X.copy()
    search = GridSearch(estimator, {"prior": PRIORS}).fit(X, y)
    assert_array_equal(X, before)
    assert not hasattr(estimator, "statistics_")
    assert type(search.best_estimator_._encoder).__name__ == "Numbers"


@parametrize_with_checks([GridSearch(GaussianNB(), {"prior": ["default", GaussianPrior(5, 5)]}, cv=2)])
def test_the_api_is_scikit_learns(estimator, check):
    check(estimator)


# What is summed


def leaves(estimator, X, y):
    reader = estimator
    rows = reader._read(X, y, None, reset=True)
    s = rows.sum(Observed(reader._bound_model()))
    return [s.mass, *s.sums.leaves()]


@every(lambda entry: entry.model().statistics_key is not None)
def test_models_of_one_kind_have_the_same_sums(entry):
    X, y = entry.draw(8)
    model, own = entry.model(), leaves(entry.estimator(), X, y)
    alike = [
        other
        for other in ZOO
        if other.model().statistics_key == model.statistics_key and other.model().encoder == model.encoder
    ]
    assert entry in alike
    for other in alike:
        for a, b in zip(own, leaves(other.estimator(), X, y), strict=True):
            assert_array_equal(a, b)


@every(lambda entry: True)
def test_sums_about_the_origins_of_others_are_the_same(entry):
    X, y = entry.draw(8)
    rows, labels = entry.encode(X), OneHot.of(y)
    model = replace(entry.model(), encoder=entry.model().encoder.prepare(Memory(X, y)))
    s = model.statistics(rows, labels)
    near = model.with_origin_of(model.statistics(rows[:30], labels[:30])).statistics(rows, labels)
    for a, b in zip(*(one.leaves() for one in s.align(near)), strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-9)


def test_other_sums_than_its_parents_are_of_unknown_kind(rng):
    @dataclass(frozen=True, eq=False)
    class Halved(DiagonalGaussian):
        share: float = field(default=0.5, kw_only=True)

        def sums(self, X, W, domain):
            return self.share * super().sums(X, W, domain)

    @dataclass(frozen=True, eq=False)
    class Known(Halved):
        @property
        def statistics_key(self):
            return "halved", self.share

    assert DiagonalGaussian().statistics_key == TiedDiagonalGaussian().statistics_key
    assert Halved().statistics_key is None
    assert Known().statistics_key == ("halved", 0.5)
    assert Product.of({"a": DiagonalGaussian(), "b": Halved()}).statistics_key is None
    assert Summed.of(ModelClassifier(Halved())) != Summed.of(ModelClassifier(Halved()))
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + y[:, None]
    models = [kind(GaussianPrior(4, 6), share=share) for kind in (Halved, Known) for share in (0.5, 0.01)]
    grid = {"model": models}
    assert_same(*both(ModelClassifier(), grid, X, y, scoring="neg_log_loss"))
