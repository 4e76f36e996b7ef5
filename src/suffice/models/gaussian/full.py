"""Gaussian classes with full covariances: discriminant analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack
from sklearn.base import clone

from suffice._core.features import Domain, Encoded
from suffice._core.labels import OneHot, dense
from suffice._core.vector import Array
from suffice.encoders import Encoder, Numbers
from suffice.models.base import Attempt, DegenerateError, Natural, Read, Removable, Samplable
from suffice.models.gaussian.base import Free, Gaussian, Normal, empty, prior_covariance
from suffice.models.gaussian.leave_one_out import ENTRIES, Spanned, full_without, shared_without, taken
from suffice.models.gaussian.moments import VAGUE, Moments, ratio, squared_lengths
from suffice.models.gaussian.patterns import Completed, by_pattern, complete, groups, guessed, run_em, terms_by_pattern
from suffice.models.linear import Linear
from suffice.models.natural import Quadratic
from suffice.models.statistics import Statistics
from suffice.models.terms import Form, Nomogram, NomogramDensity, Terms, keys_of

SINGULAR = 1e-12  # a feature of which the features before it explain all but this share adds nothing
LOG_2PI = float(np.log(2 * np.pi))
# A class whose score is this far below the greatest is lost in the rounding of the sum of all probabilities.
NEGLIGIBLE = 70 * float(np.log(2))
SINGLE_ROUNDING = float(np.finfo(np.float32).eps) / 2
# Bounds of rounding are themselves rounded.
BOUND_SLACK = 1.01
# With fewer rows, columns or classes, scoring all classes exactly takes no more time.
MIN_ROUGH_ROWS, MIN_ROUGH_COLUMNS, MIN_ROUGH_CLASSES = 1024, 64, 4
# Rough scores pay if, among a sample of rows, less than this share of classes must be scored exactly.
SAMPLE_ROWS, MAX_EXACT_SHARE = 256, 1 / 3
NO_LEAVING = (
    "rows with missing values under whole covariances were learned by EM, from which a single row cannot be taken: use "
    "suffice.model_selection.cross_validate, impute the values, or use GaussianNB"
)


@dataclass(frozen=True, eq=False)
class Full(Normal):
    """Parameters of Gaussian classes with covariances (k or 1, d, d), and what whitens them.

    `whiten` has cov^-1 = whiten whiten'; a feature left out has rows of zeros.
    """

    covariance: Annotated[Array, "k d d|1 d d"]
    whiten: Annotated[Array, "k d d|1 d d"]
    log_det: Annotated[Array, "k|1"]

    def solve(self, b: Array) -> Array:
        """cov^-1 b for rows b (k, d), of tied classes."""
        return np.asarray(b @ self.whiten[0] @ self.whiten[0].T)

    def misfit(self, scatter: Array, count: Array) -> float:
        """sum count log|cov| + tr(cov^-1 scatter) over blocks (k or 1, d, d)."""
        traces = np.einsum("kij,kil,klj->k", self.whiten, scatter, self.whiten, optimize=True)
        return float((count[:, 0] * self.log_det + traces).sum())

    def peaks(self) -> Array:
        """log p(x | y) at the means (k or 1,)."""
        return np.asarray(-0.5 * (self.log_det + float(self.whiten[0].any(axis=1).sum()) * LOG_2PI))

    def marginal(self, which: Array) -> Full:
        """Of some features (m,): means and covariances of these."""
        used = np.ones(len(which), dtype=bool)
        factors = [factor(cov[np.ix_(which, which)], used, 0.0 * which, 0.0 * which) for cov in self.covariance]
        return Full.of(self.domain, self.class_log_prob, self.origin[:, which], self.mean[:, which], factors)

    def spanned(self, c: int) -> Spanned:
        """One of the covariances, taken apart."""
        return Spanned(self.whiten[c], float(self.log_det[c]), int(self.whiten[c].any(axis=1).sum()))

    @classmethod
    def of(cls, domain: Domain, class_log_prob: Array, origin: Array, mean: Array, factors: list[Factor]) -> Full:
        """From covariances that are factored already."""
        covariance, whiten = np.stack([f.covariance for f in factors]), np.stack([f.whiten for f in factors])
        log_det = np.array([f.log_det for f in factors])
        return cls(domain, class_log_prob, origin, mean, covariance, whiten, log_det)


class Factor(NamedTuple):
    """A covariance (d, d) taken apart: cov^-1 = whiten whiten', its log-determinant, and the feature that breaks it.

    `blurred`: rounding that larger sums left may be why.
    """

    covariance: Array
    whiten: Array
    log_det: float
    bad: int | None
    rank: int
    blurred: bool = False


def factor(covariance: Array, used: Array, nothing: Array, noise: Array) -> Factor:
    """Factor by Cholesky in units of the standard deviations, so that the units of the features do not matter.

    `nothing` (d,) is the variance that counts as none. Errors E of the correlations, with |E_ij| <= e_i e_j and e^2 the
    `noise` (d,) of the variances, change what a feature adds to those before it by w'Ew <= (|w|'e)^2. Here w is its row
    of L^-1, in units of the diagonal of L.
    """
    covariance = 0.5 * (covariance + covariance.T)
    variance = covariance.diagonal()
    inverse = np.where(used & (variance > 0), 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
    correlation = covariance * (inverse[:, None] * inverse)
    correlation.flat[:: len(inverse) + 1] = ~used | (inverse != 0)
    rounding = np.maximum(SINGULAR, nothing * inverse**2)
    lower, info = lapack.dpotrf(correlation, lower=1, clean=1)
    weak = np.flatnonzero(lower.diagonal() ** 2 <= rounding) if info == 0 else np.array([info - 1])
    unmixed = np.zeros_like(covariance) if len(weak) else lapack.dtrtri(lower, lower=1)[0]
    if noise.any() and not len(weak):
        weak = np.flatnonzero((abs(unmixed) @ (np.sqrt(noise) * inverse)) ** 2 > VAGUE)
    if len(weak):
        rank = int((np.linalg.eigvalsh(correlation) > len(used) * rounding.max()).sum()) - int((~used).sum())
        blurred = bool((noise * inverse**2).max() > SINGULAR)
        return Factor(covariance, np.zeros_like(covariance), 0.0, int(weak[0]), rank, blurred)
    whiten = inverse[:, None] * unmixed.T
    log_det = 2.0 * (np.log(lower.diagonal()).sum() - np.log(inverse[inverse > 0]).sum())
    return Factor(covariance, whiten, float(log_det), None, int(used.sum()))


@dataclass(frozen=True, eq=False)
class _FullGaussian(Gaussian[Full], NomogramDensity[Full], Samplable[Full]):
    """p(x, y) = p(y) N(x; mean_y, cov_y)."""

    full: ClassVar[bool] = True
    continuous: ClassVar[bool] = True

    encoder: Encoder = field(default=Numbers(missing=True), kw_only=True)

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Any:
        """Moments; by pattern where entries are missing."""
        return by_pattern(domain.features.read(X), W, self.origin)

    @property
    def statistics_key(self) -> object | None:
        return by_pattern

    def resolve(self, s: Statistics[Any]) -> Self:
        return super().resolve(replace(s, sums=guessed(s.sums)))

    @property
    def likely(self) -> _FullGaussian:
        """The model under which missing entries are filled in: without what is done to covariances besides."""
        return self

    def restrict(self, s: Statistics[Any]) -> Statistics[Moments]:
        """Where entries are missing: what all rows are expected to sum to, at the parameters that this leads to."""
        return self._completed(s, None)

    def revisit(self, s: Statistics[Any], read: Read) -> Statistics[Moments]:
        return self._completed(s, read)

    def _completed(self, s: Statistics[Any], read: Read | None) -> Statistics[Moments]:
        if isinstance(s.sums, Moments):
            return s
        unknown = self._unknown_mean(replace(s, sums=s.sums.entries()))
        if unknown is not None:
            raise DegenerateError(unknown)
        flat = clone(self._prior).set_params(mean_weight=0.0)
        found = run_em(replace(self.likely, believed=flat), s, read)
        return found.shrunk(self._prior.mean_weight, self._prior.mean)

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Full]:
        """The covariances, factored; a block is a class, or all classes if they share what they are made of."""
        used = self._used(s)
        factors = [factor(cov, used, *at) for cov, *at in zip(*self.covariances(s), strict=True)]
        theta = Full.of(s.domain, self.class_log_prob(s), s.sums.origin, self._mean(s), factors)
        problem = self._unknown_mean(s) or self._singular(s, factors)
        return Attempt(theta, self._valid(s, factors), problem)

    def covariances(self, s: Statistics[Moments]) -> tuple[Array, Array, Array]:
        """(m2 cov0 + scatter) / (m2 + count) (k or 1, d, d), the variance below which
        each column counts as constant, and the rounding error of each variance.
        """
        own = self.pooled(s)
        weight = own.rows + self._prior.cov_weight
        covariance = ratio(own.scatter + self._prior.cov_weight * prior_covariance(self._prior, 2), weight[:, :, None])
        return covariance, ratio(own.nothing, weight), ratio(own.noise, weight)

    @property
    def shared(self) -> bool:
        """Whether a covariance depends on the statistics of all classes."""
        return self.tied

    def _valid(self, s: Statistics[Moments], factors: list[Factor]) -> Statistics[Moments]:
        regular = np.array([one.bad is None for one in factors])
        ok = regular & ((s.mass > 0) & (s.sums.count[:, 0] + self._prior.cov_weight > 0) | empty(s) & self.shared)
        ok = np.broadcast_to(ok.all(), ok.shape) if self.shared else ok
        return replace(s, mass=ok, sums=replace(s.sums, count=ok[:, None], first=ok[:, None], second=ok[:, None, None]))

    def _singular(self, s: Statistics[Moments], factors: list[Factor]) -> str | None:
        for c, (one, needed) in enumerate(zip(factors, self._needed(s), strict=True)):
            if one.bad is not None and needed:
                who = "the classes together have" if self.tied else f"{s.label(c)} has"
                rows, features = s.mass.sum() if self.tied else s.mass[c], int(self._used(s).sum())
                if one.blurred:
                    return (
                        f"{who} {rows:g} rows and a covariance that is singular, or lost to rounding, as the rows "
                        f"forgotten vary far more than these ({s.domain.name(one.bad)} adds too little to the features "
                        "before it). Fit these rows again, use prior='default', or leave columns out"
                    )
                return (
                    f"{who} {rows:g} rows and a singular covariance, of rank {one.rank} for {features} features "
                    f"({s.domain.name(one.bad)} adds nothing to those before it). "
                    "Use prior='default', take more rows, or leave columns out"
                )
        return None

    def log_density(self, X: Encoded, theta: Full) -> Array:
        """Of the entries that are there: the others are integrated out."""
        values = theta.domain.features.read(X)
        if complete(values):
            return self._log_density(values, theta)
        out = np.zeros((len(values), len(theta.mean)))
        for rows, which in self._known(values, theta):
            out[rows] = self._log_density(values[rows][:, which], theta.marginal(which))
        return out

    def log_joint_likely(self, X: Encoded, theta: Full) -> Array:
        """Classes that are far from a row in single precision, where there are many of many columns."""
        values = theta.domain.features.read(X)
        if self.tied or not complete(values):
            return self.log_joint(X, theta)
        const = theta.class_log_prob + theta.peaks()
        scores = likely_scores(values, theta, const, lambda rows, c: const[c] - 0.5 * self._squares(rows, theta, c))
        lost = np.flatnonzero(~np.isfinite(scores).any(axis=1))
        if len(lost):
            scores[lost] = self.log_joint(X[lost], theta)
        return scores

    def _known(self, values: Array, theta: Full) -> Iterator[tuple[Array, Array]]:
        """Rows that lack the same entries, and the features in use that they have; not those that have none."""
        used = theta.whiten[0].any(axis=1)
        for rows, has in groups(np.isnan(values)):
            if len(which := has[used[has]]):
                yield rows, which

    def density_nomogram(self, theta: Full) -> Nomogram:
        return self._nomogram(theta, keys_of(self))

    def _nomogram(self, theta: Full, keys: tuple[Any, ...]) -> Nomogram:
        """One form of all columns, with the determinants in the base."""
        precision, k = theta.whiten @ theta.whiten.swapaxes(1, 2), len(theta.mean)
        form = Form(keys, theta.origin, theta.mean, np.broadcast_to(precision, (k, *precision.shape[1:])))
        return Nomogram(np.broadcast_to(-0.5 * theta.log_det, (k,)), (form,))

    def density_terms(self, X: Encoded, theta: Full) -> Terms:
        """Of the entries that are there: the others are integrated out."""
        keys, used = keys_of(self), theta.whiten[0].any(axis=1)

        def marginal(has: Array) -> Nomogram:
            which = has[used[has]]
            if not len(which):
                return Nomogram(np.zeros(len(theta.mean)), ())
            return self._nomogram(theta.marginal(which), tuple(keys[j] for j in which))

        return terms_by_pattern(theta.domain.features.read(X), keys, self.density_nomogram(theta), marginal)

    def sample(self, codes: Array, theta: Full, rng: np.random.Generator) -> Encoded:
        """Normal numbers; a feature left out stays at its mean."""
        roots = np.stack([_root(*pair) for pair in zip(theta.covariance, theta.whiten, strict=True)])
        values, noise = (theta.origin + theta.mean)[codes], rng.normal(size=(len(codes), theta.mean.shape[1]))
        for c in range(len(theta.mean)):
            rows = codes == c
            values[rows] += noise[rows] @ roots[0 if self.tied else c].T
        return Encoded(theta.domain.features, values)

    def _log_density(self, values: Array, theta: Full) -> Array:
        peaks = np.broadcast_to(theta.peaks(), len(theta.mean))
        return np.stack([peak - 0.5 * self._squares(values, theta, c) for c, peak in enumerate(peaks)], axis=1)

    def _squares(self, values: Array, theta: Full, c: int) -> Array:
        """(x - mean_c)' cov_c^-1 (x - mean_c) (n,)."""
        gap = values - theta.origin[c]
        gap -= theta.mean[c]
        return squared_lengths(gap, theta.whiten[0 if self.tied else c])


