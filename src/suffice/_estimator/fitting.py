"""The base of all classifiers: reading input, learning, and the arithmetic of fitted models."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from suffice._core.labels import (
    OneHot,
    Reweigh,
    check_keys,
    check_labels,
    class_weights,
    guessed_index,
    is_index,
    known_labels,
    positions,
    require_two_classes,
    show_all,
    unite,
    unlabelled,
)
from suffice._core.vector import Array
from suffice._runtime.messages import FRACTION, StaleWarning, all_or_nothing, check_value, emit
from suffice.data import Data, Memory, is_source, source
from suffice.data.memory import by_rows
from suffice.encoders import Encoder
from suffice.encoders.base import cheap_to_encode
from suffice.learners import ClosedForm, Fit, Learner, Observed
from suffice.learners.base import require
from suffice.models import AnyStatistics, DegenerateError, Model, Statistics
from suffice.models.base import Natural
from suffice.persistence import Savable
from suffice.persistence.checkpoint import recorded
from suffice.priors.settings import check_classes, outweighed

TABLES = ("categorical", "string", "allow_nan")  # what classifiers of tables accept
MASS_TOLERANCE = 1e-9  # relative difference of two sums of weights that is rounding
MAX_WEIGHT_SUM = 1e150  # its square is still finite

# What the docstring of an estimator says instead of this text, which every one of them would repeat.
AS_EVERYWHERE = "        As in every `Classifier`.\n"
SHARED_SETTINGS = {
    "learner": """\
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form.
""",
    "class_prior": """\
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
""",
    "class_weight": """\
    class_weight : None, "balanced" or dict, default=None
        Weights by class that multiply the rows' weights.
