"""Rows in dask data frames and arrays: partitions are summed where they are, and only sums come back."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from dask import compute, config, delayed, persist
from dask.array import Array as DaskArray
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.dataframe import DataFrame, Series
from dask.sizeof import sizeof

from suffice._runtime.progress import reading
from suffice.data._dask_forms import DaskArrays, DaskForm, DaskFrames, Lazy, Reader, sent
from suffice.data.base import Batch, Change, R
from suffice.data.layout import DataError, Layout, located
from suffice.data.partitioned import FAN_IN, Partial, Partitioned, added, called

FAULTS = (ValueError, TypeError, LookupError, OSError)  # of partitions that dask itself cannot read
LARGE = "distributed.admin.large-graph-warning-threshold"


class Dask(Partitioned):
    """A dask data frame, or dask arrays, whose partitions are summed by the workers that hold them.

        S = sum over partitions p of S_p,     added eight at a time, in the order of the partitions

    A pass is one graph: parameters go out once, partial sums are added by the workers, and one sum comes back, whose
    size does not depend on the number of rows. While a classifier is fitted, encoded partitions stay on the workers;
    the partitions of a worker that is lost are read again by others.

    Parameters
    ----------
    collection : dask data frame, or dask array of shape (n, d)
        The rows.
    target : str, or dask array of shape (n,), default=None
        The labels: the name of a column or, where the rows are an array, an array.
    weight : str, or dask array of shape (n,), default=None
        The row weights, likewise.
    columns : list of str, default=None
        The columns of a data frame with the features; by default all that are nothing else.
    keys : str or list of str, default=()
        Columns of a data frame that come back with the predictions, and are no features.
    client : distributed.Client, default=None
        Where to compute; by default the current client, and without one dask's own scheduler.
    verbose : int, default=0
        1 shows the partitions of each pass.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask.dataframe import from_pandas
    >>> from suffice import GaussianNB
    >>> rows = from_pandas(pd.DataFrame({"x": [0.0, 1.0, 4.0, 5.0], "label": list("aabb")}), npartitions=2)
    >>> model = GaussianNB().fit(Dask(rows, target="label"))
    >>> model.predict(rows[["x"]]).compute()["prediction"].tolist()
    ['a', 'a', 'b', 'b']
    """

    def __init__(
        self,
        collection: Any,
        target: Any = None,
        weight: Any = None,
        columns: Sequence[str] | None = None,
        keys: str | Sequence[str] = (),
        client: Any = None,
        verbose: int = 0,
    ) -> None:
        self._form = _form(collection, target, weight, columns, keys)
        self._numbers: Sequence[int] = range(self._form.count)  # of the partitions that are meant
        self._kept: KeptByDask | None = None
        self.client, self.verbose = client, verbose

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the partitions, added by the workers in a fixed order."""
        leaves = self._tasks("sum", Partial(f, self.change))
        with _faults(self), self._quiet():
            total: R = self._computed(leaves, _tree(self._numbers, leaves))
        return total

    def transform(self, f: Callable[[Any], Any]) -> Any:
        """A lazy data frame of the keys and of the answers by name, with the same divisions; of an array an array."""
        return self._form.transform(self._asked(f))

    def without_labels(self) -> Dask:
        """The same rows, all of one class: labels are not read, unless they have been."""
        other = copy.copy(self)
        other._form = self._form.without_labels()
        return other

    def persist(self) -> Dask:
        """The same, with batches kept by the workers as they are now until nothing refers to this any more."""
        before = self._form.empty if self._kept is None else self._kept.empty
        if self._kept is not None and self._leaves_as_is(before):
            return self
        tasks, other = self._tasks("keep", Keep(self.change)), copy.copy(self)
        with _faults(self), self._quiet():
            batches = persist(*tasks) if self.client is None else self.client.persist(tasks)
        empty = before if self.change is None else self.change(before)
        other._kept, other.change = KeptByDask(dict(zip(self._numbers, batches, strict=True)), empty), None
        return other

    def _partitions(self) -> int:
        return len(self._numbers)

    def _only(self, numbers: list[int]) -> Dask:
        other = copy.copy(self)
        other._numbers = [self._numbers[at] for at in numbers]
        return other

    def _tasks(self, name: str, then: Callable[[int, Batch], Any]) -> list[Lazy]:
        """A task for each partition; what all of them need is one node of the graph."""
        if self._kept is None:
            read, parts = self._form.reader, dict(enumerate(self._form.parts))
        else:
            read, parts = _as_is, {number: (batch,) for number, batch in self._kept.batches.items()}
        job, work, token = sent(Job(read, then)), delayed(_work, pure=False), uuid4().hex
        return [
            work(job, number, *parts[number], dask_key_name=f"suffice_{name}-{token}-{number}")
            for number in self._numbers
        ]

    def _client(self) -> Any:
        """The client that computes, or None if dask does by itself."""
        return getattr(get_scheduler(), "__self__", None) if self.client is None else self.client

    def _quiet(self) -> AbstractContextManager[Any]:
        """No warning of large parameters, which go out once; there are settings of clients where there is one."""
        return nullcontext() if self._client() is None else config.set({LARGE: "100MB"})

    def _computed(self, leaves: list[Lazy], total: Lazy) -> Any:
        """A total; the partitions are counted on the way if that is to be shown."""
        client = self._client()
        with reading("partitions", len(leaves), self.verbose and leaves, "partitions") as seen:
            if client is None:
                with Callback(posttask=lambda key, *_: seen(str(key).startswith("suffice_sum"))):
                    return compute(total)[0]
            if not self.verbose:
                return client.compute(total, sync=True)
            from distributed import as_completed

            *each, last = client.compute([*leaves, total])
            for _ in as_completed(each):
                seen(1)
            return last.result()


