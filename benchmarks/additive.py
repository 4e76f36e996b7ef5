"""`AdditiveTables` beside EBM, the anchor of additive models, and beside boosting and logistic regression.

    python benchmarks/additive.py small      ten small sets of two classes: log loss, error and time
    python benchmarks/additive.py adult      adult in five splits: AUC, log loss and time; EBM in one
    python benchmarks/additive.py monotone   what it costs to let columns only rise or fall

Splits are 75/25 and stratified; nothing is fitted on test rows. The ten sets are at odd places of the sorted names of
all sets, by which nothing was chosen; of those above 2,000 rows so many are drawn. EBM (optional: pip install
interpret-core) has its defaults, on one core. What has been measured is kept in a file, and a run that was stopped goes
on from there.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from benchmarks.tables import Kept, boosting, logistic, measure, read
from suffice import AdditiveTables

SMALL = [
    "blood_transfusion",
    "fertility",
    "heart_statlog",
    "ionosphere",
    "magic",
    "pulsar",
    "splice",
    "svmguide3",
    "twonorm",
    "vote",
]
MOST = 2000  # rows of a small set
MONOTONE = {
    "adult": {"education-num": 1, "capital-gain": 1, "capital-loss": 1, "hours-per-week": 1},
    "blood_transfusion": {"recency": -1, "frequency": 1},
    "diabetes": {"Glucose": 1, "BMI": 1, "Age": 1},
    "heart_statlog": {"age": 1, "oldpeak": 1, "max_heart_rate": -1},
    "mammographic": {"age": 1, "birads": 1},
}


def ebm():
    """EBM with its defaults, or None without the package."""
    try:
        from interpret.glassbox import ExplainableBoostingClassifier
    except ImportError:
        return None
    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


def peers(slow):
    """The methods by name; `slow`: with EBM, if it is there."""
    found = {
        "AdditiveTables": AdditiveTables(),
        "AdditiveTables, no pairs": AdditiveTables(pairs=None),
        "HistGradientBoosting": boosting(),
        "LogisticRegression": logistic(),
    }
    return found | ({"EBM": ebm()} if slow and ebm() is not None else {})


def drawn(folder, name):
    """The rows of a small set."""
    X, y = read(folder / f"{name}.parquet")
    if len(y) > MOST:
        rows = np.sort(np.random.default_rng(0).choice(len(y), MOST, replace=False))
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return X, y


def scored(kept, name, seed, method, model, X, y):
    """A row of results."""
    found = kept.get(f"{name}|{seed}|{method}", measure, model, X, y, seed)
    return {"set": name, "seed": seed, "method": method, **found}


def small(folder, kept, seeds):
    rows = []
    for name in SMALL:
        X, y = drawn(folder, name)
        for seed in range(seeds):
            rows += [scored(kept, name, seed, m, model, X, y) for m, model in peers(seed == 0).items()]
    return pd.DataFrame(rows)


def adult(folder, kept, seeds):
    X, y = read(folder / "adult.parquet")
    rows = [
        scored(kept, "adult", seed, m, model, X, y)
        for seed in range(seeds)
        for m, model in peers(seed == 0).items()
        if m != "LogisticRegression"
    ]
    return pd.DataFrame(rows)


def monotone(folder, kept, seeds):
    rows = []
    for name, ways in MONOTONE.items():
        X, y = read(folder / f"{name}.parquet")
        models = {"free, no pairs": {"pairs": None}, "monotone, no pairs": {"pairs": None, "monotone": ways}}
        models |= {"free": {}, "monotone": {"monotone": ways}}
        for seed in range(seeds):
            rows += [scored(kept, name, seed, m, AdditiveTables(**s), X, y) for m, s in models.items()]
    return pd.DataFrame(rows)


def by_set(results, measure, console):
    """A table of means over the splits: a row for each set, a column for each method."""
    means = results.pivot_table(index="set", columns="method", values=measure, sort=False)
    table = Table("set", *means.columns, title=f"{measure}, mean over the splits")
    for name, row in means.iterrows():
        table.add_row(name, *(f"{value:.3f}" for value in row))
    table.add_row("mean", *(f"{value:.3f}" for value in means.mean()))
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["small", "adult", "monotone"])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SUFFICE_DATA", "../shared/data")))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--kept", type=Path, default=Path("bench-additive-results"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.kept.mkdir(exist_ok=True)
    kept = Kept(options.kept / f"{options.what}.json")
    run, seeds = {"small": (small, 3), "adult": (adult, 5), "monotone": (monotone, 3)}[options.what]
    results = run(options.data, kept, options.seeds or seeds)
    console = Console(width=140)
    for what in ("log_loss", "error", "auc", "seconds"):
        by_set(results, what, console)
        if "EBM" in set(results["method"]) and options.what != "monotone":
            first = results[results["seed"] == 0]
            console.print("the first split alone, as EBM:")
            by_set(first, what, console)


if __name__ == "__main__":
    main()
