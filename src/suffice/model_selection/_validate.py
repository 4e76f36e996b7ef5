"""Cross-validation from sums."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_sample_weight

from suffice._vector import Array
from suffice.data import Data
from suffice.model_selection._folds import Read, Split, adds_up, trained
from suffice.models import AnyStatistics


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    sample_weight: Any = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
) -> dict[str, Any]:
    """Scores on rows that were left out, as `sklearn.model_selection.cross_validate` gives them, from sums by fold.

        s without fold f = sum over the other folds g of S(X_g, Y_g)

    Rows are read twice: summed fold by fold, and predicted fold by fold. That is exact, as everything that is chosen
    from the data (the prior, cells, categories) is a function of the sums and chosen anew without the fold. Splits
    whose training rows are not all others (such as time series) sum each training set. Where learning is no
    function of sums, the estimator is fitted for every split: learners other than the closed form, encoders that
    learn (the kinds of columns of `NaiveBayes` without `columns`), more patterns of missing values than are kept
    apart, and estimators of others.

    Parameters
    ----------
    estimator : classifier
        It stays as it is.
    X, y, sample_weight
        As in `fit`; the weights count in fitting, not in scores.
    groups : array of shape (n,), default=None
        For splitters that keep groups together.
    cv : int, splitter or iterable of (training rows, test rows), default=5
    scoring : str, callable, list or dict, default=None
        As in scikit-learn; None is accuracy.
    return_train_score, return_estimator, return_indices : bool, default=False
        Whether to give these, too.

    Returns
    -------
    dict
        `test_score` (or `test_` with the name of each of several scores), `fit_time` and `score_time`, each an array
        with an entry for every split; and what else was asked for. A fold that cannot be fitted raises its error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LinearDiscriminantAnalysis
    >>> cross_validate(LinearDiscriminantAnalysis(), *load_iris(return_X_y=True))["test_score"].round(2)
    array([0.97, 0.97, 0.93, 0.93, 1.  ])
    """
    if isinstance(X, Data):
        raise TypeError("cross_validate takes rows in memory: give arrays or data frames X and y")
    X, y = indexable(X, y)
    splits = list(model_selection.check_cv(cv, y, classifier=True).split(X, y, groups))
    scorer = check_scoring(estimator, scoring=scoring)
    weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    sums = _sums(estimator, X, y, weight, splits)
    if sums is None:
        wanted = {"return_train_score": return_train_score, "return_estimator": return_estimator}
        params = {} if weight is None else {"sample_weight": weight}
        found: dict[str, Any] = model_selection.cross_validate(
            estimator, X, y, cv=splits, scoring=scoring, params=params, error_score="raise", **wanted
        )
    else:
        found = _scores(estimator, X, np.asarray(y), splits, scorer, sums, return_train_score)
        if not return_estimator:
            del found["estimator"]
    if return_indices:
        found["indices"] = {"train": [train for train, _ in splits], "test": [test for _, test in splits]}
    return found


def _sums(
    estimator: Any, X: Any, y: Any, weight: Array | None, splits: list[Split]
) -> tuple[Read, list[AnyStatistics], list[float]] | None:
    """The rows as read, the sums of the training rows and the time that these took; None where sums do not do."""
    if not adds_up(estimator, X, y):
        return None
    read = Read.of(estimator, X, y, np.ones(len(y)) if weight is None else weight)
    try:
        return read, *trained(read, splits)
    except ValueError:  # sums to which nothing can be added
        return None


def _scores(
    estimator: Any,
    X: Any,
    y: Array,
    splits: list[Split],
    scorer: Any,
    sums: tuple[Read, list[AnyStatistics], list[float]],
    with_train: bool,
) -> dict[str, Any]:
    """Fit the sums of every split, and score its test rows."""
    read, trainings, times = sums
    rows: list[dict[str, Any]] = []
    for (train, test), s, spent in zip(splits, trainings, times, strict=True):
        begun = perf_counter()
        fit = clone(estimator)._fit_sums(s, read.reader)
        fitted = perf_counter()
        scores = {f"test_{name}": value for name, value in _named(scorer, fit, X, y, test).items()}
        one = {"fit_time": spent + fitted - begun, "score_time": perf_counter() - fitted, "estimator": fit, **scores}
        if with_train:
            one |= {f"train_{name}": value for name, value in _named(scorer, fit, X, y, train).items()}
        rows.append(one)
    return {
        name: [one[name] for one in rows] if name == "estimator" else np.array([one[name] for one in rows])
        for name in rows[0]
    }


def _named(scorer: Any, fit: Any, X: Any, y: Array, rows: Array) -> dict[str, Any]:
    scores = scorer(fit, _safe_indexing(X, rows), y[rows])
    return scores if isinstance(scores, dict) else {"score": scores}
