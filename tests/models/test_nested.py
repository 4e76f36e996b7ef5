"""Nested cells, monotone shapes and maps of pairs, by brute force."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial
from sklearn.isotonic import isotonic_regression

from suffice import ModelClassifier
from suffice._core.features import Encoded
from suffice._core.labels import OneHot
from suffice.encoders import Encoder
from suffice.encoders.pairs import PairFeatures
from suffice.models import Nested
from suffice.models.tables.interactions import Interactions
from suffice.models.tables.nested import monotone_cells, pool_violators
from suffice.testing import check_model

seeds = st.integers(0, 2**32 - 1)


def fitted(model, X, y):
    s = model.statistics(model.encoder(X), OneHot.of(y))
    resolved = model.resolve(s)
    return resolved, resolved.restrict(s)


def by_hand(groups, table, weights):
    """p(cell | c) level by level, with loops."""
    seen = table.sum(axis=0) + 0.5
    k, r = table.shape
    p = np.ones((k, r))
    coarser = np.zeros(r, dtype=int)
    for group, weight in zip(groups, weights, strict=True):
        for c in range(k):
            for v in range(r):
                inside, around = group == group[v], coarser == coarser[v]
                share = seen[inside].sum() / seen[around].sum()
                p[c, v] *= (table[c, inside].sum() + weight * share) / (table[c, around].sum() + weight)
        coarser = group
    return p


@given(seeds)
@settings(max_examples=20)
def test_tables_are_smoothed_level_by_level(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=200)
    X = np.round(rng.normal(size=(200, 1)) + 0.5 * y[:, None], 2)
    model, s = fitted(Nested(n_bins=12, coarser=(2, 5)), X, y)
    weights = [level.weight[0] for level in model.tree.levels]
    groups = [level.of for level in model.tree.levels]
    assert [len(set(group)) for group in groups] == [2, 5, s.sums.table.shape[1]]
    for fine, coarse in zip(groups[1:], groups, strict=False):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))  # unions of finer cells
        assert (np.diff(coarse) >= 0).all()
    expected = by_hand(groups, s.sums.table, weights)
    assert_allclose(np.exp(model.parameters(s).log_probability.T), expected, rtol=1e-12)
    assert_allclose(expected.sum(axis=1), 1.0)


def test_the_weight_of_a_level_is_that_of_greatest_evidence():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 1)) + 0.4 * y[:, None]
    model, s = fitted(Nested(n_bins=16, coarser=(4,)), X, y)
    table, (first, last) = s.sums.table, model.tree.levels
    seen = table.sum(axis=0) + 0.5

    def evidence(weight):  # of the finest level: in each coarser cell a Dirichlet-multinomial
        total = 0.0
        for cell in range(4):
            inside = first.of == cell
            alpha = weight * seen[inside] / seen[inside].sum()
            for counts in table[:, inside]:
                total += dirichlet_multinomial.logpmf(counts, alpha, counts.sum())
                total -= gammaln(counts.sum() + 1) - gammaln(counts + 1).sum()  # of the order of the rows
        return total

    weights = 2.0 ** np.arange(9)
    assert last.weight[0] == weights[np.argmax([evidence(w) for w in weights])]


def test_many_cells_of_noise_are_smoothed_away():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(600, 1)), rng.integers(2, size=600)
    model = ModelClassifier(Nested()).fit(X, y)
    rough = ModelClassifier(replace(Nested(), n_bins=64, coarser=())).fit(X, y)
    spread = [np.ptp(m.decision_function(X)) for m in (model, rough)]
    assert spread[0] < 0.5
    assert spread[0] <= spread[1]


def test_a_level_that_divides_nothing_changes_nothing():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=100)
    X = (rng.integers(3, size=(100, 1)) + y[:, None]).astype(float)  # four values
    once, again = (ModelClassifier(Nested(n_bins=32, coarser=c, identifiers=False)).fit(X, y) for c in ((8,), (8, 16)))
    assert_allclose(once.predict_proba(X), again.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("coarser", [(16, 4), (64,), (1, 4), (2.5,)])
def test_levels_that_do_not_rise_are_refused(coarser):
    with pytest.raises(ValueError, match="coarser and n_bins must be whole numbers of at least 2 in rising order"):
        ModelClassifier(Nested(coarser=coarser)).fit(np.arange(30.0)[:, None], np.arange(30) % 2)


@given(seeds)
@settings(max_examples=50)
def test_violators_are_pooled_as_by_isotonic_regression(seed):
    rng = np.random.default_rng(seed)
    below, above = rng.uniform(0.1, 5.0, size=(2, rng.integers(1, 20)))
    starts = pool_violators(below, above)
    a, b = (np.add.reduceat(side, starts) for side in (above, below))
    share = np.repeat(a / (a + b), np.diff(np.append(starts, len(below))))
    theirs = isotonic_regression(above / (above + below), sample_weight=above + below)
    assert_allclose(share, theirs, rtol=1e-9)


@given(seeds, st.sampled_from([1, -1]))
@settings(max_examples=20)
def test_a_monotone_column_never_turns(seed, way):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=150)
    X = np.round(rng.normal(size=(150, 2)) + rng.normal() * y[:, None], 1)
    model = ModelClassifier(Nested(n_bins=24, coarser=(4,), monotone=((1, way),))).fit(X, y)
    grid = np.column_stack([np.zeros(400), np.linspace(-5, 5, 400)])
    steps = way * np.diff(model.decision_function(grid))
    assert (steps >= -1e-12).all()
    s = model.statistics_.sums.column(1)
    kept = monotone_cells(s.table, way)
    assert (np.diff(kept) > 0).all()


def test_a_column_that_rises_by_itself_keeps_its_cells():
    table = np.array([[40.0, 30.0, 20.0, 10.0], [10.0, 20.0, 30.0, 40.0]])
    assert monotone_cells(table, 1).tolist() == [0, 1, 2, 3]
    assert monotone_cells(table, -1).tolist() == [0]


def test_monotone_needs_two_classes():
    with pytest.raises(ValueError, match="monotone is for two classes, but there are 3"):
        ModelClassifier(Nested(monotone=((0, 1),))).fit(np.arange(30.0)[:, None] / 7, np.arange(30) % 3)


def test_a_monotone_column_obeys_the_laws():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    check_model(Nested(n_bins=8, coarser=(3,), monotone=((0, 1),)), rng.normal(size=(80, 2)) + y[:, None], y)


@dataclass(frozen=True)
class Codes(Encoder):
    """Rows that are codes of pairs already."""

    features: Any = field(default=None, compare=False)

    def encode(self, X):
        return Encoded(self.features, np.asarray(X, dtype=np.int32))


def pairs():
    names = np.empty(2, dtype=object)
    names[0], names[1] = ("a", "b"), ("a", "c")
    return Codes(PairFeatures(2, names, (np.arange(6), np.arange(4)), sides=((2, 3), (2, 2))))


def test_maps_obey_the_laws():
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=90)
    X = np.column_stack([rng.integers(-1, 6, size=90), (rng.integers(3, size=90) + y) % 4])
    check_model(Interactions(encoder=pairs()), X, y)


def test_a_map_is_what_both_columns_say_beyond_each_column():
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=300)
    X = np.column_stack([rng.integers(6, size=300), rng.integers(4, size=300)])
    model, s = fitted(Interactions(encoder=pairs()), X, y)
    table = s.sums.table[:, :6].reshape(2, 2, 3)
    seen, A = table.sum(axis=0) + 0.5, model.margins.weight[0]
    for c in range(2):
        n = table[c].sum()
        first = (table[c].sum(axis=1) + seen.sum(axis=1) / seen.sum()) / (n + 1)
        second = (table[c].sum(axis=0) + seen.sum(axis=0) / seen.sum()) / (n + 1)
        product = np.outer(first, second)
        expected = np.log((table[c] + A * product) / (n + A) / product)
        assert_allclose(model.parameters(s).log_probability[:6, c].reshape(2, 3), expected, rtol=1e-10)


def test_independent_columns_have_flat_maps():
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=4000)
    u, v = (rng.random((2, 4000)) < np.where(y, 0.7, 0.4)).astype(int)
    X = np.column_stack([3 * u + rng.integers(3, size=4000), 2 * u + v])
    model, s = fitted(Interactions(encoder=pairs()), X, y)
    assert abs(model.parameters(s).log_probability).max() < 0.1
