"""Evidence: the probability of the sums under a prior, with the parameters integrated out.

The strength of a prior can be chosen to maximise it (empirical Bayes). The search is over a grid of powers of two, so
that sums that differ only by rounding, as merged ones do, lead to the same strength.
"""

from __future__ import annotations

from math import lgamma

import numpy as np
from scipy.special import gammaln, multigammaln

from suffice._core.vector import Array
from suffice._runtime.lazy import compiled

# Grids of weights, in rows. Of equally good weights the first is chosen.
TABLE_WEIGHTS = 2.0 ** np.arange(9)  # 1, ..., 256: the lightest first, so that single rows teach
COV_WEIGHTS = 2.0 ** np.arange(8, -6, -1)  # 256, ..., 1/32 a feature
MEAN_WEIGHTS = 2.0 ** np.arange(-10, 7)  # 1/1024, ..., 64
CORRELATIONS = np.array([0.0, 0.25, 0.5, 0.75, 0.95])
MAX_FACTORS = 16  # counts up to this multiply factors one by one
SMALL = 1e-100  # a product below this, or above its inverse, is added up as its logarithm
TIE = 1e-9  # relative difference of evidences that count as equal


def table_evidence(table: Array, base: Array, owner: Array, weight: float | Array) -> Array:
    """Return log p(table) of each column, all classes together, under Dirichlet priors of total weight A and base b.

        sum_c [lgamma(A) - lgamma(A + n_c)] + sum_cv [lgamma(n_cv + A b_v) - lgamma(A b_v)]

    The `table` has the counts n_cv of all columns side by side (k, cells), and `owner` the column of each cell. The
    `base` b sums to 1 over the cells of a column; it may differ by class: (cells,) or (k, cells). `weight` is A; if
    there are several (m,), the result has a row for each.

    >>> both = table_evidence(np.array([[1.0, 1.0]]), np.array([0.5, 0.5]), np.array([0, 0]), 2.0)
    >>> np.exp(both).round(3)  # a uniform share p of one cell: the integral of p (1 - p)
    array([0.167])
    """
    A, d = np.atleast_1d(np.asarray(weight, dtype=float)), owner[-1] + 1 if len(owner) else 0
    cells = log_rising(table, np.broadcast_to(base, table.shape), owner, A, d)
    rows = np.stack([np.bincount(owner, of_class) for of_class in table])  # (k, d)
    each = cells + (gammaln(A)[:, None, None] - gammaln(A[:, None, None] + rows)).sum(axis=1)
    return np.asarray(each if np.ndim(weight) else each[0])


@compiled
def log_rising(counts: Array, base: Array, owner: Array, weights: Array, columns: int) -> Array:
    """Return lgamma(n + A b) - lgamma(A b), summed over the classes and the cells of each column: (weights, columns).

    For a small whole number n that is log a (a + 1) ... (a + n - 1), a = A b, and products of several cells have one
    logarithm.
    """
    out, product = np.zeros((columns, len(weights))), np.ones((columns, len(weights)))
    for c in range(counts.shape[0]):
        for v in range(counts.shape[1]):
            n, b, j = counts[c, v], base[c, v], owner[v]
            if n == 0.0:
                continue
            if not (0.0 < n <= MAX_FACTORS and n == np.floor(n)):
                for w in range(len(weights)):
                    out[j, w] += lgamma(n + weights[w] * b) - lgamma(weights[w] * b)
                continue
            for i in range(int(n)):
                for w in range(len(weights)):
                    product[j, w] *= weights[w] * b + i
            fine = True
            for w in range(len(weights)):
                fine &= SMALL < product[j, w] < 1.0 / SMALL
            if not fine:
                for w in range(len(weights)):
                    out[j, w] += np.log(product[j, w])
                    product[j, w] = 1.0
    return (out + np.log(product)).T


def wishart_evidence(nu: Array, rows: Array, log_prior: Array, log_posterior: Array, d: int) -> Array:
    """Return the log marginal likelihood of scatter matrices of `rows` degrees of freedom, up to terms without Psi.

        lmvgamma_d((nu + rows) / 2) - lmvgamma_d(nu / 2) + nu / 2 log|Psi| - (nu + rows) / 2 log|Psi + scatter|

    for a covariance with the prior inverse-Wishart(nu, Psi), nu > d - 1. A class of n rows has n - 1 degrees of freedom
    about its own mean. The arguments broadcast; `log_prior` is log|Psi|, `log_posterior` log|Psi + scatter|.

    >>> wishart_evidence(3.0, 4.0, 0.0, np.log(2.0), 1).round(3)
    np.float64(-1.104)

    References
    ----------
    Gelman et al.: Bayesian Data Analysis, 3.6.
    """
    after = nu + rows
    gammas = multigammaln(0.5 * after, d) - multigammaln(0.5 * nu, d)
    return np.asarray(gammas + 0.5 * (nu * log_prior - after * log_posterior))


def normal_evidence(weight: Array, spread: Array, rows: Array, log_det: Array) -> Array:
    """Return log p of squares about a known mean under cov ~ inverse-Wishart(m cov0, m + p + 1), whose mean is cov0.

        wishart_evidence - n p/2 log pi,    nu = m + p + 1,  Psi = m cov0

    for the weights m of the prior (m,), eigenvalues of cov0^-1 scatter (..., p), numbers of rows n (...) and log|cov0|
    (...): (m, ...). For p = 1 this is the inverse-gamma prior of a variance.

    References
    ----------
    Murphy: Machine Learning, a Probabilistic Perspective (2012), 4.6.3.
    """
    p = spread.shape[-1]
    m = weight.reshape(-1, *[1] * rows.ndim)
    after = log_det + np.log(m[..., None] + spread).sum(axis=-1)
    squares = wishart_evidence(m + (p + 1.0), rows, log_det + p * np.log(m), after, p)
    return np.asarray(squares - 0.5 * rows * p * np.log(np.pi))


def mean_evidence(weight: float, rows: Array, p: int) -> Array:
    """Return the term of unknown means: p/2 log(m1 / (m1 + n)) for weight m1; for flat means (m1 = 0) -p/2 log n.

    A flat mean costs one row, so that `normal_evidence` is then that of n - 1 rows. A class of less than one row adds
    nothing.
    """
    if weight > 0:
        return np.asarray(0.5 * p * np.log(weight / (weight + rows)))
    return np.asarray(-0.5 * p * np.log(np.maximum(rows, 1.0)))


def free_rows(weight: float, rows: Array) -> Array:
    """Return the number of rows left for a covariance after estimating a mean under a prior of this weight."""
    return np.asarray(rows if weight > 0 else np.maximum(rows - 1.0, 0.0))


def greatest(evidence: Array) -> Array:
    """Return where the evidence (m, ...) is greatest over its first axis; of equal values (up to TIE) the first."""
    best = evidence.max(axis=0)
    return np.asarray(np.argmax(evidence >= best - TIE * (1.0 + abs(best)), axis=0))
