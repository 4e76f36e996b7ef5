"""What a learner has learned from rows is carried along as rows come and go: sums exact, stale, and learned again."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.vector import select
from suffice.learners import TM, ClosedForm, GradientDescent, Newton, RiskCalibration, StaleWarning
from tests.test_laws import assert_same_sums, same, seeds, size
from tests.zoo import every

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning"),
    pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning"),
]
quiet = pytest.mark.filterwarnings("ignore::suffice.learners.StaleWarning")
carries = every(lambda entry: entry.carries and not entry.searches)  # other structures do not add up
moves = every(lambda entry: entry.carries and not isinstance(entry.prototype._learner(), Newton | GradientDescent))
RC = RiskCalibration(0.1, 16, stop=None)
IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)


def said(call):
    """What is said of stale calibrations, and where."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [(Path(one.filename), str(one.message)) for one in found if issubclass(one.category, StaleWarning)]


def each(model):
    """The statistics behind the parameters, of every contest."""
    moved = model.moved_statistics_
    return moved if isinstance(moved, tuple) else (moved,)


def same_where_valid(model, s, expected, rtol):
    """Sums are those expected in all blocks of which these leave parameters: the prior has not grown with the rows.

    Whether there are such blocks: a contest may have been left at the edge of what is valid.
    """
    s, expected = s.align(expected)
    known = model.attempt(expected).valid
    assert_same_sums(select(known, s, expected), select(known, expected, expected), size(s), rtol)
    return any(np.any(leaf) for leaf in known.leaves())


# The sums are exact, and everything else is marked


@carries
@settings(max_examples=2)
@given(seeds, st.integers(1, 30))
def test_sums_are_those_of_all_rows(entry, seed, cut):
    X, y = entry.draw(seed)
    whole = entry.estimator().fit(X, y).statistics_
    model = entry.estimator().fit(X[cut:], y[cut:])
    both = model + entry.estimator().partial_fit(X[:cut], y[:cut])
    assert_same_sums(both.statistics_, whole, size(whole), 1e-10)
    model.partial_fit(X[:cut], y[:cut])
    assert_same_sums(model.statistics_, whole, size(whole), 1e-10)
    model.forget(X[:cut], y[:cut])
    left = entry.estimator().fit(X[cut:], y[cut:]).statistics_
    assert_same_sums(model.statistics_, left, size(whole), 1e-10)


@carries
def test_it_says_once_that_it_is_stale_at_the_callers_line(entry):
    X, y = entry.draw(1)
    model = entry.estimator().fit(X, y)
    assert said(lambda: model.predict(X)) == []
    for change in (
        lambda: model.forget(X[:5], y[:5]),
        lambda: model.partial_fit(X[:5], y[:5]),
        lambda: model.merge(entry.estimator().fit(X, y)),
    ):
        assert said(change) == []  # it may be learned again before it is used
        (where, message), *more = said(lambda: model.predict(X))
        assert where == Path(__file__)
        assert "recalibrate(X, y)" in message
        assert type(model._learner()).__name__ in message
        assert not more
        assert said(lambda: model.predict_proba(X)) == []
        assert model.stale_


@carries
@quiet
def test_calibrating_anew_is_a_fit_of_the_rows_that_count(entry):
    X, y = entry.draw(4)
    model = entry.estimator().fit(X, y).forget(X[:12], y[:12]).recalibrate(X[12:], y[12:])
    assert not model.stale_
    same(model, entry.estimator().fit(X[12:], y[12:]), X, 10 * entry.tolerance)
    more = entry.estimator().fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]).recalibrate(X, y)
    same(more, entry.estimator().fit(X, y), X, 10 * entry.tolerance)


@carries
@quiet
def test_rows_that_are_forgotten_and_learned_again_change_nothing(entry):
    X, y = entry.draw(4)
    fit = entry.estimator().fit(X, y)
    again = copy.copy(fit).forget(X[:20], y[:20]).partial_fit(X[:20], y[:20])
    assert again.stale_
    same(again, fit, X, max(1e-7, 10 * entry.tolerance))


# What is carried


@moves
@quiet
def test_twice_the_rows_are_twice_the_shift(entry):
    X, y = entry.draw(2)
    once = entry.estimator().fit(X, y)
    for twice in (copy.copy(once).partial_fit(X, y), once + once):
        shares = twice._fit_result().model.subproblems(twice.statistics_)
        pairs = zip(shares, *map(each, (twice, once)), strict=True)
        found = [same_where_valid(share.model, now, 2.0 * then, 1e-7) for share, now, then in pairs]
        assert 2 * sum(found) > len(found)


