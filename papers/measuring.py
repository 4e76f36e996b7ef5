"""Measures of a classifier on one split of a data set, as the tables of the papers need them."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from suffice.model_selection.measures import Dataset, Result, Split, curves_of, last_step, of_probabilities


def fit_and_measure(model: Any, data: Dataset, split: Split, keep_wrong: bool) -> tuple[Result, dict[str, float]]:
    """Fit a model to the training rows and measure it on the test rows; return the reason if it cannot be fitted."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the results tell
        warnings.filterwarnings("error", "Training interrupted by user")  # a neural network turns Ctrl-C into this
        try:
            model.fit(data.X[split.train], data.y[split.train])
            fitted = time.perf_counter()
            result = measure(model, data, split, keep_wrong)
        except UserWarning as interrupted:
            raise KeyboardInterrupt from interrupted
        except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
            return {"failed": f"{type(error).__name__}: {error}"}, {"fit": time.perf_counter() - started}
    seconds = getattr(last_step(model), "seconds_", {})  # times that a method takes itself, as of its fit in a search
    return result, {"fit": fitted - started, "predict": time.perf_counter() - fitted, **seconds}


def measure(model: Any, data: Dataset, split: Split, keep_wrong: bool = False) -> Result:
    """Measure errors on both parts, probabilities on the test rows, and learning curves."""
    truth = data.y[split.test]
    wrong = np.asarray(model.predict(data.X[split.test]), dtype=str) != truth
    result: Result = {"error": float(np.mean(wrong))}
    if len(split.train) != len(split.test):
        predicted = np.asarray(model.predict(data.X[split.train]), dtype=str)
        result["train_error"] = float(np.mean(predicted != data.y[split.train]))
    if hasattr(model, "predict_proba"):
        result.update(of_probabilities(model.predict_proba(data.X[split.test]), np.asarray(model.classes_, str), truth))
    last, curves = last_step(model), curves_of(model)
    if curves:
        result["curves"], result["iterations"] = curves, int(last.n_iter_)
    if hasattr(last, "best_params_"):
        result["chosen"] = {name: value for name, value in last.best_params_.items() if np.isscalar(value)}
    if keep_wrong:
        result["wrong"] = split.test[wrong].tolist()
    return result
