"""Priors on honest splits: test error and log loss of naive Bayes and discriminant analysis, by prior.

The data sets of the manifest (without the RC authors' versions of the same rows) are sorted by name: those at even
places are for choosing a default (--choose), those at odd places for reporting it. Whole training sets (75/25 splits)
and samples of 3, 5, 10 and 20 rows a class. Gaussians take the numeric columns; categories are the columns as they are
with numbers in 8 or 32 quantile bins of the training rows. At most 4,000 rows and 40 (categories: 100) columns of a
set; classes of at least 10 rows. Means over the data sets, each of which counts once for every size of sample.

Usage: python -m benchmarks.priors [--choose] [--data DIR] [--seeds N] [--csv FILE]
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import train_test_split

from benchmarks.sets import FOLDER, names
from suffice import (
    CategoricalNB,
    Dirichlet,
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

ROWS, SMALL = 4000, (3, 5, 10, 20)
GAUSSIANS = {
    "NB": lambda prior: GaussianNB(prior=prior),
    "NB, tied": lambda prior: GaussianNB(prior=prior, tied=True),
    "QDA": lambda prior: QuadraticDiscriminantAnalysis(prior=prior),
    "LDA": lambda prior: LinearDiscriminantAnalysis(prior=prior),
}
EVIDENCE = {"cov_weight": "evidence", "total_share": 1e-3}
REPORTED = {
    "before: 10 rows at the mean and variance of all": GaussianPrior(10, 10, covariance="total"),
    "default: 0 and 30 rows": GaussianPrior(),
    "evidence, flat means": GaussianPrior(0, correlation="evidence", **EVIDENCE),
    "evidence, means too (NIW)": GaussianPrior("evidence", correlation="evidence", kind="niw", **EVIDENCE),
}
TABLES = {
    "before and default: 1 a cell": Dirichlet(1.0),
    "evidence, marginal": Dirichlet("evidence", base="marginal"),
    "1/2 a cell": Dirichlet(0.5),
    "1 a table": Dirichlet(1.0, "table"),
}


def candidates():
    """Gaussian priors to choose from."""
    found = dict(REPORTED)
    for mean in (0.0, 0.5, 10.0):
        for cov in (1.0, 10.0, 30.0, 100.0):
            for u in (1e-3, 0.1, 0.3):
                found[f"{mean:g} and {cov:g} rows, within + {u:g} total"] = GaussianPrior(mean, cov, total_share=u)
            found[f"{mean:g} and {cov:g} rows, total"] = GaussianPrior(mean, cov, covariance="total")
        found[f"{mean:g} and 30 rows, half of the correlations"] = GaussianPrior(mean, correlation=0.5)
        found[f"{mean:g} and 30 rows, NIW"] = GaussianPrior(mean, kind="niw")
    found["evidence, no correlations"] = GaussianPrior(0.0, **EVIDENCE)
    found["evidence, within + 0.3 total"] = GaussianPrior(0.0, "evidence")
    return found


def more_tables():
    """Dirichlet priors to choose from."""
    marginal = {f"marginal, {w:g} a table": Dirichlet(w, "table", "marginal") for w in (1.0, 4.0, 16.0)}
    return TABLES | marginal | {"2 a cell": Dirichlet(2.0), "evidence, uniform": Dirichlet("evidence")}


def read(folder, name, columns):
    """Some rows and columns of a data set."""
    table = pd.read_parquet(folder / f"{name}.parquet")
    table = table[table.groupby("target")["target"].transform("size") >= 10]
    table = table.sample(min(len(table), 2 * ROWS), random_state=0).reset_index(drop=True)
    X, y = table.drop(columns="target"), table["target"].astype(str).to_numpy()
    return X.iloc[:, np.linspace(0, X.shape[1] - 1, min(columns, X.shape[1])).astype(int)], y


def numbers(X, y):
    """Numeric columns that are mostly there, complete rows of classes that are still large enough; or nothing."""
    X = X.select_dtypes("number")
    X = X.loc[:, X.isna().mean() < 0.2]
    complete = X.notna().all(axis=1).to_numpy()
    X, y = X[complete].to_numpy(dtype=float), y[complete]
    kept = pd.Series(y).groupby(y).transform("size").to_numpy() >= 10
    return X[kept], y[kept]


def splits(y, seeds):
    """Training and test rows by the size of the sample."""
    for seed in range(seeds):
        yield "whole", *train_test_split(np.arange(len(y)), stratify=y, random_state=seed)
        order = np.random.default_rng(seed).permutation(len(y))
        for size in SMALL:
            train = np.concatenate([order[y[order] == c][:size] for c in np.unique(y)])
            yield size, train, np.setdiff1d(order, train)


def coded(X, train, bins):
    """Columns as codes: categories as they are, numbers in quantile bins of the training rows; missing as NaN."""
    out = []
    for column in X:
        values = X[column]
        if not pd.api.types.is_numeric_dtype(values):
            codes = values.astype("category").cat.codes.to_numpy().astype(float)
            out.append(np.where(codes < 0, np.nan, codes))
            continue
        x = values.to_numpy(dtype=float)
        known = x[train][~np.isnan(x[train])]
        edges = np.unique(np.quantile(known, np.arange(1, bins) / bins)) if len(known) else np.zeros(0)
        few = len(np.unique(known)) <= bins
        out.append(x if few else np.where(np.isnan(x), np.nan, np.searchsorted(edges, x, side="right")))
    return np.column_stack(out)


def scores(model, X, y, train, test):
    """Test error, and log loss with probabilities of at least 1e-15."""
    test = test[:ROWS]
    model.fit(X[train], y[train])
    log_p = model.predict_log_proba(X[test])
    of_truth = log_p[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]
    return float((model.classes_[log_p.argmax(axis=1)] != y[test]).mean()), float(-of_truth.clip(np.log(1e-15)).mean())


def measure(folder, name, choose, seeds):
    """Every model and prior on every split of a data set."""
    gaussian, tables = (candidates(), more_tables()) if choose else (REPORTED, TABLES)
    X, y = numbers(*read(folder, name, 40))
    for size, train, test in splits(y, seeds) if X.shape[1] else ():
        for model, make in GAUSSIANS.items():
            for prior, believed in gaussian.items():
                yield name, size, model, prior, *scores(make(believed), X, y, train, test)
    X, y = read(folder, name, 100)
    for size, train, test in splits(y, seeds):
        for bins in (8, 32):
            codes = coded(X, train, bins)
            for prior, believed in tables.items():
                found = scores(CategoricalNB(prior=believed), codes, y, train, test)
                yield name, size, f"CategoricalNB, {bins} bins", prior, *found


def show(results, console):
    results = results.assign(sample=np.where(results["size"] == "whole", "whole", "small"))
    cells = results.groupby(["model", "prior", "sample", "set", "size"], sort=False)[["error", "log loss"]].mean()
    means = cells.groupby(level=["model", "prior", "sample"], sort=False).mean()
    for model in results["model"].unique():
        table = Table(
            "prior",
            "error, 3 to 20 rows a class",
            "log loss",
            "error, whole",
            "log loss",
            title=f"{model}: {results.loc[results['model'] == model, 'set'].nunique()} data sets",
        )
        for prior in results.loc[results["model"] == model, "prior"].unique():
            at = [means.loc[(model, prior, sample)] for sample in ("small", "whole")]
            table.add_row(prior, *(f"{one[name]:.4f}" for one in at for name in ("error", "log loss")))
        console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, help="splits of a data set: 3, or 1 for choosing, among many more priors")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    console, rows = Console(width=140), []
    warnings.simplefilter("ignore")
    for name in names(options.data, "choose" if options.choose else "report"):
        rows += measure(options.data, name, options.choose, options.seeds or (1 if options.choose else 3))
        console.log(name)
    results = pd.DataFrame(rows, columns=["set", "size", "model", "prior", "error", "log loss"])
    if options.csv:
        results.to_csv(options.csv, index=False)
    show(results, console)


if __name__ == "__main__":
    main()
