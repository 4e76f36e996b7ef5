"""Calibration that is carried over when rows go or fits are merged, compared with the closed form and recalibration.

75/25 splits of at most 2,000 rows. 10, 30 and 50 % of the training rows are forgotten, by chance: what is carried
is compared with fits of the rows that are left. Then two halves are calibrated separately and merged: the result is
compared with fits of all training rows. Gaussians and logistic regression take the numeric columns of complete rows,
NaiveBayes the table as it is. Log loss on the test rows.

Usage: python -m benchmarks.carried [--data DIR] [--seeds N] [--csv FILE]
"""

import argparse
import copy
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import train_test_split

from benchmarks.priors import numbers, read
from benchmarks.sets import FOLDER
from suffice import GaussianNB, LogisticRegression, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.learners import ClosedForm, Newton, RiskCalibration

SETS = (
    "breast_cancer_wisconsin",
    "cardiotocography",
    "diabetes",
    "heart_cleveland",
    "page_blocks",
    "segment",
    "spambase",
    "vehicle",
    "wdbc",
    "wine",
)
ROWS, COLUMNS = 2000, 60
KINDS = {
    "QDA, RC": lambda **how: QuadraticDiscriminantAnalysis(**{"learner": RiskCalibration()} | how),
    "GaussianNB, RC": lambda **how: GaussianNB(**{"learner": RiskCalibration()} | how),
    "NaiveBayes, RC": lambda **how: NaiveBayes(**{"learner": RiskCalibration()} | how),
    "LogisticRegression, Newton": lambda **how: LogisticRegression(**{"learner": Newton()} | how),
}
GONE = (0.1, 0.3, 0.5)
HOW = ("carried", "closed form", "anew")
WORSE = 0.002  # difference of log losses that counts


def measure(folder, name, seeds):
    """Return the log losses of every classifier on every split: carried over, closed form, and learned again."""
    table = read(folder, name, COLUMNS)
    for kind, make in KINDS.items():
        X, y = table if kind.startswith("NaiveBayes") else numbers(*table)
        X = X.iloc if isinstance(X, pd.DataFrame) else X
        some = np.random.default_rng(0).permutation(len(y))[:ROWS]
        for seed in range(seeds):
            train, test = train_test_split(some, stratify=y[some], random_state=seed)
            train = np.random.default_rng(seed).permutation(train)
            whole = make().fit(X[train], y[train])
            for share in GONE:
                gone, left = np.split(train, [int(share * len(train))])
                less = copy.copy(whole).forget(X[gone], y[gone])
                yield name, seed, kind, f"{share:.0%} forgotten", *compared(make, less, X, y, left, test)
            halves = [make().fit(X[rows], y[rows]) for rows in np.array_split(train, 2)]
            yield name, seed, kind, "halves merged", *compared(make, sum(halves), X, y, train, test)


def compared(make, carried, X, y, rows, test):
    """The log losses on test rows of a carried fit, the closed form of its rows, and a fit of them."""
    fits = [make(learner=ClosedForm()).fit(X[rows], y[rows]), make().fit(X[rows], y[rows])]
    return [log_loss(fit, X[test], y[test]) for fit in (carried, *fits)]


def log_loss(fit, X, y):
    """The mean log loss, with probabilities of at least 1e-15."""
    at = np.searchsorted(fit.classes_, y)
    known = (at < len(fit.classes_)) & (fit.classes_[np.minimum(at, len(fit.classes_) - 1)] == y)
    p = fit.predict_proba(X)[np.arange(len(y)), np.where(known, at, 0)]
    return float(-np.log(np.where(known, p, 0.0).clip(1e-15)).mean())


def show(results, console):
    """Means over the sets, each counted once, and where what is carried is worse."""
    for kind, part in results.groupby("kind", sort=False):
        means = part.groupby(["case", "set"], sort=False)[list(HOW)].mean()
        table = Table("", *HOW, "better / worse than the closed form", "than anew", "worst", title=kind)
        for case in part["case"].unique():
            at = means.loc[case]
            gap = at["carried"] - at["closed form"]
            sides = [f"{(g < -WORSE).sum()} / {(g > WORSE).sum()}" for g in (gap, at["carried"] - at["anew"])]
            table.add_row(case, *(f"{v:.3f}" for v in at.mean()), *sides, f"{gap.idxmax()} {gap.max():+.3f}")
        console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, default=3, help="splits of a data set")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    console, rows = Console(width=140), []
    warnings.simplefilter("ignore")
    for name in SETS:
        rows += measure(options.data, name, options.seeds)
        console.log(name)
    results = pd.DataFrame(rows, columns=["set", "seed", "kind", "case", *HOW])
    if options.csv:
        results.to_csv(options.csv, index=False)
    show(results, console)


if __name__ == "__main__":
    main()
