"""Votes of two-class models: one against one, and one against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice._posterior import posterior
from suffice._vector import Array


@dataclass(frozen=True, eq=False)
class Contest:
    """Which classes a two-class model tells apart: class c is on side group[c], or takes no part where that is -1."""

    group: Array  # (k,) of 0, 1 and -1

    @property
    def sides(self) -> tuple[Array, Array]:
        """The classes of the first and of the second side."""
        return np.flatnonzero(self.group == 0), np.flatnonzero(self.group == 1)


def one_against_one(k: int) -> list[Contest]:
    """Every pair of k classes.

    >>> [contest.group.tolist() for contest in one_against_one(3)]
    [[0, 1, -1], [0, -1, 1], [-1, 0, 1]]
    """
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    return [Contest(np.array([0 if c == a else 1 if c == b else -1 for c in range(k)])) for a, b in pairs]


def one_against_rest(k: int) -> list[Contest]:
    """Every class, as the second side, against all others.

    >>> [contest.group.tolist() for contest in one_against_rest(3)]
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    return [Contest(np.array([int(c == one) for c in range(k)])) for one in range(k)]


SCHEMES = {"ovo": one_against_one, "ovr": one_against_rest}


@dataclass(frozen=True, eq=False)
class Voting:
    """Many classes from two-class models (resolved) and their contests.

    One against the rest: p(y | x) is proportional to each model's own probability. One against one: every model votes,
    the most votes win, and ties go by the sum of the probabilities p(a | a or b); shares of votes are the probabilities
    reported, with those sums as fractions of a vote.
    """

    scheme: str
    models: tuple[Any, ...]
    contests: tuple[Contest, ...]

    def log_joint(self, X: Any, theta: tuple[Any, ...]) -> Array:
        """Logarithms of shares (n, k)."""
        k = len(self.contests[0].group)
        share = np.zeros((len(X), k))
        for model, contest, parameters in zip(self.models, self.contests, theta, strict=True):
            p = posterior(model.log_joint(X, parameters))[:, 1]
            if self.scheme == "ovr":
                share[:, contest.sides[1]] = p[:, None]
                continue
            for side, of_side in zip(contest.sides, (1 - p, p), strict=True):
                share[:, side] += ((of_side > 0.5) + of_side / k)[:, None]
        return np.log(np.maximum(share, np.finfo(float).tiny))
