"""Cross-validation from sums equals scikit-learn's, which fits every split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import model_selection
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.data import Memory
from suffice.encoders import TreePartitions
from suffice.learners import ClosedForm, RiskCalibration
from suffice.model_selection import cross_validate
from suffice.model_selection.validation import others, quick, rounds
from suffice.models import Categorical
from suffice.priors import Dirichlet
from tests.zoo import every

pytestmark = pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning")
SCORES = ["accuracy", "neg_log_loss", "roc_auc_ovr"]
NAMES = [
    "iris",
    "wine",
    "seeds",
    "haberman",
    "diabetes",
    "heart_statlog",
    "vehicle",
    "wdbc",
    "mammographic",
    "waveform",
]


def assert_same(ours, theirs, tolerance=1e-10):
    assert ours.keys() == theirs.keys()
    for name in ours:
        if name.startswith(("test_", "train_")):
            assert_allclose(ours[name], theirs[name], rtol=tolerance, atol=tolerance, err_msg=name)
            assert ours[name].shape == ours["fit_time"].shape == ours["score_time"].shape


def both(estimator, X, y, **settings):
    """Ours and scikit-learn's."""
    weight = settings.pop("sample_weight", None)
    params = {} if weight is None else {"params": {"sample_weight": weight}}
    ours = cross_validate(estimator, X, y, sample_weight=weight, **settings)
    return ours, model_selection.cross_validate(estimator, X, y, error_score="raise", **settings, **params)


@every(lambda entry: entry.adds)
@settings(max_examples=-(-settings().max_examples // 2))  # each of many fits
@given(st.integers(0, 2**32 - 1))
def test_it_equals_refitting_for_every_classifier(entry, seed):
    X, y = entry.draw(seed, n=90)
    weight = np.random.default_rng(seed).choice([0.0, 1.0, 2.0], len(y), p=[0.1, 0.6, 0.3])
    cv = StratifiedKFold(4, shuffle=True, random_state=seed % 1000)
    tolerance = max(1e-10, entry.tolerance)
    assert_same(*both(entry.estimator(), X, y, cv=cv, scoring="neg_log_loss", sample_weight=weight), tolerance)


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "prototype",
    [GaussianNB(), QuadraticDiscriminantAnalysis(), LinearDiscriminantAnalysis(shrinkage="oas")],
    ids=lambda prototype: type(prototype).__name__,
)
def test_real_data(name, prototype, load, fits):
    X, y = load(name)
    X = X.select_dtypes("number")
    ours = cross_validate(prototype, X, y, scoring=SCORES[:2], return_train_score=True)
    assert not fits
    assert_same(ours, model_selection.cross_validate(prototype, X, y, scoring=SCORES[:2], return_train_score=True))


@pytest.mark.parametrize(
    "cv",
    [
        3,
        KFold(7, shuffle=True, random_state=0),
        StratifiedKFold(4),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        GroupKFold(4),
        LeaveOneOut(),
        ShuffleSplit(3, test_size=0.25, random_state=0),
        ShuffleSplit(3, test_size=0.25, train_size=0.5, random_state=0),
        TimeSeriesSplit(3),
        [(np.arange(30), np.arange(30, 60)), (np.arange(10, 60), np.arange(10))],
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_any_splits(cv, rng, fits):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, None]
    settings = {"cv": cv, "return_indices": True, "return_train_score": True}
    if isinstance(cv, GroupKFold):
        settings["groups"] = np.arange(60) // 6
    ours = cross_validate(GaussianNB(), X, y, **settings)
    assert not fits
    theirs = model_selection.cross_validate(GaussianNB(), X, y, **settings)
    assert_same(ours, theirs)
    for side in ("train", "test"):
        for a, b in zip(ours["indices"][side], theirs["indices"][side], strict=True):
            assert np.array_equal(a, b)


def test_several_scores_and_estimators(rng):
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    X = pd.DataFrame(rng.normal(size=(60, 2)) + np.arange(60)[:, None] % 3, columns=["u", "v"])
    ours, theirs = both(GaussianNB(), X, y, scoring=SCORES, return_train_score=True, return_estimator=True)
    assert_same(ours, theirs)
    for one, other in zip(ours["estimator"], theirs["estimator"], strict=True):
        assert one.feature_names_in_.tolist() == ["u", "v"]
        assert one.n_features_in_ == 2
        assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-12)
    ours, theirs = both(GaussianNB(), X, y, scoring={"share": make_scorer(lambda t, p: np.mean(t == p))})
    assert_same(ours, theirs)
    assert "test_share" in ours
    ours, theirs = both(GaussianNB(), X, y, scoring=lambda fit, X, y: {"one": fit.score(X, y), "two": 2.0})
    assert_same(ours, theirs)


def test_what_only_the_test_rows_have_is_unknown():
    y = np.tile([0, 1], 15)
    X = np.array([["u", "v", "w"][i % 3] for i in range(30)])[:, None]
    X[-1] = "only here"
    assert_same(*both(CategoricalNB(), X, y, cv=KFold(5), scoring="neg_log_loss"))
    y[-5:] = 2  # a class of the last fold alone
    ours = cross_validate(CategoricalNB(), X, y, cv=KFold(6), return_estimator=True)
    assert ours["estimator"][-1].classes_.tolist() == [0, 1]
    assert ours["test_score"][-1] == 0.0


def test_missing_values_by_pattern(rng):
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 2
    X[rng.random(X.shape) < 0.1] = np.nan
    assert_same(*both(QuadraticDiscriminantAnalysis(), X, y, scoring="neg_log_loss"), 1e-8)


def test_more_patterns_than_are_kept_apart_are_refitted(rng, fits, monkeypatch):
    monkeypatch.setattr("suffice.models.gaussian.patterns.LIMIT", 2)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[rng.random(X.shape) < 0.2] = np.nan
    assert_same(*both(QuadraticDiscriminantAnalysis(), X, y), 1e-8)
    assert len(fits) == 10


@pytest.mark.parametrize(
    "prototype",
    [GaussianNB(learner=RiskCalibration(0.1, stop=None, max_iter=4)), LogisticRegression()],
    ids=lambda prototype: type(prototype).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_no_function_of_sums_is_refitted(prototype, rng, fits):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, None]
    ours, theirs = both(prototype, X, y, sample_weight=np.ones(60), return_train_score=True)
    assert_same(ours, theirs)
    assert len(fits) == 10  # five of each


@pytest.mark.parametrize("prototype", [LogisticRegression(learner=ClosedForm()), FisherDiscriminant()], ids=str)
def test_planes_come_from_sums(prototype, rng, fits):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, None]
    cross_validate(prototype, X, y)
    assert not fits


