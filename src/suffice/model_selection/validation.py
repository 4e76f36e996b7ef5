"""Cross-validation from sums: the parameters for a fold come from the sums of all other folds."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn import model_selection
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_method_params, _check_sample_weight

from suffice._core.labels import OneHot, positions
from suffice._core.vector import Array
from suffice._estimator.classifier import Classifier
from suffice._runtime.factorize import smallest
from suffice.data import Memory, is_source
from suffice.data.memory import by_rows
from suffice.encoders import Encoded, Encoder
from suffice.learners import Observed
from suffice.models import AnyModel, AnyStatistics


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
    """Return scores on held-out rows, as `sklearn.model_selection.cross_validate` does, from sums by fold.

        s without fold f = sum over the other folds g of S(X_g, Y_g)

    Rows are read twice: summed fold by fold, and predicted fold by fold. The result is exact, since everything that is
    chosen from the data (the prior, cells, categories) is a function of the sums and chosen again without the fold.
    For splits whose training rows are not all other rows (such as time series) each training set is summed. If learning
    is not a function of sums, the estimator is fitted for every split: learners other than the closed form, encoders
    that learn something else from a part of the rows (trees; the kinds of columns of `NaiveBayes` if a fold has no
    values in one), too many patterns of missing values, and estimators of other packages.

    Parameters
    ----------
    estimator : classifier
        It is not changed.
    X, y, sample_weight
        As in `fit`; the weights are used in fitting, not in scores.
    groups : array of shape (n,), default=None
        For splitters that keep groups together.
    cv : int, splitter or iterable of (training rows, test rows), default=5
    scoring : str, callable, list or dict, default=None
        As in scikit-learn; None is accuracy.
    return_train_score, return_estimator, return_indices : bool, default=False
        Return these too.

    Returns
    -------
    dict
        `test_score` (or `test_` with the name of each of several scores), `fit_time` and `score_time`, each an array
        with an entry for every split; and the other requested results. A fold that cannot be fitted raises its error.

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
    """Return the results of all splits by name, with one for each of several scores: arrays, except for estimators."""
    for one in each:
        for side in ("test", "train"):
            found = one.pop(f"{side}_scores", {})
            one |= {f"{side}_{name}": v for name, v in (found if isinstance(found, dict) else {"score": found}).items()}
    columns = {name: [one[name] for one in each] for name in each[0]}
    return {name: column if name == "estimator" else np.array(column) for name, column in columns.items()}


def quick(scorer: Any, estimator: Any, scoring: Any) -> Any:
    """Return a scorer of scikit-learn, or one that gives the same numbers in less time."""
    own = scoring is None and type(estimator).score is ClassifierMixin.score
    if own or (isinstance(scoring, str) and scoring == "accuracy"):
        return accuracy
    return NegativeLogLoss(scorer) if isinstance(scoring, str) and scoring == "neg_log_loss" else scorer


def accuracy(fit: Any, X: Any, y: Array, sample_weight: Any = None) -> float:
    """Return the share of rows whose label (n,) is predicted."""
    return float(np.average(fit.predict(X) == y, weights=sample_weight))


@dataclass(frozen=True)
class NegativeLogLoss:
    """The mean of log p(y_i | x_i), with probabilities clipped to [eps, 1 - eps], as in scikit-learn.

    Rows that scikit-learn refuses, which lack a class or have one that was not learned, are left to `scorer`, its own.
    """

    scorer: Any

    def __call__(self, fit: Any, X: Any, y: Array, sample_weight: Any = None) -> float:
        p = fit.predict_proba(X)  # (n, k)
        at, k = positions(y, fit.classes_), p.shape[1]
        if (at < 0).any() or not np.bincount(at, minlength=k).all() or not np.isfinite(p.sum()):
            given = {} if sample_weight is None else {"sample_weight": sample_weight}
            return float(self.scorer(fit, X, y, **given))
        eps = np.finfo(p.dtype).eps
        # scikit-learn computes the first of two classes from the second
        own = p[np.arange(len(at)), at] if k > 2 else np.where(at == 1, p[:, 1], 1 - p[:, 1])
        own = np.clip(own, eps, 1 - eps)
        return float(np.average(np.log(own), weights=sample_weight))


ORIGIN_ROWS = 1024  # from which the origins of all sums are taken
Split: TypeAlias = tuple[Array, Array]  # the training rows and the test rows


class Summed(NamedTuple):
    """A key of the sums of an estimator: estimators with equal keys have the same sums of the same rows."""

    estimator: type
    encoder: Encoder
    kind: object

    @classmethod
    def of(cls, estimator: Any) -> Summed | None:
        """Return the key; None if learning is not a function of sums. Sums of unknown kind equal no others."""
        if not adds_up(estimator):
            return None
        model = estimator._model()
        return cls(type(estimator), model.encoder, object() if model.statistics_key is None else model.statistics_key)


