"""Evidence: how probable statistics are under a prior, with the parameters integrated out."""

from __future__ import annotations

import numpy as np
from scipy.special import multigammaln

from suffice._vector import Array


def wishart_evidence(nu: Array, rows: Array, log_prior: Array, log_posterior: Array, d: int) -> Array:
    """The log marginal likelihood of scatter matrices of `rows` degrees of freedom, up to what does not depend on Psi.

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
