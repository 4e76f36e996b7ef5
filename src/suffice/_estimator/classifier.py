"""Classifiers and their predictions: labels, probabilities, densities, decisions, explanations."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
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
    BayesError,
    DenserShare,
    Hits,
    JointDensity,
    LeastCost,
    LogDensity,
    ModelAnswer,
    MostProbable,
    Ratios,
    Single,
    by_quadrature,
    by_sampling,
    formula,
    log_odds,
    most_probable_shares,
    score_formulas,
    single_log_posterior,
)
from suffice._estimator.explaining import Contributions, HTMLSummary, learned_summary
from suffice._estimator.fitting import Fittable
from suffice._runtime.messages import COUNT, FRACTION, Notice, check_value, emit, or_else
from suffice._runtime.system import free_memory, optional
from suffice._runtime.threads import few_threads
from suffice.data import Data, Memory, Named, as_learned, is_source, source
from suffice.data.memory import by_rows, row_slices
from suffice.encoders.base import frame_of
from suffice.learners import Fit
from suffice.learners.base import level_of
from suffice.losses import decision_costs
from suffice.models import AnyStatistics, Density, HasNomogram, Model, Nomogram, NoNomogramError, Samplable
from suffice.models.base import Classed, LeaveOneOut
from suffice.priors.settings import log_class_prior

WEIGHT_TOLERANCE = 1e-9  # relative excess of a row's weight over that of its class that is rounding
REFERENCE_ROWS = 10_000  # for anomaly scores
MAX_DRAWN_ENTRIES = 1 << 27  # of a sample
ROWS_TO_INTEGRATE = 2048  # drawn of each class, to find where to integrate
LIKELIHOOD_TOLERANCE = 0.01  # in the log-likelihood of all rows, above which estimated shares have not converged
TERM_COPIES = 4  # of the terms of `contributions` that are in memory at once
MEMORY_SHARE = 0.5  # of the free memory that these may take

INSTEAD_OF_LOO = "use suffice.model_selection.cross_validate"
NOT_A_SUM = (
    "several contests of two classes together are not a sum of terms by column: use LinearDiscriminantAnalysis or "
    "LogisticRegression(), which compare all classes at once, or two classes"
)


def _needs(ability: type, message: str, of_base: bool = False) -> Callable[[Classifier], bool]:
    """A condition for `available_if`: AttributeError, with the message, unless the model (its base) has an ability."""

    def has(estimator: Classifier) -> bool:
        model = estimator._model()
        if not isinstance(model.base_model if of_base else model, ability):
            raise AttributeError(message.format(estimator=type(estimator).__name__, model=model.display_name))
        return True

    return has


_has_density = _needs(
    Density,
    "{estimator} learns p(y | x) alone, so that log p(x, y) is unknown: use predict_log_proba, or a classifier with a "
    "density (naive Bayes, discriminant analysis)",
)
_has_sample = _needs(Samplable, "{model} is a density without a way to draw rows: it would have to be `Samplable`")
_has_classes = _needs(
    Classed, "{estimator} has no class probabilities to change: fit it with class_prior or class_weight"
)
_has_terms = _needs(
    HasNomogram,
    "{model} is not a sum of terms by column: its model would have to be `HasNomogram` (suffice.models), as naive "
    "Bayes, discriminants and tables are",
    of_base=True,
)
_has_loo = _needs(
    LeaveOneOut,
    "this {estimator} has no leave-one-out probabilities from its sums (tables and normal densities without shrinkage "
    f"or tying have them): {INSTEAD_OF_LOO}",
)


def _can_sample(estimator: Classifier) -> bool:
    return _has_density(estimator) and _has_sample(estimator)


def _can_leave_out(estimator: Classifier) -> bool:
    learner = estimator._learner()
    if not learner.exact:
        raise AttributeError(f"a row cannot be removed from a fit by {type(learner).__name__}: {INSTEAD_OF_LOO}")
    return _has_loo(estimator)


def _has_log_odds(estimator: Classifier) -> bool:
    if not estimator._decides:
        raise AttributeError(f"{type(estimator).__name__} has no decision_function; predict_log_proba has the log-odds")
    return True


def single_precision(X: Any) -> bool:
    """True if all features are float32.

    >>> single_precision(np.zeros((2, 2), dtype=np.float32)), single_precision([[1.0]])
    (True, False)
    """
    dtype = getattr(X, "dtype", None)
    if dtype is not None:
        return bool(dtype == np.float32)
    frame = frame_of(X)
    return frame is not None and len(frame.columns) > 0 and set(frame.schema.dtypes()) == {nw.Float32()}


def _learned_labels(Y: OneHot, s: AnyStatistics, class_weight: Array) -> OneHot:
    """Labels as numbers of the learned classes, with class weights; ValueError if they cannot have been learned."""
    classes = s.domain.classes
    own = Y.onto(classes)
    strange = np.unique(Y.codes[(Y.codes >= 0) & (own.codes < 0)])
    if len(strange):
        raise ValueError(f"the classes {show_all(Y.classes[strange])} were never learned: give the learned rows")
    own = Reweigh(classes, class_weight)(own)
    over = np.flatnonzero((own.codes >= 0) & (own.weight > s.mass[own.codes] * (1 + WEIGHT_TOLERANCE)))
    if len(over):
        i = int(over[0])
        raise ValueError(
            f"row {i} has weight {own.weight[i]:g}, but all learned rows of class {show(classes[own.codes[i]])} "
            f"together {s.mass[own.codes[i]]:g}: give the rows and weights that were learned"
        )
    return own


def append_label(classes: Array, label: Any) -> Array:
    """Class labels (k,) and one more, of the type of the classes where possible, else as objects.

    >>> append_label(np.array([0, 1]), -1), append_label(np.array([0, 1]), None)
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


