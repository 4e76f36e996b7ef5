"""Histograms on the nested grid: keys and weights by definition, in any pieces and order."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from suffice._core.features import Encoded, Features
from suffice._core.labels import OneHot
from suffice.models import Binned
from suffice.models.tables.histogram import MAX_CELLS, histogram

N = 20_000
SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "log-normal": lambda rng, n: np.exp(rng.normal(size=n)),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "offset": lambda rng, n: 1e8 + rng.normal(size=n),
    "huge": lambda rng, n: 1e300 * rng.normal(size=n),
    "denormal": lambda rng, n: 1e-310 * rng.normal(size=n),
    "whole": lambda rng, n: rng.integers(-(10**6), 10**6, n).astype(float),
    "few": lambda rng, n: rng.choice([-0.0, 0.0, 1.5, 5e-324, -5e-324, 1.7e308, -1.7e308], n),
    "far ends": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-320, 308, n),
}
shapes = pytest.mark.parametrize("shape", SHAPES)
numbers = st.floats(allow_nan=True, allow_infinity=False) | st.sampled_from([0.0, -0.0, 5e-324, 1e300, 1e8, 1e8 + 1e-8])


def drawn(shape, n=N, seed=0):
    rng = np.random.default_rng(seed)
    return SHAPES[shape](rng, n)[:, None], OneHot.of(rng.integers(3, size=n), rng.integers(1, 4, n))


def by_definition(x, y, weight):
    """Keys, shift and weights by class of one column, one number at a time."""
    keys = []
    for value in (x + 0.0).tolist():
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        keys.append(bits if bits >= 0 else -1 - (bits & 0x7FFFFFFFFFFFFFFF))
    shift = next(s for s in range(64) if len({key >> s for key in keys}) <= MAX_CELLS)
    found = {}
    for key, c, w in zip(keys, y, weight, strict=True):
        found.setdefault(key >> shift, np.zeros(3))[c] += w
    return sorted(found), shift, np.array([found[key] for key in sorted(found)]).T


@shapes
def test_keys_shift_and_weights_are_by_the_definition(shape):
    X, Y = drawn(shape)
    s = histogram(X, Y)
    keys, shift, table = by_definition(X[:, 0], Y.codes, Y.weight)
    assert s.keys[0].tolist() == keys
    assert s.shift == (shift,)
    assert_array_equal(s.table, table)
    assert (shift > 0) == (len(np.unique(X)) > MAX_CELLS)


def assert_equal(a, b):
    assert a.shift == b.shift
    for ours, theirs in zip(a.keys, b.keys, strict=True):
        assert_array_equal(ours, theirs)
    assert_allclose(a.table, b.table, rtol=1e-12, atol=1e-12)


@shapes
@pytest.mark.parametrize("pieces", [1, 7, 100])
def test_pieces_in_any_order_have_the_histogram_of_all_rows(shape, pieces):
    X, Y = drawn(shape, seed=1)
    Y = OneHot(Y.classes, Y.codes, Y.weight * np.random.default_rng(1).uniform(0.1, 2, len(Y)))
    parts = [histogram(X[rows], Y[rows]) for rows in np.array_split(np.random.default_rng(2).permutation(N), pieces)]
    whole = histogram(X, Y)
    assert_equal(sum(parts), whole)
    assert_equal(sum(parts[::-1]), whole)
    assert_equal(sum(parts[::2]) + sum(parts[1::2], 0.0 * parts[0]), whole)


@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 2), st.floats(0.1, 5)), max_size=30), st.integers(0, 30))
def test_any_numbers_cut_anywhere_add_up(rows, cut):
    X = np.array([row[:2] for row in rows]).reshape(-1, 2)
    W = np.array([row[3] for row in rows])[:, None] * np.eye(3)[[row[2] for row in rows]].reshape(-1, 3)
    whole = histogram(X, W)
    assert_equal(histogram(X[cut:], W[cut:]) + histogram(X[:cut], W[:cut]), whole)
    for j in range(2):
        held = ~np.isnan(X[:, j])
        assert whole.column(j).value.tolist() == np.unique(X[held, j] + 0.0).tolist()
        assert_allclose(whole.column(j).table.sum(axis=1), W[held].sum(axis=0))


@pytest.mark.parametrize("shape", ["normal", "log-normal", "cauchy", "offset"])
def test_no_cell_of_the_grid_is_full(shape):
    X, _ = drawn(shape, 200_000)
    column = histogram(X, np.ones((len(X), 1))).column(0)
    assert 2000 < len(column.keys) <= MAX_CELLS
    assert column.weight.max() < 0.0035 * len(X)
    assert_array_equal(column.low <= column.value, True)
    assert_array_equal(column.value <= column.high, True)
    assert_array_equal(column.above[:-1] <= column.low[1:], True)


def test_signed_weights_zero_weights_missing_entries_and_zeros():
    X = np.array([[0.0, 1.0], [-0.0, np.nan], [2.0, 3.0], [7.0, 7.0]])
    s = histogram(X, np.array([[1.0, 0.0], [0.5, -0.5], [-1.0, 1.0], [0.0, 0.0]]))
    assert [k.tolist() for k in (s.column(0).value, s.column(1).value)] == [[0.0, 2.0], [1.0, 3.0]]
    assert_array_equal(s.table, [[1.5, -1.0, 1.0, -1.0], [-0.5, 1.0, 0.0, 1.0]])
    labelled = histogram(X, OneHot(np.array([0]), np.array([0, 0, -1, 0]), np.array([1.0, 1.0, 1.0, 0.0])))
    assert labelled.column(0).value.tolist() == [0.0]


def test_float32_counts_as_the_same_double():
    X, Y = drawn("normal")
    X = X.astype(np.float32)
    assert_equal(histogram(X, Y), histogram(X.astype(float), Y))


def statistics(X, Y):
    return Binned().statistics(Encoded(Features(X.shape[1]), X), Y)


def test_classes_and_columns_unite():
    X, Y = drawn("few", 100)
    a, b = statistics(X[:50], OneHot.of(np.repeat("a", 50))), statistics(X[50:], OneHot.of(np.repeat("b", 50)))
    assert (a + b).mass.tolist() == [50, 50]
    assert_array_equal((a + b).sums.table.sum(axis=1), [50, 50])
    with pytest.raises(ValueError, match="the features differ: 1 here, 2 there"):
        statistics(X, Y) + statistics(np.column_stack([X, X]), Y)


def test_forgetting_removes_cells_and_keeps_the_grid_as_coarse():
    X, Y = drawn("cauchy")
    whole, gone = statistics(X, Y), statistics(X[100:], Y[100:])
    left = whole.without(gone)
    assert left.sums.shift == whole.sums.shift > (0,)
    few = statistics(X[:100], Y[:100])
    assert few.sums.shift == (0,)
    assert_equal(left.sums, few.sums.on(left.sums.keys, left.sums.shift))
    assert_array_equal(left.sums.table.any(axis=0), True)


def test_rows_that_were_not_learned_cannot_be_forgotten():
    s = statistics(np.array([[1.5], [2.0]]), OneHot.of(np.array(["a", "b"])))
    with pytest.raises(ValueError, match=r"class 'a' would keep less than no rows with 3.5 in column 0: these rows"):
        s.without(statistics(np.array([[3.5]]), OneHot.of(np.array(["a"]))))
    X, Y = drawn("normal")
    with pytest.raises(ValueError, match="less than no rows with about 10000"):
        statistics(X, Y).without(statistics(np.array([[9999.0]]), OneHot.of(np.array([1]))))
    holes = statistics(np.array([[np.nan], [1.0]]), OneHot.of(np.array([0, 0])))
    with pytest.raises(ValueError, match="class 0 would keep more values than rows in column 0"):
        (holes + holes).without(statistics(np.full((3, 1), np.nan), OneHot.of(np.zeros(3, dtype=int))))


def test_it_pickles_and_scales():
    X, Y = drawn("normal")
    s = statistics(X, Y)
    again = pickle.loads(pickle.dumps(s))  # noqa: S301 - the test's own bytes
    assert_equal((s + again).sums, (2.0 * s).sums)
    assert repr(s).startswith("Histogram of 1 feature, mass ")
