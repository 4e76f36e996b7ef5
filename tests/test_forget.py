"""Forgetting leaves no trace of a row, and no wrong number."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import ClosedForm

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
