"""Time to fit and to predict, as a ratio to a named peer in the same run; above 1 is faster than the peer.

How a figure comes about is in `benchmarks.timing`. Both have the same number of threads.

    python -m benchmarks.speed [--threads 2] [--repeat 7] [--groups small tables] [--only predict] [--rows 0.1] [--cpu]
                               [--patience 60] [--out benchmark.json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_config
from rich.console import Console
from sklearn import discriminant_analysis, linear_model, naive_bayes
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import suffice
from benchmarks.importing import importing
from benchmarks.quadratic import quadratic
from benchmarks.timing import Case, Figure, many, measure, pair, shown
from suffice.data import Memory
from suffice.encoders import Categories
from suffice.learners import Evaluate, RiskCalibration
from suffice.losses import Loss

WORDS = np.array(["red", "green", "blue", "yellow", "white"])
TABLES = {"fit": 5.0, "predict_proba": 3.0}  # what is aimed for
MANY = 100  # fits of a small data set that are timed together


def drawn(n: int, d: int, k: int, rng: np.random.Generator, alike: float = 3.0) -> tuple[Any, Any]:
    """Labels of k classes, and whole numbers from 0 to 4 whose probabilities depend on them, less the more alike."""
    y = rng.integers(k, size=n)
    upper = rng.dirichlet(np.full(len(WORDS), alike), size=(k, d)).cumsum(axis=-1)[:, :, :-1]
    X = np.zeros((n, d), dtype=np.int64)
    for rows in np.array_split(np.arange(n), max(1, n * d // 10**6)):
        X[rows] = (rng.random((len(rows), d, 1)) > upper[y[rows]]).sum(axis=-1)
    return X, y


def tables(n: int, d: int, k: int, rng: np.random.Generator) -> Iterator[Case]:
    """Naive Bayes over categories, given as whole numbers; and a pass of calibration."""
    X, y = drawn(n, d, k, rng)
    data = f"{n} x {d}, {k} classes"
    yield from pair(f"{data}, numbers", suffice.CategoricalNB(), naive_bayes.CategoricalNB(), X, y, TABLES)
    theirs, ours = naive_bayes.CategoricalNB().fit(X, y), suffice.CategoricalNB().fit(X, y)
    fit, rows, peer = ours._fit_result(), Memory(Categories()(X), y), "CategoricalNB"
    one_pass = Evaluate(fit.model, fit.parameters, ours.classes_, Loss.equal(k))
    yield Case(data, "one pass of RC", f"{peer} fit", lambda: rows.sum(one_pass), lambda: theirs.fit(X, y), 5.0)


def strings(n: int, d: int, k: int, rng: np.random.Generator) -> Iterator[Case]:
    """Return the values as strings, and as objects."""
    X, y = drawn(n, d, k, rng)
    for kind, words in (("strings", WORDS), ("objects", WORDS.astype(object))):
        behind = make_pipeline(OrdinalEncoder(dtype=np.int64), naive_bayes.CategoricalNB())
        yield from pair(f"{n} x {d}, {k} classes, {kind}", suffice.CategoricalNB(), behind, words[X], y, TABLES)


def calibrated(n: int, d: int, k: int, rng: np.random.Generator) -> Iterator[Case]:
    """A whole fit by calibration that has something to do: every column is there twice, and says little."""
    X, y = drawn(n, d, k, rng, alike=0.3 * d)
    X[:, 1::2] = X[:, ::2]
    theirs, ours = naive_bayes.CategoricalNB(), suffice.CategoricalNB(learner=RiskCalibration()).fit(X, y)

    def both() -> None:
        theirs.fit(X, y)
        theirs.predict_proba(X)

    data, peer = f"{n} x {d}, {k} classes", "CategoricalNB fit + predict_proba"
    yield Case(data, "CategoricalNB fit by RC", peer, lambda: ours.fit(X, y), both, 1 / 3)


def numbers(n: int, d: int, rng: np.random.Generator) -> Iterator[Case]:
    """Gaussian classes: diagonal, and with one covariance."""
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(3, d))[y]
    data, lda = f"{n} x {d}, 3 classes", discriminant_analysis.LinearDiscriminantAnalysis("lsqr")
    targets = {"fit": 3.0, "predict_proba": 4.0}
    yield from pair(data, suffice.GaussianNB(), naive_bayes.GaussianNB(), X, y, targets)
    yield from pair(data, suffice.LinearDiscriminantAnalysis(), lda, X, y, {"fit": 3.0, "predict": 1.5})


def mixed(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Six numbers of which two are often 0, and eight columns of words with missing entries, that tell two classes."""
    y = rng.integers(2, size=n)
    numbers = rng.normal(size=(n, 6)) + 0.3 * y[:, None]
    numbers[:, 4:] *= rng.random((n, 2)) < 0.1
    codes, _ = drawn(n, 8, 2, rng)
    words = pd.DataFrame(WORDS[codes]).mask(rng.random(codes.shape) < 0.02).astype("category")
    return pd.concat([pd.DataFrame(numbers), words], axis=1).set_axis([f"x{j}" for j in range(14)], axis=1), y


