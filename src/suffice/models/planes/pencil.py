"""Two classes taken apart at once: the geometry of planes that touch an ellipsoid of each."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import numpy as np
from scipy.linalg import cython_lapack, lapack, solve_triangular
from scipy.special import expit, ndtr

from suffice._core.features import Domain
from suffice._core.vector import Array
from suffice._runtime.lazy import cached_property
from suffice.models.base import DegenerateError
from suffice.models.gaussian.moments import Moments, diagonal, ratio
from suffice.models.statistics import Statistics


@cache
def _routine(name: str) -> Any:
    """A routine that takes pointers and returns nothing; ctypes frees the interpreter while it runs."""
    capsule = cython_lapack.__pyx_capi__[name]
    called, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    called.restype, called.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(pointer(capsule, called(capsule)))


def _call(name: str, *arguments: bytes | int | Array) -> int:
    """Call a routine with letters, whole numbers and arrays, and give back its last argument, `info`."""
    info = ctypes.c_int(0)
    kept = [ctypes.c_int(one) if isinstance(one, int) else one for one in arguments]  # alive as long as the call
    _routine(name)(*(_pointer(one) for one in kept), ctypes.byref(info))
    if info.value < 0:
        raise ValueError(f"argument {-info.value} of {name} makes no sense")
    return info.value


def _pointer(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.byref(value)


def relative(a: Array, root: Array) -> Array:
    """L^-1 A L'^-1 (d, d), in its lower half, of a symmetric A and a lower triangular L = `root`."""
    found, lower = np.array(a, dtype=float, order="F"), np.asfortranarray(root, dtype=float)
    _call("dsygst", 1, b"L", len(found), found, len(found), lower, len(found))
    return found


def tridiagonal(lower: Array) -> tuple[Array, Array, Array, Array]:
    """Q'AQ of a symmetric A (d, d), of which the lower half is given: its diagonal (d,) and the entries beside it.

    Before these what is left of A, with the reflections of Q below the diagonal; after them their scales (d - 1,).
    """
    found, n = np.array(lower, dtype=float, order="F"), len(lower)
    diagonal, beside, scales, work = np.empty(n), np.empty(n - 1), np.empty(n - 1), np.empty(64 * n)
    _call("dsytrd", b"L", n, found, n, diagonal, beside, scales, work, len(work))
    return found, diagonal, beside, scales


def eigen_tridiagonal(diagonal: Array, beside: Array) -> tuple[Array, Array, bool]:
    """Eigenvalues (d,) in rising order and eigenvectors (d, d) of a tridiagonal matrix, and whether they were found."""
    n = len(diagonal)
    values, vectors = np.array(diagonal, dtype=float), np.empty((n, n), order="F")
    work, whole = np.empty(1 + 4 * n + n * n), np.empty(3 + 5 * n, dtype=np.intc)
    sizes = len(work), whole, len(whole)
    info = _call("dstevd", b"V", n, values, np.array(beside, dtype=float), vectors, n, work, *sizes)
    return values, vectors, info == 0


# A feature of which the others leave a smaller share of the variance unexplained makes a covariance singular.
SINGULAR = 1e-12
# Means that are nearer, in standard deviations, are equal.
MIN_MEAN_DISTANCE = 1e-10
# Newton's steps end with a relative step of this size, which is rounding.
STEP_ROUNDING = 4e-16
SIDES = np.array([1.0, -1.0])
# The least share of a class in the variance of both: a singular class is the limit of regular ones.
MIN_SHARE = 1e-15
MAX_LOGIT = 300.0


class AlikeError(DegenerateError):
    """Two classes have the same mean, so that no plane tells them apart."""


@dataclass(frozen=True, eq=False)
class Source:
    """The moments that a plane was taken from: those of two classes, or sides of a contest among those of all."""

    whole: Statistics[Moments]
    group: Annotated[Array | None, "int k"] = None  # which side each class is on, -1 for none

    def statistics(self) -> Statistics[Moments]:
        """Of the two sides."""
        return self.whole if self.group is None else self.whole.regroup(self.group, np.arange(2))


