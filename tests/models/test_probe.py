"""Constant and identifier columns are found by few cells as by all of them, in any pieces."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.data import Memory, OneHot
from suffice.encoders import Numbers
from suffice.learners import Observed
from suffice.models import Binned
from suffice.models.tables.binned import ColumnProbe

N = 6000  # more than a histogram has cells


def reasons(s):
    return tuple(summary.left_out for summary in ColumnProbe().column_summaries(s))


def columns(rng):
    """Fractions, few whole numbers, row numbers, constants, missing entries, and a fraction among row numbers."""
    rows = rng.permutation(N).astype(float)
    some = np.where(np.arange(N) == N - 1, 0.5, rows)
    half = np.where(np.arange(N) < N // 2, 0.25, rng.normal(size=N))
    few = rng.integers(5, size=N).astype(float)
    gaps = np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N))
    return np.column_stack(
        [rng.normal(size=N), few, rows, np.full(N, 3.0), np.full(N, 0.5), few * np.nan, gaps, half, some]
    )


@pytest.mark.parametrize("batch_size", [None, 100, 3000])
def test_reasons_are_those_of_the_whole_histogram_in_any_batches(rng, batch_size):
    X, y = columns(rng), rng.integers(3, size=N)
    data = Memory(Numbers(missing=True)(X), y, batch_size=batch_size)
    few = reasons(data.sum(Observed(ColumnProbe())))
    assert few[:8] == reasons(data.sum(Observed(Binned())))[:8]
    assert few[8] is None, "a column with a fraction numbers no rows, in whichever batch that is"
    assert [bool(said) for said in few] == [False, False, True, True, True, True, False, False, False]


def test_rows_without_weight_are_ignored():
    X, y = Numbers(missing=True)(np.array([[0.5, 1.0], [1.5, 1.0], [1.5, 2.5]])), np.array([0, 1, 1])
    assert reasons(ColumnProbe().statistics(X, OneHot.of(y))) == (None, None)
    alone = reasons(ColumnProbe().statistics(X, OneHot.of(y, np.array([0.0, 1.0, 1.0]))))
    assert [bool(said) for said in alone] == [True, False]


def test_fractions_take_two_cells(rng):
    X = Numbers()(rng.normal(size=(N, 2)))
    s = Memory(X, rng.integers(2, size=N), batch_size=1000).sum(Observed(ColumnProbe()))
    assert max(map(len, s.sums.keys)) <= 2 * 6


def test_no_rows_add_nothing(rng):
    X = rng.normal(size=(30, 2))
    whole, none = (ColumnProbe().statistics(Numbers()(x), OneHot.of(np.zeros(len(x), dtype=int))) for x in (X, X[:0]))
    assert reasons(none + whole) == reasons(whole) == (None, None)
    assert all(reasons(none))
