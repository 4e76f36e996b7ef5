"""What a density answers besides a class: rows of its own, how strange others are, and classes in other shares."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from suffice._answers import Asked, Denser, JointDensity, LogDensity
from suffice._check import COUNT, check_value
from suffice._class_shares import Ratios, most_probable_shares
from suffice._domain import Domain, Encoded
from suffice._labels import as_keys, positions, show_all
from suffice._notice import Notice, emit
from suffice._own_error import BayesError, by_quadrature, by_sampling
from suffice._posterior import log_posterior
from suffice._predicting import Predicting, _has_density
from suffice._vector import Array
from suffice.data import Data, Memory, as_learned
from suffice.learners import Fit
from suffice.learners._level import level_of
from suffice.models import Density, Samplable
from suffice.models._base import Classed
from suffice.priors import log_class_prior

DRAWN = 10_000  # rows that others are held against
ENTRIES = 1 << 27  # of rows drawn at once, at most
EACH = 2048  # rows of a class that tell where to integrate
LACKING = 0.01  # in the log-likelihood of rows, at which shares have not settled


def _draws(estimator: Generative) -> bool:
    """Whether rows can be drawn from the model; else AttributeError."""
    _has_density(estimator)
    model = estimator._model()
    if not isinstance(model, Samplable):
        raise AttributeError(f"{model.called} is a density without a way to draw rows: it would have to be `Samplable`")
    return True


def _has_classes(estimator: Generative) -> bool:
    """Whether class probabilities are parameters of the model; else AttributeError."""
    if not isinstance(estimator._model(), Classed):
        raise AttributeError(
            f"{type(estimator).__name__} has no class probabilities to exchange: fit it with class_prior or "
            "class_weight"
        )
    return True


class Generative(Predicting):
    """Answers of a model that knows how features come about."""

    @available_if(_draws)
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

    @available_if(_draws)
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

    @available_if(_draws)
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
        data = as_learned(self, X)
        if data is not None and not isinstance(data, Memory):
            return data.unlabelled().map(asked).persist()
        answers = self._map(X, asked, self._by_class("log ratio of ..."))
        return Memory(answers, np.zeros(len(answers)))


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
