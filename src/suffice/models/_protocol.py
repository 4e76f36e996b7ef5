"""What a learner may ask of a model."""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeVar

from suffice._domain import OneHot
from suffice._vector import Array
from suffice.models._statistics import Statistics

S = TypeVar("S", bound=Statistics)
T = TypeVar("T")


class DegenerateError(ValueError):
    """The statistics leave a parameter undefined; the message says which, why and what to do."""


class Model(Protocol[S, T]):
    """A family of classifiers whose parameters are a closed-form function of statistics. Pure: nothing is kept.

    `statistics` is linear in the class weights `W`, a OneHot or a signed array (n, k), and additive in the rows.
    Before `resolve` a batch brings its own domain; after it the model sums on the domain that it was resolved on.
    """

    def statistics(self, X: Any, W: OneHot | Array) -> S:
        """S(X, W) = sum_i sum_c W[i, c] T_c(x_i)."""
        ...

    def resolve(self, s: S) -> Self:
        """The model with all that depends on the data (domain, prior mean and scale) fixed once, from S(X, Y)."""
        ...

    def valid(self, s: S) -> S:
        """A mask in the shape of `s`, true where a block's parameters exist."""
        ...

    def parameters(self, s: S) -> T:
        """theta(s), under the prior; DegenerateError where `valid` does not hold."""
        ...

    def log_joint(self, X: Any, theta: T) -> Array:
        """log p(x, y) for every class (n, k), up to a term that is the same for all classes."""
        ...
