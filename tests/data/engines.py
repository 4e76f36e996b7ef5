"""Engines that hold tables: each makes, of a data frame and the name of its target, a data set and a collector."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice.data import Dask, Files, Memory, Spark


@dataclass(frozen=True)
class Engine:
    """`make(frame, target)` -> (data, collect), where collect turns what `transform` gives into an array (n,) or
    (n, k) in the order of the rows of the frame. `can`: whether it can learn a zoo entry; what it cannot is a
    TypeError. `marks`: of pytest."""

    make: Callable[[Any, str], tuple[Any, Callable[[Any], Any]]]
    can: Callable[[Any], bool] = lambda entry: True
    marks: tuple[Any, ...] = ()

    def __call__(self, frame, target):
        return self.make(frame, target)


@cache
def scratch() -> Path:
    """A folder that is removed when the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="suffice-engines-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def memory(frame, target):
    return Memory(frame, target=target, batch_size=16), np.asarray


def parquet(frame, target):
    """Nine files of which one has no rows, so many that a thread reads each by itself, a few rows at a time."""
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    for i, rows in enumerate([np.arange(0), *np.array_split(np.arange(len(frame)), 8)]):
        frame.iloc[rows].to_parquet(folder / f"part-{i}.parquet", index=False)
    return Unkept(folder, target, batch_rows=16), np.asarray


class Unkept(Files):
    """Files that are read again in every pass, as large ones are."""

    def map(self, features=None, labels=None):
        return replace(super().map(features, labels), may_cache=False)


@cache
def dask_client():
    """Two worker processes of one thread, which end with the tests."""
    from distributed import Client, LocalCluster

    anywhere = "127.0.0.1:0"  # others on this machine may have a cluster, too
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=anywhere, protocol="tcp"
    )
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


def dask_frame(frame, cuts=None):
    """A dask data frame whose partitions end at `cuts`; by default three, of which one has no rows."""
    from dask import dataframe

    cuts = [len(frame) // 3, len(frame) // 3] if cuts is None else cuts
    parts = [frame.iloc[rows] for rows in np.split(np.arange(len(frame)), cuts)]
    return dataframe.concat([dataframe.from_pandas(part, npartitions=1, sort=False) for part in parts])


def computed(answer):
    """The answers of a dask data frame."""
    values = answer.compute().to_numpy()
    return values[:, 0] if list(answer.columns) == ["prediction"] else values


def dask(frame, target):
    return Dask(dask_frame(frame), target, client=dask_client()), computed


@cache
def spark_session():
    """A session of two threads, in which a task may fail four times; it ends with the tests."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # for parts of the tests that travel
    builder = SparkSession.builder.master("local[2,4]").appName("suffice")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # for a process of a minute
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.python.daemon.module": "tests.data.spark_daemon",
        "spark.sql.adaptive.enabled": "false",  # this and the next two: plans for few rows are made sooner
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    atexit.register(session.stop)
    return session


@dataclass(frozen=True)
class Dealt:
    """To each partition the table of its number."""

    tables: list[Any]

    def __call__(self, batches):
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield from self.tables[number].to_batches()


def spark_frame(frame, cuts=None):
    """A Spark data frame whose partitions end at `cuts`; by default three, of which one has no rows."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    cuts = [len(frame) // 3, len(frame) // 3] if cuts is None else cuts
    rows = np.split(np.arange(len(frame)), cuts)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    dealt = Dealt([table.take(some) for some in rows])
    return spark_session().range(0, len(rows), 1, len(rows)).mapInArrow(dealt, from_arrow_schema(table.schema))


def arrived(answer):
    """The answers of a Spark data frame."""
    table = answer.toArrow()
    columns = [column.to_numpy() for column in table.columns]
    return columns[0] if table.column_names == ["prediction"] else np.column_stack(columns)


def spark(frame, target):
    return Spark(spark_frame(frame), target), arrived


ENGINES = {
    "memory": Engine(memory),
    "parquet": Engine(parquet),
    "dask": Engine(dask),
    "spark": Engine(spark, marks=(pytest.mark.spark,)),
}


def every_engine(which=lambda name: True):
    """Run a law over every engine, with its marks."""
    chosen = [pytest.param(engine, id=name, marks=engine.marks) for name, engine in ENGINES.items() if which(name)]
    assert chosen, "a law without an engine"
    return pytest.mark.parametrize("engine", chosen)
