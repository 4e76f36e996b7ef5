"""Decisions at costs, and abstaining, against brute force."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from suffice import (
    AdditiveTables,
    GaussianNB,
    KernelMPM,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    MultinomialNB,
    TabularClassifier,
)
from suffice.data import Memory
from suffice.losses import decision_costs
from tests.strangers.lazy import Lazy
from tests.zoo import every

X, Y = load_iris(return_X_y=True)


@pytest.mark.filterwarnings("ignore")  # of how learning went
@every()
def test_decisions_are_those_of_least_risk(entry):
    rows, y = entry.draw(5)
    model = entry.estimator().fit(rows, y)
    assert_array_equal(model.decide(rows), model.predict(rows))
    costs = np.random.default_rng(0).uniform(-1.0, 5.0, size=(3, 3))
    P = model.predict_proba(rows)
    risk = [[sum(p[t] * costs[t, c] for t in range(3)) for c in range(3)] for p in P]
    assert_array_equal(model.decide(rows, costs), model.classes_[np.argmin(risk, axis=1)])
    some = model.decide(rows, costs, reject_below=0.6, reject_label=-1)
    assert_array_equal(some == -1, P.max(axis=1) < 0.6)
    assert_array_equal(some[some != -1], model.decide(rows, costs)[some != -1])


@pytest.mark.parametrize("costs", [[[0, 1], [9, 0]], [[3, 1], [9, 2]], [[-2, 4], [1, 1]], [[0, 0], [1, 0]]])
def test_two_classes_may_have_any_costs(costs):
    two = Y > 0
    model = GaussianNB().fit(X[two, :2], Y[two])
    P = model.predict_proba(X[:, :2])
    assert_array_equal(model.decide(X[:, :2], costs), model.classes_[np.argmin(P @ np.array(costs), axis=1)])


def test_log_odds_tell_where_probabilities_round():
    model = GaussianNB().fit([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"])
    far = [[-1e4]]
    assert model.predict_proba(far)[0, 1] == 0
    assert model.decide(far, [[0, 1], [1e9, 0]])[0] == "a"


def test_costs_by_labels():
    names = np.array(["setosa", "versicolor", "virginica"])
    model = LinearDiscriminantAnalysis().fit(X, names[Y])
    matrix = 1.0 - np.eye(3)
    matrix[2, 1], matrix[0, 0] = 40.0, -3.0
    given = {("virginica", "versicolor"): 40.0, ("setosa", "setosa"): -3.0}
    assert_array_equal(model.decide(X, given), model.decide(X, matrix))
    assert_array_equal(decision_costs(given, names, "who").diagonal(), 0.0)


def test_the_setting_costs_is_what_counts_by_default():
    costs = [[0, 1, 1], [1, 0, 1], [1, 50, 0]]
    model = MinimaxProbabilityMachine(costs=costs).fit(X, Y)
    assert_array_equal(model.decide(X), model.predict(X))
    assert (model.decide(X) != MinimaxProbabilityMachine().fit(X, Y).predict(X)).any()


@pytest.mark.parametrize("label", [None, "none", -1, 2.5])
def test_the_label_of_no_decision_is_kept_as_it_is(label):
    model = LogisticRegression().fit(X, Y)
    got = model.decide(X, reject_below=0.95, reject_label=label)
    unsure = model.predict_proba(X).max(axis=1) < 0.95
    assert all(value == label for value in got[unsure])
    assert_array_equal(got[~unsure].astype(int), model.predict(X)[~unsure])
    assert got.dtype == (int if label == -1 else object)


@pytest.mark.parametrize("kind", ["datetime64[ns]", "datetime64[D]", "timedelta64[ns]", "timedelta64[h]"])
def test_dates_and_durations_are_decided_on(kind):
    model, plain = (GaussianNB().fit(X, labels) for labels in (Y.astype(kind), Y))
    a, b = model.classes_[:2]
    want = plain.decide(X, {(0, 1): 9.0, (1, 0): 20.0})
    assert_array_equal(model.decide(X, {(a, b): 9.0, (b, a): 20.0}), model.classes_[want])
    same = pd.Timestamp if kind.startswith("d") else pd.Timedelta
    assert_array_equal(model.decide(X, {(same(a), same(b)): 9.0, (same(b), same(a)): 20.0}), model.classes_[want])
    unsure = model.predict_proba(X).max(axis=1) < 0.9
    later = np.array(7).astype(kind)[()]
    taken = model.decide(X, reject_below=0.9, reject_label=later)
    assert taken.dtype.kind == model.classes_.dtype.kind
    assert_array_equal(taken == later, unsure)
    taken = model.decide(X, reject_below=0.9)
    assert_array_equal([one is None for one in taken], unsure)
    assert all(isinstance(one, np.datetime64 | np.timedelta64) for one in taken[~unsure])
    for label in (a, same(a)):
        with pytest.raises(ValueError, match="reject_label must not be a class"):
            model.decide(X, reject_below=0.9, reject_label=label)


def test_no_decision_may_be_pandas_own():
    taken = GaussianNB().fit(X, Y).decide(X, reject_below=1.0, reject_label=pd.NA)
    assert any(one is pd.NA for one in taken)


@pytest.mark.parametrize("label", [[1, 2], np.array([1, 2]), np.array([]), {}, (1, 2)])
def test_no_decision_is_a_single_label(label):
    with pytest.raises(ValueError, match="reject_label must be a single label, got"):
        GaussianNB().fit(X, Y).decide(X, reject_below=0.9, reject_label=label)


def test_costs_of_any_size(recwarn):
    two, three = (GaussianNB().fit(X, labels) for labels in (Y > 0, Y))
    for costs in (np.zeros((2, 2)), np.ones((2, 2)), [[1, 2], [1, 2]], [[2, 1], [2, 1]]):  # whatever the class
        best = two.classes_[np.argmin(np.asarray(costs)[0])]
        assert (two.decide(X, costs) == best).all()
    small = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 0.0, 1.0]])
    assert_array_equal(three.decide(X, 1e308 * small), three.decide(X, small))
    assert not recwarn.list


def test_engines_and_forms_agree():
    model = GaussianNB().fit(X, Y)
    costs = [[0, 1, 1], [1, 0, 1], [1, 50, 0]]
    asked = {"costs": costs, "reject_below": 0.9, "reject_label": -1}
    whole = model.decide(X, **asked)
    assert_array_equal(model.decide(Memory(X, batch_size=7), **asked), whole)
    lazy = model.decide(Lazy([(X[:70], Y[:70]), (X[70:], Y[70:])]), **asked)
    assert_array_equal(lazy.collect(), whole)
    assert model.decide(X[:1].astype(np.float32), **asked)[0] == whole[0]
    words = MultinomialNB().fit(csr_array(X), Y)
    assert_array_equal(words.decide(csr_array(X), costs), words.decide(X, costs))


def test_tables_decide():
    frame = pd.DataFrame({"a": X[:, 2], "b": np.where(X[:, 3] > 1, "u", "v")})
    for kind in (TabularClassifier(n_trees=4, random_state=0), AdditiveTables(pairs=None)):
        got = kind.fit(frame, Y).decide(frame, reject_below=1.0, reject_label=9)
        assert (got == 9).any()


def test_a_kernel_decides():
    model = KernelMPM().fit(X, Y)
    costs = np.array([[0, 1, 1], [1, 0, 1], [1, 50, 0]])
    P = model.predict_proba(X)
    assert_array_equal(model.decide(X, costs), model.classes_[np.argmin(P @ costs, axis=1)])
    assert_array_equal(model.decide(X, reject_below=0.9, reject_label=-1) == -1, P.max(axis=1) < 0.9)


def test_many_classes():
    numbers = (np.arange(2000) // 2 + np.tile([0, 0.1], 1000))[:, None]
    model = GaussianNB().fit(numbers, np.arange(2000) // 2)
    assert_array_equal(model.decide(numbers[::50], 1.0 - np.eye(1000)), model.predict(numbers[::50]))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"costs": [[0, 1], [1, 0]]}, "GaussianNB.decide: costs must be 3 x 3 finite numbers, a row for"),
        ({"costs": np.full((3, 3), np.nan)}, "costs must be 3 x 3 finite numbers"),
        ({"costs": "high"}, "costs must be 3 x 3 finite numbers.*got 'high'"),
        ({"costs": {(0, 7): 1.0}}, r"costs has \(0, 7\), which is not a pair of classes"),
        ({"costs": {0: 1.0}}, "costs has 0, which is not a pair of classes"),
        ({"costs": {(0, 1): "much"}}, "costs must be 3 x 3 finite numbers"),
        ({"reject_below": 1.5}, "decide: reject_below must be .* a number from 0 to 1, got 1.5"),
        ({"reject_below": 0.5, "reject_label": 1}, "reject_label must not be a class, got 1"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        GaussianNB().fit(X, Y).decide(X, **asked)