@dataclass(frozen=True, eq=False)
class Plane:
    """Parameters of a linear discriminant: the log-odds of the second class are coef'(x - o) + intercept, o the origin.

    `s` weighs the covariances in the plane's direction, `point` (d,) is where it touches an ellipsoid of each class,
    about the origin o, and `distances` (2,) are those from each mean to the plane in standard deviations, below zero
    if the mean is on the wrong side. `tangent` tells whether the plane lies between the means.
    """

    domain: Domain
    class_log_prob: Annotated[Array, "inf k"]
    origin: Annotated[Array, "d"]
    coef: Annotated[Array, "d"]
    intercept: float
    s: float
    point: Annotated[Array, "nan d"]
    distances: Annotated[Array, "inf k"]
    tangent: bool
    source: Source | None = None  # for rows with missing entries

    def log_odds(self, X: Array) -> Array:
        """Of the second class, for rows X (n, d)."""
        return np.asarray((X - self.origin) @ self.coef + self.intercept)

    def gaussian_accuracy(self) -> float:
        """sum_j P_j Phi(D_j): the share of rows that the plane gets right if the classes are normal."""
        return float(np.exp(self.class_log_prob) @ ndtr(self.distances))

    def worst_case_accuracy(self) -> float:
        """sum_j P_j D_j^2 / (1 + D_j^2): the least share that any classes with these means and covariances allow."""
        return float(np.exp(self.class_log_prob) @ (1.0 - worst_error(self.distances)))


def worst_error(distance: Array) -> Array:
    """1 / (1 + D^2): the most that can lie beyond a plane at a distance D, 1 if the mean itself does.

    >>> worst_error(np.array([-1.0, 0.0, 3.0]))
    array([1. , 1. , 0.1])
    """
    return np.asarray(1.0 / (1.0 + np.maximum(distance, 0.0) ** 2))


