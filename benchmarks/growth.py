"""How time and memory grow with rows n, columns d and classes k, beside scikit-learn's: slopes on logarithmic scales.

Every point is a process of its own, in which ours and the peer's take turns (`benchmarks.timing`). Memory is the most
that a call takes beyond its rows and what it returns. A slope is that of the least squares line through log time.

Usage: python -m benchmarks.growth [--axes n d k] [--estimators GaussianNB ...] [--largest 10000000] [--threads 2]
                                   [--cpu] [--out growth.json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from joblib import parallel_config
from rich.console import Console
from rich.table import Table
from sklearn import discriminant_analysis, linear_model, naive_bayes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from threadpoolctl import threadpool_limits

import suffice
from benchmarks.memory import beyond
from benchmarks.timing import Case, measure

CELLS = 5  # of a table
AXES: dict[str, list[tuple[int, int, int]]] = {
    "n": [(n, 10, 3) for n in (100_000, 316_000, 1_000_000, 3_160_000, 10_000_000)],
    "d": [(100_000, d, 3) for d in (8, 16, 32, 64, 128, 256)],
    "k": [(200_000, 10, k) for k in (2, 4, 8, 16, 32, 64)],
}
CALLS = ("fit", "predict_proba")
PATIENCE = 20.0  # seconds, after which a point has no further pair


@dataclass(frozen=True)
class Compared:
    """An estimator of ours, scikit-learn's of the same kind, and whether its columns are numbers or codes."""

    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    peer: str
    codes: bool = False


