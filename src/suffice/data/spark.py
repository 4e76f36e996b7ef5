"""Rows in Spark data frames: executors sum the partitions that they hold, and only sums come back."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, cast
from weakref import finalize

from suffice._runtime.lazy import cached_property
from suffice._runtime.progress import reading
from suffice._runtime.system import optional
from suffice._runtime.threads import undivided
from suffice.data.base import Batch, R
from suffice.data.layout import DataError, Layout, located
from suffice.data.memory import ENTRIES
from suffice.data.partitioned import (
    FAN_IN,
    ChangeBatch,
    Partial,
    PartialSum,
    Partitioned,
    add_in_order,
    partition_name,
    projected,
)

pa = optional("pyarrow", "spark")

FAILED = re.compile(r"Task (\d+) in stage \S+ failed")  # Spark's words; in the first stage a task is a partition
UNREAD = re.compile(r"\[FAILED_READ_FILE.*|thrown from the Python worker")
PYTHON_ERROR = re.compile(r"^(\w+Error): (.+)$", re.MULTILINE)
ROWS = "part int, count int, value binary"  # schema of partial sums and of cached batches


class Spark(Partitioned):
    """A Spark data frame, whose partitions are summed by the executors that hold them.

        S = sum over partitions p of S_p,     added by the executors, in a fixed order

    A pass is one job: parameters go out with it, partial sums are added in ever fewer groups until one is left, and
    that one comes back; its size does not depend on the number of rows, and no rows come to the driver. While a
    classifier is fitted, encoded rows are cached by the executors. A task that fails is tried again, as Spark is set.
    The executors need suffice and pyarrow.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows, in a session of the caller's; data frames of Spark Connect are refused.
    target : str, default=None
        The column with the labels. Rows without a label are left out of sums, with a warning; without a target, rows
        can be predicted, not learned from.
    weight : str, default=None
        The column with the row weights.
    columns : list of str, default=None
        The columns with the features; by default all other columns.
    keys : str or list of str, default=()
        Columns that identify rows: they are returned with the predictions, and are not features.
    verbose : int, default=0
        1 shows the partitions of each pass.

    Examples
    --------
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> rows = SparkSession.builder.getOrCreate().read.parquet("rows.parquet")  # doctest: +SKIP
    >>> model = GaussianNB().fit(Spark(rows, target="label", keys="id"))  # doctest: +SKIP
    >>> model.predict(Spark(rows, "label", keys="id")).write.parquet("predictions")  # doctest: +SKIP
    """

    def __init__(
        self,
        df: Any,
        target: str | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        keys: str | Sequence[str] = (),
        verbose: int = 0,
    ) -> None:
        _check(df)
        self.frame, self.layout, self.verbose = df, Layout.of(target, weight, columns, keys), verbose
        self.layout.needed(df.columns, labels=target is not None)
        self._selected: frozenset[int] | None = None  # numbers of partitions; None: all
        self._warned: list[bool] = []
        _use_this_python(df.sparkSession.sparkContext)

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the partitions, added by the executors in a fixed order."""
        frame, read = self._source()
        partial = Partial(f, self.change)
        total = _added(frame.mapInArrow(Sum(read, partial, self._selected), ROWS))
        with _data_errors(), reading("partitions", None, self.verbose, "partitions") as advance:
            rows = total.collect()
            advance(sum(row["count"] for row in rows))
        if not rows:
            empty = self._empty_batch() if self._cache is None else self._cache.empty
            return self._value(cast("PartialSum[R]", partial(0, empty)))
        found: PartialSum[R] | Fault = pickle.loads(rows[0]["value"])  # noqa: S301 - bytes of our own
        if isinstance(found, Fault):
            raise DataError(found.message)
        return self._value(found)

    def transform(self, f: Callable[[Any], Any]) -> Any:
        """A lazy data frame of the keys and of the answers by name."""
        from pyspark.sql.pandas.types import from_arrow_schema

        frame, read = self._projected(labels=False)
        answer = Answer(read, self._of_features(f))
        schema = answer.of(next(read.tables([]))).schema
        return frame.mapInArrow(replace(answer, schema=schema), from_arrow_schema(schema))

    def without_labels(self) -> Spark:
        """The same rows, all of one class: labels are not read, unless they have been."""
        other = copy.copy(self)
        other.layout = self.layout.without_labels()
        return other

    def _empty_batch(self) -> Batch:
        return next(self._source()[1](0, []))

    def _cache_batches(self, change: ChangeBatch) -> CachedFrame:
        frame, read = self._source()
        return CachedFrame(frame.mapInArrow(Encode(read, change), ROWS))

    def _source(self) -> tuple[Any, PartitionReader]:
        """The frame that batches come from, and their reader."""
        if self._cache is not None:
            frame = self._cache.batches.frame
            return frame if self._selected is None else frame.filter(frame["part"].isin(*self._selected)), Load()
        self.layout.check_labels()
        return self._projected(labels=True)

    def _projected(self, labels: bool) -> tuple[Any, SparkRows]:
        """The needed columns, under names that Spark takes anywhere, and their reader."""
        from pyspark.sql.functions import col

        names = self.layout.needed(self.frame.columns, labels)
        quoted = [f"`{name.replace('`', '``')}`" for name in names]
        fields = [self._schema.field(name) for name in names]
        frame = self.frame.select([col(name).alias(f"c{j}") for j, name in enumerate(quoted)])
        return frame, SparkRows(projected(self.layout, self.frame.columns, labels), SparkTables(tuple(names), fields))

    @cached_property
    def _schema(self) -> Any:
        """The types of the columns in Arrow."""
        return self.frame.limit(0).toArrow().schema

    def _partition_count(self) -> int:
        if self._selected is not None:
            return len(self._selected)
        return int(self._source()[0].rdd.getNumPartitions())

    def _select(self, numbers: list[int]) -> Spark:
        other = copy.copy(self)
        parts = range(self._partition_count()) if self._selected is None else sorted(self._selected)
        other._selected = frozenset(parts[at] for at in numbers)
        return other