@dataclass(frozen=True)
class KeptByDask:
    """Batches that the workers keep for this engine, by the number of their partition, and one without rows."""

    batches: dict[int, Lazy]
    empty: Batch


@dataclass(frozen=True)
class Job:
    """What is done with a partition: it is read, and then worked on."""

    read: Reader
    then: Callable[[int, Batch], Any]


@dataclass(frozen=True)
class Keep:
    """A batch after a change."""

    change: Change | None

    def __call__(self, number: int, batch: Batch) -> Batch:
        with located(called(number)):
            return batch if self.change is None else self.change(batch)


def _as_is(batch: Batch) -> Batch:
    return batch


def _work(job: Job, number: int, *rows: Any) -> Any:
    with located(called(number)):
        batch = job.read(*rows)
    return job.then(number, batch)


def _tree(numbers: Sequence[int], sums: list[Lazy]) -> Lazy:
    """The total of partial sums: neighbours are added until one is left."""
    if len(sums) == 1:
        return sums[0]
    groups = [slice(i, i + FAN_IN) for i in range(0, len(sums), FAN_IN)]
    add = delayed(_added, pure=False)
    return _tree([numbers[group][0] for group in groups], [add(list(numbers[g]), *sums[g]) for g in groups])


def _added(numbers: list[int], *partial: Any) -> Any:
    return added(numbers, partial)


@contextmanager
def _faults(data: Dask) -> Iterator[None]:
    """What is wrong with a partition as a DataError that names it, without the tracebacks of the engine."""
    try:
        yield
    except DataError as error:
        raise DataError(str(error)) from None
    except FAULTS as error:
        number = _unreadable(data)
        if number is None:
            raise
        raise DataError(f"{called(number)}: {type(error).__name__}: {error}") from None


def _unreadable(data: Dask) -> int | None:
    """The first partition that dask cannot read; None if it can read all."""
    for number in data._numbers:
        try:
            data._computed([], delayed(_lengths, pure=False)(*data._form.parts[number]))
        except FAULTS:
            return number
    return None


def _lengths(*rows: Any) -> list[int]:
    return [len(one) for one in rows]


def _form(collection: Any, target: Any, weight: Any, columns: Any, keys: Any) -> DaskForm:
    if isinstance(collection, DataFrame):
        return DaskFrames(collection, Layout.of(target, weight, columns, keys))
    if not isinstance(collection, DaskArray):
        raise TypeError(f"Dask takes a dask data frame or a dask array, got a {type(collection).__name__}")
    if columns is not None or keys:
        raise TypeError("columns and keys name columns of a data frame, and the rows are an array: give neither")
    beside = [one.values if isinstance(one, Series) else one for one in (target, weight)]
    for called_, one in zip(("target", "weight"), beside, strict=True):
        if one is not None and not isinstance(one, DaskArray):
            raise TypeError(f"with rows in a dask array, {called_} is a dask array, got a {type(one).__name__}")
    return DaskArrays(collection, *beside)


@sizeof.register(Batch)
def _size(batch: Batch) -> int:
    """Bytes of a batch, by which the scheduler decides where to work and what to write to disk."""
    sizes: list[int] = []
    rest = pickle.dumps(batch, protocol=5, buffer_callback=lambda buffer: sizes.append(buffer.raw().nbytes))
    return len(rest) + sum(sizes)


__all__ = ["Dask"]
