"""The place of our classifiers, with all settings at their defaults, among the 179 of a published comparison.

Data sets, splits and accuracies are those of Fernandez-Delgado, Cernadas, Barro, Amorim: Do we need hundreds of
classifiers to solve real world classification problems? (JMLR 15, 2014), in a folder with sets/NAME.parquet (features,
`target`, and `split1` to `split4`: 0 for a row to learn from, 1 for one to test on), published.csv and catalogue.csv.
Nothing may be chosen on these sets. What has been measured is kept, and a run that was stopped goes on from there.

Usage: python -m benchmarks.uci run [--uci DIR] [--out DIR]
       python -m benchmarks.uci report [--uci DIR] [--out DIR]
"""

import argparse
import json
import os
import platform
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from scipy.stats import rankdata, wilcoxon

import suffice
from benchmarks.accuracy.run import one_run
from benchmarks.kept import Kept
from suffice.learners import RiskCalibration

FOLDER = Path(os.environ.get("SUFFICE_UCI") or "../shared/uci")
ROOT = Path(__file__).parents[1]
MEASURED, PAGE, FIGURE = ROOT / "benchmarks" / "measured" / "uci.json", ROOT / "docs" / "uci.md", "uci-ranks.svg"
SPLITS = ("split1", "split2", "split3", "split4")
DECIMALS = 1  # of the published accuracies: ours are rounded alike, or they would never tie
BEST = 10  # published classifiers that ours are held against
METHODS = {
    "TabularClassifier": lambda: suffice.TabularClassifier(random_state=0),
    "AdditiveTables": suffice.AdditiveTables,
    "NaiveBayes + RC": lambda: suffice.NaiveBayes(learner=RiskCalibration()),
    "QDA + RC": lambda: suffice.QuadraticDiscriminantAnalysis(learner=RiskCalibration()),
    "LDA + RC": lambda: suffice.LinearDiscriminantAnalysis(learner=RiskCalibration()),
    "LogisticRegression": suffice.LogisticRegression,
    "NaiveBayes": suffice.NaiveBayes,
    "QDA": suffice.QuadraticDiscriminantAnalysis,
    "LDA": suffice.LinearDiscriminantAnalysis,
    "LinearBayes": suffice.LinearBayes,
    "QuasiBayes": suffice.QuasiBayes,
    "MinimumErrorMPM": suffice.MinimumErrorMPM,
    "MinimaxProbabilityMachine": suffice.MinimaxProbabilityMachine,
    "FisherDiscriminant": suffice.FisherDiscriminant,
    "ScatterDiscriminant": suffice.ScatterDiscriminant,
}
# Sets that are also among those of the papers or of the accuracy benchmark, some of which chose settings: the same
# rows, or others of the same source.
KNOWN = frozenset(
    {
        "blood",
        "breast-cancer-wisc",
        "breast-cancer-wisc-diag",
        "cardiotocography-10clases",
        "cardiotocography-3clases",
        "chess-krvk",
        "congressional-voting",
        "conn-bench-sonar-mines-rocks",
        "ecoli",
        "fertility",
        "glass",
        "haberman-survival",
        "heart-cleveland",
        "heart-hungarian",
        "heart-switzerland",
        "heart-va",
        "ilpd-indian-liver",
        "ionosphere",
        "iris",
        "letter",
        "magic",
        "mammographic",
        "molec-biol-splice",
        "nursery",
        "page-blocks",
        "pima",
        "seeds",
        "spambase",
        "statlog-german-credit",
        "statlog-heart",
        "statlog-image",
        "statlog-vehicle",
        "twonorm",
        "waveform",
        "waveform-noise",
        "wine",
        "wine-quality-red",
        "zoo",
    }
)


def names(folder):
    """The sets, small ones first."""
    catalogue = pd.read_csv(folder / "catalogue.csv")
    size = dict(zip(catalogue["name"], catalogue["rows"] * catalogue["columns"], strict=True))
    return sorted(size, key=size.get)


