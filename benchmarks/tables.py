"""Tables as they are: `NaiveBayes` beside scikit-learn's pipelines on mixed columns with missing values.

    python benchmarks/tables.py adult     adult in five splits: accuracy, AUC, log loss and time
    python benchmarks/tables.py all       every data set of a folder: error and log loss beside HistGradientBoosting

Splits are 75/25 and stratified; nothing is fitted on test rows. Nothing is done to a table beforehand but for what
scikit-learn's own methods need: an imputer and one-hot columns for logistic regression, ordinal codes for scikit-bayes
(optional: pip install scikit-bayes), pandas categories for HistGradientBoosting, which takes missing values itself.
What has been measured is kept in a file, and a run that was stopped goes on from there.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from suffice import NaiveBayes
from suffice.learners import RiskCalibration

LARGE = 20_000_000  # cells, above which one split is enough


def as_categories(X):
    """Text as pandas categories, which HistGradientBoosting reads as such; rare ones of many share a code."""
    out = X.copy()
    for name in out.select_dtypes(["object", "string"]).columns:
        frequent = out[name].value_counts().index[:250]
        out[name] = out[name].where(out[name].isin(frequent)).astype(pd.CategoricalDtype(sorted(frequent)))
    return out


def boosting():
    """HistGradientBoosting with its own handling of categories and missing values."""
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    return make_pipeline(FunctionTransformer(as_categories), model)


def logistic():
    """The pipeline that scikit-learn's guide builds for such tables."""
    text = make_column_selector(dtype_include=["object", "string", "category", "bool"])
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((words, text), remainder=numbers)
    return make_pipeline(columns, LogisticRegression(max_iter=2000))


def first_for_new(codes):
    """The first code for a category that is new, for which MixedNB has no place."""
    return np.maximum(codes, 0)


def scikit_bayes(X):
    """MixedNB of scikit-bayes on imputed columns and ordinal codes; None without the package."""
    try:
        from skbn import MixedNB
    except ImportError:
        return None
    text = [j for j, dtype in enumerate(X.dtypes) if not pd.api.types.is_numeric_dtype(dtype)]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), codes, FunctionTransformer(first_for_new))
    columns = make_column_transformer((words, [X.columns[j] for j in text]), remainder=SimpleImputer())
    return make_pipeline(columns, MixedNB(categorical_features=list(range(len(text))), bernoulli_features=[]))


def on_adult(X):
    """The methods of the first table."""
    yield "NaiveBayes", NaiveBayes()
    yield "NaiveBayes, calibrated", NaiveBayes(learner=RiskCalibration())
    yield "NaiveBayes, normal densities", NaiveBayes(numeric="gaussian")
    yield "scikit-learn imputer, one-hot, LogisticRegression", logistic()
    yield "scikit-learn HistGradientBoosting", boosting()
    if scikit_bayes(X) is not None:
        yield "scikit-bayes MixedNB", scikit_bayes(X)


def on_all(_):
    """The methods of the second table."""
    yield "NaiveBayes", NaiveBayes()
    yield "calibrated", NaiveBayes(learner=RiskCalibration())
    yield "boosting", boosting()