def default(n: int, rng: np.random.Generator, target: float) -> Iterator[Case]:
    """The default for tables beside boosting: numbers with two and three classes, and a mixed table."""
    for k in (2, 3):
        X, y = make_classification(n, 20, n_informative=8, n_redundant=4, n_classes=k, random_state=0)
        yield from beside_boosting(f"{n} x 20, {k} classes, numbers", X, y, target)
    yield from beside_boosting(f"{n} x 14, 2 classes, mixed", *mixed(n, rng), target)


def beside_boosting(data: str, X: Any, y: Any, target: float) -> Iterator[Case]:
    """Its fit."""
    ours, theirs = suffice.TabularClassifier(random_state=0), HistGradientBoostingClassifier(random_state=0)
    yield from pair(data, ours, theirs, X, y, {"fit": target})


def planes(n: int, d: int, k: int, rng: np.random.Generator) -> Iterator[Case]:
    """Tangent planes of every pair of classes, beside our own covariances."""
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d)) + 0.3 * rng.normal(size=(k, d))[y]
    for ours in (suffice.FisherDiscriminant(), suffice.LinearBayes()):
        theirs = suffice.QuadraticDiscriminantAnalysis()
        for case in pair(f"{n} x {d}, {k} classes", ours, theirs, X, y, {"fit": 1 / 3}):
            yield replace(case, peer=f"our own {case.peer}")


def newton(n: int, d: int, k: int, apart: float, tol: float, target: float, rng: np.random.Generator) -> Iterator[Case]:
    """Logistic regression to the same optimum: on standardised columns, where the penalties are the same.

    `tol` is the peer's: as tight as it takes it to come as near to the optimum as ours.
    """
    y = rng.integers(k, size=n)
    X = StandardScaler().fit_transform(rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[y])
    theirs = linear_model.LogisticRegression(C=1.0, tol=tol, max_iter=5000)
    yield from pair(f"{n} x {d}, {k} classes", suffice.LogisticRegression(), theirs, X, y, {"fit": target})


def contests(n: int, d: int, k: int, rng: np.random.Generator) -> Iterator[Case]:
    """Logistic regression one against one, by ours and around ours."""
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(k, d))[y]
    ours, around = suffice.LogisticRegression(multi_class="ovo"), OneVsOneClassifier(suffice.LogisticRegression())
    yield from pair(f"{n} x {d}, {k} classes, one against one", ours, around, X, y, {"fit": 1.0})


def small() -> Iterator[Case]:
    """Many fits of few rows."""
    X, y = load_iris(return_X_y=True)
    models = [
        (suffice.GaussianNB(), naive_bayes.GaussianNB()),
        (suffice.CategoricalNB(), naive_bayes.CategoricalNB()),
        (suffice.LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis("lsqr")),
        (suffice.QuadraticDiscriminantAnalysis(), discriminant_analysis.QuadraticDiscriminantAnalysis()),
    ]
    for ours, theirs in models:
        rows = np.rint(X).astype(int) if isinstance(ours, suffice.CategoricalNB) else X
        for case in pair("150 x 4, 3 classes", ours, theirs, rows, y, {"fit": 0.5}):
            yield replace(case, ours=many(case.ours, MANY), theirs=many(case.theirs, MANY))