def measure(name, method, folder):
    """Accuracy in percent on each split, and the seconds of the processor that they took."""
    table = pd.read_parquet(folder / "sets" / f"{name}.parquet")
    X = table.drop(columns=["target", *SPLITS])
    y, accuracy = table["target"].to_numpy(), []
    started = time.process_time()
    for split in SPLITS:
        test = table[split].to_numpy() == 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = METHODS[method]().fit(X[~test], y[~test])
            accuracy.append(100 * float(np.mean(model.predict(X[test]) == y[test])))
    return {"accuracy": accuracy, "seconds": time.process_time() - started}


def run(folder, out, wanted):
    """Measure what is not kept."""
    kept = Kept(out / "results.jsonl", ("set", "method"))
    for method in wanted:
        done, warm = kept.read(), False
        for name in names(folder):
            if (name, method) in done:
                continue
            with one_run(1):
                if not warm:  # loads compiled code, which is not timed
                    _try(measure, "iris", method, folder)
                    warm = True
                kept.add({"set": name, "method": method, **_try(measure, name, method, folder)})
        print(
            f"{method}: {sum(row['seconds'] for (_, m), row in kept.read().items() if m == method):.0f} s", flush=True
        )
    return kept


def _try(work, *given):
    started = time.process_time()
    try:
        return work(*given)
    except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
        reason = f"{type(error).__name__}: {error}"
        return {"accuracy": [], "seconds": time.process_time() - started, "failed": reason[:300]}


def write_measured(kept, path=MEASURED):
    """Our accuracies, with when and with what they were measured."""
    results = {}
    for (name, method), row in sorted(kept.read().items()):
        accuracy = [round(value, 3) for value in row["accuracy"]]
        results.setdefault(method, {})[name] = {"accuracy": accuracy, "seconds": round(row["seconds"], 3)}
        if "failed" in row:
            results[method][name]["failed"] = row["failed"]
    versions = {"suffice": suffice.__version__, "Python": platform.python_version(), "NumPy": np.__version__}
    told = {"day": date.today().isoformat(), "versions": versions | {"scikit-learn": sklearn.__version__}}
    path.write_text(json.dumps(told | {"results": results}, indent=1) + "\n")


# Ranks


def published(folder):
    """Accuracy in percent by set (rows) and published classifier; where a program failed, the mean of the set."""
    table = pd.read_csv(folder / "published.csv", index_col="set")
    return table.T.fillna(table.mean(axis=1)).T


def ours(told, sets, means):
    """Accuracy by set and method, rounded as theirs, and how many fits failed: these take the mean of the set."""
    found = {
        method: {
            name: round(float(np.mean(row["accuracy"])), DECIMALS) if row["accuracy"] else means[name]
            for name, row in rows.items()
        }
        for method, rows in told["results"].items()
    }
    failed = {method: sum(not row["accuracy"] for row in rows.values()) for method, rows in told["results"].items()}
    return pd.DataFrame(found).reindex(sets), failed


def mean_ranks(table):
    """The mean over sets (rows) of the ranks of classifiers (columns): 1 is the most accurate, ties share.

    >>> mean_ranks(pd.DataFrame({"a": [90.0, 80.0], "b": [90.0, 85.0], "c": [70.0, 60.0]})).to_dict()
    {'a': 1.75, 'b': 1.25, 'c': 3.0}
    """
    return pd.Series(rankdata(-table.to_numpy(), axis=1).mean(axis=0), index=table.columns)


def among(theirs, mine):
    """Rank and PMA of one classifier of ours beside the 179, and its place by rank."""
    table = theirs.assign(ours=mine)
    ranks = mean_ranks(table)
    share = 100 * table.div(table.max(axis=1), axis=0).mean()
    return {"rank": ranks["ours"], "place": int((ranks < ranks["ours"]).sum()) + 1, "pma": share["ours"]}


