"""Time to fit and to predict, as a ratio to scikit-learn's estimator of the same kind in the same run."""

import time
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn import discriminant_analysis, naive_bayes

import suffice

ROWS, FEATURES, CLASSES, REPEATS = 400_000, 20, 4, 5
PAIRS = [
    (suffice.GaussianNB(), naive_bayes.GaussianNB()),
    (suffice.CategoricalNB(), naive_bayes.CategoricalNB()),
    (suffice.LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis("lsqr")),
    (suffice.QuadraticDiscriminantAnalysis(), discriminant_analysis.QuadraticDiscriminantAnalysis()),
]


def seconds(action):
    """The shortest of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=ROWS)
    numbers = rng.normal(size=(ROWS, FEATURES)) + rng.normal(size=(CLASSES, FEATURES))[y]
    codes = (2 * numbers).round().clip(-5, 5) + 5
    title = f"{ROWS} rows, {FEATURES} features, {CLASSES} classes: scikit-learn's time / ours (above 1 is faster)"
    table = Table("estimator", "fit", "predict_proba", title=title)
    for ours, theirs in PAIRS:
        X = codes if isinstance(ours, suffice.CategoricalNB) else numbers
        ours.fit(X[:100], y[:100]).predict_proba(X[:100])  # compiles what is not compiled yet
        fit = seconds(partial(theirs.fit, X, y)) / seconds(partial(ours.fit, X, y))
        predict = seconds(partial(theirs.predict_proba, X)) / seconds(partial(ours.predict_proba, X))
        table.add_row(type(ours).__name__, f"{fit:.1f}", f"{predict:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