class CachedFrame:
    """A frame of encoded batches that Spark caches until nothing refers to this object."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame.persist()
        finalize(self, _release, self.frame).atexit = False


def _release(frame: Any) -> None:
    with suppress(Exception):  # the session may have ended before
        frame.unpersist()


def _added(sums: Any) -> Any:
    """Partial sums, added in ever fewer groups until one is left."""
    width = int(sums.sparkSession.sparkContext.defaultParallelism)
    while width > FAN_IN:
        width = -(-width // FAN_IN)
        sums = sums.repartition(width, sums["part"] % width).mapInArrow(Add(width), ROWS)
    return sums.repartition(1).mapInArrow(Add(1), ROWS)


@contextmanager
def _data_errors() -> Iterator[None]:
    """Raise errors of rows that Spark cannot read as a DataError, without the tracebacks of the engine."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        failed, unread, errors = FAILED.search(text), UNREAD.search(text), PYTHON_ERROR.findall(text)
        if failed is None and unread is None:
            raise
        where = "a partition" if failed is None else partition_name(int(failed[1]))
        what = ": ".join(errors[-1]) if errors else cast(re.Match[str], unread or failed)[0]
        raise DataError(f"{where}: {what}") from None


def _check(df: Any) -> None:
    if type(df).__module__.startswith("pyspark.sql.connect"):
        raise TypeError("data frames of Spark Connect cannot be learned from: use a session in the driver's process")
    if not hasattr(df, "mapInArrow") or not hasattr(df, "sparkSession"):
        raise TypeError(f"Spark takes a data frame of pyspark 4 or later, got a {type(df).__name__}")


def _use_this_python(context: Any) -> None:
    """Have executors on this machine run the Python that runs here, unless PYSPARK_PYTHON names another."""
    if "PYSPARK_PYTHON" not in os.environ and str(context.master).startswith("local"):
        os.environ["PYSPARK_PYTHON"] = context.pythonExec = sys.executable


# Tasks of the executors: values that are sent there, with record batches in and record batches out


class Fault(NamedTuple):
    """An error of a partition. It is returned in the place of a sum, because trying again would not help."""

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


def begin_task() -> int:
    """The number of the partition that this task works on; to be called when a task begins."""
    from pyspark import TaskContext

    _freeze_garbage()
    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _freeze_garbage() -> None:
    """Exclude long-lived objects, such as modules, from garbage collection.

    Spark's workers collect after every task, which takes 0.1 s with all modules. Freezing happens at the first task of
    a worker, the second, the fourth, the eighth and so on: more is compiled or imported on the way, and frozen objects
    are never collected.
    """
    _TASKS[0] += 1
    if _TASKS[0].bit_count() == 1:
        gc.freeze()


