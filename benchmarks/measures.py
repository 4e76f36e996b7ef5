"""Measures of a classifier: test error, log loss, calibration error, AUC, and time."""

import time
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score

SHORT, REPEATS = 1.0, 3  # a fit is repeated up to REPEATS times while all runs together take less than SHORT seconds


def scores(p, classes, truth):
    """Error, log loss (probabilities at least 1e-15), calibration error (15 bins) and AUC (two classes) of p (n, k)."""
    right = classes[p.argmax(axis=1)] == truth
    of_truth = p[np.arange(len(truth)), np.searchsorted(classes, truth)]
    bins = np.minimum((15 * p.max(axis=1)).astype(int), 14)
    gaps = [abs((right - p.max(axis=1))[bins == b].sum()) for b in range(15)]
    return {
        "error": float(1 - right.mean()),
        "log_loss": float(-np.log(np.clip(of_truth, 1e-15, 1)).mean()),
        "calibration": float(sum(gaps) / len(truth)),
        "auc": float(roc_auc_score(truth == classes[1], p[:, 1])) if len(classes) == 2 else None,
    }


def timed(f):
    """Return the result of f, and its processor and wall-clock seconds; if it is short, the least of a few runs."""
    least = [np.inf, np.inf]
    began = time.perf_counter()
    for _ in range(REPEATS):
        start = time.process_time(), time.perf_counter()
        out = f()
        spent = time.process_time() - start[0], time.perf_counter() - start[1]
        least = [min(pair) for pair in zip(least, spent, strict=True)]
        if time.perf_counter() - began > SHORT:
            break
    return out, *map(float, least)


def fit_time(model, X, y):
    """Seconds of a fit, as in `measured`, and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, cpu, clock = timed(lambda: model.fit(X, y))
    return {"fit": cpu, "fit_clock": clock}


def measured(model, X, y, train, test):
    """Scores and times of one method on one split, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, fit, fit_clock = timed(lambda: model.fit(X.iloc[train], y[train]))
        p, predict, predict_clock = timed(lambda: model.predict_proba(X.iloc[test]))
    times = {"fit": fit, "fit_clock": fit_clock, "predict": predict, "predict_clock": predict_clock}
    said = sorted({f"{w.category.__name__}: {str(w.message)[:200]}" for w in caught})
    return scores(np.asarray(p), model.classes_, y[test]) | times | {"warnings": said}
