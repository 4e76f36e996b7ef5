"""`AdditiveTables` beside EBM, the anchor of additive models, and beside boosting and logistic regression.

    python -m benchmarks.additive small      ten small sets of two classes: log loss, error and time, each beside EBM's
    python -m benchmarks.additive monotone   what it costs to let columns only rise or fall

Splits are 75/25 and stratified; nothing is fitted on test rows. The ten sets have two classes and at most 1,500 rows.
EBM (optional: pip install interpret-core) has its defaults, on one core, and runs on the first split. adult is in
`benchmarks.tables`. What has been measured is kept in a file, and a run that was stopped goes on from there.
"""

import argparse
from pathlib import Path

import pandas as pd

from benchmarks import sets
from benchmarks.accuracy.methods import BOOSTING, EBM, SMALL_BINARY, Method, methods
from benchmarks.accuracy.run import Plan
from suffice import AdditiveTables

OURS, ALONE = "AdditiveTables", "AdditiveTables, no pairs"
MONOTONE = {
    "adult": {"education-num": 1, "capital-gain": 1, "capital-loss": 1, "hours-per-week": 1},
    "blood_transfusion": {"recency": -1, "frequency": 1},
    "diabetes": {"Glucose": 1, "BMI": 1, "Age": 1},
    "heart_statlog": {"age": 1, "oldpeak": 1, "max_heart_rate": -1},
    "mammographic": {"age": 1, "birads": 1},
}


def small(folder, out, seeds):
    """The plans for ten small sets: all but EBM on all splits, EBM on one."""
    there = methods() | {ALONE: Method(ALONE, lambda _: AdditiveTables(pairs=None))}
    many = [there[name] for name in (OURS, ALONE, BOOSTING, "LogisticRegression")]
    plans = [Plan(list(SMALL_BINARY), seeds, many, out, folder)]
    return [*plans, Plan(list(SMALL_BINARY), 1, [there[EBM]], out, folder)] if EBM in there else plans


def monotone(folder, out, seeds):
    """The plans for columns that may only rise or fall."""
    free = [Method("free", lambda _: AdditiveTables()), Method("free, no pairs", lambda _: AdditiveTables(pairs=None))]
    bound = Method("monotone", lambda data: AdditiveTables(monotone=MONOTONE[data.name]))
    alone = Method("monotone, no pairs", lambda data: AdditiveTables(pairs=None, monotone=MONOTONE[data.name]))
    return [Plan(list(MONOTONE), seeds, [*free, bound, alone], out, folder)]


def show(results, measure):
    """A table of means over the splits: a row for each set, a column for each method, and the means of all sets."""
    means = results.pivot_table(index="set", columns="method", values=measure, sort=False)
    means.loc["mean"] = means.mean()
    print(f"\n{measure}, mean over the splits\n{means.round(3).to_string()}")


def beside(results):
    """EBM's fit time over ours, and log loss and error less EBM's, on the splits that EBM ran on."""
    wide = results.pivot_table(index=["set", "seed"], columns="method", values=["fit", "log_loss", "error"]).dropna()
    ratio = wide["fit"][EBM] / wide["fit"][OURS]
    gaps = {what: wide[what][OURS] - wide[what][EBM] for what in ("log_loss", "error")}
    table = pd.DataFrame(
        {"EBM's fit time / ours": ratio.round(0), **{f"{k}, ours - EBM's": v for k, v in gaps.items()}}
    )
    table.loc[("mean", "")] = table.mean()
    print(f"\nbeside EBM, the same splits\n{table.round(3).to_string()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["small", "monotone"])
    parser.add_argument("--data", type=Path, default=sets.FOLDER)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("bench-additive-results"))
    given = parser.parse_args()
    plans = {"small": small, "monotone": monotone}[given.what](given.data, given.out / given.what, given.seeds)
    for plan in plans:
        plan.run()
    rows = (row for row in plans[0].kept.read().values() if "failed" not in row)
    results = pd.DataFrame(rows)
    for measure in ("log_loss", "error", "auc", "fit"):
        show(results, measure)
    if given.what == "small" and EBM in set(results["method"]):
        beside(results)


if __name__ == "__main__":
    main()