@dataclass(frozen=True, eq=False)
class Pencil:
    """Both covariances made diagonal by one change of coordinates: V'S1V = diag(a), V'S2V = diag(b), a + b = 1.

    A plane of weights t = (t1, t2) has the direction w = V g = [t1 S1 + t2 S2]^-1 (m2 - m1), with
    g = z / (t1 a + t2 b) and z = V'(m2 - m1); it cuts at w'm1 + t1 w'S1w = w'm2 - t2 w'S2w, where it touches an
    ellipsoid of each class. The distances to it are D1 = t1 sqrt(w'S1w) and D2 = t2 sqrt(w'S2w). With t = (s, 1 - s)
    and 0 < s < 1 it lies between the means; one negative weight puts it beyond a mean. Once the factorisation is done,
    of O(d^3), when it is first asked for, everything is O(d); a plane of given s needs none of it (`solved`).

    References
    ----------
    Anderson, Bahadur: Classification into two multivariate normal distributions with different covariance matrices
    (1962), doi:10.1214/aoms/1177704568. Martinez-Garcia's thesis on disjoint tangent configurations, chapter 2, whose
    alpha is s / (s - 1); its polynomial overflows from about 200 features on and is not used.
    """

    domain: Domain
    class_log_prob: Array  # (2,)
    origin: Array  # (d,)
    mean: Array  # (2, d) about the origin
    scale: Array  # (d,) that features are multiplied by, so that units do not matter; 0 for one that has no part
    scaled: Array  # (2, d, d) covariances in these units, with the ridge
    root: Array  # (d, d) L, lower, with LL' the sum of both

    @classmethod
    def of(cls, s: Statistics[Moments], used: Array, ridge: float) -> Pencil:
        """Take the moments of two classes apart, with r diag(S1 + S2 + (m2 - m1)(m2 - m1)') added to either covariance.

        The difference of the means is part of the ridge for the sake of a feature that is constant within each class.
        """
        origin = s.sums.origin[np.argmax(s.mass)]
        covariance = ratio(s.sums.scatter(), s.sums.count[:, :, None])
        mean = s.sums.mean() + (s.sums.origin - origin)
        size = diagonal(covariance).sum(axis=0) + (mean[1] - mean[0]) ** 2
        scale = np.divide(1.0, np.sqrt(size), out=np.zeros(len(size)), where=used & (size > 0))
        covariance *= np.outer(scale, scale)
        at = np.arange(len(scale))
        covariance[:, at, at] += np.where(scale > 0, ridge, 1.0)
        root = _rooted(covariance[0] + covariance[1], s)
        found = cls(s.domain, np.log(s.mass / s.mass.sum()), origin, mean, scale, covariance, root)
        apart = found._before(found.scale * found.gap)
        if np.sqrt(apart @ apart) < MIN_MEAN_DISTANCE:
            raise AlikeError(
                f"{s.label(0)} and {s.label(1)} have the same mean, so that no plane tells them apart. "
                "Use QuadraticDiscriminantAnalysis, or features in which the means differ"
            )
        return found

    @property
    def gap(self) -> Array:
        """m2 - m1 (d,)."""
        return np.asarray(self.mean[1] - self.mean[0])

    @cached_property
    def _unit(self) -> Array:
        return np.divide(1.0, self.scale, out=np.ones(len(self.scale)), where=self.scale > 0)

    @property
    def covariance(self) -> Array:
        """S1 and S2 (2, d, d), with the ridge."""
        return np.asarray(self.scaled * np.outer(self._unit, self._unit))

    @cached_property
    def _apart(self) -> Eigenvectors:
        """L^-1 S1 L'^-1 made diagonal: V = L'^-1 times its eigenvectors."""
        return Eigenvectors.of(relative(self.scaled[0], self.root))

    @cached_property
    def a(self) -> Array:
        """The diagonal of V'S1V (d,), within (0, 1)."""
        return np.clip(self._apart.values, MIN_SHARE, 1.0 - MIN_SHARE)

    @cached_property
    def b(self) -> Array:
        """That of V'S2V."""
        return np.asarray(1.0 - self.a)

    @cached_property
    def z(self) -> Array:
        """V'(m2 - m1) (d,)."""
        return self._apart.along(self._before(self.scale * self.gap))

    def _before(self, x: Array) -> Array:
        """L^-1 x."""
        return np.asarray(solve_triangular(self.root, x, lower=True, check_finite=False))

    def _turned(self, g: Array) -> Array:
        """V g."""
        x = self._apart.back(g)
        return np.asarray(self.scale * solve_triangular(self.root, x, lower=True, trans=1, check_finite=False))

    def directions(self, t1: Array, t2: Array) -> Array:
        """Return g = z / (t1 a + t2 b), the normal vector for each pair of weights (m,), as (m, d)."""
        at = np.multiply.outer(t1, self.a) + np.multiply.outer(t2, self.b)
        return np.asarray(np.divide(self.z, at, out=np.zeros(at.shape), where=self.z != 0))

    def variances(self, t1: Array, t2: Array) -> tuple[Array, Array]:
        """w'S1w and w'S2w for weights (m,)."""
        g = self.directions(t1, t2) ** 2
        return g @ self.a, g @ self.b

    def distances(self, t1: Array, t2: Array) -> tuple[Array, Array]:
        """D1 and D2 for weights (m,)."""
        v1, v2 = self.variances(t1, t2)
        return t1 * np.sqrt(v1), t2 * np.sqrt(v2)

    def difference(self, logit: float) -> tuple[float, float]:
        """phi(s) = D1^2 - D2^2, which only increases with s, and its slope in logit(s)."""
        s, rest = float(expit(logit)), float(expit(-logit))
        at = s * self.a + rest * self.b
        g = (self.z / at) ** 2
        return float(s**2 * (g @ self.a) - rest**2 * (g @ self.b)), float(2 * s * rest * (g @ (self.a * self.b / at)))

    def where(self, k: float) -> tuple[float, bool]:
        """logit(s) where phi(s) = k, and True; the nearer end of (0, 1), and False, if there is no such s.

        Newton's steps, and halving where one would leave what is known to hold the root.
        """
        low, high = -MAX_LOGIT, MAX_LOGIT
        if not self.difference(low)[0] < k < self.difference(high)[0]:
            return (-np.inf if self.difference(low)[0] >= k else np.inf), False
        logit = 0.0
        while True:
            value, slope = self.difference(logit)
            low, high = (logit, high) if value < k else (low, logit)
            step = (k - value) / slope if slope > 0 else np.inf
            new = logit + step if low < logit + step < high else 0.5 * (low + high)
            if abs(new - logit) <= STEP_ROUNDING * max(1.0, abs(new)):
                return new, True
            logit = new

    def tangent(self, logit: float, exists: bool = True) -> Plane:
        """The plane that touches an ellipsoid of each class, for s in [0, 1]."""
        return self.plane(float(expit(logit)), float(expit(-logit)), tangent=exists)

    def solved(self, logit: float) -> Plane:
        """`tangent` of an s that is given, by solving [s S1 + (1 - s) S2] w = m2 - m1: nothing is taken apart."""
        t1, t2 = float(expit(logit)), float(expit(-logit))
        one, two = self.scaled
        _, x, _ = lapack.dposv((t1 * one + t2 * two).T, self.scale * self.gap, lower=1, overwrite_a=1)
        v = self.scaled @ x @ x
        v = np.clip(v, MIN_SHARE * v.sum(), None)  # as in `a`
        return self._plane(self.scale * x, v, (t1, t2), None, True)

    def plane(self, t1: float, t2: float, cut: float | None = None, tangent: bool = True) -> Plane:
        """The plane of weights t, moved to where w'(x - m1) is `cut` if that is given.

        The log-odds are (w'x - w't) w'(m2 - m1) / (P1 w'S1w + P2 w'S2w): one half on the plane, and those of linear
        discriminant analysis if the covariances are equal.
        """
        g = self.directions(np.asarray(t1), np.asarray(t2))
        return self._plane(self._turned(g), np.array([g**2 @ self.a, g**2 @ self.b]), (t1, t2), cut, tangent)

    def _plane(self, w: Array, v: Array, t: tuple[float, float], cut: float | None, tangent: bool) -> Plane:
        """The plane of a direction w (d,) with variances v (2,) along it."""
        gap = w @ self.gap
        cut = t[0] * v[0] if cut is None else cut
        slope = gap / (np.exp(self.class_log_prob) @ v)
        way = np.array([cut, cut - gap])
        side = int(v[1] > v[0])  # the class that varies more along w: the other one may not vary at all
        point = self.mean[side] + way[side] / v[side] * self._unit * (self.scaled[side] @ (self._unit * w))
        reach, intercept = way * SIDES / np.sqrt(v), float(-slope * (w @ self.mean[0] + cut))
        share = t[0] / (t[0] + t[1]) if t[0] + t[1] else np.inf
        return Plane(self.domain, self.class_log_prob, self.origin, slope * w, intercept, share, point, reach, tangent)

    def constant(self) -> Plane:
        """No plane at all: every row goes to the class of the greater probability."""
        return no_plane(self.domain, self.class_log_prob, self.origin)


