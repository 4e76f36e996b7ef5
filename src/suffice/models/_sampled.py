"""Drawing rows from a density."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic

import numpy as np

from suffice._domain import Encoded
from suffice._vector import Array
from suffice.models._base import Ability, D


class Samplable(Ability, Generic[D]):
    """Has a density p(x | y) that rows can be drawn from."""

    words = "a density to draw rows from"

    continuous: ClassVar[bool] = False  # whether p(x | y) is a density over all numbers, not a sum over values

    @abstractmethod
    def sample(self, codes: Array, theta: D, rng: np.random.Generator) -> Encoded:
        """A row from p(x | y) for every class number (n,), as this model's encoder would give it."""


def drawn(log_p: Array, codes: Array, rng: np.random.Generator) -> Array:
    """A cell (n,) from the table of each class number (n,), given logarithms (r, k); -1 if there are no cells.

    >>> drawn(np.log([[1e-300, 1.0], [1.0, 1e-300]]), np.array([0, 1, 1]), np.random.default_rng(0))
    array([1, 0, 0])
    """
    out, u = np.full(len(codes), -1), rng.random(len(codes))
    if not len(log_p):
        return out
    p = np.cumsum(np.exp(log_p - log_p.max(axis=0)), axis=0)
    for c in range(log_p.shape[1]):
        rows = codes == c
        out[rows] = np.searchsorted(p[:, c], u[rows] * p[-1, c], side="right")
    return np.asarray(np.minimum(out, len(log_p) - 1))
