"""Out-of-sample calibration on honest splits, beside plain calibration and the closed form.

The data sets of at most 8,000 rows (without the RC authors' versions of the same rows) are sorted by name: those at
even places of all sets are for choosing the constants (--choose), those at odd places for reporting. 75/25 splits of at
most 2,000 rows; Gaussians take the numeric columns of complete rows, NaiveBayes the table as it is.

Usage: python -m benchmarks.out_of_sample [--choose] [--data DIR] [--seeds N] [--csv FILE]
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import train_test_split

from benchmarks.priors import names, numbers, read, scores
from suffice import GaussianNB, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.learners import RiskCalibration, calibration

SMALL, ROWS, COLUMNS = 8000, 2000, 60
KINDS = {"QDA": QuadraticDiscriminantAnalysis, "GaussianNB": GaussianNB, "NaiveBayes": NaiveBayes}
GAMMA = calibration.GAMMA
LEARNERS = {  # with the share gamma of what learning has added that is taken out with a row
    "closed form": (None, GAMMA),
    "RC": (RiskCalibration(), GAMMA),
    "RC, out of sample": (RiskCalibration(out_of_sample=True), GAMMA),
}
MORE = {
    f"gamma {gamma:g}, anchor {anchor:g}": (RiskCalibration(anchor=anchor, out_of_sample=True), gamma)
    for gamma in (0.25, 0.5, 0.75, 1.0)
    for anchor in (0.0, 0.1, 0.3)
}


class Rows:
    """A data frame that is indexed by rows, as an array is."""

    def __init__(self, frame):
        self.frame = frame

    def __getitem__(self, rows):
        return self.frame.iloc[rows]


def measure(folder, name, learners, seeds):
    """Every model and learner on every split of a data set."""
    table = read(folder, name, COLUMNS)
    for kind, estimator in KINDS.items():
        X, y = table if kind == "NaiveBayes" else numbers(*table)
        if not X.shape[1]:
            continue
        some = np.random.default_rng(0).permutation(len(y))[:ROWS]
        for seed in range(seeds):
            train, test = train_test_split(some, stratify=y[some], random_state=seed)
            for called, (learner, calibration.GAMMA) in learners.items():
                model = estimator(learner=learner)
                found = scores(model, Rows(X) if kind == "NaiveBayes" else X, y, train, test)
                yield name, seed, kind, called, *found, model.n_iter_


def show(results, console):
    for kind, part in results.groupby("kind", sort=False):
        means = part.groupby(["learner", "set"], sort=False)[["error", "log loss", "passes"]].mean()
        table = Table(
            "learner",
            "error",
            "log loss",
            "passes",
            "log loss below / above the closed form by .002",
            title=f"{kind}: {part['set'].nunique()} data sets",
        )
        closed = means.loc["closed form"]["log loss"]
        for called in part["learner"].unique():
            at = means.loc[called]
            gap = at["log loss"] - closed
            sides = f"{(gap < -0.002).sum()} / {(gap > 0.002).sum()}"
            error, loss, passes = at.mean()
            table.add_row(called, f"{error:.4f}", f"{loss:.4f}", f"{passes:.1f}", sides)
        console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SUFFICE_DATA", "../shared/data")))
    parser.add_argument("--seeds", type=int, help="splits of a data set: 3, or 1 for choosing")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    console, rows = Console(width=140), []
    warnings.simplefilter("ignore")
    learners = LEARNERS | (MORE if options.choose else {})
    for name in names(options.data, options.choose):
        if len(pd.read_parquet(options.data / f"{name}.parquet", columns=["target"])) > SMALL:
            continue
        rows += measure(options.data, name, learners, options.seeds or (1 if options.choose else 3))
        console.log(name)
    results = pd.DataFrame(rows, columns=["set", "seed", "kind", "learner", "error", "log loss", "passes"])
    if options.csv:
        results.to_csv(options.csv, index=False)
    show(results, console)


if __name__ == "__main__":
    main()
