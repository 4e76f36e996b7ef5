"""Grid search from sums that are read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.model_selection._validation import _fit_and_score, _insert_error_scores, _warn_or_raise_about_fit_failures
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import _check_method_params, _check_sample_weight

from suffice._core.labels import check_labels
from suffice._estimator.classifier import Classifier
from suffice.data import is_source
from suffice.model_selection.validation import Folds, ScoringTask, Summed, Tested, as_numbers, quick


class GridSearch(GridSearchCV):
    """Grid search by cross-validation, as `sklearn.model_selection.GridSearchCV`, from sums by fold.

        s without fold f = sum over the other folds g of S(X_g, Y_g),     theta = theta(s; settings)

    Settings that act on the sums alone are free: the rows are read and summed once for all of them, and only the test
    rows are predicted for each. For the closed form these are all settings except those of the encoder: priors, class
    priors and class weights, shrinkage, tying of covariances, ridges, rules, costs, and the bins and rare categories
    of `NaiveBayes`, which are chosen from the sums. Settings that change what is summed (`GaussianNB(tied=...)` does
    not, `NaiveBayes(columns=..., numeric=..., missing=...)` and `CategoricalNB(categories=...)` do) are summed for
    each of their values. If learning is not a function of sums, every split is fitted, with the result of
    scikit-learn: other learners, estimators of other packages, pipelines.

    An encoder that learns is shared only if every fold alone would learn the same, otherwise splits are fitted: the
    kinds of columns of `NaiveBayes` are shared if every fold shows the same kinds (a column without values in a fold
    does not), and trees (`suffice.encoders.TreePartitions`) are grown for every split unless they are given.

    Parameters
    ----------
    estimator : classifier
        It is not changed.
    param_grid : dict of setting: values, or list of such
        All combinations are tried.
    scoring : str, callable, list or dict, default=None
        As in scikit-learn; None is the estimator's own score, accuracy.
    cv : int, splitter or iterable of (training rows, test rows), default=5
    refit : bool, str or callable, default=True
        True to fit the best settings to all rows; with several scores, the name of the one that decides.
    error_score : "raise" or number, default="raise"
        The score of settings that cannot be fitted or scored; "raise" raises their error.

    Attributes
    ----------
    cv_results_ : dict
        As in scikit-learn: `params`, `split0_test_score`, ..., `mean_test_score`, `std_test_score`, `rank_test_score`
        and times; the time of steps shared by several settings is divided among them.
    best_estimator_, best_params_, best_score_, best_index_, scorer_, n_splits_, refit_time_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import QuadraticDiscriminantAnalysis
    >>> search = GridSearch(QuadraticDiscriminantAnalysis(), {"tying": [0.0, 0.5, 1.0], "shrinkage": [None, 0.1]})
    >>> search.fit(*load_iris(return_X_y=True)).best_params_
    {'shrinkage': None, 'tying': 0.5}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        cv: Any = 5,
        refit: Any = True,
        error_score: Any = "raise",
    ) -> None:
        super().__init__(estimator, param_grid, scoring=scoring, cv=cv, refit=refit, error_score=error_score)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Try all settings, and fit the best one to all rows.

        Parameters
        ----------
        X, y
            As the estimator takes them, in memory.
        sample_weight : array of shape (n,), default=None
            Row weights; they count in scores if they do in `GridSearchCV`.
        **params
            Other arguments of the estimator's `fit`, and `groups` for the splitter.
        """
        if is_source(X):
            raise TypeError("GridSearch takes rows in memory: give arrays or data frames X and y")
        self._validate_params()
        scorer, counts = self._get_scorers()
        X, y = indexable(X, y)
        params = params if sample_weight is None else params | {"sample_weight": sample_weight}
        if isinstance(self.estimator, Classifier) and y is not None:
            y = check_labels(y)
        routed = self._get_routed_params_for_fit(_check_method_params(X, params=params))
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = as_numbers(cv.split(X, y, **routed.splitter.split))
        task = ScoringTask(X, y, splits, scorer, routed.scorer.score, self.error_score)
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates or not splits:
            raise ValueError("GridSearch has nothing to try: `param_grid` has no settings, or `cv` no splits")
        out = self._measured(task, candidates, routed.estimator.fit)
        self._take(candidates, out, counts, len(splits))
        self.scorer_ = getattr(scorer, "_scorers", scorer)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _measured(
        self, task: ScoringTask, candidates: list[dict[str, Any]], given: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Return what scikit-learn measures, for every candidate and split."""
        estimators = [_configured(self.estimator, candidate) for candidate in candidates]
        found: dict[tuple[int, int], dict[str, Any] | None] = {}
        for group in _groups(estimators) if given.keys() <= {"sample_weight"} and task.y is not None else []:
            measured = _from_sums(task, given.get("sample_weight"), [estimators[c] for c in group], self.scoring)
            found |= {(c, i): one for i, each in enumerate(measured) for c, one in zip(group, each, strict=True)}
        places = [(c, i) for c in range(len(candidates)) for i in range(len(task.splits))]
        out = [found.get((c, i)) or self._fitted(task, candidates[c], i, given) for c, i in places]
        _warn_or_raise_about_fit_failures(out, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(out, self.error_score)
        return out

    def _fitted(
        self, task: ScoringTask, candidate: Mapping[str, Any], split: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Fit a candidate to the training rows of a split, as scikit-learn does; errors are raised or scored."""
        train, test = task.splits[split]
        found: dict[str, Any] = _fit_and_score(
            clone(self.estimator),
            task.X,
            task.y,
            scorer=task.scorer,
            train=train,
            test=test,
            verbose=0,
            parameters=candidate,
            fit_params=given,
            score_params=task.settings,
            return_times=True,
            error_score=task.error_score,
        )
        return found

    def _take(self, candidates: list[dict[str, Any]], out: list[dict[str, Any]], counts: Any, n_splits: int) -> None:
        """Store the results by candidate and the best of them, by the score `counts`."""
        scores = out[0]["test_scores"]
        self.n_splits_, self.multimetric_ = n_splits, isinstance(scores, dict)
        self.cv_results_ = self._format_results(candidates, n_splits, out)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(scores)
            counts = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, counts, self.cv_results_)
            self.best_params_ = candidates[self.best_index_]
            if not callable(self.refit):
                self.best_score_ = self.cv_results_[f"mean_test_{counts}"][self.best_index_]

    def _refit(self, X: Any, y: Any, given: Mapping[str, Any]) -> None:
        begun = perf_counter()
        self.best_estimator_ = _configured(self.estimator, self.best_params_)
        self.best_estimator_.fit(X, *(() if y is None else (y,)), **given)
        self.refit_time_ = perf_counter() - begun
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _configured(estimator: Any, candidate: Mapping[str, Any]) -> Any:
    return clone(estimator).set_params(**clone(candidate, safe=False))


def _groups(estimators: Sequence[Any]) -> list[list[int]]:
    """Group the numbers of estimators with the same sums, without those that must be fitted."""
    groups: list[tuple[Summed, list[int]]] = []
    for c, estimator in enumerate(estimators):
        try:
            what = Summed.of(estimator)
        except (TypeError, ValueError):  # settings that `fit` refuses
            continue
        same = next((group for known, group in groups if known == what), None)
        if same is not None:
            same.append(c)
        elif what is not None:
            groups.append((what, [c]))
    return [group for _, group in groups]


def _from_sums(
    task: ScoringTask, weight: Any, estimators: Sequence[Any], scoring: Any
) -> list[list[dict[str, Any] | None]]:
    """Return what scikit-learn measures, by split and estimator, all of the same sums; None where it must be fitted."""
    nothing: list[list[dict[str, Any] | None]] = [[None] * len(estimators)] * len(task.splits)
    try:
        weight = None if weight is None else _check_sample_weight(weight, task.X, ensure_non_negative=True)
        folds = Folds.of(estimators[0], task.X, task.y, weight, task.splits)
    except (TypeError, ValueError):  # rows that `fit` refuses
        return nothing
    if folds is None:
        return nothing
    folds = replace(folds, times=[time / len(estimators) for time in folds.times])
    task = replace(task, y=folds.read.labels, scorer=quick(task.scorer, estimators[0], scoring))
    tests = (Tested.of(task, folds, i) for i in range(len(task.splits)))
    return [[_attempt(test, estimator) for estimator in estimators] for test in tests]


def _attempt(test: Tested, estimator: Any) -> dict[str, Any] | None:
    """Return the measures; None if that failed, so that `fit` raises the error."""
    try:
        found = test.measure(estimator)
    except Exception:
        return None
    return {name: found[name] for name in ("fit_time", "score_time", "test_scores")} | {"fit_error": None}
