"""The laws of sums (adding, forgetting, weights, units, missing values), for every classifier of the zoo."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

from suffice._core.labels import OneHot
from suffice.data import Memory
from suffice.learners import Observed
from suffice.testing import check_model
from tests.zoo import every

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning"),
    pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning"),
]
seeds = st.integers(0, 2**32 - 1)
widths = st.integers(1, 5)
classes = st.integers(2, 5)


def arrays(s):
    """Return all numbers of a vector as one array."""
    return np.concatenate([np.ravel(leaf) for leaf in s.leaves()])


def assert_same_sums(a, b, scale, rtol=1e-12):
    a, b = a.align(b)
    assert_allclose(arrays(a), arrays(b), rtol=rtol, atol=rtol * scale)


def size(s):
    return max(1.0, abs(arrays(s)).max())


def same(a, b, X, tolerance):
    assert a.classes_.tolist() == b.classes_.tolist()
    assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=0, atol=tolerance)


@every()
@given(seeds)
def test_the_laws_of_a_model(entry, seed):
    check_model(entry.model(), *entry.rows_for_laws(seed), seeds=[seed])


@every()
@given(seeds)
def test_batches_do_not_matter(entry, seed):
    X, y = entry.draw(seed, n=90)
    one = entry.estimator().fit(Memory(X, y))
    many = entry.estimator().fit(Memory(X, y, batch_size=-(-len(y) // 17)))
    same(one, many, X, entry.tolerance)
    parts = Memory(entry.encode(X), y).pieces(5, seed)
    whole = entry.model().statistics(entry.encode(X), OneHot.of(y))
    first, *rest = (part.sum(Observed(entry.model())) for part in parts)
    assert_same_sums(whole, sum(rest, first), size(whole))


@every(lambda entry: entry.oracle)
@given(seeds, widths, classes)
def test_closed_form_equals_the_oracle(entry, seed, d, k):
    X, y = entry.draw(seed, d=d, k=k)
    assert_allclose(
        entry.estimator().fit(X, y).predict_proba(X), entry.oracle(X, y, X), rtol=0, atol=10 * entry.tolerance
    )


@every(lambda entry: entry.adds)
@given(seeds, st.integers(1, 60))
def test_fitting_in_pieces_and_merging_equal_fitting_at_once(entry, seed, pieces):
    X, y = entry.draw(seed)
    whole, bit, merged = entry.estimator().fit(X, y), entry.estimator(), None
    for rows in np.array_split(np.random.default_rng(seed).permutation(len(y)), pieces):
        bit.partial_fit(X[rows], y[rows])
        piece = entry.estimator().partial_fit(X[rows], y[rows])
        merged = piece if merged is None else merged + piece
    same(bit, whole, X, entry.tolerance)
    same(merged, whole, X, entry.tolerance)


@every(lambda entry: entry.adds)
@given(seeds, st.integers(1, 30))
def test_forgetting_equals_never_having_learned(entry, seed, gone):
    X, y = entry.draw(seed)
    X, y = np.concatenate([X, X[:gone]]), np.concatenate([y, y[:gone] + 1])  # may be all rows of a class
    model = entry.estimator().partial_fit(X, y).forget(X[60:], y[60:])
    same(model, entry.estimator().fit(X[:60], y[:60]), X, entry.tolerance)


@every(lambda entry: not entry.out_of_sample)
@given(seeds)
def test_weights_are_repetitions(entry, seed):
    X, y = entry.draw(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    repeated = entry.estimator().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    same(entry.estimator().fit(X, y, sample_weight=weight), repeated, X, entry.tolerance)


@every(lambda entry: "class_weight" in entry.prototype.get_params())
@given(seeds, st.integers(1, 4))
def test_class_weights_are_sample_weights(entry, seed, factor):
    X, y = entry.draw(seed)
    weighted = entry.estimator().set_params(class_weight={1: factor}).fit(X, y)
    plain = entry.estimator().set_params(class_weight=None).fit(X, y, sample_weight=np.where(y == 1, factor, 1))
    same(weighted, plain, X, entry.tolerance)


@every(lambda entry: entry.units and not entry.categories)
@given(seeds, st.integers(0, 2), st.sampled_from([1e-6, 1e-3, 1e3, 1e6]))
def test_units_do_not_matter(entry, seed, column, factor):
    X, y = entry.draw(seed)
    scale = np.where(np.arange(3) == column, factor, 1.0)
    ours, scaled = entry.estimator().fit(X, y), entry.estimator().fit(X * scale, y)
    assert_allclose(scaled.predict_proba(X * scale), ours.predict_proba(X), rtol=0, atol=10 * entry.tolerance)
    assert (scaled.predict(X * scale) == ours.predict(X)).all()


@every(lambda entry: entry.units and not entry.categories)
@given(seeds, st.integers(0, 2))
def test_an_offset_does_not_matter(entry, seed, column):
    X, y = entry.draw(seed)
    shift = np.where(np.arange(3) == column, 1e6 * X.std(axis=0), 0.0)
    ours, moved = entry.estimator().fit(X, y), entry.estimator().fit(X + shift, y)
    assert (moved.predict(X + shift) == ours.predict(X)).all()


@every(lambda entry: entry.missing)
@given(seeds, st.integers(0, 2))
def test_a_missing_value_leaves_its_column_out(entry, seed, column):
    X, y = entry.draw(seed)
    fit = entry.estimator().fit(X, y)
    holes = X.astype(object if entry.categories or entry.mixed else float)
    holes[:, column] = np.nan
    without = np.delete(X, column, axis=1)
    tolerance = 1e-12 if entry.tolerance <= 1e-10 else entry.tolerance  # parameters found by a search are less exact
    assert_allclose(
        fit.predict_proba(holes), entry.estimator().fit(without, y).predict_proba(without), rtol=0, atol=tolerance
    )
    rows = np.random.default_rng(seed).random(len(y)) < 0.5  # the same holds in learning
    holes = np.where(rows[:, None] & (np.arange(3) == column), np.nan, X.astype(holes.dtype))
    learned = entry.estimator().fit(holes, y).statistics_
    complete = entry.estimator().fit(X[~rows], y[~rows]).statistics_
    learned, complete = learned.align(complete)
    for name in ("count", "first", "second") if hasattr(learned.sums, "second") else ():
        assert_allclose(getattr(learned.sums, name)[:, column], getattr(complete.sums, name)[:, column], atol=1e-9)


@every(lambda entry: entry.missing)
@given(seeds)
def test_a_row_without_entries_has_the_probabilities_of_the_classes(entry, seed):
    X, y = entry.draw(seed)
    fit = entry.estimator().fit(X, y)
    nothing = np.full((1, X.shape[1]), np.nan, dtype=object if entry.categories else float)
    assert_allclose(fit.predict_proba(nothing)[0], fit.class_prior_, rtol=0, atol=1e-10)


@every(lambda entry: entry.missing)
@settings(max_examples=-(-settings().max_examples // 2))  # each of many fits
@given(seeds, st.integers(1, 30))
def test_rows_with_missing_values_add_up(entry, seed, pieces):
    X, y = entry.draw(seed, n=120)
    X = entry.holed(X, seed)
    whole, bit, merged = entry.estimator().fit(X, y), entry.estimator(), None
    for rows in np.array_split(np.random.default_rng(seed).permutation(len(y)), pieces):
        bit.partial_fit(X[rows], y[rows])
        piece = entry.estimator().partial_fit(X[rows], y[rows])
        merged = piece if merged is None else merged + piece
    same(bit, whole, X, entry.tolerance)
    same(merged, whole, X, entry.tolerance)
    same(entry.estimator().fit(Memory(X, y, batch_size=7)), whole, X, entry.tolerance)
    less = entry.estimator().partial_fit(X, y).forget(X[90:], y[90:])
    same(less, entry.estimator().fit(X[:90], y[:90]), X, entry.tolerance)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    repeated = entry.estimator().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    same(entry.estimator().fit(X, y, sample_weight=weight), repeated, X, entry.tolerance)


@every()
@given(seeds)
def test_everything_pickles_and_clones(entry, seed):
    X, y = entry.draw(seed)
    fit = entry.estimator().fit(X, y)
    again = pickle.loads(pickle.dumps(fit))  # noqa: S301 - the test's own bytes
    same(again, fit, X, tolerance=0)
    assert repr(clone(fit)) == repr(entry.prototype)
    assert_same_sums(again.statistics_ + fit.statistics_, 2.0 * fit.statistics_, size(fit.statistics_))
