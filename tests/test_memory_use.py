"""Memory beyond the rows does not grow with them: rows are encoded, scored and summed batch by batch."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from suffice import (
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)

MANY, COLUMNS = 1 << 21, 8  # rows of eight batches; half of them are four as large
MODELS = [
    CategoricalNB(),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    LogisticRegression(),
    NaiveBayes(),
    QuadraticDiscriminantAnalysis(),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.integers(5, size=(MANY, COLUMNS)), rng.integers(3, size=MANY)


def peak(call):
    """The most bytes that are held beyond those before a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_memory_does_not_grow_with_rows(rows, model):
    X, y = rows if isinstance(model, CategoricalNB) else (rows[0] + 0.5 * rows[1][:, None], rows[1])
    half = MANY // 2
    with parallel_config(n_jobs=1):
        model.fit(X, y).predict(X)  # compiles
        fits = [peak(lambda n=n: model.fit(X[:n], y[:n])) for n in (half, MANY)]
        answers = [peak(lambda n=n: model.predict(X[:n])) for n in (half, MANY)]
    assert fits[1] - fits[0] < 3 * half  # a byte for a label, and one to look at it
    assert answers[1] - answers[0] < 9 * half  # the labels themselves


def test_frames_are_taken_batch_by_batch(rows):
    X = pd.DataFrame({f"x{j}": column.astype(np.float32 if j % 2 else float) for j, column in enumerate(rows[0].T)})
    with parallel_config(n_jobs=1):
        model = GaussianNB().fit(X, rows[1])
        assert peak(lambda: model.fit(X, rows[1])) < 4 * X.size  # not a copy of all numbers
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(X.to_numpy(dtype=float), rows[1]).theta_, rtol=1e-12)


@pytest.mark.parametrize("model", [CategoricalNB(), NaiveBayes(), GaussianNB()], ids=lambda m: type(m).__name__)
def test_many_rows_are_learned_and_answered_as_pieces_are(rows, model):
    X, y = rows
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)])
    if isinstance(model, NaiveBayes):
        frame = frame.astype({"x0": "category", "x1": str, "x2": float})
    some = slice(0, 300_000)
    frame, y = frame[some], y[some]
    before = frame.copy()
    whole = model.fit(frame, y).predict_proba(frame)
    pieces = [slice(i, i + 30_000) for i in range(0, len(y), 30_000)]
    np.testing.assert_array_equal(whole, np.concatenate([model.predict_proba(frame[at]) for at in pieces]))
    pd.testing.assert_frame_equal(frame, before)
    bit_by_bit = type(model)()
    for at in pieces:
        bit_by_bit.partial_fit(frame[at], y[at])
    np.testing.assert_allclose(bit_by_bit.predict_proba(frame[:1000]), whole[:1000], rtol=1e-9)
