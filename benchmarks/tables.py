"""adult, a table of mixed columns with missing values, as it is: accuracy, AUC, log loss and time in five splits.

Methods and splits are those of `benchmarks.accuracy`, and EBM runs on the first split only. What has been measured is
kept, and a run that was stopped goes on from there.

Usage: python -m benchmarks.tables [--data DIR] [--seeds N] [--methods A,B] [--again METHOD] [--out DIR] [--figure FILE]
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import sets
from benchmarks.accuracy.methods import BOOSTING, EBM, Method, methods
from benchmarks.accuracy.run import Plan
from suffice import NaiveBayes

NORMAL = Method("NaiveBayes, normal densities", lambda _: NaiveBayes(numeric="gaussian"))
SHORT = {  # names in the figure, from top to bottom; ours first
    "TabularClassifier": "TabularClassifier",
    "AdditiveTables": "AdditiveTables",
    "NaiveBayes": "NaiveBayes (one read)",
    "NaiveBayes + RC": "NaiveBayes, calibrated",
    "scikit-bayes": "scikit-bayes MixedNB",
    "LogisticRegression": "impute, one-hot, logistic",
    "ExtraTrees": "impute, one-hot, ExtraTrees",
    "LightGBM": "LightGBM",
    BOOSTING: "HistGradientBoosting",
    EBM: "EBM (one split)",
}


def plans(folder, seeds, out, wanted, again=None):
    """Return the tasks: all methods on all splits, EBM on one; or one method again, with the time of boosting."""
    there = methods() | {NORMAL.name: NORMAL}
    chosen = [there[name] for name in ([again] if again else wanted or there) if name in there]
    many = [method for method in chosen if method.name != EBM]
    once = [replace(method, takes=lambda _: True) for method in chosen if method.name == EBM]
    return tuple(Plan(["adult"], n, part, out, folder, again=again) for n, part in ((seeds, many), (1, once)))


def by_method(kept):
    """Results of the splits by method."""
    found = {}
    for row in kept.read().values():
        if "failed" not in row:
            found.setdefault(row["method"], {})[row["seed"]] = row
    return found


def show(found):
    """The table, with times beside boosting's on the same splits."""
    print(f"{'adult':32} splits accuracy     AUC  log loss   fit, s  / boosting's")
    for method, rows in found.items():
        error, auc, loss, fit = (np.mean([r[k] for r in rows.values()]) for k in ("error", "auc", "log_loss", "fit"))
        boosting = found.get(BOOSTING, {})
        base = [r.get("boosting_fit") or boosting.get(seed, {}).get("fit", np.nan) for seed, r in rows.items()]
        scores = f"{1 - error:8.4f} {auc:7.4f} {loss:9.4f} {fit:8.2f}"
        print(f"{method:32} {len(rows):6} {scores} {fit / np.mean(base):14.2f}")


def figure(found, path):
    """AUC and log loss: the mean of the splits, and lines from the least to the greatest."""
    from matplotlib.figure import Figure

    shown = [name for name in reversed(SHORT) if name in found]
    ours = set(list(SHORT)[:4])
    fig = Figure(figsize=(8.2, 0.42 * len(shown) + 0.7), layout="constrained")
    axes = fig.subplots(1, 2, sharey=True)
    for ax, key, title in zip(
        axes, ("auc", "log_loss"), ("AUC (more is better)", "log loss (less is better)"), strict=True
    ):
        for i, name in enumerate(shown):
            values, colour = [r[key] for r in found[name].values()], "#1f6feb" if name in ours else "#8b949e"
            ax.hlines(i, min(values), max(values), color=colour, lw=2)
            ax.plot(np.mean(values), i, "o", color=colour, ms=8)
            at = (np.mean(values), i)
            ax.annotate(f"{np.mean(values):.3f}", at, (0, 7), textcoords="offset points", ha="center", fontsize=9)
        ax.set_yticks(range(len(shown)), [SHORT[name] for name in shown])
        ax.set(ylim=(-0.5, len(shown) - 0.3))
        ax.set_title(title, loc="left", fontsize=11)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", alpha=0.3)
        ax.margins(x=0.12)
    fig.savefig(path, facecolor="white")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=sets.FOLDER)
    parser.add_argument("--seeds", type=int, default=5, help="splits")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=[], help="only these")
    parser.add_argument("--again", metavar="METHOD", help="measure this method again")
    parser.add_argument("--out", type=Path, default=Path("bench-tables"), help="the folder of results")
    parser.add_argument("--figure", help="where to draw the table")
    given = parser.parse_args()
    work = plans(given.data, given.seeds, given.out, given.methods, given.again)
    for part in work:
        part.run()
    found = by_method(work[0].kept)
    show(found)
    if given.figure:
        figure(found, given.figure)


if __name__ == "__main__":
    main()
