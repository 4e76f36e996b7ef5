"""Bayesian networks on many data sets: error, log loss and time in random splits, in closed form and under learners.

Splits are those of `benchmarks.sets`, three quarters to learn from; larger sets are a sample of --rows, and images are
left out. What has been measured is kept, and a run that was stopped goes on from there.

Usage: python -m benchmarks.networks [--data DIR] [--seeds N] [--rows N] [--methods A,B] [--minutes N] [--out FILE]
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from benchmarks import sets
from benchmarks.kept import Kept
from suffice import AODE, Dirichlet, KDependenceNB, NaiveBayes, TabularClassifier, TreeAugmentedNB
from suffice.learners import TM, ClosedForm, DiscriminativeFrequency, RiskCalibration

HONEST = RiskCalibration(out_of_sample=True)
METHODS = {
    "NaiveBayes": NaiveBayes,
    "NaiveBayes + RC": lambda: NaiveBayes(learner=HONEST),
    "TAN": TreeAugmentedNB,
    "TAN + RC": lambda: TreeAugmentedNB(learner=HONEST),
    "kDB": KDependenceNB,
    "kDB + RC": lambda: KDependenceNB(learner=HONEST),
    "kDB loo": lambda: KDependenceNB("loo"),
    "AODE": AODE,
    "AODE average": lambda: AODE(learner=ClosedForm()),
    "scikit-bayes AODE": lambda: Peer(),
    "TabularClassifier": lambda: TabularClassifier(random_state=0),
    # what learners do, and smoothing instead of them
    "TAN Laplace": lambda: TreeAugmentedNB(prior=Dirichlet()),
    "TAN + RC in sample": lambda: TreeAugmentedNB(learner=RiskCalibration()),
    "TAN + TM": lambda: TreeAugmentedNB(learner=TM()),
    "TAN + DFE": lambda: TreeAugmentedNB(learner=DiscriminativeFrequency()),
}
PUBLISHED = {  # our names of the published sets
    "adult": "adult", "breast-w": "breast_cancer_wisconsin", "diabetes": "diabetes", "ecoli": "ecoli", "glass": "glass",
    "heart-statlog": "heart_statlog", "ionosphere": "ionosphere", "iris": "iris", "letter": "letter",
    "liver-disorders": "liver_disorders", "optdigits": "optdigits", "page-blocks": "page_blocks",
    "pendigits": "pendigits", "segment": "segment", "sonar": "sonar", "spambase": "spambase", "vehicle": "vehicle",
    "waveform-5000": "waveform", "wine": "wine",
}  # fmt: skip


class Peer:
    """scikit-bayes' AODE: categories as codes, missing ones with a code of their own, numbers with their median."""

    def fit(self, X, y):
        from skbn import AnDE

        words = [j for j, kind in enumerate(X.dtypes) if not pd.api.types.is_numeric_dtype(kind)]
        names = X.columns[words].tolist()
        others = X.columns.difference(names, sort=False).tolist()
        code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
        codes = make_pipeline(code, FunctionTransformer(_from_zero))
        parts = [("numbers", SimpleImputer(), others), ("words", codes, names)]
        self.columns = ColumnTransformer([part for part in parts if part[2]])
        rows = self.columns.fit_transform(X)
        categories = list(range(len(others), rows.shape[1])) if names else None
        self.model = AnDE(categorical_features=categories).fit(rows, y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(self.columns.transform(X))


def _from_zero(codes):
    return codes + 1


def scores(model, X, y):
    """Error and log loss, with probabilities of at least 1e-15; a class that was never learned has that."""
    P, classes = model.predict_proba(X), model.classes_.tolist()
    own = np.array([classes.index(label) if label in classes else -1 for label in y])
    p = np.where(own >= 0, P[np.arange(len(y)), own], 0.0)
    return float((P.argmax(axis=1) != own).mean()), float(-np.log(np.maximum(p, 1e-15)).mean())


def measure(name, one, seed):
    """One split of one method."""
    train, test = one.split(seed)
    model = METHODS[name]()
    began = time.perf_counter()
    model.fit(one.X.iloc[train], one.y[train])
    fit = time.perf_counter() - began
    error, loss = scores(model, one.X.iloc[test], one.y[test])
    seen_error, seen_loss = scores(model, one.X.iloc[train], one.y[train])
    return {"error": error, "log_loss": loss, "train_error": seen_error, "train_log_loss": seen_loss, "fit": fit}


def run(folder, kept, seeds, rows, wanted, minutes):
    """Measure what has not been measured, the splits one after another, small sets first."""
    end = time.monotonic() + 60 * minutes
    known = kept.read()
    tables = [one for name in sets.names(folder) if (one := sets.read(name, folder, rows, 2000)).X.shape[1] < 500]
    for seed in range(seeds):
        for one in sorted(tables, key=lambda one: one.X.size):
            for method in wanted:
                if (one.name, seed, method) in known:
                    continue
                if time.monotonic() > end:
                    return
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        kept.add({"set": one.name, "seed": seed, "method": method, **measure(method, one, seed)})
                    except (ValueError, MemoryError) as error:
                        print(one.name, seed, method, error, flush=True)


def report(kept):
    """Means by method over the sets that all have, and each against NaiveBayes: wins, losses and Wilcoxon's test."""
    found = pd.DataFrame(kept.read().values())
    if found.empty:
        return
    numbers = ["error", "log_loss", "train_error", "train_log_loss", "fit"]
    means = found.groupby(["set", "method"])[numbers].mean().unstack("method")
    methods = [method for method in METHODS if method in set(found["method"])]
    whole = means.dropna()
    print(f"{len(whole)} sets, {found.groupby(['set', 'method']).size().max()} splits at most")
    print(whole.mean().unstack(0).loc[methods, numbers].round(4).to_string())
    for base in ("NaiveBayes", "TAN", "kDB"):
        for method in methods:
            pairs = means["log_loss"][[base, method]].dropna() if base in methods and method != base else None
            if pairs is None or len(pairs) < 5:
                continue
            gap = {
                k: means[k].loc[pairs.index, method] - means[k].loc[pairs.index, base] for k in ("error", "log_loss")
            }
            each = (
                f"{k} {(g < 0).sum()}:{(g > 0).sum()}, p = {wilcoxon(g).pvalue:.2g}" for k, g in gap.items() if g.any()
            )
            print(f"{method} against {base}: {'; '.join(each)}")


def published(kept, path):
    """Accuracies beside the published ones, on the sets that both have."""
    theirs = pd.read_csv(path, index_col="set")
    ours = pd.DataFrame(kept.read().values()).groupby(["set", "method"])["error"].mean().unstack()
    rows = {name: 1 - ours.loc[own] for name, own in PUBLISHED.items() if own in ours.index and name in theirs.index}
    both = pd.DataFrame(rows).T.join(theirs[["AODE", "TAN", "kDB"]].add_suffix(", published"))
    print(both.round(4).to_string())
    print(both.mean().round(4).to_string())


def main():
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--out", default="bench-networks/networks.jsonl")
    parser.add_argument("--published", help="a table of published accuracies")
    given = parser.parse_args()
    kept = Kept(given.out, ("set", "seed", "method"))
    run(given.data, kept, given.seeds, given.rows, given.methods.split(","), given.minutes)
    report(kept)
    if given.published:
        published(kept, given.published)


if __name__ == "__main__":
    main()