def _with_shares(fit: Fit, log_share: Array) -> Fit:
    """A fit whose probabilities hold for other shares of the classes (k,)."""
    log_p = log_share
    if fit.level is not None:  # a calibrated p(y) is not a share
        with np.errstate(invalid="ignore"):
            beside = fit.parameters.class_log_prob - fit.level
        log_p = log_posterior((log_share + np.where(np.isfinite(beside), beside, 0.0))[None])[0]
    model, theta = cast(Classed[Any, Any], fit.model).reweighed(fit.parameters, log_p)
    return replace(fit, model=model, parameters=theta, level=None if fit.level is None else log_share)


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(1 << 31, size=4))


class Classifier(ClassifierMixin, Fittable):
    """A classifier whose parameters come from sums over the rows. A subclass builds its model in `_model`.

    Numbers that it predicts are float32 where the features are. Where the docstring of a subclass says of a setting "As
    in every `Classifier`", `SHARED_SETTINGS` has the text.
    """

    _decides: ClassVar[bool] = True  # whether it has a `decision_function`

    # Labels and probabilities

    def _data(self, X: Any) -> Data | None:
        """Rows outside of memory, with the columns and types that were learned; None for rows in memory."""
        data = as_learned(self, X)
        return None if data is None else data.read_as(self._encoder.holding(), self._encoder.notations())

    def _map(self, X: Any, f: Callable[[Any], Array], names: Sequence[str]) -> Any:
        """f of every row, in the form that the rows have; tables get columns of these names."""
        data = self._data(X)
        if data is not None:
            return data.transform(Named(f, tuple(names)))
        rows = Memory(X)
        if rows.several():  # f encodes each batch; all rows at once would take more memory
            self._features(rows.first(), reset=False)
            return rows.transform(f)
        return Memory(self._features(X, reset=False)).transform(f)

    def _measure(self, X: Any, f: Callable[[Any], Array], names: Sequence[str]) -> Any:
        """Numbers for every row, in the precision of the rows."""
        return self._map(X, Single(f) if single_precision(X) else f, names)

    def _by_class(self, name: str) -> list[str]:
        """The name with the label of each class in the place of the dots."""
        return [name.replace("...", str(label)) for label in self.classes_.tolist()]

    def _odds_names(self) -> list[str]:
        return ["log odds"] if len(self.classes_) == 2 else self._by_class("log p(...)")

    def _answer(self, answer: Answer) -> ModelAnswer:
        fit = self._fit_result()
        return ModelAnswer(fit.model, fit.parameters, answer)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of the class probabilities (n, k), with no floor."""
        answer = single_log_posterior if single_precision(X) else log_posterior
        return self._measure(X, self._answer(answer), self._by_class("log p(...)"))

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities (n, k), in the order of `classes_`."""
        return self._measure(X, self._answer(posterior), self._by_class("p(...)"))

    @available_if(_has_density)
    def predict_joint_log_proba(self, X: Any) -> Any:
        """Log of the joint density p(x, y) (n, k).

            log p(x, y) = log p(y) + log p(x | y),     log p(x) = logsumexp_y log p(x, y)

        For numbers it is the logarithm of a density, which depends on their units. A row with a small log p(x) is
        unlike all learned rows.
        """
        return self._measure(X, self._joint(), self._by_class("log p(x, ...)"))

    def predict(self, X: Any) -> Any:
        """The most probable class of each row (n,)."""
        return self._map(X, self._answer(self._choice()), ["prediction"])

    def _choice(self) -> Answer:
        """How `predict` chooses a class."""
        return MostProbable(self.classes_)

    @available_if(_has_log_odds)
    def decision_function(self, X: Any) -> Any:
        """The log-odds of the second class (n,) if there are two, else the log-probability of each class (n, k)."""
        return self._measure(X, self._answer(log_odds), self._odds_names())

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy: the share of rows whose label is predicted, by weight.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; the rows of a data set, a path or a table are read once, where they are.
        """
        data = source(X, y, sample_weight)
        if data is None:
            return float(super().score(*self._labelled(X, y, sample_weight)))
        data = data.read_as(self._encoder.holding(), self._encoder.notations())
        found = data.sum(Hits(self._answer(self._choice()), self.classes_))
        return found.right / found.mass

    # Decisions

    def decide(self, X: Any, costs: Any = None, reject_below: float | None = None, reject_label: Any = None) -> Any:
        """The decision of least expected cost for each row (n,), or `reject_label` where no class is probable enough.

            argmin_c sum_y p(y | x) costs[y, c],     unless max_y p(y | x) < reject_below

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), or a data set of `suffice.data`
        costs : array of shape (k, k), or dict of (true class, decision): cost, default=None
            costs[y, c] is the cost of deciding for class c if y is true; correct decisions, on the diagonal, may have a
            cost (or a gain, below 0) as well. Pairs that a dict leaves out cost 1, or 0 if correct. None: as `predict`.
        reject_below : float, default=None
            Rows whose most probable class has a smaller probability are rejected; None rejects no row.
        reject_label : label, default=None
            The decision for rejected rows.

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
        costs, classes = getattr(self, "costs", None) if costs is None else costs, self.classes_
        choices = classes if reject_below is None else np.arange(len(classes))
        rule: Answer = MostProbable(choices)
        if costs is not None:
            rule = LeastCost(choices, decision_costs(costs, classes, f"{type(self).__name__}.decide"))
        if reject_below is not None:
            rule = Abstaining(rule, float(reject_below), append_label(classes, reject_label))
        return self._map(X, self._answer(rule), ["decision"])

    # Leave-one-out

    @available_if(_can_leave_out)
    def loo_log_proba(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """log p(y | x_i) (n, k) of learned rows, each from the model fitted on all other rows.

        It takes one read of the rows and no fit: the row is subtracted from the sums, and inverses follow by rank-one
        updates. Choices made from all rows stay: the prior's mean, covariance and weights, cells and categories,
        balanced class weights, and which columns vary. A class without another row is impossible (-inf), unless
        `class_prior` is given and the prior determines the density of an empty class.

        Parameters
        ----------
        X, y, sample_weight
            All or some of the learned rows, with the same labels and weights. A row of weight 0 is predicted as any
            other. Rows that were not learned are only noticed if the sums show it.
        """
        fit = self._fit_result()
        s: Any = fit.statistics if fit.moved is None else fit.moved
        if is_source(X):
            raise TypeError("loo_log_proba takes rows in memory: give arrays or data frames X and y")
        if y is None:
            raise ValueError("loo_log_proba needs the labels y of the rows X, as they were learned")
        check_consistent_length(X, y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        Y = _learned_labels(OneHot.of(y, weight), s, self._class_weights(self.statistics_))
        rows = self._features(by_rows(X), reset=False)
        model = cast(LeaveOneOut[Any, Any], fit.model)
        with few_threads(rows.shape[1]):
            parts = [model.log_joint_without(rows[at], Y[at], fit.parameters, s) for at in row_slices(rows)]
        log_joint = np.concatenate(parts)
        return single_log_posterior(log_joint).astype(np.float32) if single_precision(X) else log_posterior(log_joint)

    # Densities

    @available_if(_can_sample)
    def sample(self, n: int = 1, y: Any = None, random_state: Any = None) -> tuple[Array, Array]:
        """Draw rows from the model: an array of features (n, d), and labels (n,).

        Binned numbers are uniform within their cell, between the least and the greatest number learned; categories that
        share a cell are drawn by their shares of it. A mixed table is an array of objects with the columns in their
        order, None for ignored ones: `pandas.DataFrame(rows, columns=model.feature_names_in_)` names them.

        Parameters
        ----------
        n : int, default=1
        y : label, or array of shape (n,), default=None
            The class of the rows; None draws it by the class probabilities.
        random_state : int, RandomState or None, default=None
        """
        check_value(n, "sample: n", COUNT)
        rng = _generator(random_state)
        codes = self._sample_classes(n, y, rng)
        rows = self._sample_rows(codes, rng)
        return self._fit_result().model.encoder.decode(rows), self.classes_[codes]

    def _sample_classes(self, n: int, y: Any, rng: np.random.Generator) -> Array:
        """Class numbers (n,) of the given labels; drawn if y is None."""
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

    def _sample_rows(self, codes: Array, rng: np.random.Generator) -> Encoded:
        """A random row for each class number (n,)."""
        fit = self._fit_result()
        width = cast(Domain, fit.model.domain).width
        if len(codes) * width > MAX_DRAWN_ENTRIES:
            raise MemoryError(f"{len(codes)} rows of {width} columns are too many to draw at once: take fewer")
        return cast(Samplable[Any], fit.model).sample(codes, fit.parameters, rng)

    def _joint(self) -> JointDensity:
        fit = self._fit_result()
        return JointDensity(cast(Density[Any, Any], fit.model), fit.parameters)

    @available_if(_has_density)
    def score_samples(self, X: Any) -> Any:
        """Log of the density p(x) of the features of each row (n,).

            log p(x) = log sum_y p(y) p(x | y)

        Missing values are integrated out. Numbers have a density, which depends on their units; bins, categories and
        counts have the probability of the cell or the count.
        """
        return self._measure(X, LogDensity(self._joint()), ["log p(x)"])

    @available_if(_can_sample)
    def anomaly_score(self, X: Any) -> Any:
        """The share of rows drawn from the model that have a greater density than each row (n,).

        1 is unlike all rows, 0 like the densest. The 10,000 reference rows are drawn with a fixed seed, so that the
        score depends on the model alone, not on units, and merging does not change it. Only the columns in which a row
        has a value count; a category that was never learned counts as missing. The reference rows are scored once for
        every set of missing columns, so that many such sets take time.

        The density of a binned number is p(cell) / width, with the outer cells ending at the least and the greatest
        number learned; beyond these it falls by (1 + distance / width)^2. Where every value has its own cell, its
        probability counts; in other columns such a value has the width of all other cells together.
        """
        rng = np.random.default_rng(0)
        reference = self._sample_rows(self._sample_classes(REFERENCE_ROWS, None, rng), rng)
        return self._measure(X, DenserShare(self._joint(), reference), ["anomaly score"])

    @available_if(_can_sample)
    def bayes_error(self, n: int = 100_000, random_state: Any = 0) -> BayesError:
        """The error of the best rule if the model were true, and its standard error.

            E = integral of p(x) - max_y p(x, y) dx = E_x[1 - max_y p(y | x)]

        By quadrature for normal densities of one or two columns, else the mean over n rows drawn from the model. If the
        model is wrong, or learned from few rows, so is this estimate.

        Parameters
        ----------
        n : int, default=100000
            Rows to draw, unless it is integrated.
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
            samples = [np.asarray(self._sample_rows(np.full(ROWS_TO_INTEGRATE, c), rng).values) for c in possible]
            if all((np.ptp(one, axis=0) > 0).all() for one in samples):
                return by_quadrature(joint, samples)
        rows = self._sample_rows(self._sample_classes(n, None, rng), rng)
        return by_sampling(Memory(rows).transform(joint))

    @available_if(_has_classes)
    def shift_priors(self, class_prior: Any) -> Self:
        """A copy with other class probabilities; all else stays, statistics included.

            p'(y | x) = p(y | x) p'(y) / q(y), normalised

        For a population with other shares of the classes, and the same p(x | y). In closed form q(y) is p(y). A
        learner that calibrates moves p(y), which is then not a share. There q is the mean posterior of the learned
        rows, which are their shares once calibration has converged, and `class_prior` and `class_prior_` of the copy
        are the p(y) that leads to p'. `partial_fit`, `merge` and `forget` keep these shares; recalibrate a calibrated
        classifier before shifting it.

        Parameters
        ----------
        class_prior : array of shape (k,), dict of label: probability, or "uniform"
            In the order of `classes_`, as `estimate_priors` returns them.
        """
        fit, classes = self._fit_result(), self.classes_
        if class_prior is None:
            raise ValueError("shift_priors: class_prior must be probabilities by class, or 'uniform', got None")
        log_p = log_class_prior(np.ones(len(classes)), classes, class_prior)
        twin, before = copy.copy(self), self._before
        twin._learned, twin._shifted = _with_shares(fit, log_p), True
        if before is not None and len(before.parameters.class_log_prob) == len(log_p):
            twin._before = _with_shares(before, log_p)
        p = twin._learned.parameters.class_log_prob
        twin._set_class_prior(dict(zip(as_keys(classes), np.exp(p).tolist(), strict=True)))
        return twin

    def _set_class_prior(self, class_prior: dict[Any, float]) -> None:
        """Set class probabilities for all further learning."""
        cast(Any, self).class_prior = class_prior

    @available_if(_has_classes)
    def estimate_priors(self, X: Any) -> Array:
        """The class probabilities (k,) of a population from rows without labels.

            p'(y) <- mean_i p(y | x_i) p'(y) / q(y), normalised over y,     from p' = q to convergence

        The maximum likelihood estimate, by accelerated EM, if p(x | y) has not changed and the probabilities are
        correct. q is that of `shift_priors`, which takes the result. ConvergenceWarning if other shares may be more
        likely by more than 1 %.

        References
        ----------
        Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori probabilities. Neural
        Computation 14 (2002), doi:10.1162/089976602753284446.
        Varadhan, Roland: Simple and globally convergent methods for accelerating the convergence of any EM algorithm.
        Scandinavian Journal of Statistics 35 (2008), doi:10.1111/j.1467-9469.2007.00585.x.
        """
        fit = self._fit_result()
        own = log_posterior(level_of(fit)[None])[0]
        data, answer = self._data(X), self._answer(Ratios(own))
        # The ratios are stored if possible, as they are summed repeatedly.
        if data is not None and not isinstance(data, Memory):
            ratios = data.without_labels().map(answer).persist()
        else:
            answers = self._map(X, answer, self._by_class("log ratio of ..."))
            ratios = Memory(answers, np.zeros(len(answers)))
        share, gap = most_probable_shares(ratios, np.exp(own))
        if gap > LIKELIHOOD_TOLERANCE:
            message = (
                f"{type(self).__name__}.estimate_priors has not converged, perhaps because classes look alike: the "
                f"log-likelihood of these rows may be up to {gap:.2g} greater at other shares"
            )
            emit([Notice(message, ConvergenceWarning)])
        return share

    # Explanations

    @available_if(_has_terms)
    def contributions(self, X: Any) -> Contributions:
        """The contribution of each column, or pair of columns, to the log-probability of each class.

            log p(y | x_i) = base_y + sum_t terms_iyt + a constant for row i

        exactly. Naive Bayes and tables have the term log p(x_j | y), linear scores coef_yj (x_j - mean_j), covariances
        -1/2 (x - mean_y)_j [cov_y^-1 (x - mean_y)]_j, trees the changes of log p(node | y) at the splits on a column.
        Each is centred to mean 0 over the classes. Contributions are terms of the model, not causes: columns with the
        same information share it in some way.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Rows in memory; the result is dense, (n, k, terms).
        """
        fit = self._fit_result()
        if is_source(X):
            raise TypeError("contributions takes rows in memory, as it gives a number for each column: give some rows")
        n, k, d = _num_samples(X), len(self.classes_), self.n_features_in_
        need, free = 8.0 * TERM_COPIES * n * k * d, MEMORY_SHARE * free_memory()
        if need > free:
            raise MemoryError(
                f"contributions needs about {need / 1e9:.1f} GB for {n} rows, but {free / 1e9:.1f} GB are free: "
                f"pass at most {int(n * free / need)} rows at a time"
            )
        model, theta = fit.model.collapse(fit.parameters)
        if not isinstance(model, HasNomogram):
            raise NoNomogramError(f"{type(self).__name__}: {NOT_A_SUM}")
        rows = self._features(by_rows(X), reset=False)
        return Contributions.of(model.terms(rows, theta), self.classes_)

    @available_if(_has_terms)
    def importances(self, X: Any) -> dict[Any, float]:
        """The mean absolute contribution of each column, over rows and classes: by name, the greatest first.

        It is infinite if a value of the column rules out a class that other columns leave possible (`prior=None`). Rows
        are in memory, as in `contributions`.
        """
        found: Contributions = self.contributions(X)
        return found.importances

    @available_if(_has_terms)
    def nomogram(self) -> Nomogram:
        """The classifier as a sum of terms made of numbers only, to be plotted or evaluated anywhere.

            score_c(x) = base_c + sum_t term_t(x, c),     p(c | x) = exp(score_c) / sum_b exp(score_b)

        `suffice.report.explain` makes a page of it. NoNomogramError, a ValueError, if there is none: with trees, and
        with more than two classes compared in pairs.
        """
        fit = self._fit_result()
        model, theta = fit.model.collapse(fit.parameters)
        if not isinstance(model, HasNomogram):
            raise NoNomogramError(NOT_A_SUM)
        return model.nomogram(theta)

    # SQL, and notebooks

    def to_sql(
        self,
        table: str | tuple[str, ...],
        dialect: str = "duckdb",
        keys: str | Sequence[str] = (),
        columns: Sequence[str] | None = None,
    ) -> str:
        """An SQL query that scores the rows of a table: the probability of each class, and the label.

            SELECT keys, "p(a)", "p(b)", ..., "prediction" FROM table

        Probabilities are those of `predict_proba` (to 1e-9), labels those of `predict`. NULL and NaN are missing
        values, and a category that was never learned is ignored, as in Python. Where Python refuses a missing value, or
        uses another plane or covariance for it (planes, discriminant analysis, logistic regression, counts of words),
        the answer is NULL.

        Parameters
        ----------
        table : str, or (schema, name)
            The table to select from.
        dialect : {"duckdb", "sqlite", "postgres"}, default="duckdb"
        keys : str or list of str, default=()
            Columns that identify a row; they come first, unchanged.
        columns : list of str, default=None
            The names of the features in the table, in their order; by default the learned names.

        Returns
        -------
        query : str
            Without a semicolon, so that it can be part of a view or another query.

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
        """Shown instead of all attributes, most of which are computed on access, some slowly."""
        return HTMLSummary(self._summary())

    def _html_repr(self) -> str:
        """The diagram, with the summary below it if scikit-learn (before 1.9) has no place for it inside."""
        diagram = str(estimator_html_repr(self))
        if hasattr(BaseEstimator, "_get_fitted_attr_html") or not hasattr(self, "statistics_"):
            return diagram
        return diagram + self._get_fitted_attr_html()._repr_html_inner()

    def _summary(self) -> dict[str, str]:
        rows = learned_summary(self, self.statistics_, self._learned)
        if self._learned is None and self._calibrates() and self._carries():
            rows["stale"] = "parameters that the sums do not determine are those of earlier rows: recalibrate(X, y)"
        return rows


@dataclass(eq=False, repr=False)
class ModelClassifier(Classifier):
    """A classifier around any model of `suffice.models`, or one of your own.

    Parameters
    ----------
    model : Model
        A model that has seen no data yet; its encoder reads the input.
    learner, class_weight
        As in every `Classifier`.

    Examples
    --------
    >>> from suffice.models import DiagonalGaussian
    >>> ModelClassifier(DiagonalGaussian()).fit([[0.0], [2.0], [7.0], [9.0]], [0, 0, 1, 1]).predict([[3.0]])
    array([0])
    """

    model: Any = None
    learner: Any = None
    class_weight: Any = None

    def _set_class_prior(self, class_prior: dict[Any, float]) -> None:
        self.model = replace(self._model(), class_prior=class_prior)  # type: ignore[call-arg] # a dataclass with it, of whatever kind

    def _model(self) -> Model[Any, Any]:
        if not isinstance(self.model, Model):
            raise ValueError(f"model must be a suffice.models.Model, got {self.model!r}")
        return self.model
