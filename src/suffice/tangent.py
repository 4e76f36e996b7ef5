"""Tangent discriminants: planes between classes, from their means and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice._estimator.answers import Answer, LeastCost, OddsAtCosts
from suffice._estimator.classifier import Classifier
from suffice._runtime.messages import NOT_NEGATIVE, Notice, PoorFitWarning, check, emit, one_of
from suffice.encoders import Numbers
from suffice.learners import Fit
from suffice.losses import Loss
from suffice.models import Contests, Moments, Statistics, TangentPlane
from suffice.models.compose.contests import MULTI_CLASS, side
from suffice.models.planes import planes
from suffice.models.planes.pencil import Pencil, Plane
from suffice.persistence import export
from suffice.priors.settings import log_class_prior

__all__ = [
    "DesignedDiscriminant",
    "FisherDiscriminant",
    "LinearBayes",
    "MinimaxProbabilityMachine",
    "MinimumErrorMPM",
    "NoTangentPlaneWarning",
    "QuasiBayes",
    "ScatterDiscriminant",
    "TangentDiscriminant",
]

ACCURACY_TOLERANCE = 1e-9  # differences of accuracies that are rounding

# The line `SETTINGS` in the docstring of a discriminant stands for this text.
_SETTINGS = """
    Parameters
    ----------
    ridge : float, default=1e-6
        Added to both covariances, as a share of the features' variances. A small ridge keeps covariances regular, so
        that a feature that is constant within the classes still separates them.
    learner : learner of `suffice.learners`, default=None
        How to learn; None is the closed form. `RiskCalibration()` moves the moments so that the plane errs less.
    class_prior : None, "uniform", array of shape (k,), dict or Dirichlet, default=None
        Given class probabilities; None takes the classes' shares of the rows, a Dirichlet prior smooths those.
    costs : array of shape (k, k), default=None
        costs[y, c] is the cost of predicting class c if y is true; the class of least expected cost is predicted.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How to treat more than two classes, from the same moments: every pair, with coupled probabilities; each against
        the rest.

    Attributes
    ----------
    classes_ : array of shape (k,)
    coef_ : array of shape (m, d)
        Weights of the features in the log-odds of the second side; m is 1 for two classes, else k (k - 1) / 2 pairs
        ("ovo", in the order (0, 1), (0, 2), ...) or k ("ovr"), as in all below.
    intercept_ : array of shape (m,)
    s_ : array of shape (m,)
        The share of the first side's covariance in the direction of the plane.
    tangent_point_ : array of shape (m, d)
        Where the plane touches an ellipsoid of either side.
    distances_ : array of shape (m, 2)
        From each mean to the plane, in standard deviations; negative if the mean is on the wrong side.
    worst_case_accuracy_ : array of shape (m,)
        sum_j P_j D_j^2 / (1 + D_j^2): the least accuracy of any classes with these moments. It holds for the true
        moments and for the learned rows, but is not a guarantee for new rows: with few rows for the number of features
        the true accuracy is often below it.
    gaussian_accuracy_ : array of shape (m,)
        sum_j P_j Phi(D_j): the accuracy if the classes are normal.
    tangent_ : array of shape (m,) of bool
        True if the plane lies between the means; if not, a `NoTangentPlaneWarning` says so.
    class_count_, class_prior_ : array of shape (k,)
    statistics_ : Moments, or Patterns where values are missing (NaN)
        The moments are then those that normal classes are expected to have, by EM under a prior of 10 pseudo-rows with
        the features' variances, and a row with missing values is classified by the plane of its other columns.