def adds_up(estimator: Any) -> bool:
    """True if an estimator learns from encoded rows by a function of their sums."""
    return isinstance(estimator, Classifier) and estimator._is_of_sums()


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Rows that were read and encoded once, to be summed by fold."""

    X: Any  # as given
    labels: Array  # (n,)
    reader: Classifier
    model: AnyModel
    rows: Memory  # without rows of weight zero
    at: Array  # (n,) the place of each row among these; -1 for weight zero
    some: AnyStatistics  # of a few rows, whose origins all sums share

    @classmethod
    def of(cls, estimator: Classifier, X: Any, y: Any, weight: Array) -> ReadRows:
        """Read rows as `fit` does."""
        reader = clone(estimator)
        rows = reader._read(X, y, weight, reset=True)
        if not isinstance(rows, Memory):
            raise TypeError("cross-validation takes rows in memory: give arrays or data frames X and y")
        at = np.where(weight > 0, np.cumsum(weight > 0) - 1, -1)
        model, some = reader._bound_model(), slice(None, None, max(1, len(rows.X) // ORIGIN_ROWS))
        few = model.statistics(rows.X[some], rows._labels()[some])
        return cls(by_rows(X), np.ravel(y), reader, model.with_origin_of(few), rows, at, few)

    def sum(self, parts: Sequence[Array]) -> list[AnyStatistics]:
        """Return S(X, Y) of disjoint parts of the rows, in one read in which every part has classes of its own."""
        if len(parts) == 1 or self.some.sums.shared:
            each = map(self._counting, parts)
            return [Memory(self.rows.X[at], self.rows._labels()[at]).sum(Observed(self.model)) for at in each]
        Y, k = self.rows._labels(), len(self.some.mass)
        codes = np.full(len(Y), -1, smallest(k * len(parts)))
        for i, which in enumerate(parts):
            at = self._counting(which)
            codes[at] = np.add(i * k, Y.stored[at], dtype=codes.dtype)
        own = np.arange(k * len(parts)).reshape(-1, k)
        tiled = self.some.select_classes(own.ravel() % k, replace(self.some.domain, classes=own.ravel()))
        whole = Memory(self.rows.X, OneHot(own.ravel(), codes, Y.given)).sum(Observed(self.model.with_origin_of(tiled)))
        domain = replace(whole.domain, classes=Y.classes)
        return [whole.select_classes(classes, domain) for classes in own]

    def _counting(self, which: Array) -> Array:
        at = self.at[which]
        return at if at.min(initial=0) >= 0 else at[at >= 0]

    def prepares(self, which: Array) -> bool:
        """True if these rows alone prepare the same encoder as all rows together."""
        encoder = self.reader._model().encoder
        if type(encoder).prepare is Encoder.prepare:
            return True
        rows = Memory(_safe_indexing(self.X, which[self.at[which] >= 0]), self.rows._labels()[self._counting(which)])
        return bool(encoder.prepare(rows) == self.model.encoder)

    def encoded(self, which: Array, X: Any) -> Encoded:
        """Return rows X encoded, from memory if they were encoded before."""
        at = self.at[which]
        return self.model.encoder(X) if (at < 0).any() else self.rows.X[at]


@dataclass(frozen=True, eq=False)
class RememberingEncoder(Encoder):
    """An encoder that returns the encoding of rows that it has encoded before."""

    inner: Encoder
    X: Any
    encoded: Encoded

    def __call__(self, X: Any) -> Encoded:
        return self.encoded if X is self.X else self.inner(X)

    def encode(self, X: Any) -> Encoded:
        return self.inner.encode(X)


@contextmanager
def keeping(fit: Classifier, X: Any, encoded: Encoded) -> Iterator[None]:
    """Within this context, an estimator does not encode the rows X again."""
    encoder = fit._encoder
    fit._encoder = RememberingEncoder(encoder, X, encoded)
    try:
        yield
    finally:
        fit._encoder = encoder


@dataclass(frozen=True, eq=False)
class Folds:
    """The sums of the training rows of every split, from rows that are read once."""

    read: ReadRows
    sums: list[AnyStatistics]
    times: list[float]  # in seconds

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, weight: Array | None, splits: Sequence[Split]) -> Folds | None:
        """Sum the rows; return None if learning is not a function of sums, so that every split must be fitted.

        An encoder that learns must learn the same from every summed part as from all rows.
        """
        if not adds_up(estimator):
            return None
        begun = perf_counter()
        read = ReadRows.of(estimator, X, y, np.ones(len(y)) if weight is None else weight)
        parts = list(summed(splits, len(read.at)))
        if not all(read.prepares(rows) for part in parts for rows in part):
            return None
        shared = (perf_counter() - begun) / len(splits)
        try:
            sums, times = trained(read, parts)
        except ValueError:  # sums to which nothing can be added
            return None
        return cls(read, sums, [shared + one for one in times])

    def fit(self, estimator: Any, split: int) -> Any:
        """Return an estimator fitted to the training rows of a split; its sums must have the same key."""
        return clone(estimator)._fit_sums(self.sums[split], self.read.reader)


def summed(splits: Sequence[Split], n: int) -> Iterator[list[Array]]:
    """Yield the rows to sum together: the test rows of a round of splits, or the training rows of a single split."""
    for start, end in rounds(splits, n):
        some = splits[start:end]
        yield [test for _, test in some] if len(some) > 1 else [some[0][0]]


def trained(read: ReadRows, parts: Sequence[Sequence[Array]]) -> tuple[list[AnyStatistics], list[float]]:
    """Return the sums of the training rows of every split, and the seconds that each took.

    In a round of splits, each fold is summed once, and s of a split is the sum over the other folds: added up, not
    subtracted from the total, so that no digits are lost. Other training rows are summed directly.
    """
    sums: list[AnyStatistics] = []
    times: list[float] = []
    for part in parts:
        begun = perf_counter()
        each = read.sum(part)
        sums += [s.recentred().seen() for s in (others(each) if len(part) > 1 else each)]
        times += [(perf_counter() - begun) / len(part)] * len(part)
    return sums, times


def rounds(splits: Sequence[Split], n: int) -> list[tuple[int, int]]:
    """Return where rounds of splits start and end: the test rows of a round are all rows, each once; else one split.

    >>> halves = [(np.array([1]), np.array([0])), (np.array([0]), np.array([1]))]
    >>> rounds([*halves, halves[0], *halves], 2)
    [(0, 2), (2, 3), (3, 5)]
    """
    found, start = [], 0
    while start < len(splits):
        end = _round(splits, start, n)
        found.append((start, end))
        start = end
    return found


def _round(splits: Sequence[Split], start: int, n: int) -> int:
    """Return the end of the round that starts at a split; after this split if there is no round."""
    seen = np.zeros(n, dtype=bool)
    for end, (train, test) in enumerate(splits[start:], start + 1):
        own = np.zeros(n, dtype=bool)
        own[test] = True
        others = np.zeros(n, dtype=bool)
        others[train] = True
        exact = own.sum() == len(test) and len(train) + len(test) == n and (own ^ others).all()
        if not exact or (seen & own).any():
            break
        seen |= own
        if seen.all():
            return end
    return start + 1


def others(parts: Sequence[AnyStatistics]) -> list[AnyStatistics]:
    """Return, for each of several sums, the sum of all others: from the left and from the right, in 3 n additions."""
    left = list(accumulate(parts[:-1], operator.add))
    right = list(accumulate(parts[:0:-1], operator.add))[::-1]
    between = [a + b for a, b in zip(left[:-1], right[1:], strict=True)]
    return [right[0], *between, left[-1]]


def as_numbers(splits: Iterable[Any]) -> list[Split]:
    """Convert masks in splits to row numbers.

    >>> as_numbers([([True, False], [1])])
    [(array([0]), array([1]))]
    """
    return [(_numbers(train), _numbers(test)) for train, test in splits]


def _numbers(rows: Any) -> Array:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


@dataclass(frozen=True, eq=False)
class ScoringTask:
    """Splits of rows X with labels y (n,), and a score to measure on them."""

    X: Any
    y: Array
    splits: Sequence[Split]
    scorer: Any
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the scorer; values by row are split too
    error_score: Any = "raise"

    def score(self, fit: Any, rows: Array, X: Any = None) -> Any:
        """Return the scores of a fitted estimator on some rows, which may be given as X."""
        X = _safe_indexing(self.X, rows) if X is None else X
        settings = _check_method_params(self.X, params=self.settings, indices=rows)
        return _score(fit, X, self.y[rows], self.scorer, settings, self.error_score)


@dataclass(frozen=True, eq=False)
class Tested:
    """The test rows of a split, encoded once for all estimators with the same sums."""

    task: ScoringTask
    folds: Folds
    split: int
    X: Any
    encoded: Any

    @classmethod
    def of(cls, task: ScoringTask, folds: Folds, split: int) -> Tested:
        """Encode the test rows of a split, given by its number."""
        _, rows = task.splits[split]
        X = _safe_indexing(task.X, rows)
        return cls(task, folds, split, X, folds.read.encoded(rows, X))

    def measure(self, estimator: Any, train: bool = False) -> dict[str, Any]:
        """Return what scikit-learn measures: scores and times, with `train` also on the training rows."""
        rows, begun = self.task.splits[self.split], perf_counter()
        fit = self.folds.fit(estimator, self.split)
        fitted = perf_counter()
        with keeping(fit, self.X, self.encoded):
            scores = self.task.score(fit, rows[1], self.X)
        found = {
            "fit_time": self.folds.times[self.split] + fitted - begun,
            "score_time": perf_counter() - fitted,
            "estimator": fit,
            "test_scores": scores,
        }
        return {**found, "train_scores": self.task.score(fit, rows[0])} if train else found