def mixed(rng, n=120):
    """Columns of every kind."""
    y = np.arange(n) % 3
    day = np.datetime64("2024-01-01") + rng.integers(0, 99, n).astype("m8[D]")
    text = np.where(rng.random(n) < 0.1, None, np.array(["u", "v", "w"], dtype=object)[(y + rng.integers(0, 2, n)) % 3])
    number = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + y)
    return pd.DataFrame({"number": number, "text": text, "day": day, "flag": rng.random(n) < 0.2 + y / 5}), y


@pytest.mark.parametrize("settings", [{}, {"numeric": "gaussian", "missing": "indicator"}], ids=["bins", "gaussian"])
@pytest.mark.parametrize("cv", [4, ShuffleSplit(3, random_state=0)], ids=lambda cv: type(cv).__name__)
def test_columns_of_the_same_kinds_in_every_fold_come_from_sums(settings, cv, rng, fits):
    X, y = mixed(rng)
    weight = rng.choice([0.0, 1.0, 2.0], len(y))
    wanted = {"cv": cv, "scoring": "neg_log_loss", "return_train_score": True, "return_estimator": True}
    ours, theirs = both(NaiveBayes(**settings), X, y, sample_weight=weight, **wanted)
    assert_same(ours, theirs)
    assert len(fits) == theirs["fit_time"].shape[0]  # theirs
    for one, other in zip(ours["estimator"], theirs["estimator"], strict=True):
        assert str(one.columns_) == str(other.columns_)


def test_a_column_that_is_empty_in_a_fold_is_refitted(rng, fits):
    X, y = mixed(rng)
    X["late"] = np.array([None] * 40 + [1.5, 2] * 40, dtype=object)
    assert_same(*both(NaiveBayes(), X, y, cv=KFold(3)))
    assert len(fits) == 6


def test_trees_are_grown_for_every_split(rng, fits):
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    model = ModelClassifier(Categorical(Dirichlet(1), encoder=TreePartitions(n=3)))
    assert_same(*both(model, X, y, cv=3))
    assert len(fits) == 6
    given = ModelClassifier(Categorical(Dirichlet(1), encoder=TreePartitions(n=3).prepare(Memory(X, y))))
    fits.clear()
    assert_same(*both(given, X, y, cv=3))
    assert len(fits) == 3


