"""The one base estimator: reading input, learning, and the arithmetic of fitted models."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from suffice._carrying import Carrying
from suffice._check import FRACTION, check_value
from suffice._labels import OneHot, Reweigh, check_keys, check_labels, class_weights, positions, show_all, unite
from suffice._notice import emit
from suffice._refit import all_or_nothing
from suffice._scoring import Hits
from suffice._settings import same_settings
from suffice._vector import Array
from suffice.data import Data, Memory, is_source, source
from suffice.data.memory import by_rows
from suffice.encoders import Encoder
from suffice.encoders._base import numbered
from suffice.files.checkpoint import recorded
from suffice.learners import ClosedForm, Fit, Learner, Observed
from suffice.learners._base import begin, require
from suffice.models import Model, Statistics
from suffice.models._base import Natural
from suffice.priors import check_classes, outweighed

HEAVIEST = 1e150  # sum of weights, of which products are numbers


def _adds_up(estimator: Classifier) -> bool:
    """Whether the learner takes parameters from statistics, or carries them to others; else fits cannot be added."""
    learner = estimator._learner()
    if not hasattr(learner, "close") and not hasattr(learner, "carry"):
        raise AttributeError(
            f"what {type(learner).__name__} learns cannot be added to or taken from, as it has no `carry`: use another "
            "learner, or fit anew"
        )
    return True


class Classifier(Carrying, ClassifierMixin, BaseEstimator):
    """A classifier whose parameters come from sums over the rows; a subclass says which model."""

    learner: Any
    class_weight: Any

    _may_differ: ClassVar[tuple[str, ...]] = ()  # settings that play no part once the first rows were read

    _encoder: Encoder  # as the first rows have prepared it
    _declared: Array  # classes that are kept without rows

    @abstractmethod
    def _model(self) -> Model[Any, Any]:
        """The model that the hyper-parameters describe."""

    def _prepare(self, data: Data) -> tuple[Encoder, Data]:
        """The model's encoder with all that it has to learn before the first sum, and the rows as far as it read them.

        The encoder goes on with those where it left off.
        """
        return self._model().encoder.prepare(data), data

    def _prepared(self) -> Model[Any, Any]:
        """The model, with the encoder that the first rows have prepared."""
        return replace(self._model(), encoder=self._encoder)

    def _learner(self) -> Any:
        learner = self._default_learner() if self.learner is None else self.learner
        if isinstance(learner, type) or not hasattr(learner, "learn"):
            raise ValueError(f"learner must be None or an instance of one of suffice.learners, got {learner!r}")
        return learner

    def _is_of_sums(self) -> bool:
        """Whether all that is learned from encoded rows is a function of their sums."""
        return hasattr(self._learner(), "close")

    def _default_learner(self) -> Learner:
        return ClosedForm()

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), a data set of `suffice.data`, a path, or a table
            Features; a data set brings its own labels and weights. A path is that of Parquet, CSV or Arrow files, a
            table one of dask, Spark or DuckDB: rows stay where they are.
        y : array of shape (n,), or the name of a column
            Labels; of a path or such a table, the column that holds them.
        sample_weight : array of shape (n,), or the name of a column, default=None
            Row weights; weight 2 is the row twice, weight 0 is no row.
        checkpoint : path of a folder, default=None
            Keeps every sum over the rows: the same fit, called again after it was killed, goes on where it was, and
            ends as it would have. Of other rows, or settings that lead to other sums, it is a `CheckpointError`.
        """
        if checkpoint is not None:
            return self._fit_kept(checkpoint, X, y, sample_weight)
        with all_or_nothing(self):
            self._declared = np.empty(0)
            self._keep(None)
            self.__dict__.pop("_shifted", None)
            learner = self._learner()
            require(learner, self._model().unit, *(learner.needed() if isinstance(learner, Learner) else ()))
            read = self._read(X, y, sample_weight, True, getattr(learner, "once", False))
            model, data = begin(self._prepared(), read)
            if hasattr(learner, "close"):
                s = _suited(self, data.sum(Observed(model)))
                learned = self._close(s, data)
            else:
                if self._weighs_classes():
                    s = _suited(self, data.sum(Observed(model)))
                    data = data.map(labels=Reweigh(s.domain.classes, self._class_weights(s)))
                learned = learner.learn(model, data)
                s = s if self._weighs_classes() else _suited(self, learned.statistics)
            self._adopt(s, learned)
            self._keep(learned)
            if is_source(X):
                self._take_names()
            self._say(learned)
            self._say_of_weights(read, "weight" if is_source(X) else "sample_weight")
            return self

    def _fit_kept(self, folder: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from rows whose sums are kept in a folder."""
        given = source(X, y, sample_weight)
        with all_or_nothing(self):
            rows = Memory(*self._checked(X, y, sample_weight)) if given is None else given
            with recorded(folder, rows, self) as data:
                self.fit(data)
            if given is None:
                validate_data(self, X, reset=True, skip_check_array=True)
        return self

    @available_if(_adds_up)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, decay: float = 1.0
    ) -> Self:
        """Learn further rows; in any number of pieces the result is that of `fit` on all rows.

            s <- decay s + S(X, Y)

        So it is where all that is learned is a function of the sums, as in closed form. What a learner learns besides
        is learned from the first rows that come with two classes, and then carried along: `stale_` until
        `recalibrate`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. New classes and categories may come at any time.
        classes : array of shape (k,), default=None
            Classes to provide for, also without rows; if given, `y` may have no others.
        decay : float, default=1.0
            How much the rows learned so far count from now on, from 0 (not at all) to 1: rows of d steps ago weigh
            decay^d. To forget such a row, give what it still counts for: `forget(X, y, sample_weight=decay**d)`.
        """
        check_value(decay, "decay", FRACTION)
        with all_or_nothing(self):
            first = not hasattr(self, "statistics_")
            if first:
                self._declared = np.empty(0)
                self._keep(None)
            data = self._encoded(X, y, sample_weight, reset=first)
            s = data.sum(Observed(self._prepared()))
            if classes is not None:
                declared = np.unique(classes)
                together = unite(declared, s.domain.classes, "class labels")
                if len(together) > len(declared):
                    strange = s.domain.classes[positions(s.domain.classes, declared) < 0]
                    raise ValueError(f"y has the classes {show_all(strange)}, which are not among `classes`")
                self._declared = declared
                s = s.with_classes(together)
            self._adopt((s if first else self.statistics_.decayed(decay, self._declared) + s).settled())
            self._take_in(data, s)
            if is_source(X):
                self._take_names()
            return self

    @available_if(_adds_up)
    def merge(self, other: Self) -> Self:
        """Add what another fitted classifier of the same settings has learned, as if its rows had been learned here.

        What a learner has learned besides the sums is combined, and `stale_` until `recalibrate`.
        """
        check_is_fitted(self)
        if type(other) is not type(self):
            raise TypeError(f"a {type(self).__name__} merges with its like, not with a {type(other).__name__}")
        check_is_fitted(other)
        same_settings(self, other, self._may_differ)
        self._encoder.check(other._encoder)
        with all_or_nothing(self):
            self._before = self._united(other)
            self._adopt((self.statistics_ + other.statistics_).settled())
            self._declared = unite(self._declared, other._declared, "class labels")
        return self

    def __add__(self, other: Self) -> Self:
        _adds_up(self)
        both: Self = copy.copy(self).merge(other)
        return both

    def __radd__(self, other: Any) -> Self:
        if isinstance(other, int) and other == 0:  # where `sum` begins
            return copy.copy(self)
        return NotImplemented

    @available_if(_adds_up)
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take back rows that were learned: all sums are then those of the others.

        So is what follows from them, but for cells of numbers (`NaiveBayes`, `TabularClassifier`): a column that had
        more than 4,096 different ones keeps the coarser grid that these were counted on.

        What the statistics show to be impossible is refused and leaves the model as it was: a class or category that
        was never learned, more rows than there were, a covariance that would be lost. That the rows were truly
        among those learned is otherwise the caller's to know. What a learner has learned besides the sums still knows
        of the rows, and is `stale_`, until `recalibrate`.
        """
        check_is_fitted(self)
        with all_or_nothing(self):
            gone = self._encoded(X, y, sample_weight, reset=False).sum(Observed(self._prepared()))
            left = self.statistics_.without(gone)
            left = left.with_classes(unite(left.domain.classes, self._declared)).settled(anew=True)
            self._adopt(left, None if self._learned is None else self._close(left))
            if self._learned is not None:
                self._say(self._learned)
        return self

    def _adopt(self, s: Statistics[Any], learned: Fit | None = None) -> Self:
        """Take statistics over, if the settings of the classes suit them; parameters may follow later."""
        self._class_weights(s)
        given: Any = getattr(self, "class_prior", None)
        if isinstance(given, list | tuple | np.ndarray) and len(given) < len(s.domain.classes):
            raise ValueError(f"class_prior has {len(given)} entries, but there are {len(s.domain.classes)} classes")
        self.statistics_, self._learned = s, learned
        self.n_features_in_ = self._encoder.inputs(s.domain.features).width
        return self

    def _fit_sums(self, s: Statistics[Any], reader: Self) -> Self:
        """What `fit` makes of rows that another estimator has read, and of which s are the sums."""
        self._declared, self._encoder = np.empty(0), reader._encoder
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(reader, name):
                setattr(self, name, getattr(reader, name))
        self._adopt(_suited(self, s), self._close(s))
        self._say(self._fit_result())
        return self

    def _say_of_weights(self, data: Data, called: str) -> None:
        """Warn of weights that are nothing beside the prior, unless it is no more than where learning begins."""
        needs = getattr(self._learner(), "needs", ())
        if not any(issubclass(need, Natural) for need in needs):
            total = float(self.statistics_.mass.sum())
            emit(outweighed(self._fit_result().model.unit.prior_rows, total, data.count, called))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose label is predicted, by weight.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; of a data set, a path or a table the rows are read once, and only the shares come back.
        """
        data = source(X, y, sample_weight)
        if data is None:
            return float(super().score(X, y, sample_weight))
        found = data.sum(Hits(self._asked(self._choice()), self.classes_))
        return found.right / found.mass

    def _weighs_classes(self) -> bool:
        return self.class_weight is not None

    def _class_weights(self, s: Statistics[Any]) -> Array:
        """The weight of each class (k,). Sums are by class, so that weights apply to them as well as to the rows."""
        return class_weights(self.class_weight, s.domain.classes, s.mass)

    # Reading

    def _encoded(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data:
        """Input as a data set of encoded rows."""
        read = self._read(X, y, sample_weight, reset)
        return begin(self._prepared(), read)[1]

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool, once: bool = False) -> Data:
        """Input as a data set; rows in memory that are to be read once are encoded then, batch by batch."""
        given = source(X, y, sample_weight)
        if given is not None:
            if not reset:
                return given
            self._encoder, read = self._prepare(given)
            return read
        rows, Y = self._checked(X, y, sample_weight)
        if once and reset and (whole := Memory(rows, Y)).long() and numbered(rows):
            return self._features_later(X, whole)
        return Memory(self._features(rows, reset, Y), Y)

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, OneHot]:
        """Rows in memory and their labels, of those that have a weight."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        self._check_rows(X)
        y = check_labels(y)
        check_consistent_length(X, y)
        if sample_weight is None:
            return X, OneHot.coded(y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        with np.errstate(over="ignore"):
            bearable = weight.sum() <= HEAVIEST
        if not bearable:
            raise ValueError(
                f"sample_weight adds up to more than {HEAVIEST:.0e}, whose square is no number: scale it down"
            )
        if not weight.all():
            rows = np.flatnonzero(weight)
            if not len(rows):  # which newer versions of scikit-learn have said by now
                raise ValueError("Sample weights must contain at least one non-zero number.")
            X, y, weight = _safe_indexing(by_rows(X), rows), y[rows], weight[rows]
        return X, OneHot.coded(y, weight)

    def _take_names(self) -> None:
        """What scikit-learn does for arrays and frames, for the feature names of a data set."""
        names = self._encoder.inputs(self.statistics_.domain.features).names
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_rows(self, X: Any) -> None:
        if not _num_samples(X):
            raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}.")

    def _features(self, X: Any, reset: bool, Y: OneHot | None = None) -> Any:
        """Encoded features, after the checks of names and width that scikit-learn asks for."""
        rows = X
        if reset:
            self._encoder, read = self._prepare(Memory(X, Y))
            rows = cast(Memory, read).X
        encoded = self._encoder(rows)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return encoded

    def _features_later(self, X: Any, whole: Memory) -> Data:
        """Rows that are encoded whenever they are read, after the checks; the first row has those of the encoder."""
        self._encoder, read = self._prepare(whole)
        self._encoder(cast(Memory, read).first())
        validate_data(self, X, reset=True, skip_check_array=True)
        return cast(Memory, read).later(self._encoder)


def _suited(estimator: Classifier, s: Statistics[Any]) -> Statistics[Any]:
    """Statistics of at least two classes, which are all those that the settings speak of."""
    classes = s.domain.classes
    if not len(classes):
        raise ValueError(f"{type(estimator).__name__} got no rows of a weight above zero")
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs rows of at least two classes, got one class: {show_all(classes)}. "
            "partial_fit takes classes one at a time"
        )
    check_keys("class_weight", estimator.class_weight, classes)
    source = estimator if hasattr(estimator, "class_prior") else estimator._model()
    check_keys("class_prior", getattr(source, "class_prior", None), classes)
    check_classes(getattr(estimator, "prior", None), classes)
    return s
