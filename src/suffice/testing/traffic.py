"""How many bytes a fit sends to where the rows are, and gets back."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sklearn.base import clone

from suffice.data import Batch, Data, Memory, source
from suffice.data.base import After, R


class Pass(NamedTuple):
    """A read of the rows: the question, and the bytes that go to every worker and come back from each."""

    asked: str
    sent: int
    returned: int


@dataclass(frozen=True)
class Traffic:
    """The passes of a fit; it prints as a table."""

    passes: tuple[Pass, ...]

    @property
    def largest(self) -> Pass:
        """The pass in which most bytes come back."""
        return max(self.passes, key=lambda one: one.returned)

    def __str__(self) -> str:
        lines = [f"{i:>4}  {p.asked:<24}{p.sent:>14,}{p.returned:>14,}" for i, p in enumerate(self.passes, 1)]
        return "\n".join([f"pass  {'asked':<24}{'bytes sent':>14}{'returned':>14}", *lines])


class Meter(Data):
    """Wraps a data set, and records the sizes of questions and answers."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.passes: list[Pass] = []

    def sum(self, f: Callable[[Batch], R]) -> R:
        answer = self.data.sum(f)
        self.passes.append(Pass(_name(f), len(pickle.dumps(f)), len(pickle.dumps(answer))))
        return answer

    def transform(self, f: Callable[[Any], Any]) -> Any:
        return self.data.transform(f)


def traffic(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Traffic:
    """Measure the bytes that a fit moves between rows and learner: they depend on the model, not on the number of rows.

    Parameters
    ----------
    estimator : classifier
        A copy of it is fitted.
    X, y, sample_weight
        As in `fit`; a sample of the rows will do, if it has all classes and categories.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import GaussianNB
    >>> X, y = np.random.default_rng(0).normal(size=(1000, 5)), np.arange(1000) % 2
    >>> few, many = (traffic(GaussianNB(), X[:n], y[:n]).largest for n in (10, 1000))
    >>> few.asked, few.returned == many.returned
    ('Observed', True)
    """
    meter = Meter(source(X, y, sample_weight) or Memory(X, y, sample_weight))
    clone(estimator).fit(meter)
    return Traffic(tuple(meter.passes))


def _name(f: Any) -> str:
    """Return the name of the question, without the changes of rows before it."""
    while isinstance(f, After | partial):
        f = f.g if isinstance(f, After) else f.func
    return str(getattr(f, "__qualname__", type(f).__name__)).lstrip("_")
