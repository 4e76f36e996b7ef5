"""Quadratic discriminants of many columns: beside scikit-learn's, beside matrix products, and their memory.

python -m benchmarks.quadratic ROWS COLUMNS CLASSES      the MB of a pass of calibration beyond its rows
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn import discriminant_analysis

import suffice
from benchmarks.memory import beyond
from benchmarks.timing import Case, Told, pair
from suffice.data import Memory
from suffice.encoders import Numbers
from suffice.learners import Evaluate
from suffice.losses import Loss

MOST = 300.0  # MB of a pass beyond its rows


def drawn(n: int, d: int, k: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Normal rows of k classes, each with its own mean and covariance."""
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d))
    for c in range(k):
        rows = y == c
        X[rows] = X[rows] @ (np.eye(d) + rng.normal(size=(d, d)) / (2 * np.sqrt(d))) + rng.normal(size=d) / np.sqrt(d)
    return X, y


def one_pass(model: Any, X: Any, y: Any) -> Callable[[], Any]:
    """One pass of risk-based calibration from a fitted model: the losses and S(X, Y - P) of rows in memory."""
    fit, rows = model._fit_result(), Memory(Numbers()(X), y)
    evaluate = Evaluate(fit.model, fit.parameters, model.classes_, Loss.equal(len(model.classes_)))
    return partial(rows.sum, evaluate)


def quadratic(n: int, d: int, k: int, rng: np.random.Generator) -> Iterator[Case]:
    """Fitting, predicting, a pass of calibration as a share of matrix products, and its memory."""
    X, y = drawn(n, d, k, rng)
    data = f"{n} x {d}, {k} classes"
    ours, theirs = suffice.QuadraticDiscriminantAnalysis(), discriminant_analysis.QuadraticDiscriminantAnalysis()
    yield from pair(data, ours, theirs, X, y, {"fit": 4.0, "predict_proba": 3.0})
    square, out = rng.normal(size=(d, d)), np.empty((n, d))

    def products() -> None:  # 2 n d^2 k operations, as many as n d^2 k for the scores and for the statistics
        for _ in range(k):
            np.matmul(X, square, out=out)

    what, peer = "QuadraticDiscriminantAnalysis, one pass of RC", f"{k} products with a matrix of {d} x {d}"
    yield Case(data, what, peer, one_pass(ours, X, y), products, 0.45)
    yield Told(data, f"{what}, memory", f"{MOST:.0f} MB", partial(_megabytes, n, d, k), lambda: MOST, 1.0, "MB")


def _megabytes(n: int, d: int, k: int) -> float:
    """The memory of a pass in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.quadratic", *map(str, (n, d, k))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
    return float(done.stdout)


def main(arguments: list[str]) -> None:
    """Print the MB of a fit and a pass, whichever is more."""
    n, d, k = map(int, arguments)
    warnings.simplefilter("ignore")
    X, y = drawn(n, d, k, np.random.default_rng(0))
    model = suffice.QuadraticDiscriminantAnalysis().fit(X[: 20 * k], y[: 20 * k])  # what there is to compile
    one_pass(model, X[: 20 * k], y[: 20 * k])()
    print(beyond(lambda: one_pass(model.fit(X, y), X, y)())[0] / 1e6)


if __name__ == "__main__":
    main(sys.argv[1:])