def test_masks_for_rows(rng):
    y = np.arange(40) % 2
    X, mask = rng.normal(size=(40, 2)), np.arange(40) < 30
    assert_same(*both(GaussianNB(), X, y, cv=[(mask, ~mask), (np.roll(mask, 5), ~np.roll(mask, 5))]))


def test_labels_in_a_column(rng):
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + y[:, None]
    with pytest.warns(DataConversionWarning, match="column-vector"):
        ours = cross_validate(GaussianNB(), X, y[:, None])
    assert_same(ours, cross_validate(GaussianNB(), X, y))


def test_as_many_components_as_there_are(rng):
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    with pytest.raises(ValueError, match="n_components cannot be larger than"):
        cross_validate(LinearDiscriminantAnalysis(n_components=2), X, y)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quick_scores_are_scikit_learns(scoring, dtype, rng):
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    X = (rng.normal(size=(60, 2)) + 40 * (np.arange(60) % 3)[:, None]).astype(dtype)  # probabilities of 0 and 1
    X[::7] = X[1::7][: len(X[::7])]  # of another class
    fit, scorer, weight = GaussianNB(prior=None).fit(X, y), get_scorer(scoring), rng.uniform(size=60)
    ours = quick(scorer, fit, scoring)
    assert ours is not scorer
    assert_allclose(ours(fit, X, y), scorer(fit, X, y), rtol=1e-12)
    assert_allclose(ours(fit, X, y, sample_weight=weight), scorer(fit, X, y, sample_weight=weight), rtol=1e-12)


def test_a_quick_score_refuses_what_scikit_learns_refuses(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2))
    for cv in ([(np.arange(60), np.flatnonzero(y < 2))], [(np.flatnonzero(y < 2), np.arange(60))]):
        with pytest.raises(ValueError, match="different number of classes"):
            cross_validate(GaussianNB(), X, y, cv=cv, scoring="neg_log_loss")


def test_estimators_of_others(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    assert_same(*both(RidgeClassifier(), X, y, return_estimator=True, return_indices=True))


def test_the_estimator_stays_as_it_is(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = GaussianNB()
    cross_validate(model, X, y)
    assert not hasattr(model, "statistics_")


def test_refusals(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(TypeError, match="takes rows in memory"):
        cross_validate(GaussianNB(), Memory(X, y), y)
    with pytest.raises(ValueError, match="needs rows of at least two classes, got one class"):
        cross_validate(GaussianNB(), X, y, cv=[(np.arange(0, 40, 2), np.arange(1, 40, 2))])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        cross_validate(GaussianNB(), X, y, sample_weight=-np.ones(40))
    with pytest.raises(ValueError, match="inconsistent"):
        cross_validate(GaussianNB(), X, y[:9])


@given(st.integers(2, 9))
def test_the_sum_of_all_others(n):
    parts = [2.0**i for i in range(n)]
    assert others(parts) == [sum(parts) - one for one in parts]


def test_rounds_are_found_among_other_splits():
    folds = [(np.delete(np.arange(6), t), t) for t in np.split(np.arange(6), 3)]
    assert rounds(folds, 6) == [(0, 3)]
    assert rounds([folds[0], folds[0], *folds], 6) == [(0, 1), (1, 2), (2, 5)]
    assert rounds([*folds[:2], (np.arange(3), folds[2][1])], 6) == [(0, 1), (1, 2), (2, 3)]  # not all others
    assert rounds([*folds[:2], (folds[2][0], np.array([4, 4]))], 6) == [(0, 1), (1, 2), (2, 3)]  # a row twice


@pytest.mark.parametrize("far", [1e9, 1e12])
@pytest.mark.parametrize(
    "model", [QuadraticDiscriminantAnalysis(), GaussianNB(prior=None), LinearDiscriminantAnalysis()]
)
def test_a_far_away_value_takes_no_digits_from_folds_without_it(rng, model, far):
    y = np.arange(240) % 3
    X = rng.normal(size=(240, 3)) + y[:, None]
    X[5, 0] = far
    assert_same(*both(model, X, y, scoring="neg_log_loss"))


def test_two_classes_have_the_log_loss_of_scikit_learn(rng):
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 6)) + 12 * y[:, None]  # probabilities that round to 1
    assert_same(*both(GaussianNB(), X, y, scoring="neg_log_loss"), tolerance=1e-14)
