"""Random trees as an encoder: the rows they grow on, their splits, and the leaves of rows."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice import Dirichlet, ModelClassifier
from suffice._runtime.random import mixed, row_keys
from suffice._runtime.threads import workers
from suffice.data import Memory
from suffice.encoders import Numbers, TreePartitions
from suffice.encoders.table import Table
from suffice.encoders.trees import compiled as _growing
from suffice.encoders.trees import partitions as _sample
from suffice.models import Categorical
from suffice.testing import check_model
from tests.strangers.lazy import Lazy


def mixed_table(seed, n=300, k=3):
    """Numbers, whole numbers, text and missing values, with copies of some rows; and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    a = np.where(rng.random(n) < 0.15, np.nan, rng.normal(size=n) + y)
    words = np.where(rng.random(n) < 0.1, None, np.array(list("uvwxyz"), dtype=object)[rng.integers(4, size=n) + y % 2])
    table = pd.DataFrame({"a": a, "b": rng.integers(5, size=n), "word": words, "c": rng.normal(size=n)})
    copies = rng.integers(n, size=n // 5)
    return pd.concat([table, table.iloc[copies]], ignore_index=True), np.concatenate([y, rng.permutation(y)[: n // 5]])


def grown(X, y, weight=None, batch_size=None, **settings):
    settings = {"n": 12, **settings}
    return TreePartitions(**settings).prepare(Memory(X, y, weight, batch_size))


def hashes(encoder, X):
    """h_t of every row: (n, t)."""
    with np.errstate(over="ignore"):
        return mixed(row_keys(encoder.inner(X).comparable)[:, None] ^ encoder.trees.seeds)


def nodes(trees, t):
    """The arrays of one tree."""
    here = slice(trees.starts[t], trees.starts[t + 1])
    return trees.feature[here], trees.threshold[here], trees.missing_left[here], trees.left[here]


def walk(trees, t, row):
    """The nodes that a row visits, in plain Python."""
    feature, threshold, missing_left, left = nodes(trees, t)
    path = [0]
    while left[path[-1]] >= 0:
        at = path[-1]
        value = row[feature[at]]
        if np.isnan(value):
            first = missing_left[at]
        elif trees.ordered[feature[at]]:
            first = value <= threshold[at]
        else:
            first = value == threshold[at]
        path.append(left[at] + (not first))
    return path


# Which rows a tree is grown on


@pytest.mark.parametrize(("max_rows", "half"), [(2048, True), (40, False)])
def test_trees_grow_on_the_distinct_rows_of_smallest_hash(max_rows, half):
    X, y = mixed_table(0)
    encoder = grown(X, y, max_rows=max_rows)
    h, inside = hashes(encoder, X), encoder.inside(X)
    m = len(X.drop_duplicates()) // 2 if half else 40
    for t in range(12):
        assert_array_equal(inside[:, t], h[:, t] <= np.unique(h[:, t])[m - 1])
        assert len(X[inside[:, t]].drop_duplicates()) == m


@pytest.mark.parametrize("max_rows", [2048, 40])
def test_a_tree_does_not_depend_on_the_labels_of_other_rows(max_rows):
    X, y = mixed_table(1)
    encoder = grown(X, y, max_rows=max_rows)
    inside = encoder.inside(X)
    for t in range(4):
        other = grown(X, np.where(inside[:, t], y, (y + 1) % 3), max_rows=max_rows)
        for a, b in zip(nodes(encoder.trees, t), nodes(other.trees, t), strict=True):
            assert_array_equal(a, b)
        assert encoder.trees != other.trees


@pytest.mark.parametrize("settings", [{}, {"max_rows": 40}, {"labels": False}, {"max_rows": 40, "candidates": 1}])
def test_order_batches_engines_and_threads_do_not_matter(settings, monkeypatch):
    X, y = mixed_table(2)
    once = grown(X, y, **settings)
    order = np.random.default_rng(0).permutation(len(y))
    assert grown(X.iloc[order], y[order], **settings) == once
    for size in (1, 7, 100):
        assert grown(X, y, batch_size=size, **settings) == once
    parts = [(X.iloc[rows], y[rows]) for rows in np.split(order, [0, 3, 3, 200])]
    lazy = Lazy(parts)
    assert TreePartitions(n=12, **settings).prepare(lazy) == once
    assert max(size for _, size in lazy.sent) < 5000
    codes, inside = once(X).values, once.inside(X)
    monkeypatch.setattr("suffice._runtime.threads.cpu_count", lambda: 4)
    monkeypatch.setattr("suffice.encoders.trees.partitions.MAX_ROWS_OF_TASK", 50)
    for threads in ("1", "3", ""):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert workers() == int(threads or 4)
        assert grown(X, y, **settings) == once
        assert_array_equal(once(X).values, codes)
        assert_array_equal(once.inside(X), inside)
    assert grown(X, y, seed=1, **settings) != once


@pytest.mark.parametrize("max_rows", [2048, 40])
def test_weights_are_repeated_rows(max_rows):
    X, y = mixed_table(3)
    times = np.random.default_rng(0).integers(4, size=len(y))
    assert grown(X, y, times, max_rows=max_rows) == grown(
        X.loc[X.index.repeat(times)], np.repeat(y, times), max_rows=max_rows
    )
    lazy = Lazy([(X.iloc[:50], y[:50], times[:50]), (X.iloc[50:], y[50:], times[50:])])
    assert TreePartitions(n=12, max_rows=max_rows).prepare(lazy) == grown(X, y, times, max_rows=max_rows)


def test_a_reduced_sample_remembers_that_there_were_many_rows():
    X, y = mixed_table(12)
    once = grown(X, y, n=1, max_rows=40)  # of 300 different rows, 40 are kept
    for first in (10, 60, 350):
        parts = [(X.iloc[:first], y[:first]), (X.iloc[first:], y[first:])]
        assert TreePartitions(n=1, max_rows=40).prepare(Lazy(parts)) == once
        assert TreePartitions(n=1, max_rows=40).prepare(Lazy(parts[::-1])) == once
    assert once.inside(X.drop_duplicates()).sum() == 40


# What trees look like


@pytest.mark.parametrize("settings", [{}, {"min_leaf": 7.0, "min_split": 20.0}, {"labels": False}])
def test_every_split_obeys_the_rules(settings):
    X, y = mixed_table(4)
    encoder = grown(X, y, **settings)
    Z, inside, classes, used = encoder.inner(X).comparable, encoder.inside(X), np.eye(3)[y], set()
    for t in range(12):
        feature, _, _, left = nodes(encoder.trees, t)
        mass = np.zeros((len(left), 3))
        for i in np.flatnonzero(inside[:, t]):
            mass[walk(encoder.trees, t, Z[i])] += classes[i]
        size, inner = mass.sum(axis=1), np.flatnonzero(left >= 0)
        assert size[left < 0].min() >= encoder.min_leaf
        assert size[inner].min() >= encoder.min_split
        assert (np.sort(-1 - left[left < 0]) == np.arange(encoder.trees.sizes[t])).all()
        impurity = size - (mass**2).sum(axis=1) / size
        assert (impurity[left[inner]] + impurity[left[inner] + 1] <= impurity[inner] + 1e-9).all()
        if encoder.labels:
            assert ((mass[inner] > 0).sum(axis=1) > 1).all()  # no pure node is split
        used |= set(feature[inner].tolist())
    assert used == {0, 1, 2, 3}


def test_more_candidates_make_purer_splits():
    X, y = mixed_table(5)

    def impurity(candidates):
        encoder = grown(X, y, n=60, candidates=candidates, max_rows=200)
        Z, inside, total = encoder.inner(X).comparable, encoder.inside(X), 0.0
        for t in range(60):
            side = np.array([walk(encoder.trees, t, row)[1] for row in Z[inside[:, t]]])
            for s in np.unique(side):
                mass = np.bincount(y[inside[:, t]][side == s])
                total += mass.sum() - (mass**2).sum() / mass.sum()
        return total

    one, three, many = impurity(1), impurity(3), impurity(30)
    assert one > three > many


def test_trees_can_ignore_labels():
    X, y = mixed_table(6)
    assert grown(X, y, labels=False) == grown(X, (y == 0).astype(str), labels=False)
    assert grown(X, y) != grown(X, (y == 0).astype(str))


# Where rows go


def test_the_compiled_walk_is_the_plain_one():
    X, y = mixed_table(7)
    encoder = grown(X, y)
    strange, _ = mixed_table(8)
    strange.loc[::3, "word"] = "never seen"
    for rows in (X, strange):
        Z, codes = encoder.inner(rows).comparable, encoder(rows).values
        left = [nodes(encoder.trees, t)[3] for t in range(12)]
        assert_array_equal(codes, [[-1 - left[t][walk(encoder.trees, t, row)[-1]] for t in range(12)] for row in Z])
        assert codes.dtype == np.int32
    assert encoder(X[:0]).values.shape == (0, 12)


def test_missing_entries_go_to_the_side_of_their_labels():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 600))
    holes = rng.random(600) < 0.2
    X, y = np.column_stack([np.where(holes, np.nan, x), noise]), (x > 0).astype(int)
    probes = np.array([[np.nan, 0.0], [-1.0, 0.0], [1.0, 0.0]])

    def together(label):
        """How often missing entries of some label are in one leaf with negative and with positive numbers."""
        codes = grown(X, np.where(holes, label, y), candidates=20, n=50)(probes).values
        return (codes[0] == codes[1:]).mean(axis=1)

    assert together(0)[0] > 0.4
    assert together(1)[1] > 0.4
    assert max(together(0)[1], together(1)[0], *together(2)) < 0.05


def test_missingness_alone_can_be_split_on():
    X = np.where(np.arange(60) % 3 == 0, np.nan, 5.0)[:, None] + np.zeros((60, 2))
    X[:, 1] = np.arange(60)
    encoder = grown(X, np.isnan(X[:, 0]).astype(int), candidates=50)
    assert_array_equal(encoder.trees.sizes, 2)
    assert_array_equal(encoder(X).values == encoder(X[:1]).values, np.repeat(np.isnan(X[:, :1]), 12, axis=1))


def test_categories_are_separated_and_unknown_ones_go_with_the_others():
    words = np.array(list("uvwxyz"), dtype=object)[np.arange(600) % 6]
    frame = pd.DataFrame({"word": words, "noise": np.random.default_rng(0).normal(size=600)})
    encoder = grown(frame, words == "w", candidates=100)
    assert_array_equal(encoder.trees.sizes, 2)
    codes = encoder(pd.DataFrame({"word": ["w", "u", "z", "new", "other"], "noise": 0.0})).values
    assert (codes[0] != codes[1:]).all()
    assert (codes[1] == codes[2:]).all()


def test_a_value_that_most_rows_have_can_be_split_off():
    x = np.where(np.arange(500) % 10 == 0, np.arange(500.0), 0.0)
    for sign in (1, -1):
        encoder = grown(np.column_stack([sign * x, np.arange(500)]), x > 0, candidates=60, max_rows=200)
        codes = encoder(np.array([[0.0, 250.0], [sign * 10.0, 250.0]])).values
        assert (codes[0] != codes[1]).mean() > 0.8


# Whatever comes


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[1.0, 2.0]]), [0]),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), [0, 1]),
        (np.ones((50, 2)), np.arange(50) % 2),
        (np.random.default_rng(0).normal(size=(50, 2)), np.zeros(50)),
        (np.full((50, 3), np.nan), np.arange(50) % 2),
    ],
    ids=["one row", "two rows", "constant", "one class", "all missing"],
)
def test_without_anything_to_split_every_tree_is_one_leaf(X, y):
    encoder = grown(X, y)
    assert_array_equal(encoder.trees.sizes, 1)
    assert not encoder(X).values.any()
    assert (encoder.inside(X).sum(axis=0) == len(pd.DataFrame(X).drop_duplicates()) // 2).all()


def test_constant_columns_are_never_split():
    X, y = mixed_table(9)
    X.insert(1, "none", np.nan)
    X.insert(3, "one", 1.0)
    encoder = grown(X.assign(all="same"), y)
    names = np.array(["a", "none", "b", "one", "c", "word", "all"])  # numbers before categories
    assert set(names[encoder.trees.feature[encoder.trees.left >= 0]]) == {"a", "b", "c", "word"}


def test_many_classes_and_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    many = grown(X, np.arange(4000) % 1000)
    assert (many.trees.sizes > 100).all()
    wide = rng.normal(size=(200, 60))
    y = (wide[:, 0] > 0).astype(int)
    codes = grown(wide, y, n=100)(wide).values
    assert codes.max() < 34  # 100 rows, at least 3 a leaf


def test_leaves_are_larger_with_many_classes(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(2000, 3)), np.arange(2000) % 40
    free = grown(X, y, min_leaf=1.0, min_split=2.0).trees
    monkeypatch.setattr(_sample, "MAX_TABLE", 40 * 12 * 100)
    for weight in (None, np.full(2000, 1e-3)):
        few = grown(X, y, weight, min_leaf=1e-6, min_split=1e-6).trees
        assert 50 < few.sizes.mean() <= 100 < free.sizes.mean() / 3
    monkeypatch.setattr(_sample, "MAX_TABLE", 40 * 12 * 1000)  # as many as there may be rows
    assert grown(X, y, min_leaf=1.0, min_split=2.0).trees == free


def test_huge_and_tiny_numbers_are_split():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    for scale in (1e-300, 1.0, 1.7e308 / np.abs(x).max()):
        encoder = grown((x * scale)[:, None], x > 0, candidates=30)
        assert (
            encoder(np.array([[-1.0], [1.0]]) * scale).values[0] != encoder(np.array([[1.0]]) * scale).values[0]
        ).all()


def test_equal_values_are_equal_however_they_are_written():
    X = np.array([[0.0, np.nan], [-0.0, -np.nan], [1.0, 2.0]])
    keys = TreePartitions(Numbers(missing=True)).inner(X).keys
    assert keys[0] == keys[1] != keys[2]
    read = Table((("v", "category"),))
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    pairs = [
        (pd.Series([1, 2]), pd.Series([1.0, 2.0])),
        (pd.Series([1, 0]), pd.Series([True, False])),
        (pd.Series(days.astype("M8[ns]")), pd.Series(days.astype("M8[s]"))),
        (pd.Series(["u", "v"]), pd.Series(["u", "v"]).astype("category")),
    ]
    for pair in pairs:
        a, b = (TreePartitions(read.prepare(Memory(s.to_frame("v"), [0, 1]))).inner(s.to_frame("v")) for s in pair)
        assert_array_equal(a.keys, b.keys)
        assert_array_equal(a.comparable, b.comparable)


# As a part of models


def test_a_prepared_encoder_travels_and_is_compared():
    X, y = mixed_table(10)
    encoder = grown(X, y)
    there = pickle.loads(pickle.dumps(encoder))  # noqa: S301 - bytes of its own
    assert there == encoder
    assert hash(there) == hash(encoder)
    encoder.check(there)
    assert encoder.prepare(Memory(X[:50], y[:50])) is encoder
    assert_array_equal(encoder(encoder.inner(X)).values, encoder(X).values)
    leaves = encoder(X)
    assert encoder(leaves) is leaves
    assert len(pickle.dumps(encoder)) < 40 * len(encoder.trees.left) + 5000
    other = grown(X, y, seed=1)
    with pytest.raises(ValueError, match="divided by different trees, whose leaves do not add up"):
        encoder.check(other)
    with pytest.raises(ValueError, match="those of different trees"):
        encoder(X).features | other(X).features
    with pytest.raises(ValueError, match="prepare the encoder first"):
        TreePartitions()(encoder.inner(X))


def test_tables_over_leaves_obey_the_laws():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = rng.normal(size=(150, 3)) + y[:, None]
    check_model(Categorical(Dirichlet(1.0), encoder=TreePartitions(Numbers(missing=True), n=8)), X, y)


def test_with_given_trees_pieces_are_merged_and_forgotten():
    X, y = mixed_table(11)
    model = Categorical(Dirichlet(1.0), encoder=grown(X, y))
    whole = ModelClassifier(model).fit(X, y)
    parts = [ModelClassifier(model).fit(X.iloc[rows], y[rows]) for rows in (slice(100), slice(100, None))]
    assert_allclose(sum(parts).predict_proba(X), whole.predict_proba(X), rtol=1e-10)
    assert_allclose(parts[0].predict_proba(X), whole.forget(X.iloc[100:], y[100:]).predict_proba(X), rtol=1e-10)
    alone = [
        ModelClassifier(replace(model, encoder=TreePartitions(n=12))).fit(X.iloc[r], y[r])
        for r in (slice(100), slice(100, None))
    ]
    with pytest.raises(ValueError, match="divided by different trees"):
        sum(alone)


@pytest.mark.parametrize("heavy", [1.0, 3.0])
def test_sums_of_words_grow_the_trees_of_sums_by_class(heavy):
    """Whole weights of up to four classes are added up in one word; with more classes, each in its own number."""
    X, y = mixed_table(3)
    encoder = grown(X, y)
    Z, weight = encoder.inner(X).comparable, np.where(np.arange(len(y)) % 2, heavy, 1.0)
    columns, rows = np.ascontiguousarray(Z.T), np.arange(0, len(y), 2)
    table = columns, False, encoder.trees.ordered, rows, y, weight
    for candidates in (1, 4):
        how = np.array([7], dtype=np.uint64), candidates, 1.0, 2.0, True
        few, many = (_growing.grow(*table, classes, *how) for classes in (3, 9))
        assert len(few[0]) > 20
        for one, other in zip(few, many, strict=True):
            assert_array_equal(one, other)
