"""The measurements behind the defaults of RiskCalibration: anchor, number of passes, and whether it stays settled.

On honest 75/25 splits of 24 sets of numbers, naive Bayes on 5 k-means bins a column: (1) test error, log loss and
calibration error by anchor after 16 and 200 passes; (2) the objective after 16 adaptive passes beside that of 64 passes
at the papers' rate of 0.1; (3) test log loss after 64 and 400 passes with the default anchor.

Usage: python -m benchmarks.calibration [--data DIR] [--seeds N] [--jobs N]
"""

import argparse
import os
import warnings
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import suffice
from benchmarks.measures import scores
from suffice.learners import RiskCalibration

SETS = [
    "iris",
    "sonar",
    "glass",
    "heart_statlog",
    "ionosphere",
    "indian_liver",
    "diabetes",
    "mammographic",
    "vehicle",
    "redwine",
    "haberman",
    "satimage",
    "magic",
    "optdigits",
    "wdbc",
    "wine",
    "seeds",
    "vowel",
    "segment",
    "german_numer",
    "svmguide3",
    "page_blocks",
    "waveform",
    "pulsar",
]
ANCHORS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)


def binned(model):
    """A model of categories on 5 k-means bins of each column."""
    return make_pipeline(KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", random_state=0), model)


KINDS = {
    "NB": lambda learner: binned(suffice.CategoricalNB(learner=learner)),
    "QDA": lambda learner: make_pipeline(suffice.QuadraticDiscriminantAnalysis(learner=learner)),
    "LR": lambda learner: make_pipeline(suffice.LogisticRegression(learner=learner)),
}


def variants():
    """Every setting by its name."""
    named = {
        f"anchor {a:g}, {n} passes": RiskCalibration(anchor=a, max_iter=n, tol=0) for a in ANCHORS for n in (16, 200)
    }
    named["64 passes at 0.1"] = RiskCalibration(rate=0.1, max_iter=64, stop=None)
    named |= {f"settled, {n} passes": RiskCalibration(max_iter=n, tol=0) for n in (64, 400)}
    return named


def read(folder, name):
    """Complete rows of classes with at least 10 of them, as the papers have it."""
    table = pd.read_parquet(folder / f"{name}.parquet").dropna()
    table = table[table.groupby("target")["target"].transform("size") >= 10]
    return table.drop(columns="target").to_numpy(dtype=float), table["target"].astype(str).to_numpy()


def measure(folder, name, seed):
    warnings.simplefilter("ignore")
    X, y = read(folder, name)
    train, test, labels, truth = train_test_split(X, y, stratify=y, random_state=seed)
    rows = []
    for kind, make in KINDS.items():
        for variant, learner in variants().items():
            model = make(learner).fit(train, labels)
            found = scores(model.predict_proba(test), model.classes_, truth)
            result = found["error"], found["log_loss"], found["calibration"]
            history = model[-1].history_["objective"]
            rows.append((name, seed, kind, variant, *result, history[0], min(history)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SUFFICE_DATA", "../shared/data")))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    jobs = [(name, seed) for name in SETS for seed in range(options.seeds)]
    found = Parallel(options.jobs, verbose=2)(delayed(measure)(options.data, *job) for job in jobs)
    columns = ["set", "seed", "kind", "variant", "error", "log loss", "ECE", "start", "objective"]
    results = pd.DataFrame([row for rows in found for row in rows], columns=columns)
    console = Console(width=120)
    table = Table("model", "setting", "test error", "log loss", "ECE", title=f"{len(jobs)} splits")
    for (kind, variant), part in results.groupby(["kind", "variant"], sort=False):
        table.add_row(kind, variant, *(f"{value:.4f}" for value in part[["error", "log loss", "ECE"]].mean()))
    console.print(table)
    table = Table(
        "model", "within 0.001", "mean gap", "worst gap", "mean share of the fall", title="16 against 64 passes"
    )
    for kind, part in results.groupby("kind", sort=False):
        by = part.pivot_table(index=["set", "seed"], columns="variant", values=["objective", "start"])
        plain, ours = by["objective"]["64 passes at 0.1"], by["objective"]["anchor 0.1, 16 passes"]
        start = by["start"]["64 passes at 0.1"]
        gap, share = ours - plain, (start - ours) / (start - plain)
        table.add_row(
            kind, f"{(gap <= 1e-3).mean():.0%}", f"{gap.mean():.4f}", f"{gap.max():.4f}", f"{share.mean():.1%}"
        )
    console.print(table)


if __name__ == "__main__":
    main()
