"""Tangent discriminants: planes between classes that are known by their means and covariances."""

from __future__ import annotations

from typing import Any

from suffice._plane_classifier import NoTangentPlaneWarning, TangentDiscriminant
from suffice.models import rules
from suffice.models.rules import Rule

__all__ = [
    "DesignedDiscriminant",
    "FisherDiscriminant",
    "LinearBayes",
    "MinimaxProbabilityMachine",
    "MinimumErrorMPM",
    "NoTangentPlaneWarning",
    "QuasiBayes",
    "ScatterDiscriminant",
]


class FisherDiscriminant(TangentDiscriminant):
    """Fisher's direction, with the cut at which the plane is tangent.

        w = [S1 + S2]^-1 (m2 - m1) / 2,   s = 1/2

    The covariances count alike, whatever the classes' shares of the rows.

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

    def _rule(self) -> Rule:
        return rules.fisher


class ScatterDiscriminant(TangentDiscriminant):
    """The direction of linear discriminant analysis, with the cut at which the plane is tangent.

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

    def _rule(self) -> Rule:
        return rules.scatter


class MinimaxProbabilityMachine(TangentDiscriminant):
    """The plane whose worst case over all classes of these moments is best (MPM; MPDH in the thesis).

        max_w  |w'(m2 - m1)| / (sqrt(w'S1w) + sqrt(w'S2w)) = kappa,    accuracy >= kappa^2 / (1 + kappa^2)

    The optimum is where both distances D1 = D2 = kappa: one equation in s, no cone programme. The classes'
    probabilities play no part.

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

    def _rule(self) -> Rule:
        return rules.minimax


class MinimumErrorMPM(TangentDiscriminant):
    """The plane of the least worst-case error when the classes count by their probabilities (MEMPM).

        min_s  P1 / (1 + D1^2) + P2 / (1 + D2^2)

    The function has several minima, so that a grid goes before Brent's search; if no plane is better than always
    taking the more probable class, that is the rule.

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

    def _rule(self) -> Rule:
        return rules.minimum_error


class QuasiBayes(TangentDiscriminant):
    """The plane that touches where the border of quadratic discriminant analysis crosses the curve of contacts.

        D1^2 - D2^2 = 2 ln(P1 / P2) + ln |S2| - ln |S1|

    With equal covariances it is linear discriminant analysis. If the right side is outside of what planes between the
    means can reach, the plane goes through the nearer mean (`tangent_` is False); `LinearBayes` has no such limits.

    SETTINGS

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]], [0, 0, 0, 1, 1, 1]
    >>> QuasiBayes().fit(X, y).predict([[1.0, 1.0], [6.0, 5.0]])
    array([0, 1])

    References
    ----------
    Martinez-Garcia: thesis on disjoint tangent configurations, 2.4; its ellipsoid masses (2.38)-(2.50) are no
    probabilities of success, and the root of (2.55) does not always exist.
    """

    def _rule(self) -> Rule:
        return rules.quasi_bayes


class LinearBayes(TangentDiscriminant):
    """The plane of the least error if both classes are normal.

        min  P1 Phi(-D1) + P2 Phi(-D2)

    over planes w = [t1 S1 + t2 S2]^-1 (m2 - m1): between the means, beyond one of them, or none at all where the more
    probable class should always win. The function has several minima, so that a grid goes before Brent's search.

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

    def _rule(self) -> Rule:
        return rules.linear_bayes


class DesignedDiscriminant(TangentDiscriminant):
    """A discriminant of one's own: the plane of the greatest separability f(mu1, mu2, var1, var2).

        mu_j = w'm_j + w0,   var_j = w'S_j w,   w = [s S1 + (1 - s) S2]^-1 (m2 - m1)

    The criterion sees the projected classes, with mu1 < mu2 and the plane at 0; it takes and returns arrays (write it
    with NumPy) and must not depend on the scale of w. s, between 0 and 1, and the cut w0 are searched for. A criterion
    that does not depend on w0 leaves the plane where it is tangent.

    Parameters
    ----------
    criterion : callable
        f(mu1, mu2, var1, var2), the greater the better.
    ridge, learner, class_prior, costs, multi_class
        As in `FisherDiscriminant`, and so are the attributes.

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

    def _rule(self) -> Rule:
        if not callable(self.criterion):
            raise ValueError(f"criterion must be a function of (mu1, mu2, var1, var2), got {self.criterion!r}")
        return rules.Designed(self.criterion)
