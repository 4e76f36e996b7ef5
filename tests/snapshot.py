"""Snapshots of results and of public names, to see that a change of form changed no result.

    python -m tests.snapshot write FILE     before the change
    python -m tests.snapshot check FILE     after it: lists what differs, exits with 1 if anything does

Probabilities and sums are hashed to the bit, over every entry of the zoo and every way to come to a model. They hold on
one machine, with the same versions of NumPy, SciPy and scikit-learn.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import pkgutil
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import suffice
from suffice import TabularClassifier

if __name__ == "__main__":  # not if pytest looks for doctests here: its other tests would be long, too
    os.environ["SUFFICE_LAWS"] = "long"  # learners take as many steps as a user's do
from tests.zoo import ZOO, Entry

OTHERS = [Entry("tabular", TabularClassifier(n_trees=10, random_state=0), units=False, missing=True)]
FOLDS = 3


def digest(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(array)
        found.update(str((array.dtype.kind, array.shape)).encode())
        found.update(array.tobytes())
    return found.hexdigest()[:16]


def described(model: Any, X: Any) -> dict[str, str]:
    """Hashes of the probabilities and of the sums of a fitted classifier."""
    leaves = [np.asarray(leaf, dtype=float) for leaf in model.statistics_.leaves()]
    return {"probabilities": digest(model.predict_proba(X)), "sums": digest(*leaves)}


def fitted_in_pieces(entry: Entry, X: Any, y: Any) -> Any:
    model = entry.estimator()
    for rows in np.array_split(np.arange(len(y)), FOLDS):
        model.partial_fit(X[rows], y[rows], **({"classes": np.unique(y)} if rows[0] == 0 else {}))
    return model


def merged(entry: Entry, X: Any, y: Any) -> Any:
    half = len(y) // 2
    first = entry.estimator().fit(X[:half], y[:half])
    settings = {"encoder": first.encoder_} if hasattr(first, "encoder_") else {}
    return first.merge(entry.estimator().set_params(**settings).fit(X[half:], y[half:]))


def forgotten(entry: Entry, X: Any, y: Any) -> Any:
    return entry.estimator().fit(X, y).forget(X[:9], y[:9])


def recalibrated(entry: Entry, X: Any, y: Any) -> Any:
    return forgotten(entry, X, y).recalibrate(X[9:], y[9:])


def with_gaps(entry: Entry, X: Any, y: Any) -> Any:
    return entry.estimator().fit(entry.holed(X, 1), y)


WAYS = {
    "fit": lambda entry, X, y: entry.estimator().fit(X, y),
    "weighted": lambda entry, X, y: entry.estimator().fit(X, y, sample_weight=0.5 + np.arange(len(y)) % 3),
    "pieces": fitted_in_pieces,
    "merged": merged,
    "forgotten": forgotten,
    "recalibrated": recalibrated,
    "gaps": with_gaps,
}


def attempt(call: Any, *args: Any) -> Any:
    """What a call returns, or the kind of the error that it raises: a refusal is a result, too."""
    try:
        return call(*args)
    except (AttributeError, TypeError, ValueError) as error:
        return type(error).__name__


def results() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in [*ZOO, *OTHERS]:
        X, y = entry.draw(7, n=90)
        for way, learn in WAYS.items():
            model = attempt(learn, entry, X, y)
            told = model if isinstance(model, str) else attempt(described, model, X)
            for name, value in (told if isinstance(told, dict) else {"refused": told}).items():
                found[f"{entry.name}/{way}/{name}"] = value
        whole = entry.estimator().fit(X, y)
        found[f"{entry.name}/leave-one-out"] = attempt(lambda m=whole, X=X, y=y: digest(m.loo_log_proba(X, y)))
        found[f"{entry.name}/contributions"] = attempt(lambda m=whole, X=X: digest(m.contributions(X).log_joint))
        found[f"{entry.name}/sql"] = attempt(
            lambda m=whole: digest(np.frombuffer(m.to_sql("t", dialect="duckdb").encode(), dtype=np.uint8))
        )
    return found


def names() -> dict[str, str]:
    """Every public name of every public module, with its signature."""
    found = {}
    modules = [suffice.__name__]
    modules += [one.name for one in pkgutil.walk_packages(suffice.__path__, "suffice.")]
    for module_name in modules:
        if any(part.startswith("_") for part in module_name.split(".")):
            continue
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            try:
                signature = re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)))
            except (TypeError, ValueError):
                signature = ""
            found[f"{module_name}.{name}"] = signature
    return found


def main(argv: list[str]) -> int:
    what, path = argv[0], Path(argv[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = {"results": results(), "names": names()}
    if what == "write":
        path.write_text(json.dumps(now, indent=1, sort_keys=True), encoding="utf-8")
        print(f"{len(now['results'])} results and {len(now['names'])} names")
        return 0
    before = json.loads(path.read_text(encoding="utf-8"))
    differ = 0
    for part in now:
        for key in sorted(before[part].keys() | now[part].keys()):
            a, b = before[part].get(key, "(not there)"), now[part].get(key, "(not there)")
            if a != b:
                differ += part == "results"
                print(f"{part} {key}: {a} -> {b}")
    print(f"{differ} of {len(before['results'])} results differ")
    return int(differ > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