"""


class NoTangentPlaneWarning(UserWarning):
    """No plane between the means of two classes satisfies the criterion."""


@dataclass(eq=False, repr=False)
class TangentDiscriminant(Classifier):
    """The base of all planes: moments, pairs of classes, and the geometry as attributes."""

    ridge: float = 1e-6
    learner: Any = None
    class_prior: Any = None
    costs: Any = None
    multi_class: str = "ovo"

    _accepts: ClassVar = ("allow_nan",)
    _rule: ClassVar[Any]  # chooses the plane
    class_weight = None  # not a setting, as it hardly moves a plane between the means: use `costs`

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("\n    SETTINGS\n", _SETTINGS)

    def _model(self) -> Contests[Moments]:
        check(self, ridge=NOT_NEGATIVE, multi_class=one_of(*MULTI_CLASS))
        encoder = Numbers(missing=True, who=type(self).__name__)
        plane = TangentPlane(self._rule, float(self.ridge), encoder=encoder)
        return Contests.of(plane, MULTI_CLASS[self.multi_class])

    def _store(self, s: Statistics[Any], fit: Fit | None = None) -> None:
        Loss.of(self.costs, len(s.domain.classes), type(self).__name__)
        super()._store(s, fit)

    def _warn(self, fit: Fit) -> None:
        super()._warn(fit)
        who = type(self).__name__
        emit([*_poor(who, fit.parameters), *_not_between(who, fit.parameters)])

    # Given class probabilities are weights of the classes, so that those of a pair, or of the rest, are sums.

    def _weighs_classes(self) -> bool:
        return self.class_prior is not None

    def _class_weights(self, s: Statistics[Any]) -> Array:
        if self.class_prior is None:
            return np.ones(len(s.mass))
        share = np.exp(log_class_prior(s.mass, s.domain.classes, self.class_prior))
        if not share.all():
            zero = show_all(s.domain.classes[share == 0])
            raise ValueError(
                f"class_prior must be positive, as every class needs a side of the plane, got 0 for {zero}"
            )
        return np.asarray(np.divide(share * s.mass.sum(), s.mass, out=np.ones(len(share)), where=s.mass > 0))

    def _class_log_prob(self) -> Array:
        mass = self.statistics_.mass * self._class_weights(self.statistics_)
        return log_class_prior(mass, self.classes_, None)

    # Prediction with costs

    def _costs(self) -> Array:
        return Loss.of(self.costs, len(self.classes_), type(self).__name__).matrix

    def predict(self, X: Any) -> Any:
        """The class of least expected cost of each row (n,); without costs, the most probable one."""
        return super().predict(X)

    def _choice(self) -> Answer:
        return super()._choice() if self.costs is None else LeastCost(self.classes_, self._costs())

    def decision_function(self, X: Any) -> Any:
        """The log-odds of the second class (n,), shifted by the costs, if there are two; else log p(y | x) (n, k)."""
        if self.costs is None:
            return super().decision_function(X)
        return self._measure(X, self._answer(OddsAtCosts(self._costs())), self._odds_names())

    # Fitted attributes

    to_sklearn = export.logistic_regression

    def pencil(self, which: int = 0) -> Pencil:
        """The means and covariances of the two sides of plane `which`, and all other planes between them.

        Parameters
        ----------
        which : int, default=0
            The number of the plane, in the order of `coef_`.
        """
        fit = self._fit_result()
        model: Any = fit.model
        s = fit.statistics if fit.moved is None else fit.moved
        s = s[which] if isinstance(s, tuple) else side(s, model.contests[which])
        pencil: Pencil = model.models[which].pencil(s)
        return pencil

    def _planes(self) -> tuple[Plane, ...]:
        planes: tuple[Plane, ...] = self.parameters_
        return planes

    @property
    def coef_(self) -> Array:
        """The weight of each feature in the log-odds (m, d)."""
        return np.stack([plane.coef for plane in self._planes()])

    @property
    def intercept_(self) -> Array:
        """The constant of the log-odds (m,)."""
        return np.array([plane.intercept - plane.coef @ plane.origin for plane in self._planes()])

    @property
    def s_(self) -> Array:
        """The share of the first side's covariance in the direction of the plane (m,)."""
        return np.array([plane.s for plane in self._planes()])

    @property
    def tangent_point_(self) -> Array:
        """Where the plane touches an ellipsoid of either side (m, d)."""
        return np.stack([plane.point + plane.origin for plane in self._planes()])

    @property
    def distances_(self) -> Array:
        """From each mean to the plane, in standard deviations (m, 2)."""
        return np.stack([plane.distances for plane in self._planes()])

    @property
    def worst_case_accuracy_(self) -> Array:
        """The least accuracy of any classes with these (estimated) moments (m,)."""
        return np.array([plane.worst_case_accuracy() for plane in self._planes()])

    @property
    def gaussian_accuracy_(self) -> Array:
        """The accuracy if the classes are normal (m,)."""
        return np.array([plane.gaussian_accuracy() for plane in self._planes()])

    @property
    def tangent_(self) -> Array:
        """True for planes that lie between the means (m,)."""
        return np.array([plane.tangent for plane in self._planes()])