def measure(model, X, y, seed):
    """Test scores of one method on one split."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X.iloc[train], y[train])
        p = model.predict_proba(X.iloc[test])
    seconds = time.perf_counter() - start
    classes, truth = model.classes_, y[test]
    return {
        "error": float(np.mean(classes[p.argmax(axis=1)] != truth)),
        "log_loss": float(log_loss(truth, np.clip(p, 1e-15, 1), labels=classes)),
        "auc": float(roc_auc_score(truth == classes[1], p[:, 1])) if len(classes) == 2 else None,
        "seconds": seconds,
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
    }


def read(path):
    """A table as it is, and its labels; classes of fewer than four rows cannot be split."""
    table = pd.read_parquet(path)
    table = table[table.groupby("target")["target"].transform("size") >= 4].reset_index(drop=True)
    return table.drop(columns="target"), table["target"].astype(str).to_numpy()


class Kept:
    """Results by key, in a file that is replaced after each."""

    def __init__(self, path):
        self.path = Path(path)
        self.found = json.loads(self.path.read_text()) if self.path.exists() else {}

    def get(self, key, make, *given):
        """What is there, or what is made and kept."""
        if key not in self.found:
            self.found[key] = make(*given)
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(self.found, indent=1))
            part.replace(self.path)
        return self.found[key]


def run(names, folder, methods, seeds, kept):
    """Results by data set, method and split."""
    for name in names:
        X, y = read(folder / f"{name}.parquet")
        few = 1 if X.size > LARGE else seeds
        for method, model in methods(X):
            found = [kept.get(f"{name} / {method} / {seed}", measure, model, X, y, seed) for seed in range(few)]
            yield name, method, found


def adult(folder, seeds, kept, path=None):
    """The first table, and its figure."""
    rows = list(run(["adult"], folder, on_adult, seeds, kept))
    base = next(np.mean([r["seconds"] for r in found]) for _, method, found in rows if "Boosting" in method)
    print(f"{'adult, ' + str(seeds) + ' splits':50} accuracy     AUC  log loss  time / boosting")
    for _, method, found in rows:
        error, loss, auc, seconds = (np.mean([r[k] for r in found]) for k in ("error", "log_loss", "auc", "seconds"))
        print(f"{method:50} {1 - error:8.4f} {auc:7.4f} {loss:9.4f} {seconds / base:16.2f}")
    if path is not None:
        figure(rows, path)


SHORT = {  # names in the figure
    "NaiveBayes": "NaiveBayes (one read)",
    "NaiveBayes, calibrated": "NaiveBayes, calibrated",
    "scikit-bayes MixedNB": "scikit-bayes MixedNB",
    "scikit-learn imputer, one-hot, LogisticRegression": "impute, one-hot, logistic",
    "scikit-learn HistGradientBoosting": "HistGradientBoosting",
}


def figure(rows, path):
    """AUC and log loss on adult: the mean of the splits, and lines from the least to the greatest."""
    import matplotlib.pyplot as plt

    found = {method: results for _, method, results in rows if method in SHORT}
    shown = [name for name in reversed(SHORT) if name in found]
    fig, axes = plt.subplots(1, 2, figsize=(8.2, 2.7), sharey=True)
    for ax, key, title in (
        (axes[0], "auc", "AUC (more is better)"),
        (axes[1], "log_loss", "log loss (less is better)"),
    ):
        for i, name in enumerate(shown):
            values, colour = [r[key] for r in found[name]], "#1f6feb" if name.startswith("NaiveBayes") else "#8b949e"
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
    fig.tight_layout()
    fig.savefig(path, facecolor="white")


def every(folder, seeds, kept):
    """The second table, with its means and wins."""
    names = sorted(path.stem for path in folder.glob("*.parquet"))
    table = {}
    for name, method, found in run(names, folder, on_all, seeds, kept):
        score = {key: float(np.mean([r[key] for r in found])) for key in ("error", "log_loss", "seconds")}
        table.setdefault(name, {})[method] = score
        for said in sorted({w for r in found for w in r["warnings"]}):
            print(f"  {name}, {method}: {said}")
    methods = list(next(iter(table.values())))
    print(f"\n{'error, log loss':24}" + "".join(f"{method:>20}" for method in methods))
    for name, scores in table.items():
        print(f"{name:24}" + "".join(f"{s['error']:12.4f}{s['log_loss']:8.3f}" for s in scores.values()))
    means = [np.mean([[t[m]["error"], t[m]["log_loss"]] for t in table.values()], axis=0) for m in methods]
    print(f"{'mean of ' + str(len(table)):24}" + "".join(f"{e:12.4f}{loss:8.3f}" for e, loss in means))
    for method in methods[:-1]:
        for key in ("error", "log_loss"):
            gaps = [t[method][key] - t[methods[-1]][key] for t in table.values()]
            print(
                f"{method} against boosting, {key}: {sum(g < 0 for g in gaps)} better, {sum(g > 0 for g in gaps)} worse"
            )
        ratio = np.median([t[method]["seconds"] / t[methods[-1]]["seconds"] for t in table.values()])
        print(f"{method}: median time / boosting {ratio:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=["adult", "all"])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SUFFICE_DATA", "../shared/data")))
    parser.add_argument("--seeds", type=int, default=None, help="splits; 5 on adult, 2 elsewhere")
    parser.add_argument("--keep", default=None, help="the file of results")
    parser.add_argument("--figure", default=None, help="where to draw adult's table")
    given = parser.parse_args()
    kept = Kept(given.keep or f"bench-tables-{given.which}.json")
    if given.which == "adult":
        adult(given.data, given.seeds or 5, kept, given.figure)
    else:
        every(given.data, given.seeds or 2, kept)
