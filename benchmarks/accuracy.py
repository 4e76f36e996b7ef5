"""Honest splits: mean test error, log loss and calibration error over data sets, beside scikit-learn.

Splits are 75/25, stratified, the same for every method; all preprocessing is fitted on the training rows. Categorical
naive Bayes works on 5 k-means bins of each feature. Means are over the splits on which every method ran.

Usage: python benchmarks/accuracy.py [--data DIR] [--seeds N] [--jobs N] [--csv FILE]
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

import suffice
from suffice.learners import ClosedForm, RiskCalibration

FOURTEEN = [  # sets on which the papers' claims were first checked
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
]
MORE = ["wdbc", "wine", "seeds", "vowel", "segment", "german_numer", "svmguide3", "page_blocks", "waveform", "pulsar"]


def binned(model):
    return make_pipeline(KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", random_state=0), model)


def methods():
    """Every method by its name."""
    qda, logistic = suffice.QuadraticDiscriminantAnalysis, suffice.LogisticRegression
    theirs = linear_model.LogisticRegression(max_iter=1000)
    return {
        "CategoricalNB": binned(suffice.CategoricalNB()),
        "CategoricalNB, calibrated": binned(suffice.CategoricalNB(learner=RiskCalibration())),
        "scikit-learn CategoricalNB": binned(naive_bayes.CategoricalNB(min_categories=5)),
        "GaussianNB": suffice.GaussianNB(),
        "GaussianNB, calibrated": suffice.GaussianNB(learner=RiskCalibration()),
        "scikit-learn GaussianNB": naive_bayes.GaussianNB(),
        "LDA": suffice.LinearDiscriminantAnalysis(),
        "LDA, calibrated": suffice.LinearDiscriminantAnalysis(learner=RiskCalibration()),
        "scikit-learn LDA": discriminant_analysis.LinearDiscriminantAnalysis(),
        "QDA": qda(),
        "QDA, calibrated": qda(learner=RiskCalibration()),
        "scikit-learn QDA": discriminant_analysis.QuadraticDiscriminantAnalysis(),
        "LogisticRegression (Newton)": logistic(),
        "LogisticRegression, closed form": logistic(learner=ClosedForm()),
        "LogisticRegression, calibrated": logistic(learner=RiskCalibration()),
        "scikit-learn LogisticRegression": make_pipeline(StandardScaler(), theirs),
        "scikit-learn HistGradientBoosting": ensemble.HistGradientBoostingClassifier(random_state=0),
    }


def read(folder, name):
    """Complete rows of classes with at least 10 of them, as the papers have it."""
    table = pd.read_parquet(folder / f"{name}.parquet").dropna()
    table = table[table.groupby("target")["target"].transform("size") >= 10]
    return table.drop(columns="target").to_numpy(dtype=float), table["target"].astype(str).to_numpy()


def scores(model, train, test, labels, truth):
    """Test error, log loss (probabilities at least 1e-15) and calibration error (15 bins); NaN where it fails."""
    try:
        model.fit(train, labels)
    except ValueError:
        return [np.nan] * 3
    p = model.predict_proba(test)
    right = model.classes_[p.argmax(axis=1)] == truth
    of_truth = p[np.arange(len(truth)), np.searchsorted(model.classes_, truth)]
    bins = np.minimum((15 * p.max(axis=1)).astype(int), 14)
    gaps = [abs((right - p.max(axis=1))[bins == b].sum()) for b in range(15)]
    return [1 - right.mean(), -np.log(np.clip(of_truth, 1e-15, 1)).mean(), sum(gaps) / len(truth)]


def measure(folder, name, seed):
    warnings.simplefilter("ignore")
    X, y = read(folder, name)
    split = train_test_split(X, y, stratify=y, random_state=seed)
    return [(name, seed, method, *scores(model, *split)) for method, model in methods().items()]


def show(results, sets, console):
    part = results[results["set"].isin(sets)]
    failed = part[part["error"].isna()]
    ran = part.set_index(["set", "seed"]).drop(failed.set_index(["set", "seed"]).index).reset_index()
    splits = part.groupby(["set", "seed"]).ngroups
    title = (
        f"{len(sets)} data sets; means over the {ran.groupby(['set', 'seed']).ngroups} of {splits} splits all ran on"
    )
    table = Table("method", "test error", "log loss", "ECE", "failed", "error where it ran", title=title)
    for method in methods():
        mean = ran[ran["method"] == method][["error", "log loss", "ECE"]].mean()
        alone = part[part["method"] == method]["error"]
        table.add_row(method, *(f"{value:.4f}" for value in mean), str(alone.isna().sum()), f"{alone.mean():.4f}")
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SUFFICE_DATA", "../shared/data")))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    jobs = [(name, seed) for name in FOURTEEN + MORE for seed in range(options.seeds)]
    found = Parallel(options.jobs, verbose=2)(delayed(measure)(options.data, *job) for job in jobs)
    rows = [row for rows in found for row in rows]
    results = pd.DataFrame(rows, columns=["set", "seed", "method", "error", "log loss", "ECE"])
    if options.csv:
        results.to_csv(options.csv, index=False)
    console = Console(width=120)
    show(results, FOURTEEN, console)
    show(results, FOURTEEN + MORE, console)


if __name__ == "__main__":
    main()
