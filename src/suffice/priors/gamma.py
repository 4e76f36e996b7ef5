"""Pseudo-rows for rates of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from suffice._core.vector import Array
from suffice._runtime.messages import NOT_NEGATIVE, check


class GammaPrior(BaseEstimator):
    """Pseudo-rows for rates of counts: m rows at the prior rate, which is that of all rows if it is None.

        rate' = (m rate0 + total) / (m + count)

    It is the mode under a Gamma prior with the shape m rate0 + 1 and the inverse scale m.

    Parameters
    ----------
    weight : float, default=1.0
        m, in rows.
    rate : None, float or array of shape (d,), default=None
        The prior rate.

    Examples
    --------
    >>> GammaPrior(2.0).rows(np.array([0.5, 3.0]))
    (2.0, array([0.5, 3. ]))
    """

    def __init__(self, weight: float = 1.0, rate: Any = None) -> None:
        self.weight = weight
        self.rate = rate

    def rows(self, overall: Array) -> tuple[float, Array]:
        """Return the number of pseudo-rows and their rates (d,), given the rates of all rows."""
        check(self, weight=NOT_NEGATIVE)
        if self.rate is None:
            return float(self.weight), overall
        rate = np.asarray(self.rate, dtype=float)
        if rate.ndim and rate.shape != overall.shape:
            raise ValueError(f"GammaPrior: rate has shape {rate.shape}, but there are {len(overall)} features")
        if not np.isfinite(rate).all() or (rate < 0).any():
            raise ValueError(f"GammaPrior: rate must be finite numbers of at least 0, got {self.rate!r}")
        return float(self.weight), np.broadcast_to(rate, overall.shape)
