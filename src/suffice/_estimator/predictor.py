"""The predictor: answers of a fitted classifier for rows."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_consistent_length

from suffice._core.features import Domain, Encoded
from suffice._core.labels import OneHot, Reweigh, as_keys, key, missing, moment, positions, show, show_all
from suffice._core.probability import log_posterior, posterior
from suffice._core.vector import Array
from suffice._estimator.answers import (
    Abstaining,
    Answer,
    Asked,
    Denser,
    JointDensity,
    LeastCost,
    LogDensity,
    MostProbable,
    Single,
    formula,
    log_odds,
    score_formulas,
    single_log_posterior,
)
from suffice._estimator.explaining import Contributions, HTMLSummary, learned_summary
from suffice._estimator.generative import BayesError, Ratios, by_quadrature, by_sampling, most_probable_shares
from suffice._runtime.messages import COUNT, FRACTION, Notice, check_value, emit, or_else
from suffice._runtime.system import free_memory, optional
from suffice._runtime.threads import few_threads
from suffice.data import Data, Memory, Named, as_learned, is_source
from suffice.data.memory import by_rows, row_slices
from suffice.encoders.base import Encoder, frame_of
from suffice.learners import Fit
from suffice.learners.base import level_of
from suffice.losses import decision_costs
from suffice.models import AnyStatistics, Density, HasNomogram, Model, Nomogram, NoNomogramError, Samplable
from suffice.models.base import Classed, LeaveOneOut
from suffice.persistence import Savable
from suffice.priors import log_class_prior


def _has_density(estimator: Predictor) -> bool:
    """Whether the model says how probable features are; else there is no log p(x, y)."""
    if not isinstance(estimator._model(), Density):
        raise AttributeError(
            f"{type(estimator).__name__} learns p(y | x) alone, so that log p(x, y) is unknown: use predict_log_proba, "
            "or a classifier with a density (naive Bayes, discriminant analysis)"
        )
    return True


def single_precision(X: Any) -> bool:
    """Whether features are all float32.

    >>> single_precision(np.zeros((2, 2), dtype=np.float32)), single_precision([[1.0]])
    (True, False)
    """
    dtype = getattr(X, "dtype", None)
    if dtype is not None:
        return bool(dtype == np.float32)
    frame = frame_of(X)
    return frame is not None and len(frame.columns) > 0 and set(frame.schema.dtypes()) == {nw.Float32()}


MORE = 1e-9  # share by which a weight may be above that of its class, by rounding
ELSE = "use suffice.model_selection.cross_validate"


def _leaves_out(estimator: Predictor) -> bool:
    """Whether parameters without a row follow from the sums; else AttributeError."""
    name, learner = type(estimator).__name__, estimator._learner()
    if not learner.exact:
        raise AttributeError(f"a row cannot be taken out of what {type(learner).__name__} learns: {ELSE}")
    if not isinstance(estimator._model(), LeaveOneOut):
        raise AttributeError(
            f"this {name} has no leave-one-out probabilities from its sums (tables and normal densities without "
            f"shrinkage or tying have them): {ELSE}"
        )
    return True


def _learned(Y: OneHot, s: AnyStatistics, class_weight: Array) -> OneHot:
    """Labels on the learned classes, with what they counted for; ValueError if they cannot have been learned."""
    classes = s.domain.classes
    own = Y.onto(classes)
    strange = np.unique(Y.codes[(Y.codes >= 0) & (own.codes < 0)])
    if len(strange):
        raise ValueError(f"the classes {show_all(Y.classes[strange])} were never learned, so no row of theirs was")
    own = Reweigh(classes, class_weight)(own)
    over = np.flatnonzero((own.codes >= 0) & (own.weight > s.mass[own.codes] * (1 + MORE)))
    if len(over):
        i = int(over[0])
        raise ValueError(
            f"row {i} counts {own.weight[i]:g}, but all learned rows of class {show(classes[own.codes[i]])} together "
            f"{s.mass[own.codes[i]]:g}: it was not learned so. Give the rows and weights that were"
        )
    return own


def with_label(classes: Array, label: Any) -> Array:
    """Class labels (k,) and one more, of the type of the classes where it can be; else as objects.

    >>> with_label(np.array([0, 1]), -1), with_label(np.array([0, 1]), None)
    (array([ 0,  1, -1]), array([0, 1, None], dtype=object))
    """
    if np.ndim(label) or not isinstance(label, Hashable):
        raise ValueError(f"reject_label must be a single label, got {label!r}")
    if not missing(label) and key(label) in map(key, as_keys(classes)):
        raise ValueError(f"reject_label must not be a class, got {label!r}: the classes are {show_all(classes)}")
    day = moment(label)
    one = np.asarray(label if day is None else day)
    if one.dtype.kind == classes.dtype.kind and classes.dtype.kind != "O":
        return np.append(classes, one)
    out = np.empty(len(classes) + 1, dtype=object)
    out[:-1], out[-1] = as_keys(classes), label
    return out


DRAWN = 10_000  # rows that others are held against
ENTRIES = 1 << 27  # of rows drawn at once, at most
EACH = 2048  # rows of a class that tell where to integrate
LACKING = 0.01  # in the log-likelihood of rows, at which shares have not settled
NO_SUM = (
    "what several contests of two classes say together is no sum of terms by column: use LinearDiscriminantAnalysis or "
    "LogisticRegression(), whose classes are all told at once, or two classes"
)
COPIES = 4  # of the terms that are held at once
SHARE = 0.5  # of the free memory that these may take


def _samples(estimator: Predictor) -> bool:
    """Whether rows can be drawn from the model; else AttributeError."""
    _has_density(estimator)
    model = estimator._model()
    if not isinstance(model, Samplable):
        raise AttributeError(
            f"{model.display_name} is a density without a way to draw rows: it would have to be `Samplable`"
        )
    return True


def _has_classes(estimator: Predictor) -> bool:
    """Whether class probabilities are parameters of the model; else AttributeError."""
    if not isinstance(estimator._model(), Classed):
        raise AttributeError(
            f"{type(estimator).__name__} has no class probabilities to exchange: fit it with class_prior or "
            "class_weight"
        )
    return True


def _reweighed(fit: Fit, log_share: Array) -> Fit:
    """A fit whose probabilities count for other shares of the classes (k,)."""
    log_p = log_share
    if fit.level is not None:  # p(y) is no share then
        with np.errstate(invalid="ignore"):
            beside = fit.parameters.class_log_prob - fit.level
        log_p = log_posterior((log_share + np.where(np.isfinite(beside), beside, 0.0))[None])[0]
    model, theta = cast(Classed[Any, Any], fit.model).reweighed(fit.parameters, log_p)
    return replace(fit, model=model, parameters=theta, level=None if fit.level is None else log_share)


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(1 << 31, size=4))


def _has_terms(estimator: Predictor) -> bool:
    """True if the model is a sum of terms by column; else AttributeError."""
    model = estimator._model()
    if not isinstance(model.base_model, HasNomogram):
        raise AttributeError(
            f"{model.display_name} does not say what each column adds: its model would have to be `HasNomogram` "
            "(suffice.models), as naive Bayes, discriminants and tables are"
        )
    return True


def _has_log_odds(estimator: Predictor) -> bool:
    """Whether there is a `decision_function`; else AttributeError."""
    if not estimator._decides:
        raise AttributeError(f"{type(estimator).__name__} has no decision_function; predict_log_proba has the log-odds")
    return True


class Predictor(Savable):
    """Answers of a fitted classifier for rows: labels, probabilities, densities and decisions.

    Numbers are float32 where the features are.
    """

    statistics_: AnyStatistics
    n_features_in_: int
    _learned: Fit | None
    _encoder: Encoder  # as the first rows have prepared it
    _decides: ClassVar[bool] = True  # whether it has a `decision_function`

    # A subclass that learns provides these.

    @property
    @abstractmethod
    def classes_(self) -> Array:
        """Class labels (k,), sorted."""

    @abstractmethod
    def _model(self) -> Model[Any, Any]:
        """The model that the hyper-parameters describe."""

    @abstractmethod
    def _learner(self) -> Any:
        """The learner that the hyper-parameters describe."""

    @abstractmethod
    def _fit_result(self) -> Fit:
        """Model and parameters for the rows that count now."""

    @abstractmethod
    def _features(self, X: Any, reset: bool) -> Any:
        """Encoded features."""

    @abstractmethod
    def _class_weights(self, s: AnyStatistics) -> Array:
        """The weight of each class (k,)."""

    def _check_rows(self, X: Any) -> None:
        if not _num_samples(X):
            raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}.")

    # Labels and probabilities

    def _data(self, X: Any) -> Data | None:
        """Rows elsewhere, with the columns that were learned, read as what these hold; None for rows in memory."""
        data = as_learned(self, X)
        return None if data is None else data.read_as(self._encoder.holding())

    def _map(self, X: Any, f: Callable[[Any], Array], names: Sequence[str]) -> Any:
        """f of every row, in the form in which the rows are; of tables, in columns of these names."""
        data = self._data(X)
        if data is not None:
            return data.transform(Named(f, tuple(names)))
        self._check_rows(X)
        rows = Memory(X)
        if rows.several():  # batches are encoded where they are answered, never all rows at once
            self._features(rows.first(), reset=False)
            return rows.transform(f)
        return Memory(self._features(X, reset=False)).transform(f)

    def _measure(self, X: Any, f: Callable[[Any], Array], names: Sequence[str]) -> Any:
        """Numbers for every row, of the precision of the rows."""
        return self._map(X, Single(f) if single_precision(X) else f, names)

    def _by_class(self, called: str) -> list[str]:
        """A name for each class, in the place of the dots."""
        return [called.replace("...", str(label)) for label in self.classes_.tolist()]

    def _odds(self) -> list[str]:
        return ["log odds"] if len(self.classes_) == 2 else self._by_class("log p(...)")

    def _asked(self, answer: Answer) -> Asked:
        fit = self._fit_result()
        return Asked(fit.model, fit.parameters, answer)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of the class probabilities (n, k), with no floor."""
        return self._measure(
            X, self._asked(single_log_posterior if single_precision(X) else log_posterior), self._by_class("log p(...)")
        )

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities (n, k), in the order of `classes_`."""
        return self._measure(X, self._asked(posterior), self._by_class("p(...)"))

    @available_if(_has_density)
    def predict_joint_log_proba(self, X: Any) -> Any:
        """Log p(x, y) (n, k): how probable features and class are together.

            log p(x, y) = log p(y) + log p(x | y),     log p(x) = logsumexp_y log p(x, y)

        For numbers it is the logarithm of a density, which depends on their units. A row with a small log p(x) is
        unlike all that was learned.
        """
        fit = self._fit_result()
        return self._measure(
            X, JointDensity(cast(Density[Any, Any], fit.model), fit.parameters), self._by_class("log p(x, ...)")
        )

    def predict(self, X: Any) -> Any:
        """The most probable class of each row (n,)."""
        return self._map(X, self._asked(self._choice()), ["prediction"])

    def _choice(self) -> Answer:
        """By which a class is chosen."""
        return MostProbable(self.classes_)

    @available_if(_has_log_odds)
    def decision_function(self, X: Any) -> Any:
        """The log-odds of the second class (n,) if there are two, else the log-probability of each class (n, k)."""
        return self._measure(X, self._asked(log_odds), self._odds())

    # Decisions

    def decide(self, X: Any, costs: Any = None, reject_below: float | None = None, reject_label: Any = None) -> Any:
        """The decision of least expected cost for each row (n,), or `reject_label` where no class is probable enough.

            argmin_c sum_y p(y | x) costs[y, c],     unless max_y p(y | x) < reject_below

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), or a data set of `suffice.data`
        costs : array of shape (k, k), or dict of (true class, decision): cost, default=None
            Taking true class y for class c costs costs[y, c]; right decisions, on the diagonal, may have a cost (or a
            gain, below 0) as well. Pairs that a dict leaves out cost 1, or 0 if right. None: as `predict`.
        reject_below : float, default=None
            The least probability of the most probable class at which to decide at all; None always decides.
        reject_label : label, default=None
            What stands where there is no decision.

        Examples
        --------
        >>> from suffice import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["well", "well", "ill", "ill"])
        >>> model.decide([[-3.0], [4.0]]), model.decide([[-3.0], [4.0]], costs={("ill", "well"): 9})
        (array(['well', 'well'], dtype='<U4'), array(['well', 'ill'], dtype='<U4'))
        >>> model.decide([[-3.0], [4.0]], reject_below=0.9, reject_label="ask")
        array(['well', 'ask'], dtype='<U4')
        """
        check_value(reject_below, "decide: reject_below", or_else(None, FRACTION))
        given, classes = getattr(self, "costs", None) if costs is None else costs, self.classes_
        taken = classes if reject_below is None else np.arange(len(classes))
        rule: Answer = MostProbable(taken)
        if given is not None:
            rule = LeastCost(taken, decision_costs(given, classes, f"{type(self).__name__}.decide"))
        if reject_below is not None:
            rule = Abstaining(rule, float(reject_below), with_label(classes, reject_label))
        return self._map(X, self._asked(rule), ["decision"])

    # Rows left out

    @available_if(_leaves_out)
    def loo_log_proba(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """log p(y | x_i) (n, k) of learned rows, each by a model that has learned all rows but this one.

        It takes one read of the rows and no fit: sums without a row are the sums less the row, and inverses follow by
        rank one. What was chosen from all rows is held as it is: the prior's mean, covariance and weights,
        cells and categories, balanced class weights, and which columns vary. A class that has no other row is
        impossible (-inf), unless `class_prior` is given and the prior knows what such a class looks like.

        Parameters
        ----------
        X, y, sample_weight
            Rows that were learned, as they were given then: all, or some. A row of weight 0 is predicted as any other.
            That they were learned is the caller's to know, except for what is impossible.
        """
        fit = self._fit_result()
        s: Any = fit.statistics if fit.moved is None else fit.moved
        if is_source(X):
            raise TypeError("loo_log_proba takes rows in memory: give arrays or data frames X and y")
        if y is None:
            raise ValueError("loo_log_proba needs the labels y of the rows X, as they were learned")
        self._check_rows(X)
        check_consistent_length(X, y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        Y = _learned(OneHot.of(y, weight), s, self._class_weights(self.statistics_))
        rows = self._features(by_rows(X), reset=False)
        model = cast(LeaveOneOut[Any, Any], fit.model)
        with few_threads(rows.shape[1]):
            parts = [model.log_joint_without(rows[at], Y[at], fit.parameters, s) for at in row_slices(rows)]
        log_joint = np.concatenate(parts)
        return single_log_posterior(log_joint).astype(np.float32) if single_precision(X) else log_posterior(log_joint)

    # Densities

    @available_if(_samples)
    def sample(self, n: int = 1, y: Any = None, random_state: Any = None) -> tuple[Array, Array]:
        """Draw rows from the model: features (n, d) in the form of an array, and labels (n,).

        Numbers in bins are drawn evenly within their cell, between the least and the greatest learned; categories that
        share a cell are drawn by their shares of it. A mixed table is an array of objects with the columns as they were
        given, None for those that are left out: `pandas.DataFrame(rows, columns=model.feature_names_in_)` names them.

        Parameters
        ----------
        n : int, default=1
        y : label, or array of shape (n,), default=None
            The class of the rows; None draws it by the class probabilities.
        random_state : int, RandomState or None, default=None
        """
        check_value(n, "sample: n", COUNT)
        rng = _generator(random_state)
        codes = self._codes(n, y, rng)
        rows = self._drawn(codes, rng)
        return self._fit_result().model.encoder.decode(rows), self.classes_[codes]

    def _codes(self, n: int, y: Any, rng: np.random.Generator) -> Array:
        """Class numbers (n,): given as labels, or drawn."""
        if y is None:
            p = np.exp(self._fit_result().parameters.class_log_prob)
            return rng.choice(len(p), size=n, p=p / p.sum())
        labels = np.asarray([y]) if np.ndim(y) == 0 else np.asarray(y)
        if labels.shape not in ((1,), (n,)):
            raise ValueError(f"sample: y must be one class, or one for each of the {n} rows, got {len(labels)}")
        found = positions(labels, self.classes_, "class labels")
        if (found < 0).any():
            raise ValueError(f"sample: y has {show_all(labels[found < 0])}: the classes are {show_all(self.classes_)}")
        return np.broadcast_to(found, n)

    def _drawn(self, codes: Array, rng: np.random.Generator) -> Encoded:
        """A row for each class number (n,)."""
        fit = self._fit_result()
        width = cast(Domain, fit.model.domain).width
        if len(codes) * width > ENTRIES:
            raise MemoryError(f"{len(codes)} rows of {width} columns are too many to draw at once: take fewer")
        return cast(Samplable[Any], fit.model).sample(codes, fit.parameters, rng)

    def _joint(self) -> JointDensity:
        fit = self._fit_result()
        return JointDensity(cast(Density[Any, Any], fit.model), fit.parameters)

    @available_if(_has_density)
    def score_samples(self, X: Any) -> Any:
        """log p(x) (n,): how probable the features of each row are under the model, whatever the class.

            log p(x) = log sum_y p(y) p(x | y)

        normalised over the columns that a row has: what is missing is integrated out. Numbers have a density, which
        depends on their units; bins, categories and counts the probability of the cell or the count.
        """
        return self._measure(X, LogDensity(self._joint()), ["log p(x)"])

    @available_if(_samples)
    def anomaly_score(self, X: Any) -> Any:
        """The share of the model's own rows that are denser than each row (n,): 1 is unlike all, 0 like the densest.

        Held against 10,000 rows drawn from the model with a fixed seed, of which as many columns count as the row has.
        So it is a function of what was learned, whatever the units, and the same after merging. A category that was
        never learned counts as missing. These 10,000 rows are gone through once for every set of columns that rows
        lack, so that many such sets take their time.

        In bins a row is as dense as p(cell) / width, with the outer cells ending at the least and the greatest number
        learned, and beyond these less by (1 + distance / width)^2. Where every value has a cell of its own, its
        probability counts; in other columns such a value counts as wide as all other cells together.
        """
        rng = np.random.default_rng(0)
        return self._measure(
            X, Denser(self._joint(), self._drawn(self._codes(DRAWN, None, rng), rng)), ["anomaly score"]
        )

    @available_if(_samples)
    def bayes_error(self, n: int = 100_000, random_state: Any = 0) -> BayesError:
        """The least error that any rule could have if the model were true, and its standard error.

            E = integral of p(x) - max_y p(x, y) dx = E_x[1 - max_y p(y | x)]

        By quadrature for normal densities of one or two columns, else the mean over n rows drawn from the model. It is
        the model's own estimate: where the model is wrong, or was learned from few rows, so is this.

        Parameters
        ----------
        n : int, default=100000
            Rows drawn, where it is not integrated.
        random_state : int, RandomState or None, default=0

        Examples
        --------
        >>> from suffice import LinearDiscriminantAnalysis
        >>> model = LinearDiscriminantAnalysis(prior=None).fit([[-2.0], [0.0], [0.0], [2.0]], [0, 0, 1, 1])
        >>> round(model.bayes_error().error, 6)  # Phi(-1)
        0.158655
        """
        check_value(n, "bayes_error: n", COUNT)
        rng, fit, joint = _generator(random_state), self._fit_result(), self._joint()
        model: Any = fit.model
        if model.continuous and model.domain.width <= 2:
            possible = np.flatnonzero(np.isfinite(fit.parameters.class_log_prob))
            samples = [np.asarray(self._drawn(np.full(EACH, c), rng).values) for c in possible]
            if all((np.ptp(one, axis=0) > 0).all() for one in samples):
                return by_quadrature(joint, samples)
        rows = self._drawn(self._codes(n, None, rng), rng)
        return by_sampling(Memory(rows).transform(joint))

    @available_if(_has_classes)
    def shift_priors(self, class_prior: Any) -> Self:
        """A copy whose class probabilities are other ones; all else that was learned stays, statistics included.

            p'(y | x) = p(y | x) p'(y) / q(y), normalised

        For rows from where the classes come in other shares, but look the same. Of a closed form q(y) is p(y). A
        learner that calibrates moves p(y), which is then no share of anything: q are the shares at which the rows
        learned have their own on average, those of the rows themselves once calibration has settled; and `class_prior`
        and `class_prior_` of the copy are the p(y) that has to be for p'. `partial_fit`, `merge` and `forget` keep
        these shares; a calibrated classifier is recalibrated first and shifted then.

        Parameters
        ----------
        class_prior : array of shape (k,), dict of label: probability, or "uniform"
            In the order of `classes_`, as `estimate_priors` gives it.
        """
        fit, classes = self._fit_result(), self.classes_
        if class_prior is None:
            raise ValueError("shift_priors: class_prior must be probabilities by class, or 'uniform', got None")
        log_p = log_class_prior(np.ones(len(classes)), classes, class_prior)
        twin, before = copy.copy(self), getattr(self, "_before", None)
        learned = cast(Any, twin)._learned = _reweighed(fit, log_p)
        if before is not None and len(before.parameters.class_log_prob) == len(log_p):  # what is carried along
            cast(Any, twin)._before = _reweighed(before, log_p)
        cast(Any, twin)._shifted, p = True, learned.parameters.class_log_prob
        twin._given_class_prior(dict(zip(as_keys(classes), np.exp(p).tolist(), strict=True)))
        return twin

    def _given_class_prior(self, class_prior: dict[Any, float]) -> None:
        """Take class probabilities as a setting, for what is learned from now on."""
        cast(Any, self).class_prior = class_prior

    @available_if(_has_classes)
    def estimate_priors(self, X: Any) -> Array:
        """The class probabilities (k,) of rows without labels, in which classes come in other shares than in learning.

            p'(y) <- mean_i p(y | x_i) p'(y) / q(y), normalised over y,     from p' = q, until nothing changes

        These are the shares that make the rows most probable (EM, in squared steps), if each class still looks as it
        did, and the probabilities are right. q is that of `shift_priors`, which takes them. ConvergenceWarning where
        others may be more probable by more than 1 %.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), or a data set of `suffice.data`

        References
        ----------
        Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori probabilities. Neural
        Computation 14 (2002), doi:10.1162/089976602753284446.
        Varadhan, Roland: Simple and globally convergent methods for accelerating the convergence of any EM algorithm.
        Scandinavian Journal of Statistics 35 (2008), doi:10.1111/j.1467-9469.2007.00585.x.
        """
        fit = self._fit_result()
        own = log_posterior(level_of(fit)[None])[0]
        share, gap = most_probable_shares(self._scored(X, Asked(fit.model, fit.parameters, Ratios(own))), np.exp(own))
        if gap > LACKING:
            said = (
                f"{type(self).__name__}.estimate_priors has not settled, as where classes look alike: the "
                f"log-likelihood of these rows may be up to {gap:.2g} greater at other shares"
            )
            emit([Notice(said, ConvergenceWarning)])
        return share

    def _scored(self, X: Any, asked: Asked) -> Data:
        """Rows as their answers (n, k), kept where they can be, to be summed again and again."""
        data = self._data(X)
        if data is not None and not isinstance(data, Memory):
            return data.without_labels().map(asked).persist()
        answers = self._map(X, asked, self._by_class("log ratio of ..."))
        return Memory(answers, np.zeros(len(answers)))

    # Reasons

    @available_if(_has_terms)
    def contributions(self, X: Any) -> Contributions:
        """What each column, or pair of columns, adds to the log-probability of each class.

            log p(y | x_i) = base_y + sum_t terms_iyt + a number that all classes of row i share

        exactly. Naive Bayes and tables have the term log p(x_j | y), linear scores coef_yj (x_j - mean_j), covariances
        -1/2 (x - mean_y)_j [cov_y^-1 (x - mean_y)]_j, trees the changes of log p(node | y) at the splits on a column.
        Each is what is added beyond the mean over the classes. These are what the model adds up, not causes: columns
        that say the same share it in some way.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Rows in memory; the result is dense, (n, k, terms).
        """
        fit = self._fit_result()
        if is_source(X):
            raise TypeError("contributions takes rows in memory, as it gives a number for each column: give some rows")
        self._check_rows(X)
        self._check_size(_num_samples(X))
        model, theta = fit.model.collapse(fit.parameters)
        if not isinstance(model, HasNomogram):
            raise NoNomogramError(f"{type(self).__name__}: {NO_SUM}")
        rows = self._features(by_rows(X), reset=False)
        return Contributions.of(model.terms(rows, theta), self.classes_)

    def _check_size(self, n: int) -> None:
        """MemoryError, with a way out, if the terms of n rows would not fit."""
        k, d = len(self.classes_), self.n_features_in_
        need, free = 8.0 * COPIES * n * k * d, SHARE * free_memory()
        if need > free:
            raise MemoryError(
                f"what {d} columns add to {k} classes in {n} rows takes about {need / 1e9:.1f} GB, and "
                f"{free / 1e9:.1f} GB are to be had: ask for fewer rows at a time, at most {int(n * free / need)}"
            )

    @available_if(_has_terms)
    def importances(self, X: Any) -> dict[Any, float]:
        """The mean size of what each column adds, over rows and classes: by name, the greatest first.

        It is infinite where a value of the column rules a class out that others leave possible (`prior=None`).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Rows in memory, as in `contributions`.
        """
        found: Contributions = self.contributions(X)
        return found.importances

    @available_if(_has_terms)
    def nomogram(self) -> Nomogram:
        """The classifier as a sum of terms that hold numbers only, to be drawn or evaluated anywhere.

            score_c(x) = base_c + sum_t term_t(x, c),     p(c | x) = exp(score_c) / sum_b exp(score_b)

        `suffice.report.explain` makes a page of it. NoNomogramError, a ValueError, where there is none: trees, and
        more than two classes told apart in pairs.
        """
        fit = self._fit_result()
        model, theta = fit.model.collapse(fit.parameters)
        if not isinstance(model, HasNomogram):
            raise NoNomogramError(NO_SUM)
        return model.nomogram(theta)

    # As a query, and in a notebook

    def to_sql(
        self,
        table: str | tuple[str, ...],
        dialect: str = "duckdb",
        keys: str | Sequence[str] = (),
        columns: Sequence[str] | None = None,
    ) -> str:
        """The query that scores the rows of a table: the probability of each class, and the label.

            SELECT keys, "p(a)", "p(b)", ..., "prediction" FROM table

        Probabilities are those of `predict_proba` (to 1e-9), labels those of `predict`. NULL and NaN are missing
        values, and a category that was never learned says nothing, as in Python. Where Python takes no missing value
        in a column, or another plane or covariance for it (planes, discriminant analysis, logistic regression,
        counts of words), such a row has NULL for an answer.

        Parameters
        ----------
        table : str, or (schema, name)
            What to select from.
        dialect : {"duckdb", "sqlite", "postgres"}, default="duckdb"
        keys : str or list of str, default=()
            Columns that come first, as they are: which row is which.
        columns : list of str, default=None
            What the table calls the features, in their order; by default what they were called when learned.

        Returns
        -------
        query : str
            Without a semicolon, so that it can stand in a view or in another query.

        Examples
        --------
        >>> import pandas as pd
        >>> from suffice import GaussianNB
        >>> X = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0]})
        >>> query = GaussianNB().fit(X, ["well", "well", "ill", "ill"]).to_sql("people", keys="id")
        >>> import duckdb
        >>> people = pd.DataFrame({"id": [7], "age": [65.0]})
        >>> duckdb.sql(query).fetchall()[0][::3]
        (7, 'ill')
        """
        scoring = optional("suffice.data.sql", "sql")
        fit = self._fit_result()
        features = fit.model.encoder.inputs(self.statistics_.domain.features)
        source = scoring.Scoring.of(table, dialect, keys, features, columns, fit.model.encoder.holding())
        scores = score_formulas(fit.model, fit.parameters, source.ops)
        found = dict(zip(self._by_class("p(...)"), formula(posterior, source.ops, scores), strict=True))
        found["prediction"] = formula(self._choice(), source.ops, scores)[0]
        query: str = source.query(found)
        return query

    def _get_fitted_attr_html(self, doc_link: str = "") -> HTMLSummary:  # noqa: ARG002 - scikit-learn gives it
        """In the place of all attributes, most of which are computed when they are asked for, some at length."""
        return HTMLSummary(self._summary())

    def _html_repr(self) -> str:
        """The diagram; below it what was learned, where scikit-learn (before 1.9) has no place for it inside."""
        diagram = str(estimator_html_repr(self))
        if hasattr(BaseEstimator, "_get_fitted_attr_html") or not hasattr(self, "statistics_"):
            return diagram
        return diagram + self._get_fitted_attr_html()._repr_html_inner()

    def _summary(self) -> dict[str, str]:
        return learned_summary(self, self.statistics_, self._learned)