""",
}


def check_same_settings(a: BaseEstimator, b: BaseEstimator, ignore: Collection[str] = ()) -> None:
    """ValueError, with the first setting that differs, unless all are equal, except for those to ignore."""
    ours, theirs = a.get_params(), b.get_params()
    for name in sorted((ours.keys() | theirs.keys()) - set(ignore)):
        x, y = ours.get(name), theirs.get(name)
        if not _equal(x, y):
            raise ValueError(f"the settings differ: {name} is {x!r} here and {y!r} there")


def _equal(x: Any, y: Any) -> bool:
    """True if two settings are equal. Of estimators only the types count: `get_params` lists their settings as well."""
    if isinstance(x, BaseEstimator):
        return type(x) is type(y)
    if isinstance(x, Model):
        return repr(x) == repr(y)
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return x.keys() == y.keys() and all(_equal(x[key], y[key]) for key in x)
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) == len(y) and all(map(_equal, x, y))
    return bool(np.array_equal(np.asarray(x, dtype=object), np.asarray(y, dtype=object)))


def _adds_up(estimator: Fittable) -> bool:
    """True if fits can be added: the learner is exact or carries over; else AttributeError."""
    learner = estimator._learner()
    if not learner.exact and not learner.carries_over:
        raise AttributeError(
            f"fits by {type(learner).__name__} cannot be updated or merged, as it is neither exact nor carries over: "
            "use another learner, or fit again"
        )
    return True


def _can_recalibrate(estimator: Fittable) -> bool:
    """True if there are parameters that the sums do not determine; else AttributeError."""
    if not estimator._calibrates():
        raise AttributeError(
            f"{type(estimator).__name__} has nothing to learn again: with this learner all parameters follow exactly "
            "from the sums"
        )
    return True


def _without_stale(fit: Fit) -> Fit:
    """A fit without its `StaleWarning`."""
    return replace(fit, warnings=tuple(n for n in fit.warnings if n.category is not StaleWarning))


class Fittable(Savable, BaseEstimator):
    """What all classifiers share except predictions: `fit`, `partial_fit`, `merge`, `forget`, `recalibrate`."""

    learner: Any
    class_weight: Any

    _may_differ: ClassVar[tuple[str, ...]] = ()  # settings that do not matter for merging
    _accepts: ClassVar[tuple[str, ...]] = ()  # input other than dense numbers, by the names of scikit-learn's tags

    statistics_: AnyStatistics
    n_features_in_: int
    _encoder: Encoder  # prepared by the first rows
    _declared: Array  # classes that stay without rows
    _learned: Fit | None  # for the rows that count now
    _before: Fit | None = None  # the last fit from rows, which is carried over to other sums
    _told: bool = True  # False while a StaleWarning is still to be emitted
    _shifted: bool = False  # whether class probabilities were changed after learning

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        head, marker, tail = (cls.__doc__ or "").partition(AS_EVERYWHERE)
        if marker:
            before, _, names = head.rstrip("\n").rpartition("\n")
            settings = "".join(SHARED_SETTINGS[name.strip()] for name in names.split(","))
            cls.__doc__ = f"{before}\n{settings}{tail}"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        for name in self._accepts:
            setattr(tags.input_tags, name, True)
        return tags

    @abstractmethod
    def _model(self) -> Model[Any, Any]:
        """The model that the settings describe."""

    def _learner(self) -> Any:
        """The learner that the settings describe."""
        learner = self._default_learner() if self.learner is None else self.learner
        if not isinstance(learner, Learner):
            raise ValueError(f"learner must be None or an instance of one of suffice.learners, got {learner!r}")
        return learner

    def _default_learner(self) -> Learner:
        return ClosedForm()

    def _is_of_sums(self) -> bool:
        """True if all that is learned from encoded rows is a function of their sums."""
        return bool(self._learner().exact)

    def _calibrates(self) -> bool:
        """True if something is learned from rows that their sums do not determine."""
        return not self._learner().exact

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), a data set of `suffice.data`, a path, or a table
            Features; a data set has its own labels and weights. A path is that of Parquet, CSV or Arrow files, a
            table one of dask, Spark or DuckDB: rows stay where they are.
        y : array of shape (n,), or the name of a column
            Labels; of a path or such a table, the column that has them. Rows without a label (None, NaN) are left
            out, with a warning.
        sample_weight : array of shape (n,), or the name of a column, default=None
            Row weights; weight 2 is the row twice, weight 0 leaves it out.
        checkpoint : path of a folder, default=None
            Stores every sum over the rows. If the process is killed, the same call continues where it stopped, with
            the same result. Other rows, or settings that lead to other sums, are a `CheckpointError`.
        """
        if checkpoint is not None:
            return self._fit_with_checkpoint(checkpoint, X, y, sample_weight)
        with all_or_nothing(self):
            self._declared = np.empty(0)
            self._carry(None)
            self.__dict__.pop("_shifted", None)
            learner = self._learner()
            require(learner, self._model().base_model, *learner.needed())
            data = self._read(X, y, sample_weight, reset=True, once=learner.once)
            s, fit = self._learn(data)
            self._store(s, fit)
            self._carry(self._learned)
            if is_source(X):
                self._store_names()
            else:
                index = [name for name in getattr(self, "feature_names_in_", ()) if is_index(name)]
                emit(guessed_index(index, "is learned from: leave it out if it numbers the rows"))
            self._warn(fit)
            # A prior that is only where learning starts does not outweigh the rows.
            if not any(issubclass(need, Natural) for need in learner.needs):
                rows, called = float(s.mass.sum()), "weight" if is_source(X) else "sample_weight"
                emit(outweighed(self._fit_result().model.base_model.prior_rows, rows, data.count, called))
            return self

    def _learn(self, data: Data) -> tuple[AnyStatistics, Fit]:
        """The statistics of encoded rows, and the fit by the learner."""
        model, learner = self._bound_model(), self._learner()
        if not learner.exact and not self._weighs_classes():  # it sums the rows itself
            fit = cast(Fit, learner.learn(model, data))
            return self._check_classes(fit.statistics), fit
        s = self._check_classes(data.sum(Observed(model)))
        if learner.exact:
            return s, self._solve(s, data)
        return s, cast(Fit, learner.learn(model, data.map(labels=Reweigh(s.domain.classes, self._class_weights(s)))))

    def _fit_with_checkpoint(self, folder: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit with all sums stored in a folder."""
        given = source(X, y, sample_weight)
        with all_or_nothing(self):
            rows = Memory(*self._check_rows(X, y, sample_weight)) if given is None else given
            with recorded(folder, rows, self) as data:
                self.fit(data)
            if given is None:
                validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def _fit_sums(self, s: Statistics[Any], reader: Self) -> Self:
        """Fit from the sums s of rows that another estimator has read."""
        self._declared, self._encoder = np.empty(0), reader._encoder
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(reader, name):
                setattr(self, name, getattr(reader, name))
        self._store(self._check_classes(s), self._solve(s))
        self._warn(self._fit_result())
        return self

    @available_if(_adds_up)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, decay: float = 1.0
    ) -> Self:
        """Learn more rows; in any number of pieces the result is that of `fit` on all rows.

            s <- decay s + S(X, Y)

        This holds where parameters are a function of the sums, as in closed form. Whatever else a learner learns
        comes from the first piece with two classes, and is then carried over: `stale_` until `recalibrate`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. New classes and categories may come at any time.
        classes : array of shape (k,), default=None
            Classes to provide for, also without rows; if given, `y` may have no others.
        decay : float, default=1.0
            The factor on the weight of all earlier rows, from 0 (forget them) to 1: rows of d steps ago weigh
            decay^d. To forget such a row, give the weight that it still has: `forget(X, y, sample_weight=decay**d)`.
        """
        check_value(decay, "decay", FRACTION)
        with all_or_nothing(self):
            first = not hasattr(self, "statistics_")
            if first:
                self._declared = np.empty(0)
                self._carry(None)
            data, s = self._sum(X, y, sample_weight, reset=first)
            if classes is not None:
                declared = np.unique(classes)
                both = unite(declared, s.domain.classes, "class labels")
                if len(both) > len(declared):
                    strange = s.domain.classes[positions(s.domain.classes, declared) < 0]
                    raise ValueError(f"y has the classes {show_all(strange)}, which are not among `classes`")
                self._declared = declared
                s = s.with_classes(both)
            together = (s if first else self.statistics_.decayed(decay, self._declared) + s).recentred()
            self._store(together)
            self._calibrate_first(data, s)
            if is_source(X):
                self._store_names()
            return self

    def _calibrate_first(self, data: Data, s: AnyStatistics) -> None:
        """Learn from the rows of the first piece that has two classes, and from whose sums s parameters follow."""
        if self._carries() or not self._calibrates() or np.count_nonzero(s.mass) < 2:
            return
        try:
            fit = self._solve(self.statistics_, data)
        except DegenerateError:  # too few rows
            return
        self._store(self.statistics_, fit)
        self._carry(self._learned)
        self._warn(fit)

    @available_if(_adds_up)
    def merge(self, other: Self) -> Self:
        """Add another fitted classifier with the same settings, as if its rows had been learned here.

        Parameters that do not follow from the sums are combined, and are `stale_` until `recalibrate`.
        """
        check_is_fitted(self)
        if type(other) is not type(self):
            raise TypeError(f"cannot merge a {type(self).__name__} with a {type(other).__name__}")
        check_is_fitted(other)
        check_same_settings(self, other, self._may_differ)
        encoder = self._encoder.united(other._encoder)
        with all_or_nothing(self):
            self._encoder, learner = encoder, self._learner()
            if not learner.exact:
                pairs = ((one._before, one._weighed(one.statistics_)) for one in (self, other))
                self._before = learner.merge_fits(self._bound_model(), *pairs)
            self._store((self.statistics_ + other.statistics_).recentred())
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
        """Remove rows that were learned: all sums are then those of the other rows.

        So are the parameters that follow from them, with one exception: a numeric column of `NaiveBayes` or
        `TabularClassifier` that had more than 4,096 distinct values keeps the coarser grid on which they were counted.

        In any number of steps the result is that of fitting the remaining rows, up to rounding. The sums of squares
        keep the rounding of the largest sums that they have been, so each class and column remembers a power of two
        above these: an order of magnitude, never a value. Forgetting is refused where the rounding would be a millionth
        of a variance, or the remaining weight would be less than 5e-8 of the removed weight: fit the other rows again.

        Rows that the statistics show to be impossible are refused, too, and leave the model as it was: a class or
        category that was never learned, more rows than there were, a negative variance. Forgetting a row twice is
        refused if no remaining row could be it: none of its class, no value in its cell, less variance than it had.
        While enough other rows remain, the sums cannot show the mistake, and another row's share is removed: the caller
        has to know which rows are in the model. If weights in one class differ by more than 1e9, the small ones may
        vanish with the large ones.

        Parameters that do not follow from the sums still depend on the rows, and are `stale_` until `recalibrate`.
        """
        check_is_fitted(self)
        with all_or_nothing(self):
            _, gone = self._sum(X, y, sample_weight, reset=False)
            left = self.statistics_.without(gone)
            left = left.with_classes(unite(left.domain.classes, self._declared)).recentred(from_sums=True)
            self._store(left, None if self._learned is None else self._solve(left))
            if self._learned is not None:
                self._warn(self._learned)
        return self

    @available_if(_can_recalibrate)
    def recalibrate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the parameters that the sums do not determine again; everything else stays.

        With all rows that are in the model the result is that of `fit` on them. With a sample of them, the change of
        the statistics is scaled up to all rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows that are in the model, as in `fit`: all, or a sample with rows of every class. Rows that cannot have
            been learned are refused. A copy by `shift_priors` is refused, unless it learns weights of experts:
            calibration on rows with other class shares would undo the shift.
        """
        check_is_fitted(self)
        if self._shifted and not self._learner().exact:
            raise ValueError(
                f"{type(self).__name__}: this copy has shifted class probabilities, which calibration would undo: "
                "recalibrate the original, then call shift_priors again"
            )
        with all_or_nothing(self):
            self._carry(None)
            data, rows = self._sum(X, y, sample_weight, reset=False)
            whole, classes = self.statistics_, self.statistics_.domain.classes
            without = classes[(whole.mass > 0) & (rows.with_classes(classes).mass == 0)]
            none = f"there are none of the classes {show_all(without)}" if len(without) else None
            why = whole.lacks(rows) or none
            if why is not None:
                raise ValueError(f"{type(self).__name__}: recalibrate takes rows that were learned, but {why}")
            fit = _without_stale(self._solve(whole, data))
            self._store(whole, fit)
            self._carry(self._learned)
            self._warn(fit)
        return self

    # From statistics to parameters

    def _check_classes(self, s: Statistics[Any]) -> Statistics[Any]:
        """Statistics that have two classes or more, among them all that the settings name; else ValueError."""
        classes = s.domain.classes
        if not len(classes):
            raise ValueError(f"{type(self).__name__} got no rows with a label and a weight above zero")
        require_two_classes(type(self).__name__, classes)
        check_keys("class_weight", self.class_weight, classes)
        owner = self if hasattr(self, "class_prior") else self._model()
        check_keys("class_prior", getattr(owner, "class_prior", None), classes)
        check_classes(getattr(self, "prior", None), classes)
        return s

    def _store(self, s: Statistics[Any], fit: Fit | None = None) -> None:
        """Store statistics after checking `class_weight` and `class_prior` against their classes.

        The encoder keeps no category that they have no row of. Without a fit, parameters are computed when they are
        first needed.
        """
        self._class_weights(s)
        given: Any = getattr(self, "class_prior", None)
        if isinstance(given, list | tuple | np.ndarray) and len(given) < len(s.domain.classes):
            raise ValueError(f"class_prior has {len(given)} entries, but there are {len(s.domain.classes)} classes")
        self._encoder = self._encoder.pruned(s.domain.features)
        if fit is not None and fit.model.encoder is not self._encoder:
            fit = replace(fit, model=replace(fit.model, encoder=self._encoder))
        self.statistics_, self._learned = s, fit
        self.n_features_in_ = self._encoder.inputs(s.domain.features).width

    def _weighs_classes(self) -> bool:
        return self.class_weight is not None

    def _class_weights(self, s: Statistics[Any]) -> Array:
        """The weight of each class (k,). Sums are by class, so that weights apply to them as well as to the rows."""
        return class_weights(self.class_weight, s.domain.classes, s.mass)

    def _weighed(self, s: AnyStatistics) -> AnyStatistics:
        """Statistics times the weights of the classes."""
        return s.by_class(self._class_weights(s)) if self._weighs_classes() else s

    def _solve(self, s: AnyStatistics, data: Data | None = None) -> Fit:
        """Parameters from statistics. If rows are given, what does not follow from the sums is learned from them."""
        model, learner = self._bound_model(), self._learner()
        if data is not None and self._weighs_classes():
            data = data.map(labels=Reweigh(s.domain.classes, self._class_weights(s)))
        s = self._weighed(s)
        if not self._calibrates() or (data is not None and learner.exact):
            return cast(Fit, learner.solve(model, s, data))
        if data is None:
            return cast(Fit, learner.carry_over(model, s, self._before))
        classes = s.domain.classes
        fit = cast(Fit, learner.learn(model, data.map(labels=Reweigh(classes, np.ones(len(classes))))))
        if np.allclose(fit.statistics.mass, s.mass, rtol=MASS_TOLERANCE, atol=0):
            return fit
        # The rows are a sample of those in the sums.
        part: Fit = learner.carry_over(model, s, fit)
        return replace(part, warnings=(*fit.warnings, *part.warnings))

    def _carry(self, fit: Fit | None) -> None:
        """Keep the part of a fit that is to be carried over to other sums; None: nothing."""
        self._before = None if self._learner().exact else fit

    def _carries(self) -> bool:
        """True if there is something to carry over."""
        return self._before is not None

    def _fit_result(self) -> Fit:
        """The fit for the rows that count now, computed when it is first needed: pieces may be too small for one."""
        check_is_fitted(self)
        if self._learned is None:
            self._learned = self._solve(self.statistics_)
            self._warn(self._learned)
        if not self._told:
            self._told = True
            emit(notice for notice in self._learned.warnings if notice.category is StaleWarning)
        return self._learned

    def _warn(self, fit: Fit) -> None:
        """Emit the warnings of a fit; a StaleWarning waits until the fit is used, as `recalibrate` may come first."""
        now = _without_stale(fit).warnings
        emit(now)
        self._told = len(now) == len(fit.warnings)

    # Input

    def _new_encoder(self, data: Data) -> tuple[Encoder, Data]:
        """The model's encoder, prepared by the first rows, and these rows, which may be encoded in part."""
        return self._model().encoder.prepare(data), data

    def _bound_model(self) -> Model[Any, Any]:
        """The model with the encoder that the first rows have prepared."""
        return replace(self._model(), encoder=self._encoder)

    def _sum(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Data, AnyStatistics]:
        """Input as encoded rows, and their statistics."""
        data = self._read(X, y, sample_weight, reset)
        return data, data.sum(Observed(self._bound_model()))

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool, once: bool = False) -> Data:
        """Input as a data set of encoded rows; `reset`: they prepare the encoder.

        Many rows in memory that are to be read `once` are encoded then, batch by batch.
        """
        given = source(X, y, sample_weight)
        if given is not None:
            if reset:
                self._encoder, given = self._new_encoder(given)
            else:
                given = given.read_as(self._encoder.holding(), self._encoder.notations())
            return given.map(self._encoder).persist()
        rows, Y = self._check_rows(X, y, sample_weight)
        whole = Memory(rows, Y)
        if not (once and reset and whole.long() and cheap_to_encode(rows)):
            return Memory(self._features(rows, reset, Y), Y)
        self._encoder, read = self._new_encoder(whole)
        self._encoder(cast(Memory, read).first())  # checks the columns
        validate_data(self, X, reset=True, skip_check_array=True)
        return cast(Memory, read).later(self._encoder)

    def _features(self, X: Any, reset: bool, Y: OneHot | None = None) -> Any:
        """Encoded features, after scikit-learn's checks of names and width."""
        rows = X
        if not _num_samples(X):
            raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}.")
        if reset:
            self._encoder, read = self._new_encoder(Memory(X, Y))
            rows = cast(Memory, read).X
        encoded = self._encoder(rows)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return encoded

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Any]:
        """The rows in memory that have a label, with a warning if there are others."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y, known = known_labels(y)
        if known is None:
            check_consistent_length(X, y)
            return X, y, sample_weight
        check_consistent_length(X, known, sample_weight)
        rows = np.flatnonzero(known)
        emit(unlabelled(len(known) - len(rows)))
        weight = None if sample_weight is None else _safe_indexing(sample_weight, rows)
        return _safe_indexing(by_rows(X), rows), y, weight

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, OneHot]:
        """Rows in memory and their labels, without rows of weight 0."""
        X, y, sample_weight = self._labelled(X, y, sample_weight)
        y = check_labels(y)
        if sample_weight is None:
            return X, OneHot.of_checked(y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        with np.errstate(over="ignore"):
            if not weight.sum() <= MAX_WEIGHT_SUM:
                raise ValueError(
                    f"sum(sample_weight) exceeds {MAX_WEIGHT_SUM:.0e} and would overflow when squared: scale it down"
                )
        if not weight.all():
            rows = np.flatnonzero(weight)
            if not len(rows):  # newer versions of scikit-learn refuse them above
                raise ValueError("Sample weights must contain at least one non-zero number.")
            X, y, weight = _safe_indexing(by_rows(X), rows), y[rows], weight[rows]
        return X, OneHot.of_checked(y, weight)

    def _store_names(self) -> None:
        """Store the feature names of a data set, as scikit-learn does for arrays and frames."""
        names = self._encoder.inputs(self.statistics_.domain.features).names
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names.copy()  # as scikit-learn does, so that model files are equal

    # Fitted attributes

    @property
    def stale_(self) -> bool:
        """True if rows have come or gone since the parameters that the sums do not determine were learned."""
        return any(notice.category is StaleWarning for notice in self._fit_result().warnings)

    @property
    def classes_(self) -> Array:
        """Class labels (k,), sorted."""
        check_is_fitted(self)
        return self.statistics_.domain.classes

    @property
    def parameters_(self) -> Any:
        """The parameters of the model."""
        return self._fit_result().parameters

    @property
    def moved_statistics_(self) -> Any:
        """The statistics behind the parameters: those of the data, unless the learner has moved them.

        With missing values under full covariances, the statistics that complete rows are expected to have. A tuple,
        one for each contest, where classes are learned two at a time.
        """
        fit = self._fit_result()
        return self.statistics_ if fit.moved is None else fit.moved

    @property
    def n_iter_(self) -> int:
        """Iterations: passes over the data after the one that sums them; 1 for the closed form, or steps of EM."""
        return self._fit_result().n_iter

    @property
    def history_(self) -> dict[str, list[float]]:
        """Log loss, soft error and error, the objective and the rate after every accepted step.

        The first entry is the initial model. Where classes are learned two at a time it is the mean over contests.
        With EM, for missing values under full covariances, it is the log posterior of the observed values.
        """
        return self._fit_result().history

    @property
    def passes_(self) -> dict[str, list[float]]:
        """`history_` with an entry for every pass over the data, and `accepted`: whether its step was kept."""
        return self._fit_result().passes

    @property
    def converged_(self) -> bool:
        """True if learning stopped by its own criterion."""
        return self._fit_result().converged

    @property
    def class_count_(self) -> Array:
        """The total weight of the rows of each class (k,)."""
        check_is_fitted(self)
        return self.statistics_.mass.copy()

    @property
    def class_prior_(self) -> Array:
        """The probability of each class (k,)."""
        return np.exp(self._class_log_prob())

    def _class_log_prob(self) -> Array:
        found = getattr(self.parameters_, "class_log_prob", None)
        if found is None:
            raise AttributeError(
                f"this {type(self).__name__} has no class probabilities: its parameters are those of p(y | x) alone. "
                "The classes' shares of the rows are class_count_ / class_count_.sum()"
            )
        return np.asarray(found)
