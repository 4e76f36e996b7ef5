"""Rows in Spark data frames: partitions are summed by the executors that hold them, and only sums come back."""

from __future__ import annotations

import copy
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, cast
from weakref import finalize

from suffice._runtime.lazy import cached_property
from suffice._runtime.progress import reading
from suffice.data._spark_tasks import (
    ROWS,
    Add,
    Answer,
    Encode,
    Fault,
    Load,
    PartitionReader,
    SparkRows,
    SparkTables,
    Sum,
)
from suffice.data.base import Batch, R
from suffice.data.layout import DataError, Layout
from suffice.data.partitioned import FAN_IN, Partial, Partitioned, called, narrowed

FAILED = re.compile(r"Task (\d+) in stage \S+ failed")  # Spark's words; in the first stage a task is a partition
UNREAD = re.compile(r"\[FAILED_READ_FILE.*|thrown from the Python worker")
SAID = re.compile(r"^(\w+Error): (.+)$", re.MULTILINE)  # what Python has said last


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
        The column with the labels; rows without labels can be predicted, not learned from.
    weight : str, default=None
        The column with the row weights.
    columns : list of str, default=None
        The columns with the features; by default all that are nothing else.
    keys : str or list of str, default=()
        Columns that say which row is which: they are no features, and come back with the predictions.
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
        self._kept: KeptBySpark | None = None
        self._only_parts: frozenset[int] | None = None
        _use_this_python(df.sparkSession.sparkContext)

    def sum(self, f: Callable[[Batch], R]) -> R:
        """The sum of f over the partitions, added by the executors in a fixed order."""
        frame, read = self._source()
        partial = Partial(f, self.change)
        total = _added(frame.mapInArrow(Sum(read, partial, self._only_parts), ROWS))
        with _faults(), reading("partitions", None, self.verbose, "partitions") as seen:
            rows = total.collect()
            seen(sum(row["count"] for row in rows))
        found = [pickle.loads(row["value"]) for row in rows]  # noqa: S301 - bytes of our own
        if found and isinstance(found[0], Fault):
            raise DataError(found[0].message)
        result: R = found[0] if found else partial(0, self._before())
        return result

    def transform(self, f: Callable[[Any], Any]) -> Any:
        """A lazy data frame of the keys and of the answers by name."""
        from pyspark.sql.pandas.types import from_arrow_schema

        frame, read = self._selected(labels=False)
        answer = Answer(read, self._asked(f))
        schema = answer.of(next(read.tables([]))).schema
        return frame.mapInArrow(replace(answer, schema=schema), from_arrow_schema(schema))

    def without_labels(self) -> Spark:
        """The same rows, all of one class: labels are not read, unless they have been."""
        other = copy.copy(self)
        other.layout = self.layout.without_labels()
        return other

    def persist(self) -> Spark:
        """The same, with batches cached by the executors as they are now until nothing refers to this any more."""
        before = self._before()
        if self._kept is not None and self._leaves_as_is(before):
            return self
        frame, read = self._source()
        other = copy.copy(self)
        empty = before if self.change is None else self.change(before)
        other._kept, other.change = KeptBySpark(frame.mapInArrow(Encode(read, self.change), ROWS), empty), None
        return other

    def _before(self) -> Batch:
        """A batch without rows, before the change."""
        return next(self._source()[1](0, [])) if self._kept is None else self._kept.empty

    def _source(self) -> tuple[Any, PartitionReader]:
        """Where the batches come from, and what reads them."""
        if self._kept is not None:
            kept = self._kept.frame
            return kept if self._only_parts is None else kept.filter(kept["part"].isin(*self._only_parts)), Load()
        self.layout.check_labels()
        return self._selected(labels=True)

    def _selected(self, labels: bool) -> tuple[Any, SparkRows]:
        """The columns that are needed under names that Spark takes anywhere, and what reads them."""
        from pyspark.sql.functions import col

        names = self.layout.needed(self.frame.columns, labels)
        quoted = [f"`{name.replace('`', '``')}`" for name in names]
        fields = [self._schema.field(name) for name in names]
        selected = self.frame.select([col(name).alias(f"c{j}") for j, name in enumerate(quoted)])
        return selected, SparkRows(narrowed(self.layout, self.frame.columns, labels), SparkTables(tuple(names), fields))

    @cached_property
    def _schema(self) -> Any:
        """The types of the columns, as Arrow has them."""
        return self.frame.limit(0).toArrow().schema

    def _partitions(self) -> int:
        if self._only_parts is not None:
            return len(self._only_parts)
        return int(self._source()[0].rdd.getNumPartitions())

    def _only(self, numbers: list[int]) -> Spark:
        other = copy.copy(self)
        parts = range(self._partitions()) if self._only_parts is None else sorted(self._only_parts)
        other._only_parts = frozenset(parts[at] for at in numbers)
        return other


class KeptBySpark:
    """Encoded batches that Spark caches until nothing refers to them, and one without rows."""

    def __init__(self, frame: Any, empty: Batch) -> None:
        self.frame, self.empty = frame.persist(), empty
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
def _faults() -> Iterator[None]:
    """Rows that Spark itself cannot read as a DataError, without the tracebacks of the engine."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        failed, unread, said = FAILED.search(text), UNREAD.search(text), SAID.findall(text)
        if failed is None and unread is None:
            raise
        where = "a partition" if failed is None else called(int(failed[1]))
        what = ": ".join(said[-1]) if said else cast(re.Match[str], unread or failed)[0]
        raise DataError(f"{where}: {what}") from None


def _check(df: Any) -> None:
    if type(df).__module__.startswith("pyspark.sql.connect"):
        raise TypeError("data frames of Spark Connect cannot be learned from: use a session in the driver's process")
    if not hasattr(df, "mapInArrow") or not hasattr(df, "sparkSession"):
        raise TypeError(f"Spark takes a data frame of pyspark 4 or later, got a {type(df).__name__}")


def _use_this_python(context: Any) -> None:
    """Executors on this machine run the Python that runs here, unless PYSPARK_PYTHON says otherwise."""
    if "PYSPARK_PYTHON" not in os.environ and str(context.master).startswith("local"):
        os.environ["PYSPARK_PYTHON"] = context.pythonExec = sys.executable


__all__ = ["Spark"]
