"""Cells on a nested grid, found by hashing, are those that sorting finds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from suffice.models.tables import compiled as _kernels
from suffice.models.tables import histogram as grid

RNG = np.random.default_rng(0)
N = 4 * grid.MAX_CELLS
COLUMNS = {
    "normal": RNG.normal(size=N),
    "two decimals": RNG.normal(size=N).round(2),
    "whole": RNG.integers(-50_000, 50_000, size=N).astype(float),
    "zeros of both signs": np.where(RNG.random(N) < 0.5, RNG.choice([-0.0, 0.0], N), RNG.normal(size=N)),
    "missing": np.where(RNG.random(N) < 0.3, np.nan, RNG.normal(size=N)),
    "nothing": np.full(N, np.nan),
    "all sizes": np.append(10.0 ** RNG.uniform(-300, 300, N - 4), [np.inf, -np.inf, 5e-324, -5e-324]),
    "rising": np.arange(N) * 1.0,
    "mostly zero": np.where(RNG.random(N) < 0.8, 0.0, RNG.normal(size=N)),
    "far from zero": 1e6 + RNG.random(N),
    "by turns": np.where(np.arange(N) % (N // grid.SAMPLE), RNG.normal(size=N), 1.0),  # where those that tell are
    "just enough": np.resize(np.arange(grid.MAX_CELLS) + 0.5, N),
    "one too many": np.resize(np.arange(grid.MAX_CELLS + 1) + 0.5, N),
}


def by_sorting(values):
    """The least shift at which the distinct keys are few enough, by trying all."""
    keys = np.sort(grid.ordered(values[~np.isnan(values)]))  # they stay sorted when they are shifted
    for shift in range(64):
        cells = keys >> shift
        if 1 + np.count_nonzero(np.diff(cells)) <= grid.MAX_CELLS:
            return np.unique(cells), shift
    raise AssertionError


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS.keys())
def test_cells_are_those_of_sorting(values):
    keys, shift, codes = grid.cells(values)
    expected, at = by_sorting(values)
    assert shift == at
    assert_array_equal(keys, expected)
    found = np.searchsorted(keys, grid.ordered(values) >> shift)
    assert_array_equal(codes, np.where(np.isnan(values), -1, found))


@pytest.mark.parametrize("other", COLUMNS)
@pytest.mark.parametrize("one", COLUMNS)
def test_grids_of_parts_join_to_that_of_all(one, other):
    a, b = COLUMNS[one], COLUMNS[other][: N // 3]
    keys, shift, at_a, at_b = grid.joined(grid.cells(a)[:2], grid.cells(b)[:2])
    expected, least = by_sorting(np.append(a, b))
    assert shift == least
    assert_array_equal(keys, expected)
    for values, at in ((a, at_a), (b, at_b)):
        own, by, _ = grid.cells(values)
        assert_array_equal(keys[at], own >> (shift - by))


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_intervals_are_those_of_a_binary_search(dtype, precision):
    sizes = [0, 1, 2, 3, 7, 32, 100]
    bounds = [np.sort(RNG.normal(size=size)).astype(precision) for size in sizes]
    X = RNG.normal(size=(1000, len(sizes))).astype(precision)
    X[::7, 5], X[::11, 6], X[3], X[4], X[5] = bounds[5][9], np.nan, np.inf, -np.inf, np.nan
    codes = np.empty(X.shape, dtype)
    _kernels.interval_codes(X, np.concatenate(bounds), np.cumsum([0, *sizes]), codes)
    for j, own in enumerate(bounds):
        inside = np.searchsorted(own, X[:, j], side="right") - 1
        assert_array_equal(codes[:, j], np.where(np.isnan(X[:, j]), -1, inside))
