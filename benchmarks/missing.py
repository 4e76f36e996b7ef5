"""A share of the entries removed at random: error and log loss of discriminant analysis by EM, beside imputing.

Ten data sets of numbers, splits 75/25, stratified; entries are removed from training and test rows alike. Mean
imputation and scikit-learn's IterativeImputer (10 rounds, its default) are fitted on the training rows and come before
the same classifier. "complete" has all entries: what cannot be reached.

Usage: python benchmarks/missing.py [--data DIR] [--seeds N] [--share P] [--rows N]
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from scipy.stats import wilcoxon
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - which makes the next line possible
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

SETS = ["iris", "glass", "seeds", "wine", "vehicle", "diabetes", "vowel", "wdbc", "segment", "waveform"]
KINDS = {"QDA": QuadraticDiscriminantAnalysis, "LDA": LinearDiscriminantAnalysis}
METHODS = {
    "EM": lambda kind: kind(),
    "mean": lambda kind: make_pipeline(SimpleImputer(), kind()),
    "iterative": lambda kind: make_pipeline(IterativeImputer(random_state=0), kind()),
}


def load(data, name, most):
    """Return complete rows of a data set, up to a maximum: numbers (n, d) and labels."""
    table = pd.read_parquet(data / f"{name}.parquet").dropna(ignore_index=True)
    table = table.sample(min(most, len(table)), random_state=0)
    X = table.drop(columns="target").to_numpy(dtype=float)
    return X, table["target"].to_numpy()


def measured(model, train, test):
    """Error, log loss and seconds of a fit and its predictions."""
    began = time.perf_counter()
    p = model.fit(*train).predict_proba(test[0])
    seconds = time.perf_counter() - began
    own = p[np.arange(len(p)), np.searchsorted(model.classes_, test[1])]
    error = 1.0 - np.mean(model.classes_[p.argmax(axis=1)] == test[1])
    return error, -np.log(np.maximum(own, 1e-15)).mean(), seconds


def split(X, y, seed, share):
    """Rows to learn from and to test on, complete and with holes."""
    holes = np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
    return ((X[train], y[train]), (X[test], y[test])), ((holes[train], y[train]), (holes[test], y[test]))


def results(data, seeds, share, most):
    rows = []
    for name in SETS:
        X, y = load(data, name, most)
        for seed in range(seeds):
            whole, holed = split(X, y, seed, share)
            for called, kind in KINDS.items():
                rows.append((name, *X.shape, seed, called, "complete", *measured(kind(), *whole)))
                rows += [
                    (name, *X.shape, seed, called, method, *measured(make(kind), *holed))
                    for method, make in METHODS.items()
                ]
        print(f"{name} done", flush=True)
    columns = ["data", "rows", "columns", "seed", "kind", "method", "error", "log_loss", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def show(found, console):
    for kind in KINDS:
        for score in ("error", "log_loss", "seconds"):
            own = found[found.kind == kind]
            wide = own.pivot_table(index=["data", "rows", "columns"], columns="method", values=score, sort=False)
            title = f"{kind}: {score.replace('_', ' ')}, mean over the splits"
            table = Table("data", "rows", "columns", "complete", *METHODS, title=title)
            for (name, n, d), row in wide.iterrows():
                best = row[list(METHODS)].min()
                cells = [f"[bold]{row[m]:.4f}[/]" if row[m] == best else f"{row[m]:.4f}" for m in METHODS]
                table.add_row(name, str(n), str(d), f"{row['complete']:.4f}", *cells)
            means = [f"{wide[m].mean():.4f}" for m in ("complete", *METHODS)]
            table.add_row("mean", "", "", *means, end_section=True)
            console.print(table)
            if score != "seconds":
                for other in ("mean", "iterative"):
                    console.print(_verdict(wide["EM"], wide[other], other))


def _verdict(ours, theirs, other):
    wins, losses = (ours < theirs - 1e-12).sum(), (ours > theirs + 1e-12).sum()
    ratio = np.exp(np.mean(np.log((ours + 1e-3) / (theirs + 1e-3))))
    p = wilcoxon(ours, theirs).pvalue if wins + losses else 1.0
    said = f"EM against {other}: better on {wins}, worse on {losses} of {len(ours)}"
    return f"{said}; ratio {ratio:.3f}; Wilcoxon p = {p:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("SUFFICE_DATA", "../shared/data"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--rows", type=int, default=1500)
    given = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # IterativeImputer has seldom converged
        show(results(Path(given.data), given.seeds, given.share, given.rows), Console(width=120))


if __name__ == "__main__":
    main()
