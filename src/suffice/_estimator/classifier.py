"""The one base estimator: reading input, learning, and the arithmetic of fitted models."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from suffice._core.labels import OneHot, Reweigh, check_keys, check_labels, class_weights, positions, show_all, unite
from suffice._core.vector import Array
from suffice._estimator.answers import Hits
from suffice._estimator.predictor import Predictor
from suffice._runtime.messages import FRACTION, StaleWarning, check_value, emit
from suffice._runtime.transaction import all_or_nothing
from suffice.data import Data, Memory, is_source, source
from suffice.data.memory import by_rows
from suffice.encoders import Encoder
from suffice.encoders.base import cheap_to_encode
from suffice.learners import ClosedForm, Fit, Learner, Observed
from suffice.learners.base import begin, require
from suffice.models import AnyModel, AnyStatistics, DegenerateError, Model, Statistics
from suffice.models.base import Natural
from suffice.persistence.checkpoint import recorded
from suffice.priors import check_classes, outweighed


def same_settings(a: BaseEstimator, b: BaseEstimator, but: Collection[str] = ()) -> None:
    """ValueError, with the first setting that differs, unless all are the same, except for some."""
    ours, theirs = a.get_params(), b.get_params()
    for name in sorted((ours.keys() | theirs.keys()) - set(but)):
        x, y = ours.get(name), theirs.get(name)
        if not _alike(x, y):
            raise ValueError(f"the settings differ: {name} is {x!r} here and {y!r} there")


def _alike(x: Any, y: Any) -> bool:
    """Whether two settings are the same; those of an estimator are listed beside it."""
    if isinstance(x, BaseEstimator):
        return type(x) is type(y)
    if isinstance(x, Model):
        return repr(x) == repr(y)
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return x.keys() == y.keys() and all(_alike(x[key], y[key]) for key in x)
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) == len(y) and all(map(_alike, x, y))
    return bool(np.array_equal(np.asarray(x, dtype=object), np.asarray(y, dtype=object)))


ROUNDING = 1e-9  # of a weight


def _takes_rows(estimator: Classifier) -> bool:
    """Whether there is something to learn again; else AttributeError."""
    if not estimator._calibrates():
        raise AttributeError(
            f"{type(estimator).__name__} has nothing to learn again: with this learner all parameters follow exactly "
            "from the sums"
        )
    return True


def _fresh(fit: Fit) -> Fit:
    """Without the notice that it is stale."""
    return replace(fit, warnings=tuple(n for n in fit.warnings if n.category is not StaleWarning))


def _none_of(whole: AnyStatistics, part: AnyStatistics) -> str | None:
    """Which classes of the whole have no rows in a part of it; None if all have."""
    without = whole.domain.classes[(whole.mass > 0) & (part.with_classes(whole.domain.classes).mass == 0)]
    return f"there are none of the classes {show_all(without)}" if len(without) else None


HEAVIEST = 1e150  # sum of weights, of which products are numbers


def _adds_up(estimator: Classifier) -> bool:
    """Whether the learner takes parameters from statistics, or carries them to others; else fits cannot be added."""
    learner = estimator._learner()
    if not learner.exact and not learner.carries_over:
        raise AttributeError(
            f"what {type(learner).__name__} learns cannot be added to or taken from, as it is neither exact nor "
            "carried over: use another learner, or fit again"
        )
    return True


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


class Classifier(Predictor, ClassifierMixin, BaseEstimator):
    """A classifier whose parameters come from sums over the rows; a subclass says which model."""

    learner: Any
    class_weight: Any

    _may_differ: ClassVar[tuple[str, ...]] = ()  # settings that play no part once the first rows were read
    _takes_tables: ClassVar[bool] = False  # columns of every kind, with missing entries

    _declared: Array  # classes that are kept without rows
    _learned: Fit | None  # for the rows that count now
    _before: Fit | None = None  # what was learned from rows last, and is carried along
    _told: bool = True  # whether it was said that it is stale
    _shifted: bool = False  # whether class probabilities were exchanged after learning

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self._takes_tables:
            tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags

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
        if not isinstance(learner, Learner):
            raise ValueError(f"learner must be None or an instance of one of suffice.learners, got {learner!r}")
        return learner

    def _is_of_sums(self) -> bool:
        """Whether all that is learned from encoded rows is a function of their sums."""
        return bool(self._learner().exact)

    def _default_learner(self) -> Learner:
        return ClosedForm()

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
            require(learner, self._model().base_model, *learner.needed())
            read = self._read(X, y, sample_weight, True, learner.once)
            model, data = begin(self._prepared(), read)
            if learner.exact:
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
                both = unite(declared, s.domain.classes, "class labels")
                if len(both) > len(declared):
                    strange = s.domain.classes[positions(s.domain.classes, declared) < 0]
                    raise ValueError(f"y has the classes {show_all(strange)}, which are not among `classes`")
                self._declared = declared
                s = s.with_classes(both)
            together = (s if first else self.statistics_.decayed(decay, self._declared) + s).recentred()
            if not first and not decay:  # which forgets all rows before
                self._encoder = self._encoder.pruned(self.statistics_.domain.features, together.domain.features)
            self._adopt(together)
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
        encoder = self._encoder.united(other._encoder)
        with all_or_nothing(self):
            self._encoder = encoder
            self._before = self._united(other)
            self._adopt((self.statistics_ + other.statistics_).recentred())
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

        So is what follows from them, except for cells of numbers (`NaiveBayes`, `TabularClassifier`): a column that had
        more than 4,096 different ones keeps the coarser grid that these were counted on.

        In any number of steps the result is that of a refit of the rows left, up to rounding. The sums of squares keep
        the rounding of the largest sums that they have been, so each class and column remembers a power of two above
        these: an order of magnitude, never a value. Where the rounding would be a millionth of a variance, or weights
        would be left that are less than 5e-8 of those forgotten, forgetting is refused: fit the others again.

        What the statistics show to be impossible is refused, too, and leaves the model as it was: a class or category
        that was never learned, more rows than there were, a negative variance. A row that is forgotten twice is refused
        if nothing is left that could be it: no row of its class, no value in its cell, less variance than it had. While
        enough other rows are left the sums cannot tell, and take another row's share away: whether the rows were among
        those learned, and still are, is the caller's to know. Of weights in one class that differ by more than 1e9, the
        small ones may vanish with the large ones.

        What a learner has learned besides the sums still knows of the rows, and is `stale_`, until `recalibrate`.
        """
        check_is_fitted(self)
        with all_or_nothing(self):
            gone = self._encoded(X, y, sample_weight, reset=False).sum(Observed(self._prepared()))
            left = self.statistics_.without(gone)
            left = left.with_classes(unite(left.domain.classes, self._declared)).recentred(from_sums=True)
            self._encoder = self._encoder.pruned(self.statistics_.domain.features, left.domain.features)
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
        if not any(issubclass(need, Natural) for need in self._learner().needs):
            total = float(self.statistics_.mass.sum())
            emit(outweighed(self._fit_result().model.base_model.prior_rows, total, data.count, called))

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
        data = data.read_as(self._encoder.holding())
        found = data.sum(Hits(self._asked(self._choice()), self.classes_))
        return found.right / found.mass

    def _weighs_classes(self) -> bool:
        return self.class_weight is not None

    def _class_weights(self, s: Statistics[Any]) -> Array:
        """The weight of each class (k,). Sums are by class, so that weights apply to them as well as to the rows."""
        return class_weights(self.class_weight, s.domain.classes, s.mass)

    def _encoded(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Data:
        """Input as a data set of encoded rows."""
        read = self._read(X, y, sample_weight, reset)
        return begin(self._prepared(), read)[1]

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool, once: bool = False) -> Data:
        """Input as a data set; rows in memory that are to be read once are encoded then, batch by batch."""
        given = source(X, y, sample_weight)
        if given is not None:
            if not reset:
                return given.read_as(self._encoder.holding())
            self._encoder, read = self._prepare(given)
            return read
        rows, Y = self._checked(X, y, sample_weight)
        if once and reset and (whole := Memory(rows, Y)).long() and cheap_to_encode(rows):
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

    # What is learned from rows beyond their sums

    def _calibrates(self) -> bool:
        """Whether something is learned from rows that their sums do not determine."""
        return not self._learner().exact

    def _close(self, s: AnyStatistics, data: Data | None = None) -> Fit:
        """Parameters from statistics; with rows of these, learned from them where it takes rows."""
        model, learner = self._prepared(), self._learner()
        if data is not None and self._weighs_classes():
            data = data.map(labels=Reweigh(s.domain.classes, self._class_weights(s)))
        s = self._weighed(s)
        if not self._calibrates() or (data is not None and learner.exact):
            return cast(Fit, learner.solve(model, s, data))
        if data is None:
            return cast(Fit, learner.carry_over(model, s, self._before))
        return self._calibrated(model, s, data)

    def _weighed(self, s: AnyStatistics) -> AnyStatistics:
        """Statistics with the weights of the classes."""
        return s.by_class(self._class_weights(s)) if self._weighs_classes() else s

    def _united(self, other: Self) -> Fit | None:
        """What this and another classifier have learned from rows, for the rows of both."""
        learner = self._learner()
        if learner.exact:
            return self._before
        pairs = ((one._before, one._weighed(one.statistics_)) for one in (self, other))
        return cast(Fit | None, learner.merge_fits(self._prepared(), *pairs))

    def _calibrated(self, model: AnyModel, s: AnyStatistics, data: Data) -> Fit:
        """What rows teach that are all those of s, or some."""
        classes = s.domain.classes
        fit: Fit = self._learner().learn(model, data.map(labels=Reweigh(classes, np.ones(len(classes)))))
        if np.allclose(fit.statistics.mass, s.mass, rtol=ROUNDING, atol=0):
            return fit
        part: Fit = self._learner().carry_over(model, s, fit)
        return replace(part, warnings=(*fit.warnings, *part.warnings))

    def _fit_result(self) -> Fit:
        """Parameters are taken from the statistics when they are first needed: pieces may be too few to have any."""
        check_is_fitted(self)
        if self._learned is None:
            self._learned = self._close(self.statistics_)
            self._say(self._learned)
        if not self._told:
            self._told = True
            emit(notice for notice in self._learned.warnings if notice.category is StaleWarning)
        return self._learned

    def _say(self, fit: Fit) -> None:
        """Emit what learning has to say; that it is stale when it is next used: it may be learned again before."""
        fresh = _fresh(fit).warnings
        emit(fresh)
        self._told = len(fresh) == len(fit.warnings)

    def _keep(self, fit: Fit | None) -> None:
        """Keep what has to be carried along of a fit that was learned from rows, and no more; None: nothing."""
        self._before = None if self._learner().exact else fit

    def _keeps(self) -> bool:
        """Whether there is something to be carried along."""
        return self._before is not None

    def _take_in(self, data: Data, s: AnyStatistics) -> None:
        """The first rows that come with two classes, and of which sums s parameters can be had, are learned from."""
        if self._keeps() or not self._calibrates() or np.count_nonzero(s.mass) < 2:
            return
        try:
            fit = self._close(self.statistics_, data)
        except DegenerateError:  # too few
            return
        self._keep(fit)
        self._say(fit)
        self._adopt(self.statistics_, fit)

    @available_if(_takes_rows)
    def recalibrate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn again what is no function of the sums, of rows that count now; everything else stays as it is.

        With all these rows the result is that of `fit` on them. Of a sample, what statistics are moved by is scaled up
        to all rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows among those that were learned, as in `fit`: all, or a sample with rows of every class, but no others.
            What cannot have been learned is refused. So is a copy by `shift_priors`, unless it learns weights of
            experts: what is learned from rows at shares that are not theirs makes up for the difference.
        """
        check_is_fitted(self)
        if self._shifted and not self._learner().exact:
            raise ValueError(
                f"{type(self).__name__}: this copy has shifted class probabilities, which calibration would undo: "
                "recalibrate the original, then call shift_priors again"
            )
        with all_or_nothing(self):
            self._keep(None)
            data = self._encoded(X, y, sample_weight, reset=False)
            rows = data.sum(Observed(self._prepared()))
            why = self.statistics_.lacks(rows) or _none_of(self.statistics_, rows)
            if why is not None:
                raise ValueError(f"{type(self).__name__}: recalibrate takes rows that were learned, but {why}")
            fit = _fresh(self._close(self.statistics_, data))
            self._adopt(self.statistics_, fit)
            self._keep(fit)
            self._say(fit)
        return self

    def _summary(self) -> dict[str, str]:
        rows = super()._summary()
        if self._learned is None and self._calibrates() and self._keeps():
            rows["stale"] = "what is no function of the sums is that of earlier rows: recalibrate(X, y) learns it again"
        return rows

    @property
    def stale_(self) -> bool:
        """Whether rows have come or gone since that was learned which is no function of the sums."""
        return any(notice.category is StaleWarning for notice in self._fit_result().warnings)

    # What was learned

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

        Where values are missing under whole covariances, those that complete rows are expected to have.
        A tuple of those of every contest where classes went two at a time.
        """
        fit = self._fit_result()
        return self.statistics_ if fit.moved is None else fit.moved

    @property
    def n_iter_(self) -> int:
        """Iterations: passes over the data besides the one that sums them; 1 for the closed form, or steps of EM."""
        return self._fit_result().n_iter

    @property
    def history_(self) -> dict[str, list[float]]:
        """Log loss, soft error and error, the objective and the rate after every step that was kept.

        The first is the initial model. Where classes go two at a time it is the mean over contests. Of EM, for missing
        values under whole covariances, it is the log posterior of the values that are there.
        """
        return self._fit_result().history

    @property
    def passes_(self) -> dict[str, list[float]]:
        """The same of every pass over the data, with `accepted`: whether its step was kept or taken back."""
        return self._fit_result().passes

    @property
    def converged_(self) -> bool:
        """Whether learning came to its end by itself."""
        return self._fit_result().converged

    @property
    def class_count_(self) -> Array:
        """The weight of each class (k,): that of its rows."""
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
