"""Measuring: every method on every split of every set, each kept as soon as it is there."""

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import sets
from benchmarks.accuracy.methods import ALL, BOOSTING, Method, methods
from benchmarks.kept import Kept
from benchmarks.measures import fit_time, measured

PROTOCOL = 1  # to be raised with any change of splits, samples or measures: all is then measured again
KEYS = ("set", "seed", "method", "settings", "protocol")
WARM = 200  # rows of a first fit that is not timed: compiled code is loaded by it


@dataclass
class Plan:
    """Settings of a run: sets, seeds, methods; the folders of the tables and of the results."""

    names: list[str]
    seeds: int
    methods: list[Method]
    out: Path
    folder: Path = sets.FOLDER
    threads: int = 1
    again: str | None = None
    since: str = "9"  # with `again`: what was measured from this time on is not measured another time

    @cached_property
    def kept(self) -> Kept:
        """The file of results."""
        return Kept(self.out / "results.jsonl", KEYS)

    def jobs(self) -> Iterator[tuple[sets.Set, int, Method]]:
        """Yield the tasks: small tables first, slow methods last."""
        done = self.kept.read()
        if self.again:
            done = {key for key, row in done.items() if row["measured"] >= self.since}
        for slow in (False, True):
            chosen = [method for method in self.methods if method.slow == slow]
            for name in sorted(self.names, key=self._size) if chosen else ():
                data = sets.read(name, self.folder)
                for seed in range(self.seeds):
                    for method in chosen:
                        if method.takes(data) and key(data, seed, method) not in done:
                            yield data, seed, method

    def _size(self, name):
        return (self.folder / f"{name}.parquet").stat().st_size

    def run(self, say=print):
        """Measure and keep."""
        last = None
        with one_run(self.threads):
            for data, seed, method in self.jobs():
                if data.name != last:
                    said = "".join(f"; {note}" for note in data.said)
                    say(f"{data.name}: {len(data.y):,} rows, {data.X.shape[1]} columns{said}")
                    last = data.name
                row = measure(data, seed, method, beside=self.again is not None) | {"threads": self.threads}
                self.kept.add(row)
                say(f"  {method.name}, split {seed}: {short(row)}")


def plan(names, seeds, wanted, out, again=None, threads=1, **more):
    """A plan for methods by name; those that this machine does not have are named, and left out."""
    there = methods(threads)
    unknown = [name for name in [*wanted, *([again] if again else [])] if name not in ALL]
    if unknown:
        raise SystemExit(f"methods are {', '.join(ALL)}; got {', '.join(unknown)}")
    wanted = [again] if again else wanted or list(there)
    missing = [name for name in (wanted if again else ALL) if name not in there]
    if missing:
        print(f"left out, as not installed or not in this version: {', '.join(missing)}")
    chosen = [there[name] for name in wanted if name in there]
    return Plan(names, seeds, chosen, Path(out), threads=threads, again=again, **more)


@contextmanager
def one_run(threads):
    """Use the same number of threads in all libraries."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(threads)  # what our own loops go by
    try:
        with threadpool_limits(threads):
            yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def key(data, seed, method):
    """Under which a result is kept."""
    return (data.name, seed, method.name, method.settings(data), PROTOCOL)


def measure(data, seed, method, beside=False):
    """One line: scores and times, or why there are none; beside: with the time of boosting, taken right before."""
    train, test = data.split(seed)
    row = dict(zip(KEYS, key(data, seed, method), strict=True))
    row |= {"version": method.version, "rows": len(data.y), "columns": data.X.shape[1], "said": list(data.said)}
    row["measured"] = time.strftime("%Y-%m-%dT%H:%M:%S")
    if beside and method.name != BOOSTING:
        of_boosting = fit_time(methods()[BOOSTING].make(data), data.X.iloc[train], data.y[train])
        row |= {f"boosting_{name}": seconds for name, seconds in of_boosting.items()}
    try:
        if method.ours:
            warm(method, data, train)
        return row | measured(method.make(data), data.X, data.y, train, test)
    except Exception as error:  # of any method: it is told in the report, and the others go on
        return row | {"failed": f"{type(error).__name__}: {str(error)[:300]}"}


def warm(method, data, train):
    """Fit a few rows and predict them; an error is not a failure, because the rows may be too few."""
    some = train[:WARM]
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore")
        method.make(data).fit(data.X.iloc[some], data.y[some]).predict_proba(data.X.iloc[some])


def short(row):
    """A line of a result to be read while it runs."""
    if "failed" in row:
        return row["failed"]
    return f"error {row['error']:.4f}, log loss {row['log_loss']:.4f}, fit {row['fit']:.2f} s"
