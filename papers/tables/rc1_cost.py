"""What a pass of risk-based calibration costs beside a fit in closed form (rc1, III; rc2, 4.2)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import suffice
from papers.derived import Computed
from papers.table import Column, Rows
from suffice.learners import ClosedForm, RiskCalibration
from suffice.model_selection.measures import Result

ROWS = (20_000, 40_000, 80_000, 160_000)
FEATURES, CLASSES, PASSES = 20, 3, 10
TRIES = 3

MODELS: Mapping[str, Callable[[Any], Any]] = {
    "naive Bayes": lambda learner: suffice.CategoricalNB(learner=learner),
    "QDA": lambda learner: suffice.QuadraticDiscriminantAnalysis(learner=learner),
    "logistic regression": lambda learner: suffice.LogisticRegression(learner=learner),
}


def cost(model: str, number: int) -> Result:
    """Seconds of the processor by rows: of a fit in closed form, and of one pass of calibration."""
    rng = np.random.default_rng(number)
    seconds = {}
    for n in ROWS:
        y = rng.integers(CLASSES, size=n)
        X = rng.normal(size=(n, FEATURES)) + 0.2 * y[:, None]
        if model == "naive Bayes":
            X = np.clip(np.floor(X), -2, 2)
        closed = _least(MODELS[model](ClosedForm()), X, y)
        learner = RiskCalibration(rate=0.1, max_iter=PASSES, stop=None, anchor=0.0)
        calibrated = _least(MODELS[model](learner), X, y)
        seconds[f"fit {n}"], seconds[f"pass {n}"] = closed, (calibrated - closed) / PASSES
    return {"seconds": seconds}


def _least(model: Any, X: Any, y: Any) -> float:
    """The least time of some tries: whatever else the machine does only adds to it."""
    found = []
    for _ in range(TRIES):
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            started = time.process_time()
            model.fit(X, y)
            found.append(time.process_time() - started)
    return min(found)


def _seconds(rows: Rows, what: str) -> list[float]:
    """The least seconds over the repeats, by the number of rows."""
    found = [row.get("seconds", {}) for row in rows.get("computed", ())]
    keys = [f"{what} {n}" for n in ROWS]
    return (
        [min(row[key] for row in found) for key in keys]
        if found and all(set(keys) <= set(row) for row in found)
        else []
    )


def ratio(rows: Rows) -> float | None:
    """A pass over a fit, at the most rows."""
    passes, fits = _seconds(rows, "pass"), _seconds(rows, "fit")
    return passes[-1] / fits[-1] if passes and fits else None


def exponent(rows: Rows) -> float | None:
    """The slope of log seconds of a pass against log rows."""
    passes = _seconds(rows, "pass")
    return float(np.polyfit(np.log(ROWS), np.log(np.maximum(passes, 1e-9)), 1)[0]) if passes else None


def milliseconds(rows: Rows) -> float | None:
    """A pass at the most rows."""
    passes = _seconds(rows, "pass")
    return 1000 * passes[-1] if passes else None


TABLES = (
    Computed(
        "rc1-cost",
        "rc1, III: the cost of a pass of calibration",
        {name: partial(cost, name) for name in MODELS},
        [
            Column("pass over fit", ratio, 2),
            Column("exponent", exponent, 2),
            Column("pass, ms", milliseconds, 1),
        ],
        repeats=2,
        notes=f"Processor time, one thread; {FEATURES} features, {CLASSES} classes, {ROWS[0]:,} to {ROWS[-1]:,} rows. "
        "A pass also measures the losses; the fit in closed form also reads and encodes the rows.",
    ),
)