def _discretised() -> Any:
    bins = KBinsDiscretizer(32, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return make_pipeline(bins, naive_bayes.CategoricalNB(min_categories=32))


ESTIMATORS = {
    "CategoricalNB": Compared(suffice.CategoricalNB, naive_bayes.CategoricalNB, "CategoricalNB", codes=True),
    "GaussianNB": Compared(suffice.GaussianNB, naive_bayes.GaussianNB, "GaussianNB"),
    "NaiveBayes": Compared(suffice.NaiveBayes, _discretised, "CategoricalNB after KBinsDiscretizer"),
    "LinearDiscriminantAnalysis": Compared(
        suffice.LinearDiscriminantAnalysis,
        partial(discriminant_analysis.LinearDiscriminantAnalysis, solver="lsqr"),
        "LinearDiscriminantAnalysis, lsqr",
    ),
    "QuadraticDiscriminantAnalysis": Compared(
        suffice.QuadraticDiscriminantAnalysis,
        discriminant_analysis.QuadraticDiscriminantAnalysis,
        "QuadraticDiscriminantAnalysis",
    ),
    "LogisticRegression": Compared(
        suffice.LogisticRegression,
        partial(linear_model.LogisticRegression, solver="newton-cholesky"),
        "LogisticRegression, newton-cholesky",
    ),
}


@dataclass(frozen=True)
class Point:
    """Seconds of ours and the peer's for a number of rows, columns and classes, and their memory (bytes)."""

    axis: str
    estimator: str
    call: str
    n: int
    d: int
    k: int
    ours: float
    theirs: float
    ours_bytes: float
    theirs_bytes: float

    @property
    def size(self) -> int:
        """The dimension that grows."""
        return int(getattr(self, self.axis))


def drawn(n: int, d: int, k: int, codes: bool) -> tuple[Any, Any]:
    """Rows of overlapping normal classes, about a unit apart, or whole numbers cut from them; made in place."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    means, X = rng.normal(size=(k, d)) / np.sqrt(d), np.empty((n, d), dtype=np.int64 if codes else float)
    for rows in np.array_split(np.arange(n), max(1, n * d // 10**6)):
        x = rng.normal(size=(len(rows), d)) + means[y[rows]]
        X[rows] = np.clip(np.floor(x + CELLS / 2), 0, CELLS - 1) if codes else x
    return X, y


def one(name: str, n: int, d: int, k: int, clock: Callable[[], float]) -> dict[str, dict[str, float]]:
    """Seconds and bytes of both calls, of ours and the peer's, in this process."""
    compared = ESTIMATORS[name]
    X, y = drawn(n, d, k, compared.codes)
    models = compared.ours(), compared.theirs()
    few = min(n, 2000 + 20 * k)
    for model in models:  # what there is to compile and to load
        model.fit(X[:few], y[:few]).predict_proba(X[:few])
    found, times = {}, int(np.clip(3e7 / (n * d), 5, 25))
    for call in CALLS:
        rows = (X, y) if call == "fit" else (X,)
        ours, theirs = (partial(getattr(model, call), *rows) for model in models)
        took = [_beyond(each) for each in (ours, theirs)]
        figure = measure(Case("", call, compared.peer, ours, theirs, 1.0), times, clock, PATIENCE)
        found[call] = {"ours": figure.ours, "theirs": figure.theirs, "ours_bytes": took[0], "theirs_bytes": took[1]}
    return found


def _beyond(call: Callable[[], Any]) -> float:
    """Bytes beyond what is there before and what is returned, if that is an array."""
    taken, returned = beyond(call)
    return taken - getattr(returned, "nbytes", 0)


def points(axis: str, names: list[str], largest: int, options: list[str]) -> Iterator[Point]:
    """Every size of an axis, each in a process of its own."""
    for name in names:
        for n, d, k in AXES[axis]:
            if n > largest:
                continue
            command = [sys.executable, "-m", "benchmarks.growth", "--one", name, *map(str, (n, d, k)), *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
            if done.returncode:
                raise RuntimeError(f"{name} with n, d, k = {n, d, k}: {done.stderr[-2000:]}")
            for call, told in json.loads(done.stdout.splitlines()[-1]).items():
                yield Point(axis, name, call, n, d, k, **told)


def slope(sizes: Any, times: Any) -> float:
    """The exponent a of time = c size^a, by least squares on logarithms.

    >>> round(slope([10, 100, 1000], [0.2, 2.0, 20.0]), 3)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


@dataclass(frozen=True)
class Line:
    """A call along an axis: the seconds of ours and the peer's at each size, and the bytes that ours takes."""

    axis: str
    estimator: str
    call: str
    sizes: tuple[int, ...]
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    memory: tuple[float, ...]

    @property
    def slopes(self) -> tuple[float, float]:
        """Of ours and of the peer's."""
        return slope(self.sizes, self.ours), slope(self.sizes, self.theirs)

    @property
    def late(self) -> float:
        """Of ours over the larger half of the sizes, where what every call costs counts for less."""
        some = slice(len(self.sizes) // 2, None)
        return slope(self.sizes[some], self.ours[some])

    @property
    def ratio(self) -> float:
        """The peer's time over ours at the largest size."""
        return self.theirs[-1] / self.ours[-1]


def lines(found: list[Point]) -> list[Line]:
    """Points of the same axis, estimator and call, in the order of their sizes."""
    groups: dict[tuple[str, str, str], list[Point]] = {}
    for point in found:
        groups.setdefault((point.axis, point.estimator, point.call), []).append(point)
    made = []
    for key, each in groups.items():
        each.sort(key=lambda point: point.size)
        columns = ([getattr(p, name) for p in each] for name in ("size", "ours", "theirs", "ours_bytes"))
        made.append(Line(*key, *map(tuple, columns)))
    return made


def shown(found: list[Line]) -> Table:
    """A table to read."""
    table = Table("along", "what", "sizes", "slope", "late", "peer's", "largest, s", "ratio there", "memory beyond, MB")
    for line in found:
        ours, theirs = line.slopes
        memory = f"{line.memory[0] / 1e6:.0f} - {line.memory[-1] / 1e6:.0f}"
        sizes, slopes = f"{line.sizes[0]} - {line.sizes[-1]}", (f"{ours:.3f}", f"{line.late:.3f}", f"{theirs:.3f}")
        last = f"{line.ours[-1]:.3g}", f"{line.ratio:.1f}"
        table.add_row(line.axis, f"{line.estimator} {line.call}", sizes, *slopes, *last, memory)
    return table


def main(arguments: list[str]) -> None:
    """Measure, show, and write and draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axes", nargs="+", choices=AXES, default=list(AXES))
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--largest", type=int, default=10_000_000, help="rows, at most")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--cpu", action="store_true", help="time of the processor, for one thread on a busy machine")
    parser.add_argument("--out", type=Path, help="a JSON file")
    parser.add_argument("--one", nargs=4, metavar=("ESTIMATOR", "N", "D", "K"), help="one point, said in JSON")
    given = parser.parse_args(arguments)
    if given.one:
        warnings.simplefilter("ignore")
        with parallel_config(n_jobs=given.threads), threadpool_limits(given.threads):
            clock = process_time if given.cpu else perf_counter
            print(json.dumps(one(given.one[0], *map(int, given.one[1:]), clock)))
        return
    options, found = ["--threads", str(given.threads), *["--cpu"] * given.cpu], []
    for axis in given.axes:
        for point in points(axis, given.estimators, given.largest, options):
            found.append(point)
            said = f"{point.estimator} {point.call}, {axis} = {point.size}: {point.ours:.3g} s, {point.theirs:.3g} s"
            print(said, file=sys.stderr, flush=True)
            if given.out:  # as far as it has come
                told = {"how": {"threads": given.threads, "cpu": given.cpu}, "points": [asdict(p) for p in found]}
                given.out.write_text(json.dumps(told, indent=1) + "\n")
    Console(width=140).print(shown(lines(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