def against(mine, other):
    """Sets won, lost and tied, and the p-value of the signed-rank test."""
    gap = (mine - other).round(6)
    p = float(wilcoxon(gap[gap != 0]).pvalue) if (gap != 0).any() else 1.0
    return int((gap > 0).sum()), int((gap < 0).sum()), int((gap == 0).sum()), p


# Page


def row(*cells):
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def report(folder, told, page=PAGE):
    """Write the page and the figure."""
    theirs = published(folder)
    mine, failed = ours(told, theirs.index, theirs.mean(axis=1))
    mine = mine[[method for method in METHODS if method in mine]].dropna(axis=1)
    fresh = [name for name in theirs.index if name not in KNOWN]
    places = {method: among(theirs, mine[method]) for method in mine}
    without = {method: among(theirs.loc[fresh], mine.loc[fresh, method]) for method in mine}
    best = mean_ranks(theirs).sort_values().index[:BEST]
    seconds = {m: sum(r["seconds"] for r in told["results"][m].values()) for m in mine}
    missing = [method for method in METHODS if method not in mine]
    text = [*_head(told, theirs, fresh), *_places(places, without, failed, seconds, fresh, missing)]
    text += [*_best(theirs, best, fresh), *_duels(mine, theirs, best), *_failures(told)]
    draw(theirs, places, page.parent / FIGURE)
    page.write_text("\n".join(text) + "\n")


def _head(told, theirs, fresh):
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    known = len(theirs) - len(fresh)
    return f"""# Among 179 published classifiers

Fernandez-Delgado, Cernadas, Barro and Amorim ran 179 classifiers of 17 families on 121 data sets ([Do we need hundreds
of classifiers to solve real world classification problems?](https://jmlr.org/papers/v15/delgado14a.html), JMLR 15,
2014). `make bench-uci` runs ours, all settings at their defaults, on {len(theirs)} of these sets with the splits of the
study, and puts each of them alone into the published table. Measured on {told["day"]} with
{versions}.

![Mean ranks of the 179 published classifiers, with ours among them]({FIGURE})

What must be said beside every rank:

- **Nothing was chosen on these files**, but {known} of the sets are, as a whole or in part, also among those on which
  defaults were chosen or accuracy was reported. The ranks are therefore also given on the other {len(fresh)}.
- The published classifiers were run in 2013. Many had settings tuned on one random half of the same rows.
- The sets are as the study prepared them: categories as numbers, all columns standardised. That hides what our
  estimators are made for: categories, text, dates, missing values.
- The four test parts of a set overlap, and a later critique (Wainberg, Alipanahi, Frey: [Are random forests truly the
  best classifiers?](https://jmlr.org/papers/v17/15-374.html), JMLR 17, 2016) finds the differences at the top within
  noise.
- {len(theirs)} of 121 sets: the others were not available, or their test rows are not scaled like those to learn from.
  On the full list the ranks of the published classifiers differ a little from those here.

A rank is the mean over the sets of the Friedman rank among 180 (1 is best, ties share). PMA is the mean percentage of
the best accuracy on each set. Where a program failed, published or ours, it takes the mean accuracy of the published
ones on that set, as in the study. Published accuracies have one decimal, and ours are rounded to it.

""".splitlines()


