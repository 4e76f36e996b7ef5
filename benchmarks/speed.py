"""Time to fit and to predict, as a ratio to a named peer in the same run; above 1 is faster than the peer.

Ours and the peer's are run in turn, A B A B ..., so that whatever else the machine does falls on both; a figure is the
median of the ratios of such pairs, with the least and the greatest. Both have the same number of threads.

    python -m benchmarks.speed [--threads 2] [--repeat 7] [--groups small tables] [--only predict] [--rows 0.1] [--cpu]
                               [--out benchmark.json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from joblib import parallel_config
from rich.console import Console
from rich.table import Table
from sklearn import discriminant_analysis, naive_bayes
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

import suffice
from suffice.data import Memory
from suffice.encoders import Categories
from suffice.learners import RiskCalibration
from suffice.learners._base import Evaluate
from suffice.losses import Loss

WORDS = np.array(["red", "green", "blue", "yellow", "white"])
MANY = 100  # fits of a small data set that are timed together


@dataclass(frozen=True)
class Case:
    """What is timed: a call of ours, that of a peer, and the ratio that is aimed for."""

    data: str
    what: str
    peer: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    target: float


@dataclass(frozen=True)
class Figure:
    """Median seconds of both, the median of their ratios, and its least and greatest."""

    data: str
    what: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    least: float
    most: float
    target: float


def measure(case: Case, repeat: int, clock: Callable[[], float]) -> Figure:
    """Both in turn, so many times, after a first call of ours that may compile."""
    case.ours()
    pairs = np.array([[seconds(case.ours, clock), seconds(case.theirs, clock)] for _ in range(repeat)])
    ours, theirs = np.median(pairs, axis=0).tolist()
    ratio = pairs[:, 1] / pairs[:, 0]
    spread = float(np.median(ratio)), float(ratio.min()), float(ratio.max())
    return Figure(case.data, case.what, case.peer, ours, theirs, *spread, case.target)


def seconds(action: Callable[[], Any], clock: Callable[[], float]) -> float:
    start = clock()
    action()
    return clock() - start


def drawn(n: int, d: int, k: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Labels of k classes, and whole numbers from 0 to 4 whose probabilities depend on them."""
    y = rng.integers(k, size=n)
    upper = rng.dirichlet(np.full(len(WORDS), 3.0), size=(k, d)).cumsum(axis=-1)[:, :, :-1]
    X = np.zeros((n, d), dtype=np.int64)
    for rows in np.array_split(np.arange(n), max(1, n * d // 10**6)):
        X[rows] = (rng.random((len(rows), d, 1)) > upper[y[rows]]).sum(axis=-1)
    return X, y


def pair(data: str, ours: Any, theirs: Any, X: Any, y: Any, targets: dict[str, float]) -> Iterator[Case]:
    """Fitting, and what is predicted."""
    ours.fit(X, y)
    theirs.fit(X, y)
    name = type(ours).__name__
    peer = " after ".join(type(step).__name__ for _, step in reversed(getattr(theirs, "steps", [("", theirs)])))
    for what, target in targets.items():
        rows = (X, y) if what == "fit" else (X,)
        mine, other = (partial(getattr(model, what), *rows) for model in (ours, theirs))
        yield Case(data, f"{name} {what}", peer, mine, other, target)


def tables(n: int, d: int, k: int, rng: np.random.Generator) -> Iterator[Case]:
    """Naive Bayes over categories, given as whole numbers and as strings; and calibrated."""
    X, y = drawn(n, d, k, rng)
    data, targets = f"{n} x {d}, {k} classes", {"fit": 5.0, "predict_proba": 3.0}
    yield from pair(f"{data}, numbers", suffice.CategoricalNB(), naive_bayes.CategoricalNB(), X, y, targets)
    theirs, ours = naive_bayes.CategoricalNB().fit(X, y), suffice.CategoricalNB().fit(X, y)
    fit, rows, peer = ours._fit_result(), Memory(Categories()(X), y), "CategoricalNB"
    one_pass = Evaluate(fit.model, fit.parameters, ours.classes_, Loss.equal(k))
    yield Case(data, "one pass of RC", f"{peer} fit", lambda: rows.sum(one_pass), lambda: theirs.fit(X, y), 5.0)
    whole = suffice.CategoricalNB(learner=RiskCalibration())

    def both() -> None:
        theirs.fit(X, y)
        theirs.predict_proba(X)

    yield Case(data, "RC fit", f"{peer} fit + predict_proba", lambda: whole.fit(X, y), both, 1 / 3)
    for kind, words in (("strings", WORDS), ("objects", WORDS.astype(object))):
        behind = make_pipeline(OrdinalEncoder(dtype=np.int64), naive_bayes.CategoricalNB())
        yield from pair(f"{data}, {kind}", suffice.CategoricalNB(), behind, words[X], y, targets)


def numbers(n: int, d: int, rng: np.random.Generator) -> Iterator[Case]:
    """Gaussian classes: diagonal, and with one covariance."""
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(3, d))[y]
    data, lda = f"{n} x {d}, 3 classes", discriminant_analysis.LinearDiscriminantAnalysis("lsqr")
    targets = {"fit": 3.0, "predict_proba": 4.0}
    yield from pair(data, suffice.GaussianNB(), naive_bayes.GaussianNB(), X, y, targets)
    yield from pair(data, suffice.LinearDiscriminantAnalysis(), lda, X, y, {"fit": 3.0, "predict": 1.5})


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
            yield replace(case, ours=_many(case.ours), theirs=_many(case.theirs))


def _many(action: Callable[[], Any]) -> Callable[[], None]:
    def all_of_them() -> None:
        for _ in range(MANY):
            action()

    return all_of_them


GROUPS: dict[str, Callable[[float, np.random.Generator], Iterator[Case]]] = {
    "small": lambda _share, _rng: small(),
    "numbers": lambda share, rng: numbers(int(share * 1_000_000), 20, rng),
    "wide-numbers": lambda share, rng: numbers(int(share * 100_000), 100, rng),
    "tables": lambda share, rng: tables(int(share * 1_000_000), 20, 3, rng),
    "wide-tables": lambda share, rng: tables(int(share * 70_000), 512, 10, rng),
}


def shown(figures: list[Figure], title: str) -> Table:
    """A table to read; a ratio below its target is marked."""
    table = Table("data", "what", "scikit-learn's", "ours, s", "peer's, s", "ratio", "from - to", "target", title=title)
    for f in figures:
        ratio = f"{f.ratio:.2f}" + " !" * (f.ratio < f.target)
        spread = f"{f.least:.2f} - {f.most:.2f}"
        table.add_row(f.data, f.what, f.peer, f"{f.ours:.3f}", f"{f.theirs:.3f}", ratio, spread, f"{f.target:.2f}")
    return table


def main(arguments: list[str]) -> list[Figure]:
    """Measure, show, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--rows", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--only", default="", help="part of the name of what is measured")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, for one thread on a busy machine")
    parser.add_argument("--out", type=Path, default=None, help="a JSON file")
    given = parser.parse_args(arguments)
    clock, figures = process_time if given.cpu else perf_counter, []
    with parallel_config(n_jobs=given.threads), threadpool_limits(given.threads):
        for case in chain.from_iterable(GROUPS[group](given.rows, np.random.default_rng(0)) for group in given.groups):
            if given.only in f"{case.what}, {case.data}":
                figures.append(measure(case, given.repeat, clock))
                print(f"{case.data}: {case.what} {figures[-1].ratio:.2f}", file=sys.stderr)
    title = f"The peer's time / ours, median of {given.repeat} pairs, {given.threads} threads"
    Console(width=150).print(shown(figures, title))
    if given.out is not None:
        given.out.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n")
    return figures


if __name__ == "__main__":
    main(sys.argv[1:])
