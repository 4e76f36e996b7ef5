"""Two workers of Dask beside one: the time of a calibrated fit, and the bytes that come to the driver in a pass.

A worker is a process of one thread. Both are measured in the same run, in turn; rows are made where they are read.
"""

import argparse
import os
import pickle
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
from dask import dataframe
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP
from rich.console import Console
from rich.table import Table

from suffice import NaiveBayes
from suffice.data import Dask
from suffice.learners import RiskCalibration

ROWS, COLUMNS, CLASSES, PARTITIONS, PASSES = 5_000_000, 8, 3, 32, 10
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def made(seed, n):
    """A partition: numbers, a category and a label, with missing entries."""
    rng = np.random.default_rng(seed)
    y = rng.integers(CLASSES, size=n)
    numbers = rng.normal(size=(n, COLUMNS - 1)) + 0.5 * y[:, None]
    numbers[rng.random(numbers.shape) < 0.02] = np.nan
    words = np.array(["low", "middle", "high"])[(y + rng.integers(2, size=n)) % 3]
    frame = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(COLUMNS - 1)])
    return frame.assign(word=pd.Series(words, dtype="string[pyarrow]"), label=y)


def table(n):
    return dataframe.from_map(made, range(PARTITIONS), n=n // PARTITIONS, meta=made(0, 10).iloc[:0])


class Counted:
    """Count the bytes that arrive at the driver, and that it and the scheduler write, during a fit."""

    def __init__(self):
        self.arrived, self.written = [], 0

    @contextmanager
    def counting(self):
        gather, write = Client._gather, TCP.write

        async def gathered(client, *args, **kwargs):
            got = await gather(client, *args, **kwargs)
            self.arrived.append(len(pickle.dumps(got)))
            return got

        async def wrote(comm, *args, **kwargs):
            size = await write(comm, *args, **kwargs)
            self.written += size or 0
            return size

        Client._gather, TCP.write = gathered, wrote
        try:
            yield self
        finally:
            Client._gather, TCP.write = gather, write


def fit(n):
    """The seconds of a fit of n rows by the current client, and what went to and from the driver in a pass."""
    model = NaiveBayes(numeric="gaussian", learner=RiskCalibration(0.1, max_iter=PASSES, stop=None))
    counted, start = Counted(), time.perf_counter()
    with counted.counting(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(Dask(table(n), "label"))
    return time.perf_counter() - start, max(counted.arrived), counted.written / len(counted.arrived)


@contextmanager
def workers(count):
    """A cluster that has compiled what is to be compiled."""
    options = {"n_workers": count, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options, memory_limit=0) as cluster, Client(cluster):
        fit(PARTITIONS * 100)
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))  # of the workers, which inherit it
    runs = {1: [], 2: []}
    for _ in range(args.repeats):
        for count in runs:
            with workers(count):
                small, large = fit(args.rows // 10), fit(args.rows)
                runs[count].append((large[0], small[1:], large[1:]))
    title = f"{args.rows} rows, {COLUMNS} columns, {CLASSES} classes, {PARTITIONS} partitions, {PASSES} passes"
    shown = Table("workers", "seconds", "arrived in a pass", "of a tenth of the rows", "written in a pass", title=title)
    for count, each in runs.items():
        (a, w), (b, _) = each[0][2], each[0][1]
        seconds = min(run[0] for run in each)
        shown.add_row(str(count), f"{seconds:.1f}", f"{a} bytes", f"{b} bytes", f"{w:.0f} bytes")
    Console().print(shown)
    one, two = (min(run[0] for run in runs[count]) for count in (1, 2))
    print(f"two workers are {one / two:.2f} times as fast as one")


if __name__ == "__main__":
    main()
