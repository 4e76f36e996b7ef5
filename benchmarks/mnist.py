"""Raw digits (70,000 x 784): quadratic discriminants in closed form and calibrated, beside scikit-learn's classifiers.

The first 60,000 rows are learned, the last 10,000 are test rows. What has to be chosen (how far the covariances are
drawn towards a multiple of the identity, which pixels that never vary need) is chosen by the error on the last 10,000
of the rows to learn. Every classifier is a process of its own, so that its memory is its own.

Usage: python -m benchmarks.mnist [--data FOLDER] [--threads 2] [--cpu] [--only QDA] [--out mnist.json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from joblib import parallel_config
from rich.console import Console
from rich.table import Table
from sklearn import discriminant_analysis, linear_model
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from benchmarks.memory import beyond
from suffice import GaussianPrior, QuadraticDiscriminantAnalysis
from suffice.learners import RiskCalibration

LEARNED, HELD = 60_000, 10_000
PASSES = 16
SHARES = (0.02, 0.05, 0.1)  # of the identity in a covariance, for pixels from 0 to 1


def ours(share: float, y: Any, learner: Any = None) -> Any:
    """Quadratic discriminants whose prior adds so large a share of the identity to every covariance.

    The prior is worth one row, and its covariance goes with the rows of the class: in 784 dimensions a share that
    differs from class to class, as that of a fixed number of pseudo-rows does, would favour one class over another.
    """
    counts = dict(zip(*np.unique(y, return_counts=True), strict=True))
    covariance = {int(c): share * (1.0 + n) for c, n in counts.items()}
    return QuadraticDiscriminantAnalysis(GaussianPrior(cov_weight=1.0, covariance=covariance), learner)


@dataclass(frozen=True)
class Method:
    """A classifier with one setting, and what this is chosen from; by another, whose choice it takes, or by itself."""

    make: Callable[[Any, Any], Any]  # of the setting's value and the labels
    setting: str = ""
    values: tuple[Any, ...] = (None,)
    chosen_by: str = ""


METHODS = {
    "QDA": Method(ours, "share of the identity", SHARES),
    "QDA + RC": Method(
        lambda v, y: ours(v, y, RiskCalibration(max_iter=PASSES)), "share of the identity", SHARES, chosen_by="QDA"
    ),
    "scikit-learn's QDA": Method(
        lambda v, _: discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=v), "reg_param", SHARES
    ),
    "scikit-learn's LogisticRegression": Method(lambda _v, _y: linear_model.LogisticRegression(max_iter=200)),
}


@dataclass(frozen=True)
class Result:
    """Measures of a classifier on the test rows; seconds, and bytes beyond the rows."""

    name: str
    chosen: str
    error: float
    log_loss: float
    fit: float
    predict: float
    memory: float
    passes: int


def read(folder: Path) -> tuple[Any, Any]:
    """Pixels from 0 to 1 (70000, 784), as float32, and digits."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "mnist.parquet")
    pixels = [name for name in table.column_names if name != "target"]
    X = np.empty((table.num_rows, len(pixels)), dtype=np.float32)
    for j, name in enumerate(pixels):
        X[:, j] = table[name].to_numpy() / 255
    return X, table["target"].to_numpy()


def choose(method: Method, X: Any, y: Any) -> Any:
    """The value of least error on rows that are held out of those to learn."""
    rows, held = slice(LEARNED - HELD), slice(LEARNED - HELD, LEARNED)
    errors = [
        np.mean(method.make(value, y[rows]).fit(X[rows], y[rows]).predict(X[held]) != y[held])
        for value in method.values
    ]
    return method.values[int(np.argmin(errors))]


def one(name: str, folder: Path, clock: Callable[[], float]) -> Result:
    """Choose, learn and test one classifier in this process."""
    method, (X, y) = METHODS[name], read(folder)
    value = method.values[0] if len(method.values) == 1 else choose(METHODS[method.chosen_by or name], X, y)
    model, test = method.make(value, y[:LEARNED]), slice(LEARNED, None)
    start = clock()
    memory, _ = beyond(lambda: model.fit(X[:LEARNED], y[:LEARNED]))
    fitted = clock()
    p = model.predict_proba(X[test])
    done = clock()
    error = float(np.mean(model.classes_[p.argmax(axis=1)] != y[test]))
    chosen = f"{method.setting} {value}" if method.setting else ""
    loss, passes = float(log_loss(y[test], np.asarray(p, dtype=float))), int(np.max(getattr(model, "n_iter_", 1)))
    return Result(name, chosen, error, loss, fitted - start, done - fitted, memory, passes)


def shown(results: list[Result]) -> Table:
    """A table to read."""
    table = Table("classifier", "chosen", "test error", "log loss", "fit, s", "predict, s", "memory, MB", "passes")
    for r in results:
        times = f"{r.fit:.1f}", f"{r.predict:.2f}", f"{r.memory / 1e6:.0f}"
        table.add_row(r.name, r.chosen, f"{r.error:.2%}", f"{r.log_loss:.3f}", *times, str(r.passes))
    return table


def main(arguments: list[str]) -> None:
    """Measure every classifier in a process of its own, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--cpu", action="store_true", help="time of the processor, for one thread on a busy machine")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--out", type=Path, help="a JSON file")
    parser.add_argument("--one", choices=METHODS, help="one classifier, said in JSON")
    given = parser.parse_args(arguments)
    if given.one:
        warnings.simplefilter("ignore")
        with parallel_config(n_jobs=given.threads), threadpool_limits(given.threads):
            print(json.dumps(asdict(one(given.one, given.data, process_time if given.cpu else perf_counter))))
        return
    results = []
    options = ["--data", str(given.data), "--threads", str(given.threads), *["--cpu"] * given.cpu]
    for name in given.only:
        command = [sys.executable, "-m", "benchmarks.mnist", "--one", name, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
        results.append(Result(**json.loads(done.stdout.splitlines()[-1])))
        print(results[-1], file=sys.stderr, flush=True)
    Console(width=150).print(shown(results))
    if given.out:
        how = {"threads": given.threads, "cpu": given.cpu}
        given.out.write_text(json.dumps({"how": how, "results": [asdict(r) for r in results]}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