@dataclass(frozen=True, eq=False)
class Rough:
    """Normal classes in single precision, in units of the spreads within classes.

        y_c = a V_c - b_c,     a = (x - centre) / scale (d,),     log p(x, c) = const_c - |y_c|^2 / 2

    Rounding changes y_c by no more than (d + 4) u (|a| |V_c| + |b_c| + |y_c|), with Euclidean norms and u = 2^-24.
    """

    centre: Array  # (d,)
    scale: Array  # (d,)
    whiten: Array  # (k, d, d) V, upper triangular
    at: Array  # (k, d) b
    const: Array  # (k,)

    @classmethod
    def of(cls, theta: Full, const: Array) -> Rough:
        """Of parameters, with the score of each class at its mean (k,)."""
        means = theta.origin + theta.mean
        centre, variance = means.mean(axis=0), np.mean([one.diagonal() for one in theta.covariance], axis=0)
        scale = np.sqrt(np.where(variance > 0, variance, 1.0))
        whiten = scale[:, None] * theta.whiten
        at = np.einsum("kj,kjl->kl", (means - centre) / scale, whiten)
        with np.errstate(over="ignore"):
            return cls(centre, scale, whiten.astype(np.float32), at.astype(np.float32), const)

    def bounds(self, values: Array) -> tuple[Array, Array, Array]:
        """log p(x, y) (n, k), and between which numbers it is."""
        with np.errstate(all="ignore"):  # what overflows has no bounds, and is scored exactly
            a = np.empty(values.shape, dtype=np.float32)
            np.divide(values - self.centre, self.scale, out=a, casting="same_kind")
            length = np.sqrt([squared_lengths(a, V, b) for V, b in zip(self.whiten, self.at, strict=True)]).T
            sizes = np.linalg.norm(self.whiten, axis=(1, 2)), np.linalg.norm(self.at, axis=1)
            rounded = np.linalg.norm(a, axis=1)[:, None] * sizes[0] + sizes[1] + length
            off = BOUND_SLACK * (values.shape[1] + 4) * SINGLE_ROUNDING * rounded
            each = length, length + off, np.maximum(length - off, 0.0)
            scores, least, most = (self.const - 0.5 * one.astype(float) ** 2 for one in each)
            return scores, least, most


