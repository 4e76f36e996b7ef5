"""Honest splits: mean test error, log loss and calibration error over data sets, beside scikit-learn.

Usage: python benchmarks/accuracy.py [--data DIR] [--seeds N]. Splits are 75/25, stratified, the same for every method;
all preprocessing is fitted on the training rows.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn import discriminant_analysis, linear_model, naive_bayes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice

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
    "wdbc",
    "wine",
    "seeds",
    "vowel",
    "segment",
    "german_numer",
    "svmguide3",
    "page_blocks",
]


def methods():
    """Every method by its name."""
    return {
        "suffice GaussianNB": suffice.GaussianNB(),
        "scikit-learn GaussianNB": naive_bayes.GaussianNB(),
        "suffice LDA": suffice.LinearDiscriminantAnalysis(),
        "scikit-learn LDA": discriminant_analysis.LinearDiscriminantAnalysis(),
        "suffice QDA": suffice.QuadraticDiscriminantAnalysis(),
        "scikit-learn QDA": discriminant_analysis.QuadraticDiscriminantAnalysis(),
        "scikit-learn LogisticRegression": make_pipeline(
            StandardScaler(), linear_model.LogisticRegression(max_iter=1000)
        ),
    }


def read(folder, name):
    """Complete rows of classes with at least 8 of them."""
    table = pd.read_parquet(folder / f"{name}.parquet").dropna()
    table = table[table.groupby("target")["target"].transform("size") >= 8]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SUFFICE_DATA", "../shared/data")))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    results = {name: [] for name in methods()}
    warnings.simplefilter("ignore")
    for name in track(SETS, "data sets"):
        X, y = read(options.data, name)
        for seed in range(options.seeds):
            split = train_test_split(X, y, stratify=y, random_state=seed)
            for method, model in methods().items():
                results[method].append(scores(model, *split))
    title = f"{len(SETS)} data sets, {options.seeds} splits"
    table = Table("method", "test error", "log loss", "ECE", "failed", title=title)
    ran = ~np.any([np.isnan(rows).any(axis=1) for rows in results.values()], axis=0)
    for method, rows in results.items():
        mean = np.array(rows)[ran].mean(axis=0)
        table.add_row(method, *(f"{value:.4f}" for value in mean), str(int(np.isnan(rows).any(axis=1).sum())))
    Console().print(table)
    Console().print(f"means over the {ran.sum()} of {len(ran)} splits on which every method ran")


if __name__ == "__main__":
    main()
