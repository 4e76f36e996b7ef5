"""Forgetting leaves no trace of a row, and no wrong number."""

from __future__ import annotations

import pickle
import struct
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import suffice
from suffice import (
    BernoulliNB,
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import ClosedForm
from suffice.models import DegenerateError

ADDING = {
    "nb": GaussianNB(),
    "qda": QuadraticDiscriminantAnalysis(),
    "lda": LinearDiscriminantAnalysis(),
    "logistic": LogisticRegression(learner=ClosedForm()),
    "fisher": FisherDiscriminant(),
}
FIRST = [173.2517, 68.1253]
OTHERS = np.round(np.random.default_rng(0).normal([170, 70], 5, size=(9, 2)), 3)
LABELS = np.array(["ill", "well"] * 5)[:9]


def traces(model):
    """Which numbers of the first row are in a pickle, as arrays and as single numbers have them."""
    stored = pickle.dumps(model)
    return [value for value in FIRST if struct.pack("<d", value) in stored or struct.pack(">d", value) in stored]


@pytest.mark.parametrize("name", ADDING)
@pytest.mark.parametrize("added", [False, True], ids=["learned", "added"])
def test_a_forgotten_row_is_not_in_the_pickle(name, added):
    model = pickle.loads(pickle.dumps(ADDING[name])).partial_fit([FIRST], ["ill"])  # noqa: S301 - a clone's copy
    if added:
        model = model + pickle.loads(pickle.dumps(ADDING[name])).partial_fit(OTHERS[:1], LABELS[:1])  # noqa: S301
    for x, label in zip(OTHERS[added:], LABELS[added:], strict=True):
        model.partial_fit([x], [label])
    model.forget([FIRST], ["ill"])
    assert traces(model) == []
    model.predict(OTHERS)  # with parameters, too
    assert traces(model) == []


@pytest.mark.parametrize(
    ("kind", "far", "gap"),
    [
        (GaussianNB, 1e8, 1e4),
        (GaussianNB, 1e10, 1e4),
        (QuadraticDiscriminantAnalysis, 1e8, 1e4),
        (LinearDiscriminantAnalysis, 1e8, 1e4),
        (LinearDiscriminantAnalysis, 1e10, 1e6),
    ],
)
def test_forgetting_that_would_lose_the_variance_is_refused(kind, far, gap):
    y = np.arange(100) % 2
    X = np.random.default_rng(0).normal(size=(100, 1)) + gap * y[:, None]
    sentinels = np.full((2, 1), far), [0, 1]
    model = kind(prior=None).partial_fit(X, y).partial_fit(*sentinels)
    with pytest.raises(ValueError, match="class 0, column 0, would lose its variance to rounding"):
        model.forget(*sentinels)
    assert model.class_count_.tolist() == [51, 51]


@pytest.mark.parametrize("kind", [CategoricalNB, GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_a_class_of_little_weight_stays(kind):
    X = np.random.default_rng(0).normal(size=(30, 2)).round(0 if kind is CategoricalNB else 6)
    y = np.repeat(["a", "b", "c"], 10)
    weight = np.where(y == "c", 1e-10, 1.0)
    weight[0] = 0.5
    model = kind().fit(X, y, sample_weight=weight).forget(X[:1], y[:1], sample_weight=weight[:1])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert_allclose(model.class_count_, [9, 10, 1e-9], rtol=1e-6)


@pytest.mark.filterwarnings("error")
def test_forgetting_that_ends_in_an_error_forgets_nothing():
    X, y = np.column_stack([np.arange(20.0), np.arange(20) < 1]), np.arange(20) % 2
    model = GaussianNB().fit(X, y)
    with pytest.raises(UserWarning, match="one value only"):
        model.forget(X[:1], y[:1])
    assert model.class_count_.tolist() == [10, 10]


def test_pieces_at_a_large_offset_keep_their_digits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 1)) + 1e12, np.arange(400) % 2
    whole, bits = GaussianNB(prior=None).fit(X, y), GaussianNB(prior=None)
    for rows in np.array_split(rng.permutation(400), 200):
        bits.partial_fit(X[rows], y[rows])
    assert_allclose(bits.var_, whole.var_, rtol=1e-6)


def in_steps(model, rows=4):
    X = np.random.default_rng(1).normal([1e5, 0.0], 3, size=(20, 2)).round(2)
    y, w = np.arange(20) % 2, np.linspace(0.1, 1.3, 20)
    model.fit(X, y, w)
    for i in range(0, rows, 2):
        model.forget(X[i : i + 2], y[i : i + 2], w[i : i + 2])
    return model, X, y, w


@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis])
def test_a_power_of_two_is_all_that_is_kept_of_larger_sums(kind):
    model, *_ = in_steps(kind())
    reach = model.statistics_.sums.reach
    assert (np.frexp(reach)[0] == 0.5).all()
    assert ((0.25 * model.statistics_).sums.reach == reach / 4).all()
    more = model + kind().partial_fit([[1e5, 9e3], [1e5, -9e3]], [0, 0])
    assert (more.statistics_.sums.reach >= reach).all()
    assert more.statistics_.sums.reach[0, 1] >= 2 * 9e3**2