def likely_scores(values: Array, theta: Full, const: Array, exact: Callable[[Array, int], Array]) -> Array:
    """Return log p(x, y) (n, k) of complete rows, in single precision where that changes no probability by 2^-70 of it.

    This holds for classes that are far below another one, and for that one if no third is near it. `exact` gives the
    scores (m,) of rows (m, d) for a class.
    """
    n, k = len(values), len(const)
    if n >= MIN_ROUGH_ROWS and values.shape[1] >= MIN_ROUGH_COLUMNS and k >= MIN_ROUGH_CLASSES:
        rough = Rough.of(theta, const)
        if _close(*rough.bounds(values[:: max(1, n // SAMPLE_ROWS)])[1:]).mean() < MAX_EXACT_SHARE:
            scores, *between = rough.bounds(values)
            close = _close(*between)
            for c in range(k):
                rows = np.flatnonzero(close[:, c])
                scores[rows, c] = exact(values[rows], c)
            return scores
    return np.stack([exact(values, c) for c in range(k)], axis=1)


def _close(least: Array, most: Array) -> Array:
    """Which classes of a row share its probability (n, k), none where one has it all, by bounds of their scores."""
    enough = (least.max(axis=1) - NEGLIGIBLE)[:, None]
    share = ~(most < enough)
    return np.asarray(share & (share.sum(axis=1) > 1)[:, None])


def _root(covariance: Array, whiten: Array) -> Array:
    """A matrix R (d, d) with R R' the covariance of the features in use, found in units of their spread."""
    unit = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * whiten.any(axis=1)
    values, vectors = np.linalg.eigh(covariance * np.outer(ratio(1.0, unit), ratio(1.0, unit)))
    return np.asarray(unit[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def _summed(X: Encoded, theta: Full, s: Statistics[Moments]) -> Array:
    """Rows (n, d), if they and all others are complete; else ValueError."""
    values = theta.domain.features.read(X)
    if isinstance(s.sums, Completed) or not complete(values):
        raise ValueError(NO_LEAVING)
    return values


@dataclass(frozen=True, eq=False)
class FullGaussian(_FullGaussian, Free[Full], Natural[Moments, Full, Quadratic], Removable[Moments, Full]):
    """p(x, y) = p(y) N(x; mean_y, cov_y): quadratic discriminant analysis."""

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Full, s: Statistics[Moments]) -> Array:
        """A class changes by what a row counts there."""
        values, own, held = _summed(X, theta, s), dense(Y), self.held(s)
        out = np.empty(own.shape)
        for c in range(own.shape[1]):
            cov = theta.spanned(c)
            gone = taken(held, c, values - theta.origin[c], theta.mean[c], own[:, c], cov.whiten)
            out[:, c] = full_without(gone, own[:, c], held.total[c, 0], cov)
        return out

    def natural(self, theta: Full) -> Quadratic:
        """Of standardised features."""
        _, _, centre, spread = self._frame()
        unit = ratio(1.0, spread)
        covariance = theta.covariance * np.outer(unit, unit) + np.diag((unit == 0).astype(float))
        return Quadratic.of(theta.class_log_prob, (theta.mean - centre) * unit, covariance)

    def from_natural(self, eta: Quadratic) -> Full:
        """The inverse of `natural`."""
        domain, origin, centre, spread = self._frame()
        mean, covariance = eta.moments()
        none = np.zeros(len(spread))
        factors = [factor(c * np.outer(spread, spread), spread > 0, none, none) for c in covariance]
        return Full.of(domain, eta.intercept, origin, mean * spread + centre, factors)


@dataclass(frozen=True, eq=False)
class _TiedFullGaussian(_FullGaussian):
    """p(x, y) = p(y) N(x; mean_y, cov): the classes share their covariance."""

    tied: ClassVar[bool] = True

    def log_joint(self, X: Encoded, theta: Full) -> Array:
        """The linear scores: what is quadratic in x is the same for all classes."""
        values = theta.domain.features.read(X)
        scores = Linear.of(theta).scores(values)
        if np.isnan(scores.sum()) and not complete(values):
            rows = np.flatnonzero(np.isnan(values).any(axis=1))
            scores[rows] = super().log_joint(X[rows], theta)
        return scores

    def _nomogram(self, theta: Full, keys: tuple[Any, ...]) -> Nomogram:
        """The linear scores about the mean of all classes: what is quadratic in x is the same for all of them."""
        p = np.exp(theta.class_log_prob)
        centre = (p / p.sum()) @ (theta.origin + theta.mean)
        return Linear.of(replace(theta, class_log_prob=np.zeros(len(p)))).nomogram(keys, centre)


@dataclass(frozen=True, eq=False)
class TiedFullGaussian(_TiedFullGaussian, Removable[Moments, Full]):
    """p(x, y) = p(y) N(x; mean_y, cov): linear discriminant analysis."""

    def log_density_without(self, X: Encoded, Y: OneHot | Array, theta: Full, s: Statistics[Moments]) -> Array:
        """A class changes by what a row counts there, and the covariance of all by what it counts in any."""
        values, own = _summed(X, theta, s), dense(Y)
        size = max(1, ENTRIES // (own.shape[1] * max(1, *values.shape[1:], own.shape[1])))
        parts = [slice(i, i + size) for i in range(0, max(1, len(own)), size)]
        held, cov, out = self.held(s), theta.spanned(0), []
        for at in parts:
            each = enumerate(zip(theta.origin, theta.mean, own[at].T, strict=True))
            gone = [taken(held, c, values[at] - origin, mean, w, cov.whiten) for c, (origin, mean, w) in each]
            out.append(shared_without(gone, own[at], held.total[0, 0], cov))
        return np.concatenate(out)


# A class mean that is this near to the centre, as a share of the farthest one's distance, is on neither side.
MIN_DISTANCE_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class Canonical:
    """Directions V (d, m), m = min(k - 1, d), and how much of the variance between the classes each explains (m,).

        B V = W V diag(lambda),   V'W V = I,   B = sum_y p(y) (mean_y - centre)(mean_y - centre)'

    for the covariance W within the classes and centre = sum_y p(y) mean_y; the greatest lambda comes first. In these
    coordinates the classes have unit covariance, and all else that tells them apart is gone. The last class whose mean
    is not at the centre is on the positive side.
    """

    origin: Array  # (d,)
    centre: Array  # (d,) about the origin
    scalings: Array  # (d, m)
    explained: Array  # (m,)

    @classmethod
    def of(cls, theta: Full) -> Canonical:
        """From parameters with one covariance, whatever has learned them.

        With cov^-1 = U U' and A = sqrt(p(y)) (mean_y - centre)'U (k, d), V = U R for the right singular vectors R of A.
        """
        p = np.exp(theta.class_log_prob)
        origin = theta.origin[np.argmax(p)]
        mean = theta.mean + (theta.origin - origin)
        centre = p @ mean / p.sum()
        white = (mean - centre) @ theta.whiten[0]
        _, size, right = np.linalg.svd(np.sqrt(p)[:, None] * white, full_matrices=False)
        m = min(len(p) - 1, mean.shape[1])
        scalings = theta.whiten[0] @ right[:m].T
        variance = size[:m] ** 2
        # The last class of each direction that is not at the centre is on the positive side.
        scores = (mean - centre) @ scalings  # (k, m)
        off = abs(scores) > MIN_DISTANCE_SHARE * abs(scores).max(axis=0)
        last = len(scores) - 1 - np.argmax(off[::-1], axis=0)
        signs = np.where(scores[last, np.arange(m)] < 0, -1.0, 1.0)
        return cls(origin, centre, scalings * signs, ratio(variance, variance.sum()))

    def scores(self, X: Array, m: int) -> Array:
        """Rows (n, d) in the first m coordinates; summed about the centre, so that offsets cost no digits."""
        directions = self.scalings[:, :m]
        near = ((X - self.origin) - self.centre) @ directions
        return np.asarray(near + (self.origin + self.centre) @ directions)