def _poor(who: str, planes: tuple[Plane, ...]) -> list[Notice]:
    """A notice if most planes are worse than the constant rule, by the classes' own moments."""
    constant = [float(np.exp(plane.class_log_prob.max())) for plane in planes]
    worse = [
        plane.gaussian_accuracy() < rule - ACCURACY_TOLERANCE for plane, rule in zip(planes, constant, strict=True)
    ]
    if 2 * sum(worse) <= len(worse):  # a few bad pairs do little harm
        return []
    at = worse.index(True)
    what = f"{sum(worse)} of {len(planes)} planes are" if len(planes) > 1 else "the plane is"
    message = (
        f"{who}: by the classes' own moments {what} right less often than the constant rule, always the more probable "
        f"class ({planes[at].gaussian_accuracy():.1%} against {constant[at]:.1%}); use LinearBayes or "
        "QuadraticDiscriminantAnalysis"
    )
    return [Notice(message, PoorFitWarning)]


def _not_between(who: str, planes: tuple[Plane, ...]) -> list[Notice]:
    """A notice if planes do not lie between the means."""
    bad = [plane for plane in planes if not plane.tangent]
    if not bad:
        return []
    lost = sum(bool(np.isinf(plane.distances).any()) for plane in bad)
    what = f"{len(bad)} of {len(planes)} planes" if len(planes) > 1 else "the plane"
    constant = f" ({lost} of them: none is as good as always taking the more probable class)" if lost else ""
    message = f"{who}: {what} cannot lie between the means and satisfy the criterion{constant}; see tangent_"
    return [Notice(message, NoTangentPlaneWarning)]


class FisherDiscriminant(TangentDiscriminant):
    """Fisher's direction, with the threshold at which the plane is tangent.

        w = [S1 + S2]^-1 (m2 - m1) / 2,   s = 1/2

    Both covariances have the same weight, whatever the classes' shares of the rows.

    SETTINGS

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> FisherDiscriminant().fit(X, y).predict([[1.0, 1.0], [6.0, 5.0]])
    array([0, 1])

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, 1.1.2 and 2.2.2.
    """

    _rule = staticmethod(planes.fisher)


class ScatterDiscriminant(TangentDiscriminant):
    """The direction of linear discriminant analysis, with the threshold at which the plane is tangent.

        w = [P1 S1 + P2 S2]^-1 (m2 - m1),   s = P1

    SETTINGS

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> ScatterDiscriminant(class_prior=[0.3, 0.7]).fit(X, y).s_
    array([0.3])

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, 1.1.3 and 2.2.3.
    """

    _rule = staticmethod(planes.scatter)


class MinimaxProbabilityMachine(TangentDiscriminant):
    """The plane with the best worst case over all classes with these moments (MPM; MPDH in the thesis).

        max_w  |w'(m2 - m1)| / (sqrt(w'S1w) + sqrt(w'S2w)) = kappa,    accuracy >= kappa^2 / (1 + kappa^2)

    At the optimum both distances are equal, D1 = D2 = kappa: one equation in s instead of a cone programme. The
    classes' probabilities have no effect.

    SETTINGS

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> mpm = MinimaxProbabilityMachine().fit(X, y)
    >>> mpm.distances_.round(3), mpm.worst_case_accuracy_.round(3)
    (array([[4.228, 4.228]]), array([0.947]))

    References
    ----------
    Lanckriet, El Ghaoui, Bhattacharyya, Jordan: A robust minimax approach to classification (2002),
    doi:10.1162/153244303321897726. Martinez-Garcia: thesis, 1.2.2 and 2.3.2.
    """

    _rule = staticmethod(planes.minimax)


