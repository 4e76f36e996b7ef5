"""Cross-validation and search of settings from sums, beside fitting every split.

Two tables. Cross-validation: the time of 10 folds, as a multiple of that of fitting all rows and predicting them, ours
and scikit-learn's `cross_validate` of the same estimator. Search: the time of 50 priors in 5 folds by
`suffice.model_selection.GridSearch`, and that of scikit-learn's `GridSearchCV` as a multiple of it; both find the same
scores, or the run ends with an error. Times are those of the processor (so that others on the machine matter less), the
least of several runs, in the same process.

    python benchmarks/search.py [--rows 50000 200000] [--search-rows 20000] [--repeat 3]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn import model_selection

from suffice import (
    CategoricalNB,
    Dirichlet,
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.model_selection import GridSearch, cross_validate

COLUMNS, CLASSES, FOLDS, PRIORS = 20, 3, 10, 50
SCORES = ("accuracy", "neg_log_loss")


def rows(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Numbers (n, 20) of three classes, the same as whole numbers of a small range, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    X = rng.normal(size=(n, COLUMNS)) + y[:, None] * 0.5 * rng.normal(size=COLUMNS)
    return X, np.clip(np.round(2 * X), -4, 4).astype(int), y


def seconds(f: Callable[[], Any], repeat: int) -> float:
    """The least time of several runs."""
    times = []
    for _ in range(repeat):
        begun = process_time()
        f()
        times.append(process_time() - begun)
    return min(times)


def line(*cells: object) -> None:
    """A row of a table."""
    first, *others = (f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells)
    sys.stdout.write(first.ljust(40) + "".join(cell.rjust(14) for cell in others) + "\n")
    sys.stdout.flush()


def folds(n: int, repeat: int) -> None:
    """Cross-validation beside fitting and predicting once."""
    X, whole, y = rows(n)
    line(f"10 folds, {n} x {COLUMNS}", "once (ms)", "ours", "log loss", "scikit-learn")
    for model, Z in [
        (LinearDiscriminantAnalysis(), X),
        (QuadraticDiscriminantAnalysis(), X),
        (GaussianNB(), X),
        (CategoricalNB(), whole),
        (NaiveBayes(), X),
        (NaiveBayes(numeric="gaussian"), X),
    ]:
        once = seconds(lambda m=model, Z=Z: m.fit(Z, y).predict_proba(Z), repeat + 2)
        ours = [
            seconds(lambda m=model, Z=Z, s=score: cross_validate(m, Z, y, cv=FOLDS, scoring=s), repeat)
            for score in SCORES
        ]
        theirs = seconds(lambda m=model, Z=Z: model_selection.cross_validate(m, Z, y, cv=FOLDS), 1)
        line(model, 1e3 * once, *(one / once for one in ours), theirs / once)


def priors(n: int, repeat: int) -> None:
    """50 priors beside scikit-learn's search."""
    X, whole, y = rows(n)
    normal = {"prior": [GaussianPrior(0, weight) for weight in np.geomspace(1, 1000, PRIORS)]}
    tables = {"prior": [Dirichlet(weight) for weight in np.geomspace(0.01, 100, PRIORS)]}
    line(f"50 priors, 5 folds, {n} x {COLUMNS}", "score", "ours (s)", "scikit-learn")
    for model, Z, grid in [
        (LinearDiscriminantAnalysis(), X, normal),
        (QuadraticDiscriminantAnalysis(), X, normal),
        (GaussianNB(), X, normal),
        (CategoricalNB(), whole, tables),
    ]:
        for score in SCORES:
            ours = GridSearch(model, grid, scoring=score)
            theirs = model_selection.GridSearchCV(model, grid, scoring=score)
            time = seconds(lambda search=ours, Z=Z: search.fit(Z, y), repeat)
            other = seconds(lambda search=theirs, Z=Z: search.fit(Z, y), 1)
            np.testing.assert_allclose(
                ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-10
            )
            line(model, score, time, other / time)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 200_000])
    parser.add_argument("--search-rows", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    for n in args.rows:
        folds(n, args.repeat)
    priors(args.search_rows, args.repeat)


if __name__ == "__main__":
    main()
