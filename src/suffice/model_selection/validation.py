"""Cross-validation from sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.metrics import check_scoring
from sklearn.utils import indexable
from sklearn.utils.validation import _check_sample_weight

from suffice.data import is_source
from suffice.model_selection.folds import Folds, ScoringTask, Tested, as_numbers, quick


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
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
    from the data (the prior, cells, categories) is a function of the sums and chosen again without the fold. Splits
    whose training rows are not all others (such as time series) sum each training set. Where learning is no
    function of sums, the estimator is fitted for every split: learners other than the closed form, encoders that
    learn something else from a part of the rows (trees; the kinds of columns of `NaiveBayes` if a fold has no values in
    one), more patterns of missing values than are kept apart, and estimators of others.

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
    if is_source(X):
        raise TypeError("cross_validate takes rows in memory: give arrays or data frames X and y")
    if y is None:
        raise ValueError("cross_validate needs the labels y of the rows X")
    X, y = indexable(X, y)
    splits = as_numbers(model_selection.check_cv(cv, y, classifier=True).split(X, y, groups))
    weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    folds = Folds.of(estimator, X, y, weight, splits)
    if folds is None:
        wanted = {"return_train_score": return_train_score, "return_estimator": return_estimator}
        params = {} if weight is None else {"sample_weight": weight}
        found: dict[str, Any] = model_selection.cross_validate(
            estimator, X, y, cv=splits, scoring=scoring, params=params, error_score="raise", **wanted
        )
    else:
        scorer = quick(check_scoring(estimator, scoring=scoring), estimator, scoring)
        task = ScoringTask(X, folds.read.labels, splits, scorer)
        tests = (Tested.of(task, folds, i) for i in range(len(splits)))
        found = _by_name([test.measure(estimator, return_train_score) for test in tests])
        if not return_estimator:
            del found["estimator"]
    if return_indices:
        found["indices"] = {"train": [train for train, _ in splits], "test": [test for _, test in splits]}
    return found


def _by_name(each: list[dict[str, Any]]) -> dict[str, Any]:
    """What was measured on every split, by name: arrays, except for estimators."""
    flat = [_flat(one) for one in each]
    return {
        name: [one[name] for one in flat] if name == "estimator" else np.array([one[name] for one in flat])
        for name in flat[0]
    }


def _flat(one: dict[str, Any]) -> dict[str, Any]:
    """What was measured on a split, with a name for each of several scores."""
    scores = {side: one.pop(f"{side}_scores") for side in ("test", "train") if f"{side}_scores" in one}
    for side, found in scores.items():
        named = found if isinstance(found, dict) else {"score": found}
        one |= {f"{side}_{name}": score for name, score in named.items()}
    return one