@moves
@quiet
def test_statistics_are_moved_in_proportion_to_the_mass_of_the_classes(entry):
    X, y = entry.draw(3, n=90, k=2)
    model = entry.estimator().fit(X, y)
    before = model._before
    shift = before.moved - before.model.restrict(before.statistics)
    old = dict(zip(model.classes_.tolist(), model.class_count_, strict=True))
    model.forget(X[:9], y[:9])
    kept = [model.class_count_[i] / old[c] for i, c in enumerate(model.classes_.tolist())]
    now = before.model.restrict(model.statistics_)
    expected = now + shift.onto(now.domain).by_class(np.array(kept))
    (share,) = model._fit_result().model.subproblems(model.statistics_)
    assert same_where_valid(share.model, model.moved_statistics_, expected, 1e-9)


@quiet
def test_contests_are_carried_one_by_one():
    X, y = WINE
    model = FisherDiscriminant(learner=RiskCalibration(0.1, 8, anchor=0, stop=None), multi_class="ovo").fit(X, y)
    pair = (y == 0) | (y == 2)
    alone = FisherDiscriminant(learner=model.learner).fit(X[pair], y[pair])
    gone = np.flatnonzero(pair)[::7]
    model.forget(X[gone], y[gone])
    alone.forget(X[gone], y[gone])
    assert_allclose(model.coef_[1], alone.coef_[0], rtol=1e-6)
    model.forget(X[y == 1], y[y == 1])  # the contest that is left goes on
    assert_allclose(model.coef_, alone.coef_, rtol=1e-6)
    assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-9)


@quiet
def test_merging_adds_what_was_moved():
    halves = [QuadraticDiscriminantAnalysis(learner=RC).fit(IRIS[0][i::2], IRIS[1][i::2]) for i in range(2)]
    both, other = halves[0] + halves[1], halves[1] + halves[0]
    assert_same_sums(both.moved_statistics_, sum(h.moved_statistics_ for h in halves), 1e4, 1e-9)
    assert_allclose(both.predict_proba(IRIS[0]), other.predict_proba(IRIS[0]), atol=1e-9)


@quiet
@pytest.mark.parametrize("learner", [Newton(), GradientDescent(stop=None)], ids=repr)
@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
def test_merging_averages_coefficients_by_mass(learner, multi_class):
    X, y = IRIS
    a, b = (
        LogisticRegression(learner=learner, multi_class=multi_class).fit(X[i], y[i])
        for i in (y >= 0, np.arange(150) % 3 > 0)
    )
    both = a + b
    expected = (150 * a.coef_ + 100 * b.coef_) / 250
    if multi_class == "softmax":  # what all classes share says nothing
        expected = expected - expected.mean(axis=0) + both.coef_.mean(axis=0)
    assert_allclose(both.coef_, expected, rtol=1e-9, atol=1e-9)
    assert_allclose((b + a).predict_proba(X), both.predict_proba(X), atol=1e-9)


@quiet
def test_where_cells_differ_the_heavier_fit_is_carried():
    X, y = WINE
    a, b = NaiveBayes(learner=RC).fit(X[::3], y[::3]), NaiveBayes(learner=RC).fit(X[1::3], y[1::3])
    b.partial_fit(X[2::3], y[2::3])
    cells = [one._fit_result().model.domain.features.part("bins").categories[0] for one in (a + b, b + a, b, a)]
    for other in cells[1:3]:
        assert_allclose(other, cells[0])
    assert not np.array_equal(cells[3], cells[0])


@quiet
@pytest.mark.parametrize("learner", [Newton(), GradientDescent(stop=None)], ids=repr)
def test_parameters_stay(learner):
    X, y = IRIS
    model = LogisticRegression(learner=learner).fit(X, y)
    coef = model.coef_
    assert_allclose(model.forget(X[::3], y[::3]).coef_, coef)
    assert_allclose(model.partial_fit(X[::3], y[::3]).coef_, coef)


