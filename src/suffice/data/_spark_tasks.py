"""What Spark's executors do with a partition, as values that travel there: record batches in, record batches out."""

from __future__ import annotations

import gc
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from suffice._runtime.system import optional
from suffice._runtime.threads import undivided
from suffice.data.base import Batch, Change
from suffice.data.layout import DataError, Layout, located
from suffice.data.memory import ENTRIES
from suffice.data.partitioned import Partial, added, called

pa = optional("pyarrow", "spark")

ROWS = "part int, count int, value binary"  # of partial sums, and of cached batches: a partition, and what is there


class Fault(NamedTuple):
    """What is wrong with a partition: it comes back in the place of a sum, for trying again would not help."""

    message: str


def _row(part: int, count: int, value: object) -> Any:
    columns = [
        pa.array([part], pa.int32()),
        pa.array([count], pa.int32()),
        pa.array([pickle.dumps(value)], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["part", "count", "value"])


def _rows(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def begun() -> int:
    """The partition that this task works on; to be called when a task begins."""
    from pyspark import TaskContext

    _settle()
    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _settle() -> None:
    """Leave what has been there for long, as modules, out of the collection of garbage.

    Spark's workers collect after every task, which takes 0.1 s with all modules. This is done at the first task of a
    worker, the second, the fourth, the eighth and so on: more is compiled or imported on the way, and what is left out
    is never collected.
    """
    _BEGUN[0] += 1
    if _BEGUN[0].bit_count() == 1:
        gc.freeze()


_BEGUN = [0]  # tasks, in this process


class PartitionReader(Protocol):
    """The batches of a partition, at least one."""

    def __call__(self, part: int, batches: Iterable[Any]) -> Iterator[Batch]: ...


@dataclass(frozen=True)
class SparkTables:
    """Record batches as tables of about two million cells, at least one."""

    names: tuple[str, ...]
    fields: list[Any]  # their types, for a partition that has no rows

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        most = max(1, ENTRIES // len(self.names))
        waiting: list[Any] = []
        none = True
        for batch in batches:
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= most:
                yield self._table(waiting)
                waiting, none = [], False
        if waiting or none:
            yield self._table(waiting)

    def _table(self, batches: list[Any]) -> Any:
        schema = batches[0].schema if batches else pa.schema(self.fields)
        return pa.Table.from_batches(batches, schema=schema).rename_columns(list(self.names))


@dataclass(frozen=True)
class SparkRows:
    """Rows as Spark has them."""

    layout: Layout
    tables: SparkTables

    def __call__(self, part: int, batches: Iterable[Any]) -> Iterator[Batch]:
        for table in self.tables(batches):
            with located(called(part)):
                batch = self.layout.batch(table)
            yield batch


@dataclass(frozen=True)
class Load:
    """Batches that were cached."""

    def __call__(self, part: int, batches: Iterable[Any]) -> Iterator[Batch]:  # noqa: ARG002 - as all readers
        for row in _rows(batches):
            value = pickle.loads(row["value"])  # noqa: S301 - bytes of our own, which never leave the cluster
            if isinstance(value, Fault):
                raise DataError(value.message)
            yield value


@dataclass(frozen=True)
class Sum:
    """The partial sum of a partition, as one row; none of a partition that is not meant, or has nothing cached."""

    read: PartitionReader
    partial: Partial
    only: frozenset[int] | None = None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        part, total = begun(), None
        if self.only is not None and part not in self.only:
            deque(batches, 0)  # a worker that does not read all that it is sent is not used again
            return
        try:
            for batch in self.read(part, batches):
                one = self.partial(part, batch)
                total = one if total is None else total + one
        except DataError as error:
            total = Fault(str(error))
            deque(batches, 0)
        if total is not None:
            yield _row(part, 1, total)


@dataclass(frozen=True)
class Encode:
    """The batches of a partition after a change, as rows to be cached."""

    read: PartitionReader
    change: Change | None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        part = begun()
        try:
            for batch in self.read(part, batches):
                with located(called(part)), undivided(batch.X.shape[1]):
                    after = batch if self.change is None else self.change(batch)
                yield _row(part, 1, after)
        except DataError as error:
            yield _row(part, 1, Fault(str(error)))
            deque(batches, 0)


@dataclass(frozen=True)
class Add:
    """Partial sums whose partitions are the same modulo `groups`, added in the order of the partitions."""

    groups: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        begun()
        rows = sorted(_rows(batches), key=lambda row: (row["part"] % self.groups, row["part"]))
        for _, group in groupby(rows, key=lambda row: row["part"] % self.groups):
            parts, counts, values = zip(*map(itemgetter("part", "count", "value"), group), strict=True)
            yield _row(parts[0], sum(counts), _total(parts, [pickle.loads(value) for value in values]))  # noqa: S301


def _total(parts: tuple[int, ...], values: list[Any]) -> Any:
    faults = [value for value in values if isinstance(value, Fault)]
    if faults:
        return faults[0]
    try:
        return added(parts, values)
    except DataError as error:
        return Fault(str(error))


@dataclass(frozen=True)
class Answer:
    """The keys of rows and what f says of their features, in columns of given types."""

    read: SparkRows
    f: Callable[[Any], Any]
    schema: Any = None  # a pyarrow.Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        part = begun()
        for table in self.read.tables(batches):
            with located(called(part)), undivided(table.num_columns):
                yield from self.of(table).to_batches()

    def of(self, table: Any) -> Any:
        """Of a table; the types are found in what is said where none are given."""
        said = {name: _arrow(values) for name, values in self.read.layout.answered(table, self.f).items()}
        if self.schema is None:
            return pa.table({name: values.cast(_plain(values.type)) for name, values in said.items()})
        return pa.table([said[name].cast(self.schema.field(name).type) for name in said], schema=self.schema)


def _arrow(values: Any) -> Any:
    known = isinstance(values, pa.ChunkedArray | pa.Array)
    return values if known else pa.array(values, from_pandas=values.dtype == object)  # NaN is a number else


def _plain(kind: Any) -> Any:
    """A type that Spark has; what nothing is known of is text."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    return pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else kind