_TASKS = [0]  # number of tasks that this process has begun


class PartitionReader(Protocol):
    """Reads the batches of a partition, at least one."""

    def __call__(self, part: int, batches: Iterable[Any]) -> Iterator[Batch]: ...


@dataclass(frozen=True)
class SparkTables:
    """Joins record batches to tables of about two million cells, at least one."""

    names: tuple[str, ...]
    fields: list[Any]  # the types of the columns, for a partition without rows

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        enough = max(1, ENTRIES // len(self.names))
        waiting: list[Any] = []
        none = True
        for batch in batches:
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= enough:
                yield self._table(waiting)
                waiting, none = [], False
        if waiting or none:
            yield self._table(waiting)

    def _table(self, batches: list[Any]) -> Any:
        schema = batches[0].schema if batches else pa.schema(self.fields)
        return pa.Table.from_batches(batches, schema=schema).rename_columns(list(self.names))


@dataclass(frozen=True)
class SparkRows:
    """Reads rows as Spark has them."""

    layout: Layout
    tables: SparkTables

    def __call__(self, part: int, batches: Iterable[Any]) -> Iterator[Batch]:
        for table in self.tables(batches):
            with located(partition_name(part)):
                batch = self.layout.batch(table)
            yield batch


@dataclass(frozen=True)
class Load:
    """Reads cached batches."""

    def __call__(self, part: int, batches: Iterable[Any]) -> Iterator[Batch]:  # noqa: ARG002 - as all readers
        for row in _rows(batches):
            value = pickle.loads(row["value"])  # noqa: S301 - bytes of our own, which never leave the cluster
            if isinstance(value, Fault):
                raise DataError(value.message)
            yield value


@dataclass(frozen=True)
class Sum:
    """The partial sum of a partition, as one row; no row for a partition that is not selected or has no cache."""

    read: PartitionReader
    partial: Partial
    selected: frozenset[int] | None = None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        part, total = begin_task(), cast(Any, None)
        if self.selected is not None and part not in self.selected:
            deque(batches, 0)  # Spark does not use a worker again that has not read all of its input
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
    change: ChangeBatch

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        part = begin_task()
        try:
            for batch in self.read(part, batches):
                yield _row(part, 1, self.change(part, batch))
        except DataError as error:
            yield _row(part, 1, Fault(str(error)))
            deque(batches, 0)


@dataclass(frozen=True)
class Add:
    """Partial sums whose partitions are equal modulo `groups`, added in the order of the partitions."""

    groups: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        begin_task()
        rows = sorted(_rows(batches), key=lambda row: (row["part"] % self.groups, row["part"]))
        for _, group in groupby(rows, key=lambda row: row["part"] % self.groups):
            parts, counts, values = zip(*map(itemgetter("part", "count", "value"), group), strict=True)
            yield _row(parts[0], sum(counts), _total(parts, [pickle.loads(value) for value in values]))  # noqa: S301


def _total(parts: tuple[int, ...], values: list[Any]) -> Any:
    fault = next((value for value in values if isinstance(value, Fault)), None)
    if fault is not None:
        return fault
    try:
        return add_in_order(parts, values)
    except DataError as error:
        return Fault(str(error))


@dataclass(frozen=True)
class Answer:
    """The keys of rows and f of their features, in columns of given types."""

    read: SparkRows
    f: Callable[[Any], Any]
    schema: Any = None  # a pyarrow.Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        part = begin_task()
        for table in self.read.tables(batches):
            with located(partition_name(part)), undivided(table.num_columns):
                yield from self.of(table).to_batches()

    def of(self, table: Any) -> Any:
        """The answers for a table; without a schema their types are those of the values."""
        found = {name: _arrow(values) for name, values in self.read.layout.answers(table, self.f).items()}
        if self.schema is None:
            return pa.table({name: values.cast(_spark_type(values.type)) for name, values in found.items()})
        return pa.table([found[name].cast(self.schema.field(name).type) for name in found], schema=self.schema)


def _arrow(values: Any) -> Any:
    known = isinstance(values, pa.ChunkedArray | pa.Array)
    return values if known else pa.array(values, from_pandas=values.dtype == object)  # NaN is a number else


def _spark_type(kind: Any) -> Any:
    """The nearest type that Spark has; text where the type is unknown."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    return pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else kind


__all__ = ["Spark"]