class MinimumErrorMPM(TangentDiscriminant):
    """The plane of least worst-case error, with the classes weighted by their probabilities (MEMPM).

        min_s  P1 / (1 + D1^2) + P2 / (1 + D2^2)

    The function has several minima, so that a grid precedes Brent's search. If no plane is better than always taking
    the more probable class, that is the rule.

    SETTINGS

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> MinimumErrorMPM(class_prior=[0.9, 0.1]).fit(X, y).distances_.round(3)
    array([[7.958, 2.636]])

    References
    ----------
    Huang, Yang, King, Lyu, Chan: The minimum error minimax probability machine (2004). It is not the Bayes plane of
    normal classes, as the thesis says in 1.2.1: that is `LinearBayes`.
    """

    _rule = staticmethod(planes.minimum_error)


class QuasiBayes(TangentDiscriminant):
    """The plane whose tangent point lies on the border of quadratic discriminant analysis.

        D1^2 - D2^2 = 2 ln(P1 / P2) + ln |S2| - ln |S1|

    With equal covariances it is linear discriminant analysis. If no plane between the means reaches the right side, the
    plane goes through the nearer mean (`tangent_` is False); `LinearBayes` has no such limits.

    SETTINGS

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> QuasiBayes().fit(X, y).predict([[1.0, 1.0], [6.0, 5.0]])
    array([0, 1])

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, 2.4; its ellipsoid masses (2.38)-(2.50) are not
    probabilities of success, and the root of (2.55) does not always exist.
    """

    _rule = staticmethod(planes.quasi_bayes)


class LinearBayes(TangentDiscriminant):
    """The plane of least error if both classes are normal.

        min  P1 Phi(-D1) + P2 Phi(-D2)

    over planes w = [t1 S1 + t2 S2]^-1 (m2 - m1): between the means, beyond one of them, or no plane if always taking
    the more probable class is better. The function has several minima, so that a grid precedes Brent's search.

    SETTINGS

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> LinearBayes().fit(X, y).gaussian_accuracy_.round(6)
    array([0.999989])

    References
    ----------
    Anderson, Bahadur: Classification into two multivariate normal distributions with different covariance matrices
    (1962), doi:10.1214/aoms/1177704568. Martinez-Garcia: thesis, 1.1.1.
    """

    _rule = staticmethod(planes.linear_bayes)


class DesignedDiscriminant(TangentDiscriminant):
    """A discriminant by a criterion of your own: the plane of greatest separability f(mu1, mu2, var1, var2).

        mu_j = w'm_j + w0,   var_j = w'S_j w,   w = [s S1 + (1 - s) S2]^-1 (m2 - m1)

    The criterion sees the projected classes, with mu1 < mu2 and the plane at 0. It takes and returns arrays (write it
    with NumPy) and must not depend on the scale of w. s, between 0 and 1, and the threshold w0 are optimised. With a
    criterion that does not depend on w0, the plane is tangent.

    Parameters
    ----------
    criterion : callable
        f(mu1, mu2, var1, var2), the greater the better.
    ridge, learner, class_prior, costs, multi_class
        As in `FisherDiscriminant`, which has the attributes as well.

    Examples
    --------
    >>> def fisher(mu1, mu2, var1, var2):
    ...     return (mu2 - mu1) ** 2 / (var1 + var2)
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> DesignedDiscriminant(fisher).fit(X, y).s_.round(6)
    array([0.5])

    References
    ----------
    Fukunaga: Introduction to statistical pattern recognition (1990), chapter 4. Martinez-Garcia: thesis, 1.1.
    """

    def __init__(
        self,
        criterion: Any = None,
        ridge: float = 1e-6,
        learner: Any = None,
        class_prior: Any = None,
        costs: Any = None,
        multi_class: str = "ovo",
    ) -> None:
        super().__init__(ridge, learner, class_prior, costs, multi_class)
        self.criterion = criterion

    @property
    def _rule(self) -> planes.Designed:
        if not callable(self.criterion):
            raise ValueError(f"criterion must be a function of (mu1, mu2, var1, var2), got {self.criterion!r}")
        return planes.Designed(self.criterion)