@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis])
def test_files_keep_how_large_the_sums_have_been(kind, tmp_path):
    model, X, y, w = in_steps(kind())
    model.save(tmp_path / "m")
    loaded = suffice.load(tmp_path / "m")
    assert (loaded.statistics_.sums.reach == model.statistics_.sums.reach).all()
    gone = slice(4, 18)
    same = loaded.forget(X[gone], y[gone], w[gone]).predict_proba(X)
    assert (same == model.forget(X[gone], y[gone], w[gone]).predict_proba(X)).all()
    assert_allclose(same, kind().fit(X[18:], y[18:], w[18:]).predict_proba(X), atol=1e-9)
    sums = model.statistics_.sums
    model.statistics_ = replace(model.statistics_, sums=replace(sums, reach=-sums.reach))
    model.save(tmp_path / "m")
    with pytest.raises(suffice.ModelFileError, match="below 0"):
        suffice.load(tmp_path / "m")


@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_rows_forgotten_twice_are_refused_where_the_sums_can_tell(kind):
    X, y = np.array([[0.0], [1.0], [9.0], [5.0], [7.0], [8.0]]), [0, 0, 0, 1, 1, 1]
    model = kind().fit(X, y).forget(X[2:3], y[2:3])
    with pytest.raises(ValueError, match="class 0, column 0, would have a negative variance: these rows were not all"):
        model.forget(X[2:3], y[2:3])
    with pytest.raises(ValueError, match="less than no rows"):
        model.forget(X[:3], y[:3])


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("name", ADDING)
def test_rows_whose_squares_are_not_numbers_were_not_learned(name):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = pickle.loads(pickle.dumps(ADDING[name])).fit(X, np.arange(20) % 2)  # noqa: S301 - a clone's copy
    with pytest.raises(ValueError, match="not all learned"):
        model.forget([[1e200, -1e200]], [0])


def test_a_covariance_that_rounding_hides_is_refused():
    """The far rows are 1e9 times as far apart as the others are from a line."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=(40, 1))
    X, y = np.column_stack([t, t + 1e-4 * rng.normal(size=(40, 1))]), np.arange(40) % 2
    far = np.array([[1e4, -1e4], [1e4, -1e4]])
    model = QuadraticDiscriminantAnalysis(prior=None).fit(np.concatenate([X, far]), np.append(y, [0, 1]))
    with pytest.raises(
        DegenerateError, match="class 0 has 20 rows and a covariance that is singular, or lost to round"
    ):
        model.forget(far, [0, 1])


def test_weights_that_rounding_hides_are_refused():
    words, w = np.array([["u"], ["u"], ["v"], ["v"]]), [1e7, 0.1, 0.3, 1]
    model = CategoricalNB().fit(words, [0, 0, 0, 1], w)
    with pytest.raises(ValueError, match=r"class 0 would lose its weights to rounding.* fit the others again"):
        model.forget(words[:1], [0], w[:1])
    assert model.class_count_.tolist() == [1e7 + 0.4, 1]


def test_a_column_that_a_class_lacks_altogether_is_not_in_the_way():
    """Its count is the weight of the class less that of the rows without a value, added up in another order."""
    rng = np.random.default_rng(0)
    X, y, w = (rng.random((300, 2)) < 0.5) * 1.0, np.arange(300) % 2, rng.random(300) + 0.1
    X[y == 0, 1] = np.nan
    model = BernoulliNB().fit(X, y, w)
    assert model.statistics_.sums.count[0, 1] == 0
    left = model.forget(X[:280], y[:280], w[:280])
    assert_allclose(left.predict_proba(X), BernoulliNB().fit(X[280:], y[280:], w[280:]).predict_proba(X), atol=1e-13)


def test_a_class_without_values_far_from_zero():
    """Where a class has no value in a column, it begins with that of all rows, however far from zero they are."""
    nan = np.nan
    X = np.array([[nan, 1e8 + 1], [nan, 1e8 + 3], [1.0, nan], [2.0, nan], [3.0, nan], [5.0, nan]])
    y, near = np.array([0, 0, 0, 0, 1, 1]), X - [0.0, 1e8]
    found = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert_allclose(found, QuadraticDiscriminantAnalysis().fit(near, y).predict_proba(near), atol=1e-9)


def test_rows_without_any_value_are_not_enough():
    X, y = np.array([[0.0, 1.0], [2.0, np.nan], [np.nan, 3.0], [1.0, 5.0]] + [[np.nan, np.nan]] * 2), [0, 1, 0, 1, 0, 1]
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    with pytest.raises(DegenerateError, match="no row has any value"):
        model.forget(X[:4], y[:4])
