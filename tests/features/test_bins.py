"""Numbers in cells, as a transformer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import CategoricalNB, Dirichlet, ModelClassifier
from suffice.features import Bins
from suffice.models import Binned
from suffice.models.tables.binned import STRATEGIES
from tests.samples import IRIS

KINDS = [Bins(), Bins("kmeans", 5), Bins("uniform", spikes=False), Bins("mdl")]


@parametrize_with_checks(KINDS[:1])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.thorough
@parametrize_with_checks(KINDS[1:])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_of_further_strategies(estimator, check):
    check(estimator)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_pipeline_of_cells_and_tables_is_the_model_of_cells(strategy):
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(Bins(strategy, 12), CategoricalNB()).fit(X, y)
    model = ModelClassifier(Binned(Dirichlet(), strategy, 12)).fit(X, y)
    assert_allclose(pipeline.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.strategy)
def test_pieces_and_weights_give_the_cells_of_all_rows(rng, kind):
    X, y = rng.normal(size=(6000, 2)), rng.integers(2, size=6000)
    X[:, 1] = X[:, 1].round(1) + y
    weight = rng.integers(0, 4, 6000)
    whole = clone(kind).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    pieces = clone(kind)
    for rows in np.array_split(rng.permutation(6000), 50):
        pieces.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    for ours, theirs in zip(pieces.bin_edges_, whole.bin_edges_, strict=True):
        assert_array_equal(ours, theirs)
    assert_array_equal(pieces.transform(X), whole.transform(X))


def test_codes_edges_and_missing_entries():
    X = np.array([[0.0, 5.0], [0.0, np.nan], [0.0, 5.0], [1.0, 5.0], [3.0, 5.0], [4.0, 5.0]])
    bins = Bins(n_bins=3).fit(X)
    assert [edges.tolist() for edges in bins.bin_edges_] == [[-np.inf, 5e-324, 2.0, np.inf], [-np.inf, np.inf]]
    assert bins.n_bins_.tolist() == [3, 1]
    assert_array_equal(bins.transform(X), [[0, 0], [0, np.nan], [0, 0], [1, 0], [2, 0], [2, 0]])
    new = bins.transform([[-7.0, 2.0], [1e-9, 9.0], [99.0, 5.0]])
    assert new.tolist() == [[0, 0], [1, 0], [2, 0]]
    assert new.dtype == np.int64
    assert [(c.name, c.cells, c.spikes, c.left_out) for c in bins.columns_] == [
        ("column 0", 3, (0.0,), None),
        ("column 1", 1, (), "constant"),
    ]


def test_an_identifier_is_still_a_column():
    assert Bins(n_bins=4).fit(np.arange(100.0)[:, None]).n_bins_.tolist() == [4]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_names(make):
    frame = make({"length": IRIS[0][:, 0], "width": IRIS[0][:, 1]})
    bins = Bins(n_bins=5).fit(frame)
    assert bins.get_feature_names_out().tolist() == ["length", "width"]
    assert_array_equal(bins.transform(frame), Bins(n_bins=5).fit_transform(IRIS[0][:, :2]))
    assert bins.columns_[0].name == "column 'length'"
    out = Bins(n_bins=5).set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["length", "width"]
    with pytest.raises(ValueError, match="feature names"):
        bins.transform(make({"width": [1.0], "length": [1.0]}))


@pytest.mark.parametrize(
    ("kind", "arguments", "said"),
    [
        (Bins("mdl"), ([[1.0], [2.0]],), r"Bins\(strategy='mdl'\) requires y to be passed, but the target y is None"),
        (Bins("best"), ([[1.0], [2.0]],), r"strategy must be one of .*, got 'best'"),
        (Bins(n_bins=1), ([[1.0], [2.0]],), "n_bins must be a whole number of at least 2, got 1"),
        (Bins(), ([["a"], ["b"]],), "could not convert string to float"),
        (Bins(), (pd.DataFrame({"u": ["a", "b"]}),), r"Bins takes numbers, but the columns \['u'\] are text"),
        (Bins(), ([[np.inf], [0.0]],), "Input X contains infinity, in column 0: Bins takes finite numbers"),
        (Bins(), ([[1.0], [2.0]], None, [1.0]), r"sample_weight.shape == \(1,\), expected \(2,\)"),
        (Bins(), ([[1.0], [2.0]], None, [-1.0, 1.0]), "Negative values in data passed to `sample_weight`"),
    ],
)
def test_wrong_arguments_are_refused(kind, arguments, said):
    with pytest.raises(ValueError, match=said):
        kind.fit(*arguments)
    assert not hasattr(kind, "statistics_")


def test_cells_are_what_measurements_need():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(UserWarning, match=r"were taken as categories: column 0, .* \(suffice.features.Bins\)"):
        raw = cross_val_score(CategoricalNB(), X, y).mean()
    binned = cross_val_score(make_pipeline(Bins(), CategoricalNB()), X, y).mean()
    assert raw < 0.8
    assert binned > 0.93


# Real data

MANY_VALUES = ["magic", "pulsar", "twonorm", "svmguide1", "adult"]
FEW_VALUES = ["wine", "wdbc", "diabetes", "segment", "ionosphere"]


def numeric(load, name):
    return load(name)[0].select_dtypes("number").to_numpy(dtype=float)


def kmeans_edges(x, n):
    return KBinsDiscretizer(n, strategy="kmeans", subsample=None).fit(x[:, None]).bin_edges_[0][1:-1]


@pytest.mark.data
@pytest.mark.parametrize("name", MANY_VALUES + FEW_VALUES)
def test_quantiles_of_real_columns(load, name):
    X = numeric(load, name)
    for x, edges in zip(X.T, Bins(spikes=False).fit(X).bin_edges_, strict=True):
        values, count = np.unique(x, return_counts=True)
        if len(values) <= 32:
            continue
        below = np.cumsum(count)[:-1] / len(x)  # what a cut can have below it
        wanted = np.arange(1, 32) / 32
        best = np.unique(below[abs(below[:, None] - wanted).round(12).argmin(axis=0)])
        ours = np.searchsorted(np.sort(x), edges[1:-1]) / len(x)
        if len(values) <= 4096:
            assert_allclose(ours, best)
        else:
            assert_allclose(ours, best, atol=0.01)


@pytest.mark.data
@pytest.mark.parametrize("name", MANY_VALUES + FEW_VALUES)
def test_sums_of_squares_of_real_columns_are_not_above_scikit_learns(load, name):
    X = numeric(load, name)

    def squares(x, edges):
        at = np.searchsorted(edges, x, side="right")
        return ((x - (np.bincount(at, x) / np.maximum(np.bincount(at), 1))[at]) ** 2).sum()

    for x, edges in zip(X.T, Bins("kmeans", 5, spikes=False).fit(X).bin_edges_, strict=True):
        values = len(np.unique(x))
        if values > 5 and len(edges) > 2:
            # Of more values, neighbours are counted together, so that not every cut is possible.
            rounding = 1e-9 if values <= 4096 else 1e-3
            assert squares(x, edges[1:-1]) <= squares(x, kmeans_edges(x, 5)) * (1 + rounding)
