"""Sparse rows are the same rows, in every format, and stay sparse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from suffice import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from suffice._runtime.random import row_hash
from suffice.data import Memory
from suffice.data.memory import ENTRIES, row_slices
from suffice.encoders import Binary, NonNegative, Numbers
from suffice.learners import RiskCalibration
from tests.strangers.lazy import Lazy
from tests.zoo import every

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning"),
    pytest.mark.filterwarnings("ignore::suffice.ConstantColumnWarning"),
]
seeds = st.integers(0, 2**32 - 1)
KINDS = [MultinomialNB, BernoulliNB, PoissonNB, GaussianNB]
every_kind = pytest.mark.parametrize("kind", KINDS)
TAKES = (MultinomialNB, PoissonNB)  # counts only

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3
X = RNG.poisson(RNG.uniform(0.1, 1.5, size=(3, 8))[Y]).astype(float)
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def holes(X, seed):
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.1, np.nan, X)


@every(lambda entry: entry.sparse)
@given(seeds)
def test_sparse_is_dense(entry, seed):
    X, y = entry.draw(seed, n=90)
    rng = np.random.default_rng(seed)
    X = X * (rng.random(X.shape) < 0.6)
    X = holes(X, seed) if entry.missing else X
    S = sparse.csr_array(X)
    weight = rng.integers(0, 3, len(y))
    for given_weight in (None, weight):
        dense, thin = (entry.estimator().fit(rows, y, sample_weight=given_weight) for rows in (X, S))
        for rows in (X, S):
            assert_allclose(thin.predict_proba(rows), dense.predict_proba(X), rtol=0, atol=10 * entry.tolerance)
    if entry.adds:
        parts = entry.estimator().partial_fit(S[:50], y[:50]) + entry.estimator().partial_fit(X[50:], y[50:])
        assert_allclose(parts.predict_proba(S), entry.estimator().fit(X, y).predict_proba(X), rtol=0, atol=1e-9)
        left, rest = (
            dense.forget(X[weight == 2][:5], y[weight == 2][:5]),
            thin.forget(S[weight == 2][:5], y[weight == 2][:5]),
        )
        assert_allclose(rest.predict_proba(S), left.predict_proba(X), rtol=0, atol=1e-9)


@every_kind
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["array", "matrix"])
def test_every_format(kind, form, name):
    S = getattr(sparse, f"{form}_{name}")(X)
    weight = Y + 0.0  # some are zero
    whole = kind().fit(X, Y, weight)
    assert_allclose(kind().fit(S, Y, weight).predict_proba(S), whole.predict_proba(X), atol=1e-12)
    assert_allclose(kind().fit(Memory(S, Y, weight)).predict_proba(Memory(S)), whole.predict_proba(X), atol=1e-12)


@every_kind
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
def test_every_kind_of_number(kind, dtype):
    table = X.astype(dtype)
    expected = kind().fit(table.astype(float), Y).predict_proba(table.astype(float))
    assert_allclose(kind().fit(sparse.csr_array(table), Y).predict_proba(sparse.csr_array(table)), expected, atol=1e-6)


@every_kind
def test_entries_in_disorder(kind):
    """Duplicates add up, also those of which only the sum is above a threshold; zeros may be stored."""
    S = sparse.csr_array(X)
    twice = sparse.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)
    backwards = [np.r_[S.indices[a:b]][::-1] for a, b in zip(S.indptr, S.indptr[1:], strict=False)]
    flipped = [S.data[a:b][::-1] for a, b in zip(S.indptr, S.indptr[1:], strict=False)]
    upside = sparse.csr_array((np.concatenate(flipped), np.concatenate(backwards), S.indptr), shape=S.shape)
    zeros = sparse.csr_array((X.ravel(), np.tile(np.arange(8), 90), np.arange(0, 721, 8)), shape=X.shape)
    wide = sparse.csr_array(S)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    settings = {"binarize": 0.5} if kind is BernoulliNB else {}
    expected = kind(**settings).fit(X, Y).predict_proba(X)
    for odd in (twice, upside, zeros, wide, sparse.coo_array(twice)):
        before = odd.data.copy()
        assert_allclose(kind(**settings).fit(odd, Y).predict_proba(odd), expected, atol=1e-12)
        assert (odd.data == before).all()  # the caller's own


@every_kind
def test_rows_and_columns_of_zeros(kind):
    empty = np.vstack([X, np.zeros((6, 8))])
    empty[:, 3] = 0
    y = np.r_[Y, np.arange(6) % 3]
    S = sparse.csr_array(empty)
    assert_allclose(kind().fit(S, y).predict_proba(S), kind().fit(empty, y).predict_proba(empty), atol=1e-12)
    nothing = kind().partial_fit(sparse.csr_array((3, 8)), [0, 1, 2])
    assert_allclose(nothing.predict_proba(sparse.csr_array((2, 8))), np.full((2, 3), 1 / 3))


@every_kind
def test_one_row(kind):
    model = kind().partial_fit(sparse.csr_array(X[:1]), Y[:1]).partial_fit(sparse.csr_array(X[1:]), Y[1:])
    assert_allclose(model.predict_proba(sparse.csr_array(X[:1])), kind().fit(X, Y).predict_proba(X[:1]), atol=1e-12)


@every_kind
def test_a_thousand_classes_of_two_rows(kind, rng):
    y = np.repeat(np.arange(1000), 2)
    table = rng.poisson(0.3, size=(2000, 60)) + 5.0 * (y[:, None] % 60 == np.arange(60))
    dense, thin = kind().fit(table, y), kind().fit(sparse.csr_array(table), y)
    assert_allclose(thin.predict_proba(sparse.csr_array(table)), dense.predict_proba(table), atol=1e-10)


@every_kind
def test_sparse_data_frames(kind):
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=list("abcdefgh"))
    model = kind().fit(frame, Y)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    assert sparse.issparse(model._encoder(frame).values)
    assert_allclose(model.predict_proba(frame), kind().fit(X, Y).predict_proba(X), atol=1e-12)


@every_kind
def test_other_engines(kind):
    S = sparse.csr_array(X)
    lazy = Lazy([(S[:20], Y[:20]), (S[:0], Y[:0]), (S[20:], Y[20:])])
    assert_allclose(kind().fit(lazy).predict_proba(S), kind().fit(X, Y).predict_proba(X), atol=1e-12)
    learner = RiskCalibration(batch_size=30, validation_fraction=0.3, random_state=0)
    for data in (lazy, Memory(S, Y)):
        assert kind(learner=learner).fit(data).history_["log_loss"]


def test_sparse_normal_rows_far_from_zero(rng):
    """Columns that are stored throughout keep their digits, whatever their offset and whatever is beside them."""
    table = np.column_stack([rng.normal(size=(90, 2)) + 1e8 + Y[:, None], X, 1e5 * (Y == 1) + X[:, 0] * (Y == 1)])
    table[5, 0] = np.nan
    S = sparse.csr_array(table)
    for tied in (False, True):
        dense, thin = GaussianNB(tied=tied).fit(table, Y), GaussianNB(tied=tied).fit(S, Y)
        assert_allclose(thin.var_, dense.var_, rtol=1e-9)
        assert_allclose(thin.predict_log_proba(S), dense.predict_log_proba(table), rtol=1e-9, atol=1e-9)
        few = thin.predict_log_proba(S[[3]] * 0)  # zero is far from everything here
        rounding = 4 * np.finfo(float).eps * 1e16  # of log-densities of this size, whose differences these are
        assert_allclose(few, dense.predict_log_proba(table[[3]] * 0), rtol=0, atol=rounding)


# Refusals


@pytest.mark.parametrize(
    "kind",
    [
        CategoricalNB,
        QuadraticDiscriminantAnalysis,
        LinearDiscriminantAnalysis,
        LogisticRegression,
        MinimaxProbabilityMachine,
    ],
)
def test_where_rows_must_be_dense(kind):
    said = r"Sparse data was passed for X, but dense data is required. Use '.toarray\(\)'.*MultinomialNB, BernoulliNB"
    with pytest.raises(TypeError, match=said):
        kind().fit(sparse.csr_array(X), Y)
    with pytest.raises(TypeError, match=said):
        kind().fit(X, Y).predict(sparse.coo_array(X))


@pytest.mark.parametrize("kind", TAKES)
def test_negative_counts(kind):
    bad = X.copy()
    bad[4, 2] = -1
    for rows in (bad, sparse.csc_array(bad)):
        with pytest.raises(
            ValueError, match=f"Negative values in data passed to {kind.__name__}, in column 2: counts are"
        ):
            kind().fit(rows, Y)
    with pytest.raises(ValueError, match="in column 'c': counts are at least 0"):
        kind().fit(X, Y).predict(pd.DataFrame(bad, columns=list("abcdefgh")))


def test_missing_counts():
    bad = holes(X, 0)
    for rows in (bad, sparse.csr_array(bad)):
        with pytest.raises(
            ValueError, match=r"Input X contains NaN, in column 0, .*MultinomialNB takes no missing values"
        ):
            MultinomialNB().fit(rows, Y)
    infinite = sparse.csr_array(np.where(X == 2, np.inf, X))
    for kind in KINDS:
        with pytest.raises(ValueError, match="Input X contains infinity, in column"):
            kind().fit(infinite, Y)


def test_thresholds():
    with pytest.raises(ValueError, match="above the threshold -1 every zero of sparse data would count as there"):
        BernoulliNB(binarize=-1).fit(sparse.csr_array(X), Y)
    with pytest.raises(
        ValueError, match="BernoulliNB without a threshold takes 0 and 1, but other numbers are in column"
    ):
        BernoulliNB(binarize=None).fit(X, Y)
    with pytest.raises(ValueError, match="BernoulliNB: binarize must be None or a finite number, got 'yes'"):
        BernoulliNB(binarize="yes").fit(X, Y)
    assert BernoulliNB(binarize=-1).fit(X, Y).feature_count_.tolist() == [[30.0] * 8] * 3


# Parts


def test_hashes_of_sparse_rows():
    S = sparse.csr_array(np.vstack([X, X]))
    u = row_hash(S, 3)
    assert (u[:90] == u[90:]).all()
    assert (u == row_hash(S.astype(np.float32), 3)).all()
    zeros = sparse.csr_array((X.ravel(), np.tile(np.arange(8), 90), np.arange(0, 721, 8)), shape=X.shape)
    assert (row_hash(zeros, 3) == u[:90]).all()
    assert (row_hash(S, 4) != u).all()
    many = row_hash(sparse.random_array((5000, 200), density=0.02, format="csr", rng=0), 0)
    assert abs(np.histogram(many, 10, (0, 1))[0] / 500 - 1).max() < 0.2
    assert len(np.unique(many)) > 4900


def test_batches_of_sparse_rows():
    n = 2 * ENTRIES // 10
    indptr = np.minimum(10 * np.arange(n + 1), 5 * n)  # all entries in the first half
    S = sparse.csr_array((np.ones(5 * n), np.tile(np.arange(10, dtype=np.int32), n // 2), indptr), shape=(n, 50))
    slices = row_slices(S)
    assert [s.start for s in slices[1:]] == [s.stop for s in slices[:-1]]
    assert (slices[0].start, slices[-1].stop) == (0, n)
    assert 2 <= len(slices) <= 3
    assert max(indptr[s.stop] - indptr[s.start] for s in slices) <= ENTRIES
    assert row_slices(S[:0]) == [slice(0, 0)]
    encoded = Numbers(sparse=True)(S)
    assert (encoded[5:50].values.toarray() == S[5:50].toarray()).all()
    assert (encoded[50:5].values.shape, encoded[-3:].values.shape) == ((0, 50), (3, 50))


def test_encoders_leave_rows_alone():
    S = sparse.csr_array(X)
    for encoder in (Numbers(sparse=True), NonNegative()):
        assert np.shares_memory(encoder(S).values.data, S.data)
    assert (Binary(threshold=1.0)(S).values.toarray() == (X > 1)).all()