GROUPS: dict[str, Callable[[float, np.random.Generator], Iterator[Case]]] = {
    "import": lambda _share, _rng: importing(),
    "small": lambda _share, _rng: small(),
    "numbers": lambda share, rng: numbers(int(share * 1_000_000), 20, rng),
    "wide-numbers": lambda share, rng: numbers(int(share * 100_000), 100, rng),
    "newton": lambda share, rng: chain(
        newton(int(share * 1_000_000), 20, 2, 0.5, 1e-8, 2.0, rng),
        newton(int(share * 1_000_000), 20, 3, 0.5, 1e-7, 2.0, rng),
        contests(int(share * 300_000), 20, 3, rng),
        contests(int(share * 300_000), 20, 10, rng),
    ),
    "wide-newton": lambda share, rng: newton(int(share * 70_000), 512, 10, 0.05, 1e-5, 1.0, rng),
    "tables": lambda share, rng: tables(int(share * 1_000_000), 20, 3, rng),
    "wide-tables": lambda share, rng: tables(int(share * 70_000), 512, 10, rng),
    "strings": lambda share, rng: strings(int(share * 1_000_000), 20, 3, rng),
    "wide-strings": lambda share, rng: strings(int(share * 70_000), 512, 10, rng),
    "calibrated": lambda share, rng: calibrated(int(share * 1_000_000), 20, 3, rng),
    "wide-calibrated": lambda share, rng: calibrated(int(share * 70_000), 512, 10, rng),
    "quadratic": lambda share, rng: quadratic(int(share * 20_000), 256, 10, rng),
    "wide-quadratic": lambda share, rng: quadratic(int(share * 70_000), 512, 10, rng),
    "default": lambda share, rng: default(int(share * 10_000), rng, 3.0),
    "large-default": lambda share, rng: default(int(share * 1_000_000), rng, 1.0),
    "planes": lambda share, rng: planes(int(share * 70_000), 512, 10, rng),
}


@dataclass(frozen=True)
class How:
    """How figures are measured: a share of the rows of each group, and what `benchmarks.timing.measure` takes."""

    groups: dict[str, float]
    threads: int = 2
    repeat: int = 7
    cpu: bool = False
    patience: float = 60.0

    def cases(self) -> Iterator[Case]:
        """All cases of the groups, each group with its rows while it lasts."""
        return chain.from_iterable(GROUPS[name](share, np.random.default_rng(0)) for name, share in self.groups.items())

    def figures(self, wanted: Callable[[Case], bool], say: Callable[[str], Any]) -> Iterator[Figure]:
        """One figure after the other."""
        clock = process_time if self.cpu else perf_counter
        with parallel_config(n_jobs=self.threads), threadpool_limits(self.threads):
            for case in filter(wanted, self.cases()):
                found = measure(case, self.repeat, clock, self.patience)
                say(f"{case.data}: {case.what} {found.ratio:.2f}")
                yield found

    def __str__(self) -> str:
        clock = "time of the processor" if self.cpu else "by the clock"
        return f"{clock}, {self.threads} thread{'s' * (self.threads > 1)}, median of up to {self.repeat} pairs"


def to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: list[str]) -> list[Figure]:
    """Measure, show, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--rows", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--only", default="", help="part of the name of what is measured")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, for one thread on a busy machine")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds after which a case has no further pair")
    parser.add_argument("--out", type=Path, default=None, help="a JSON file")
    given = parser.parse_args(arguments)
    how = How(dict.fromkeys(given.groups, given.rows), given.threads, given.repeat, given.cpu, given.patience)
    figures = []
    for figure in how.figures(lambda case: given.only in case.name, to_stderr):
        figures.append(figure)
        if given.out is not None:  # as far as it has come
            told = {"how": asdict(how), "figures": [asdict(figure) for figure in figures]}
            given.out.write_text(json.dumps(told, indent=1) + "\n")
    Console(width=150).print(shown(figures, f"The peer's / ours, {how}"))
    return figures


if __name__ == "__main__":
    main(sys.argv[1:])
