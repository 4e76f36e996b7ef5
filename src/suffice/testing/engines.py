"""The laws of an engine, a small engine that obeys them, and the bytes that a fit moves between rows and learner."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from suffice._core.labels import OneHot
from suffice._core.vector import Array
from suffice.data import Batch, Data, Memory, source
from suffice.data.base import After, R
from suffice.data.fingerprint import digest
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.encoders import Categories, Encoder, Numbers
from suffice.learners import ClosedForm, Observed, RiskCalibration
from suffice.linear_model import LogisticRegression
from suffice.models import Categorical, FullGaussian
from suffice.naive_bayes import CategoricalNB, GaussianNB
from suffice.testing._trial import LawTrial, copied, draw

Parts = Sequence[tuple[Any, Any]]  # rows and labels, partition by partition; some may be empty


class PickledPartitions(Data):
    """Rows and labels in partitions; questions and answers are pickled, and `sent` records their sizes.

    >>> PickledPartitions([([[1.0]], [0]), ([[2.0], [3.0]], [0, 1])]).sum(len)
    4
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = [Batch(np.asarray(X), OneHot.of(np.asarray(y))) for X, y in parts]
        self.sent: list[tuple[Any, int]] = []

    def _send(self, f: Callable[[Any], Any], each: Iterable[Any]) -> list[Any]:
        data = pickle.dumps(f)
        self.sent.append((f, len(data)))
        return [copied(pickle.loads(data)(value)) for value in each]  # noqa: S301 - bytes of our own

    def sum(self, f: Callable[[Batch], R]) -> R:
        total: R = reduce(operator.add, self._send(f, self.parts))
        return total

    def transform(self, f: Callable[[Any], Any]) -> Any:
        return np.concatenate(self._send(f, (part.X for part in self.parts)))

    def fingerprint(self) -> dict[str, Any]:
        """Return the number of rows of each partition, and a digest of all values and labels."""
        every = (value for X, Y in self.parts for value in (X, Y.classes[Y.codes], Y.weight))
        return {"rows": [len(part.Y) for part in self.parts], "values": digest(*every)}


