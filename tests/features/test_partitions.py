"""Random trees as a transformer."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import CategoricalNB, Dirichlet
from suffice.data import Memory
from suffice.features import Partitions
from tests.encoders.test_partitions import mixed_table
from tests.samples import IRIS
from tests.strangers.lazy import Lazy


@parametrize_with_checks([Partitions()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_leaves_of_a_mixed_table():
    X, y = mixed_table(0)
    trees = Partitions(20, random_state=0).fit(X, y)
    codes = trees.transform(X)
    assert codes.shape == (len(X), 20)
    assert codes.dtype.kind == "i"
    assert_array_equal(codes.max(axis=0) + 1, trees.n_leaves_)
    assert trees.get_feature_names_out()[-1] == "partitions19"
    assert (trees.n_features_in_, list(trees.feature_names_in_)) == (4, list(X.columns))
    assert_array_equal(Partitions(20, random_state=0).fit_transform(X, y), codes)
    assert_array_equal(Partitions(20, random_state=0).fit(pl.from_pandas(X), y).transform(pl.from_pandas(X)), codes)
    assert_array_equal(trees.inside(X).sum(axis=0), trees.encoder_.inside(X).sum(axis=0))
    framed = clone(trees).set_output(transform="pandas").fit_transform(X, y)
    assert_array_equal(framed.to_numpy(), codes)
    assert (Partitions(20, random_state=1).fit_transform(X, y) != codes).any()


def test_a_seed_repeats_the_trees_and_a_generator_moves_on():
    once, again = (Partitions(5, random_state=3).fit(*IRIS).encoder_ for _ in range(2))
    assert once == again
    rng = np.random.RandomState(0)
    assert Partitions(5, random_state=rng).fit(*IRIS).encoder_ != Partitions(5, random_state=rng).fit(*IRIS).encoder_


def test_columns_can_be_set_to_category_or_drop():
    X = pd.DataFrame({"code": np.arange(300) % 5, "id": np.arange(300)})
    y = np.arange(300) % 5 == 2
    trees = Partitions(10, columns={"code": "category"}, candidates=100, random_state=0).fit(X, y)
    codes = trees.transform(pd.DataFrame({"code": [2, 0, 1, 3, 99], "id": 0}))
    assert_array_equal(trees.n_leaves_, 2)
    assert (codes[0] != codes[1:]).all()
    assert (codes[1] == codes[2:]).all()
    without = Partitions(10, columns={"code": "drop"}, random_state=0).fit(X, y)
    assert_array_equal(without.transform(X), without.transform(X.assign(code=7)))
    assert (trees.transform(X) != trees.transform(X.assign(code=7))).any()
    with pytest.raises(ValueError, match=r"columns\['code'\] must be one of .*, got 'number'"):
        Partitions(columns={"code": "number"}).fit(X, y)


def test_trees_without_labels():
    X, y = mixed_table(1)
    none = Partitions(10, random_state=0).fit(X).transform(X)
    assert_array_equal(none, Partitions(10, labels=False, random_state=0).fit_transform(X, y))
    assert (none != Partitions(10, random_state=0).fit_transform(X, y)).any()


def test_weights_and_engines():
    X, y = mixed_table(2)
    times = np.random.default_rng(0).integers(3, size=len(y))
    weighted = Partitions(10, random_state=0).fit(X, y, sample_weight=times)
    assert (
        weighted.encoder_ == Partitions(10, random_state=0).fit(X.loc[X.index.repeat(times)], y.repeat(times)).encoder_
    )
    parts = [(X.iloc[rows], y[rows], times[rows]) for rows in (slice(100), slice(100, None))]
    lazy = Partitions(10, random_state=0).fit(Lazy(parts))
    assert lazy.encoder_ == weighted.encoder_
    assert (lazy.n_features_in_, list(lazy.feature_names_in_)) == (4, list(X.columns))
    assert_array_equal(lazy.transform(X), weighted.transform(X))
    assert_array_equal(
        lazy.transform(Lazy([(X.iloc[:9], y[:9]), (X.iloc[9:], y[9:])])).collect(), weighted.transform(X)
    )
    assert_array_equal(lazy.transform(Memory(X)), weighted.transform(X))
    lazy.fit(Memory(IRIS[0], IRIS[1]))
    assert not hasattr(lazy, "feature_names_in_")
    with pytest.raises(ValueError, match="brings its own labels and weights"):
        lazy.fit(Memory(X, y), y)


def test_tables_over_leaves_classify():
    X, y = make_classification(600, 10, n_informative=5, n_classes=3, random_state=0)
    plain = CategoricalNB(prior=Dirichlet(1))
    score = cross_val_score(make_pipeline(Partitions(random_state=0), plain), X, y, cv=3).mean()
    theirs = cross_val_score(ExtraTreesClassifier(100, max_features=3, random_state=0), X, y, cv=3).mean()
    assert score > theirs - 0.05


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n": 0}, "Partitions: n must be a whole number of at least 1, got 0"),
        ({"max_rows": 2.5}, "Partitions: max_rows must be a whole number of at least 1, got 2.5"),
        ({"candidates": 0}, "Partitions: candidates must be a whole number of at least 1, got 0"),
        ({"min_leaf": 0}, "Partitions: min_leaf must be a positive number, got 0"),
        ({"min_split": -1}, "Partitions: min_split must be a positive number, got -1"),
        ({"labels": "yes"}, r"Partitions: labels must be one of \(True, False\), got 'yes'"),
    ],
)
def test_settings_are_checked(settings, words):
    with pytest.raises(ValueError, match=words):
        Partitions(**settings).fit(*IRIS)


def test_other_columns_are_refused():
    X, y = mixed_table(3)
    trees = Partitions(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but Partitions is expecting 4 features"):
        trees.transform(X.iloc[:, :3])
    with pytest.raises(ValueError, match="feature names should match"):
        trees.transform(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="contains infinity"):
        trees.transform(X.assign(a=np.inf))
    with pytest.raises(ValueError, match="Unknown label type"):
        trees.fit(X, np.linspace(0, 1, len(X)))
    assert trees.transform(X).shape == (len(X), 3)


def test_growing_and_walking_take_no_longer_than_scikit_learns():
    X, y = make_classification(20_000, 20, n_informative=10, random_state=0)
    Partitions(2).fit(X[:50], y[:50]).transform(X[:50])  # compiles what is not compiled yet
    start = time.process_time()
    Partitions(random_state=0).fit(X, y).transform(X)
    ours = time.process_time() - start
    theirs = ExtraTreesClassifier(100, bootstrap=True, max_samples=2048)
    start = time.process_time()
    theirs.fit(X, y).apply(X)
    assert ours < 1.2 * (time.process_time() - start)