def no_plane(domain: Domain, class_log_prob: Array, origin: Array) -> Plane:
    """The rule that takes the more probable of two classes of which nothing but their shares is known."""
    first = bool(class_log_prob[0] >= class_log_prob[1])
    nowhere, zero = np.full(len(origin), np.nan), np.zeros(len(origin))
    reach = np.array([np.inf, -np.inf] if first else [-np.inf, np.inf])
    odds = float(class_log_prob[1] - class_log_prob[0])
    return Plane(domain, class_log_prob, origin, zero, odds, float(first), nowhere, reach, False)


def _rooted(both: Array, s: Statistics[Moments]) -> Array:
    """The lower Cholesky factor of the sum of both covariances."""
    lower, info = lapack.dpotrf(both.T, lower=1, overwrite_a=1)
    weak = np.flatnonzero(np.diag(lower) ** 2 <= SINGULAR) if info == 0 else np.array([info - 1])
    if len(weak):
        raise DegenerateError(
            f"{s.label(0)} and {s.label(1)} have singular covariances ({s.domain.name(int(weak[0]))} adds nothing to "
            "the columns before it). Use ridge > 0, or leave columns out"
        )
    return np.asarray(lower)


@dataclass(frozen=True, eq=False)
class Eigenvectors:
    """The eigenvectors QU of a symmetric matrix as two factors, which are not multiplied: for a few products with them.

    Q makes the matrix tridiagonal, by reflections, and U makes that one diagonal.
    """

    values: Array  # (d,) eigenvalues, in rising order
    reflections: Array  # (d - 1, d - 1), those of LAPACK's sytrd
    scales: Array  # (d - 1,)
    vectors: Array  # (d, d) U

    @classmethod
    def of(cls, lower: Array) -> Eigenvectors:
        """Of a matrix (d, d) whose lower half is given."""
        if len(lower) == 1:
            return cls(lower[0], np.zeros((0, 0)), np.zeros(0), np.ones((1, 1)))
        found, diagonal, beside, scales = tridiagonal(lower)
        values, vectors, there = eigen_tridiagonal(diagonal, beside)
        if not there:
            raise DegenerateError("the eigenvalues of one covariance beside another were not found")
        return cls(values, np.asfortranarray(found[1:, :-1]), scales, vectors)

    def along(self, x: Array) -> Array:
        """U'Q'x (d,)."""
        return np.asarray(self.vectors.T @ self._reflected(x, "T"))

    def back(self, g: Array) -> Array:
        """QUg (d,)."""
        return self._reflected(self.vectors @ g, "N")

    def _reflected(self, x: Array, which: str) -> Array:
        if len(x) == 1:
            return x
        turned, _, _ = lapack.dormqr("L", which, self.reflections, self.scales, x[1:, None], lwork=64)
        return np.append(x[0], turned)