def cuts(X: Any, y: Any, count: int, seed: int) -> list[Parts]:
    """Cut rows into partitions in three ways: of equal size, with empty ones, and one for each class."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, len(y) + 1, count - 1))
    ends[: count // 3] = 0  # the first ones are empty
    order = np.argsort(y, kind="stable")
    borders = np.searchsorted(y[order], np.unique(y)[1:])
    return [
        [(X[rows], y[rows]) for rows in np.array_split(np.arange(len(y)), count)],
        [(X[rows], y[rows]) for rows in np.split(np.arange(len(y)), ends)],
        [(X[rows], y[rows]) for rows in np.split(order, borders)],
    ]


def check_engine(
    make_engine: Callable[[Parts], Data],
    collect: Callable[[Any], Array] = np.asarray,
    counts: Iterable[int] = (1, 7, 50),
    seeds: Iterable[int] = (0,),
) -> None:
    """Check the laws of an engine: whatever the partitions, it answers as rows in memory do.

    Parameters
    ----------
    make_engine : function of a list of (X, y)
        The data set whose partitions these are, X (n, d) an array of numbers or of strings; some have no rows.
    collect : function, default=numpy.asarray
        From what `transform` returns to one array, in the order of the rows.
    counts : numbers
        How many partitions.
    seeds : numbers
        One trial each.

    Examples
    --------
    >>> check_engine(PickledPartitions, counts=[3])
    """
    for seed in seeds:
        for count in counts:
            again = f"suffice.testing.check_engine(make_engine, counts=[{count}], seeds=[{seed}])"
            trial = LawTrial("The engine", again)
            for encoder in (Numbers(), Categories()):
                for parts in cuts(*draw(encoder, seed), count, seed):
                    X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
                    rows = EngineRows(trial, make_engine(parts), Memory(X, y), collect, encoder)
                    for law in (
                        sums_are_those_of_memory,
                        answers_are_those_of_memory,
                        changes_compose,
                        parts_are_disjoint,
                    ):
                        law(rows)


@dataclass(frozen=True)
class EngineRows:
    """The same rows in the engine and in memory."""

    trial: LawTrial
    engine: Data
    memory: Memory
    collect: Callable[[Any], Array]
    encoder: Encoder

    @property
    def categories(self) -> bool:
        """True for rows of categories."""
        return isinstance(self.encoder, Categories)


@dataclass(frozen=True)
class Halved:
    """Labels of half the weight."""

    def __call__(self, Y: OneHot) -> OneHot:
        return OneHot(Y.classes, Y.codes, 0.5 * Y.weight)


@dataclass(frozen=True)
class Twice:
    """Strings or numbers, added to themselves."""

    def __call__(self, X: Any) -> Any:
        return np.asarray(X, dtype=object) + X if np.asarray(X).dtype.kind in "UO" else 2.0 * np.asarray(X)


def _model(rows: EngineRows) -> Any:
    return Categorical() if rows.categories else FullGaussian()


def sums_are_those_of_memory(rows: EngineRows) -> None:
    """`sum` is that of rows in memory, also the second time, and leaves f as it is."""
    f = Observed(_model(rows))
    ours, theirs = rows.engine.map(rows.encoder), rows.memory.map(rows.encoder)
    before = pickle.dumps(f)
    for _ in range(2):
        rows.trial.same_sums(ours.sum(f), theirs.sum(f), "sum(f) is that of the same rows in memory", 1e-10)
    rows.trial.same_sums(ours.persist().sum(f), theirs.sum(f), "persist() keeps the same rows", 1e-10)
    rows.trial.holds(pickle.dumps(f) == before, "sum leaves f as it is: f travels by pickle, and never comes back")
    rows.trial.holds(
        rows.engine.sum(_count) == rows.memory.sum(_count), "sum takes any f whose values add, also plain numbers"
    )


def _count(batch: Batch) -> int:
    return len(batch.Y)


def answers_are_those_of_memory(rows: EngineRows) -> None:
    """Estimators learn the same as in memory, and answer for the rows in their order."""
    calibrated = GaussianNB(learner=RiskCalibration(0.1, max_iter=4, stop=None))
    logistic = LogisticRegression(learner=ClosedForm(), multi_class="ovr")
    numeric = [GaussianNB(), QuadraticDiscriminantAnalysis(), LinearDiscriminantAnalysis(), logistic, calibrated]
    for estimator in [CategoricalNB()] if rows.categories else numeric:
        ours = estimator.fit(rows.engine)
        answer, labels = rows.collect(ours.predict_proba(rows.engine)), rows.collect(ours.predict(rows.engine))
        theirs = estimator.fit(rows.memory)
        law = f"{estimator!r} learns and answers (predict_proba) what it does in memory"
        rows.trial.same(answer, theirs.predict_proba(rows.memory), law, 1e-8 if estimator is calibrated else 1e-10)
        law = f"{estimator!r} predicts the label of every row, in their order"
        rows.trial.holds(np.array_equal(labels, theirs.predict(rows.memory)), law)


def changes_compose(rows: EngineRows) -> None:
    """`map` after `map` is the change after the change; of features and of labels."""
    f = Observed(_model(rows))
    ours, theirs = (
        data.map(Twice()).map(labels=Halved()).map(rows.encoder, Halved()).sum(f) for data in (rows.engine, rows.memory)
    )
    rows.trial.same_sums(ours, theirs, "map after map changes features and labels one after the other", 1e-10)
    twice = rows.collect(rows.engine.map(Twice()).transform(np.asarray))
    rows.trial.holds(
        np.array_equal(twice, Twice()(rows.memory.X)), "transform after map is of the features that map has changed"
    )


def parts_are_disjoint(rows: EngineRows) -> None:
    """The parts of `split` and of `pieces` have every row once; the same seed makes the same parts."""
    f = Observed(_model(rows))
    data, whole = rows.engine.map(rows.encoder), rows.memory.map(rows.encoder).sum(f)
    makers: dict[str, Callable[[Data], Sequence[Data]]] = {
        "split([0.2, 0.8], 1)": lambda data: data.split([0.2, 0.8], 1),
        "pieces(3, 1)": lambda data: data.pieces(3, 1),
    }
    for name, make in makers.items():
        sums = [part.sum(f) for part in make(data)]
        law = f"{name} makes disjoint parts that together are all rows"
        rows.trial.same_sums(reduce(operator.add, sums), whole, law, 1e-10)
        for once, again in zip(sums, [part.sum(f) for part in make(data)], strict=True):
            rows.trial.same_sums(once, again, f"{name} makes the same parts again")


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