def _places(places, without, failed, seconds, fresh, missing):
    yield "## Ours"
    yield ""
    yield row(
        "classifier", "mean rank", "place of 180", "PMA", f"rank on {len(fresh)} sets", "place there", "failed", "CPU s"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for method, at in sorted(places.items(), key=lambda item: item[1]["rank"]):
        there = without[method]
        numbers = f"**{at['rank']:.1f}**", at["place"], f"{at['pma']:.2f}", f"{there['rank']:.1f}", there["place"]
        yield row(f"`{method}`", *numbers, failed[method] or "", f"{seconds[method]:.0f}")
    yield ""
    yield "Seconds of one processor for all sets: four fits and predictions each."
    if missing:
        yield f"Not measured on all sets yet: {', '.join(f'`{method}`' for method in missing)}."
    yield ""


def _best(theirs, best, fresh):
    ranks, there = mean_ranks(theirs), mean_ranks(theirs.loc[fresh])
    share = 100 * theirs.div(theirs.max(axis=1), axis=0).mean()
    yield f"## The best {BEST} of the published, without ours"
    yield ""
    yield row("classifier", "mean rank of 179", "PMA", f"rank on {len(fresh)} sets")
    yield "|---|---:|---:|---:|"
    for name in best:
        yield row(name, f"{ranks[name]:.1f}", f"{share[name]:.2f}", f"{there[name]:.1f}")
    yield ""


def _duels(mine, theirs, best):
    yield f"## Won, lost and tied against the best {BEST}"
    yield ""
    yield "Sets on which the mean accuracy is higher, lower and the same; in brackets the p-value of the signed-rank"
    yield "test, not corrected for the number of comparisons."
    yield ""
    yield row("", *(f"`{method}`" for method in mine))
    yield "|---|" + "---|" * mine.shape[1]
    for name in best:
        each = (against(mine[method], theirs[name]) for method in mine)
        yield row(name, *(f"{w}-{lost}-{t} ({p:.2g})" for w, lost, t, p in each))
    yield ""


def _failures(told):
    failed = [
        (m, name, r["failed"]) for m, rows in told["results"].items() for name, r in rows.items() if "failed" in r
    ]
    if not failed:
        return
    yield "## Fits that failed"
    yield ""
    for method, name, reason in failed:
        yield f"- `{method}` on {name}: {reason.splitlines()[0]}"


def draw(theirs, places, path):
    """All mean ranks as ticks, from the best on the left; ours with their names."""
    from matplotlib.figure import Figure

    ranks = mean_ranks(theirs).sort_values()
    ordered = sorted(places.items(), key=lambda item: item[1]["rank"])
    figure = Figure(figsize=(5.2, 0.34 * len(ordered) + 2.2), layout="constrained")
    ax = figure.add_subplot()
    ax.vlines(ranks, -1.0, 0.0, color="#8b949e", lw=0.7)
    for name, y in ((ranks.index[0], -2.0), (ranks.index[-1], -2.0)):
        side = "left" if name == ranks.index[0] else "right"
        ax.text(ranks[name], y, f"{name}, {ranks[name]:.1f}", ha=side, va="center", fontsize=9, color="#57606a")
    for i, (method, at) in enumerate(ordered):
        y = len(ordered) - i
        late = at["rank"] > 100
        ax.plot([at["rank"]] * 2, [-1.0, y], color="#1f6feb", lw=0.6, alpha=0.5, zorder=1)
        ax.plot(at["rank"], y, "o", color="#1f6feb", ms=5, zorder=2)
        said = f" {method}, {at['rank']:.1f} " if not late else f" {at['rank']:.1f}, {method} "
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        ax.text(
            at["rank"] + (-2 if late else 2), y, said, ha="right" if late else "left", va="center", fontsize=9, bbox=box
        )
    ax.set_xlim(0, 181)
    ax.set_ylim(-2.8, len(ordered) + 1)
    ax.set_yticks([])
    ax.set_xlabel("mean rank (1 is best); grey: the 179 published classifiers", fontsize=9)
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(path, facecolor="white", metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--uci", type=Path, default=FOLDER)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS), help="only these")
    parser.add_argument("--out", type=Path, default=Path("bench-uci"), help="the folder of results")
    given = parser.parse_args()
    if given.what == "run":
        write_measured(run(given.uci, given.out, given.methods))
    report(given.uci, json.loads(MEASURED.read_text()))


if __name__ == "__main__":
    main()