@quiet
def test_class_weights_are_carried_along():
    X, y = IRIS
    rows = np.r_[0:50, 50:75, 100:110]
    for weight in ("balanced", {0: 2.0}):
        model = GaussianNB(learner=RC, class_weight=weight).fit(X[rows], y[rows])
        before = model.predict_proba(X)
        model.partial_fit(X[rows], y[rows])
        assert_allclose(model.moved_statistics_.mass, 2 * model._before.moved.mass)
        assert_allclose(model.predict_proba(X).argmax(axis=1), before.argmax(axis=1))


# Classes that come, go, or lose their parameters


@quiet
@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_a_new_class_has_the_parameters_of_its_sums(kind):
    X, y = IRIS
    first, third = y < 2, y == 2
    model = kind(learner=TM(4)).fit(X[first], y[first]).partial_fit(X[third], y[third])
    ((_, message),) = said(lambda: model.predict(X))
    assert "the classes [2] have come" in message
    assert (model.predict(X[third]) == 2).mean() > 0.8
    moved, own = model.moved_statistics_.align(model.statistics_)
    assert_allclose(moved.sums.first[2], own.sums.first[2])
    assert_allclose(moved.mass[2], 50)


@pytest.mark.parametrize("learner", [Newton(), GradientDescent(stop=None)], ids=repr)
def test_where_parameters_know_other_classes_the_closed_form_stands_in(learner):
    X, y = IRIS
    first = y < 2
    model = LogisticRegression(learner=learner).fit(X[first], y[first]).partial_fit(X[~first], y[~first])
    closed = LogisticRegression(learner=ClosedForm()).fit(X, y)
    with pytest.warns(StaleWarning, match=r"the classes \[2\] have come .* the closed form stands in; recalibrate"):
        assert_allclose(model.predict_proba(X), closed.predict_proba(X), atol=1e-10)
    model.forget(X[~first], y[~first])  # as it was
    with pytest.warns(StaleWarning, match="parameters"):
        model.predict(X)
    assert_allclose(model.coef_, LogisticRegression(learner=learner).fit(X[first], y[first]).coef_)
    model.forget(X[y == 1], y[y == 1])
    with pytest.warns(StaleWarning, match="a class has come or gone"):
        assert (model.predict(X) == 0).all()


@quiet
def test_what_a_shift_would_leave_without_parameters_is_that_of_the_sums():
    rows = np.random.default_rng(14).integers(0, 3, (40, 2))
    X, y = np.concatenate([rows, [[3, 0], [3, 1]]]), np.append(rows.sum(axis=1) % 3 > 0, [0, 1])
    model = CategoricalNB(prior=None, learner=RiskCalibration(1.0, 30, stop=None, anchor=0)).fit(X, y)
    shift, then = model._before.moved - model._before.statistics, model.class_count_
    model.forget(X[40:41], y[40:41])  # the only row of its class with a 3
    plain = model.statistics_ + shift.by_class(model.class_count_ / then)
    assert plain.sums.table.min() < -0.1
    broken = plain.sums.table < 0
    table, sums = model.moved_statistics_.sums.table, model.statistics_.sums.table
    own = slice(0, 4)  # the categories of the first column
    assert broken[0, own].any()
    assert_allclose(table[0, own], sums[0, own])
    assert_allclose(np.delete(table, np.s_[own], axis=1), np.delete(plain.sums.table, np.s_[own], axis=1))
    assert_allclose(table[1], plain.sums.table[1])


@quiet
def test_new_and_forgotten_categories():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = np.column_stack([rng.integers(3, size=80) + y, rng.integers(2, size=80)]).astype(str)
    late = X.copy()
    late[:10, 0] = "new"
    model = CategoricalNB(learner=RC).fit(X, y)
    before = model.predict_proba(X)
    model.partial_fit(late[:10], y[:10])
    assert model.predict_proba(late).shape == (80, 2)
    assert "new" in model.statistics_.domain.features.categories[0]
    model.forget(late[:10], y[:10])
    assert "new" not in model.moved_statistics_.domain.features.categories[0]
    assert_allclose(model.predict_proba(X), before, atol=1e-9)


@quiet
def test_merging_does_not_depend_on_the_side(rng):
    X, y = rng.normal(size=(400, 2)), np.arange(400) % 2
    X[:, 0] += y
    one, other = (
        NaiveBayes(learner=RiskCalibration(max_iter=4)).fit(X[rows], y[rows])
        for rows in np.split(rng.permutation(400), 2)
    )
    assert_allclose((one + other).predict_proba(X), (other + one).predict_proba(X), atol=1e-10)
