"""Tables over leaves: without a row, by the trees that have not seen it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice import Dirichlet
from suffice._core.labels import OneHot
from suffice.data import Memory
from suffice.encoders import TreePartitions
from suffice.models import Categorical
from suffice.models.tables.categorical import Leaves


@pytest.fixture
def case(rng):
    y = rng.integers(3, size=80)
    X = rng.normal(size=(80, 3)) + y[:, None]
    encoder = TreePartitions(n=12, marks=True).prepare(Memory(X, y))
    Y = OneHot.of(y, rng.uniform(0.5, 2.0, 80))
    model = Leaves(Dirichlet("evidence", base="marginal"))
    rows = encoder(X)
    s = model.statistics(rows, Y)
    return X, Y, encoder, rows, model.resolve(s), s


def test_marks_are_at_trees_that_have_seen_a_row(case):
    X, _, encoder, rows, _, _ = case
    assert ((rows.values < 0) == encoder.inside(X)).all()
    np.testing.assert_array_equal(rows.features.read(rows), replace(encoder, marks=False)(X).values)


def test_without_a_row_it_is_the_mean_over_trees_that_have_not_seen_it(case):
    """Brute force: the sums of all other rows, tree by tree."""
    X, Y, encoder, rows, model, s = case
    theta = model.parameters(s)
    got = model.log_density_without(rows, Y, theta, s)
    unseen = ~encoder.inside(X)
    starts, codes = rows.features.starts, rows.features.read(rows)
    for i in range(0, 80, 7):
        left = model.parameters(s - model.statistics(rows[i : i + 1], Y[i : i + 1]))
        each = left.log_probability[starts[:-1] + codes[i]]  # (t, k)
        assert_allclose(got[i], 12 * each[unseen[i]].mean(axis=0), rtol=1e-10)


def test_weights_in_all_classes(case, rng):
    X, _, encoder, rows, model, s = case
    own = rng.uniform(0.0, 0.3, (80, 3))
    got = model.log_density_without(rows, own, model.parameters(s), s)
    unseen, starts, codes = ~encoder.inside(X), rows.features.starts, rows.features.read(rows)
    for i in range(0, 80, 9):
        left = model.parameters(s - model.statistics(rows[i : i + 1], own[i : i + 1]))
        each = left.log_probability[starts[:-1] + codes[i]]
        assert_allclose(got[i], 12 * each[unseen[i]].mean(axis=0), rtol=1e-10)


def test_with_the_row_it_is_a_table_a_tree(case):
    _, _, _, rows, model, s = case
    tables = Categorical(Dirichlet("evidence", base="marginal"))
    same = tables.resolve(s)
    assert_allclose(model.log_density(rows, model.parameters(s)), same.log_density(rows, same.parameters(s)))
