"""Shared by all laws: rows to test on, comparison of values, and the message of a broken law."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from suffice._core.features import Domain, Features
from suffice._core.vector import Array
from suffice.encoders import Binary, Categories, Encoder, NonNegative
from suffice.models import Statistics

V = TypeVar("V")


def draw(encoder: Encoder, seed: int, n: int = 80, d: int | None = None) -> tuple[Array, Array]:
    """Rows (n, d) of 2 to 5 overlapping classes, each with at least 8 of them: numbers, counts or categories."""
    d, k = 1 + (seed + 2) % 4 if d is None else d, 2 + (seed + 1) % 4
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(k), 8), rng.integers(k, size=max(0, n - 8 * k))])
    rng.shuffle(y)
    if isinstance(encoder, Categories):
        return (rng.integers(4, size=(len(y), d)) + y[:, None] % 2).astype(str), y
    if counted(encoder):
        return rng.poisson(rng.uniform(0.2, 2.0, size=(k, d))[y]), y
    mix = 0.3 * rng.normal(size=(d, d)) + 2 * np.eye(d)  # far from singular
    return (rng.normal(size=(len(y), d)) + rng.normal(size=(k, d))[y]) @ mix + rng.normal(size=d) * 5, y


def counted(encoder: Encoder) -> bool:
    """True if rows are counts, or made from counts."""
    return isinstance(encoder, NonNegative | Binary)


def copied(value: V) -> V:
    """Return the copy that another process would get."""
    again: V = pickle.loads(pickle.dumps(value))  # noqa: S301 - bytes of our own
    return again


def numbers(value: Any) -> Array:
    """Return all numbers of parameters, statistics or answers in one array, without domains."""
    return np.concatenate([np.zeros(0), *_parts(value)])


def _parts(value: Any) -> list[Array]:
    if value is None or isinstance(value, str | Domain | Features):
        return []
    if is_dataclass(value) and not isinstance(value, type):
        return [part for f in fields(value) for part in _parts(getattr(value, f.name))]
    if isinstance(value, Mapping):
        return [part for one in value.values() for part in _parts(one)]
    if isinstance(value, tuple | list):
        return [part for one in value for part in _parts(one)]
    array = np.ravel(np.asarray(value))
    return [array.astype(float)] if array.dtype.kind in "biuf" else []


@dataclass(frozen=True)
class LawTrial:
    """The test of a law; the AssertionError of a broken one says who breaks it, which one, and how to reproduce it."""

    who: str
    again: str

    def holds(self, fact: Any, law: str) -> None:
        """Raise AssertionError unless the fact is true; the law is a sentence."""
        if not fact:
            raise AssertionError(f"{self.who} breaks a law: {law}. To see it again: {self.again}")

    def same(self, a: Any, b: Any, law: str, tolerance: float = 1e-10) -> None:
        """Check that two values have the same numbers, up to an absolute and relative tolerance."""
        a, b = numbers(a), numbers(b)
        self.holds(a.shape == b.shape, f"{law}, but they have {a.size} and {b.size} numbers")
        off = ~np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        if off.any():
            at = int(np.flatnonzero(off)[0])
            self.holds(False, f"{law}, but number {at} is {a[at]:.12g} here and {b[at]:.12g} there")

    def same_sums(self, a: Statistics[Any], b: Statistics[Any], law: str, tolerance: float = 1e-11) -> None:
        """Two statistics are the same on one domain, as far as the largest of their sums has digits."""
        a, b = a.align(b)
        scale = max([1.0, *(float(np.max(abs(leaf))) for s in (a, b) for leaf in s.leaves() if np.size(leaf))])
        pairs = zip(a.leaves(), b.leaves(), strict=True)
        gap = max([0.0, *(float(np.max(abs(x - y))) for x, y in pairs if np.size(x))])
        self.holds(gap <= tolerance * scale, f"{law}, but they differ by {gap:.3g} in sums of up to {scale:.3g}")
