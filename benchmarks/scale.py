"""Learning from files that do not fit into memory: rows a second beside reading alone, and peak memory.

`python -m benchmarks.scale --rows 50000000` writes Parquet files to a temporary folder, a tenth of them and all, and
removes them in the end. Everything is a process of its own, one after the other, so that peak memory is its own; speeds
are ratios to `pyarrow` reading the same files in the same run, by as many threads. DuckDB sums the same columns.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COLUMNS, A_FILE, REPEATS, PASSES = 10, 1_000_000, 3, 4


def write(folder: str, rows: int) -> None:
    """Files of normal numbers, as pyarrow writes them by default: two classes that overlap."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, first in enumerate(range(0, rows, A_FILE)):
        rng, n = np.random.default_rng(i), min(A_FILE, rows - first)
        y = rng.integers(2, size=n)
        columns = {f"x{j}": rng.normal(size=n) + 0.1 * j * y for j in range(COLUMNS)}
        pq.write_table(pa.table({**columns, "y": y}), Path(folder) / f"part-{i:05d}.parquet")


def reading(folder: str) -> dict[str, float]:
    """All columns by pyarrow alone."""
    import pyarrow.dataset as ds

    def read() -> None:
        for _ in ds.dataset(folder).to_batches():
            pass

    return {"a pass": _least(read)}


def duckdb(folder: str) -> dict[str, float]:
    """The sums of GaussianNB by DuckDB."""
    import duckdb as db

    sums = ", ".join(f"sum(x{j}), sum(x{j} * x{j})" for j in range(COLUMNS))
    query = f"select y, count(*), {sums} from read_parquet('{folder}/*.parquet') group by y"  # noqa: S608 - our own
    return {"a pass": _least(lambda: db.sql(query).fetchall())}


def closed_form(folder: str) -> dict[str, float]:
    """GaussianNB in closed form."""
    from suffice import GaussianNB

    return _learned(lambda: GaussianNB(), folder)


def calibrated(folder: str) -> dict[str, float]:
    """Binned naive Bayes by four passes of risk-based calibration."""
    from suffice import NaiveBayes
    from suffice.learners import RiskCalibration

    return _learned(lambda: NaiveBayes(learner=RiskCalibration(0.1, max_iter=PASSES, stop=None)), folder)


def predicted(folder: str) -> dict[str, float]:
    """Probabilities of GaussianNB, written to files."""
    from suffice import GaussianNB
    from suffice.data import Parquet

    model = GaussianNB().fit(Parquet(sorted(map(str, Path(folder).iterdir()))[0], "y"))
    rows = Parquet(folder, columns=[f"x{j}" for j in range(COLUMNS)])
    with tempfile.TemporaryDirectory(dir=Path(folder).parent) as out:
        return {"a pass": _least(lambda: model.predict_proba(rows).write(Path(out) / "answers", overwrite=True), 1)}


WHAT: dict[str, Callable[[str], dict[str, float]]] = {
    "pyarrow reads": reading,
    "DuckDB sums": duckdb,
    "GaussianNB": closed_form,
    "NaiveBayes, RC": calibrated,
    "predict_proba, written": predicted,
}


def _least(f: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds, of several times the least."""

    def once() -> float:
        start = time.perf_counter()
        f()
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


def _learned(make: Callable[[], Any], folder: str) -> dict[str, float]:
    """Seconds of a fit, of its first sum and of each later one, after the loops have been compiled."""
    import warnings

    from suffice.data import Parquet

    warnings.simplefilter("ignore")
    make().fit(Parquet(sorted(map(str, Path(folder).iterdir()))[0], "y"))
    took = _timed_sums()
    start = time.perf_counter()
    make().fit(Parquet(folder, "y"))
    whole, later = time.perf_counter() - start, took[1:]
    return {"fit": whole, "first pass": took[0], "a pass": sum(later) / len(later) if later else took[0]}


def _timed_sums() -> list[float]:
    """Where the seconds of every sum over all rows go from now on."""
    from suffice.data import Data

    took: list[float] = []
    busy: list[bool] = []

    def timed(sum_: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any, f: Any) -> Any:
            if busy:  # one data set asks another
                return sum_(self, f)
            busy.append(True)
            start = time.perf_counter()
            try:
                return sum_(self, f)
            finally:
                took.append(time.perf_counter() - start)
                busy.pop()

        return run

    kinds = [Data]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if "sum" in vars(kind):
            kind.sum = timed(kind.sum)  # type: ignore[method-assign]
    return took


def measured(what: str, folder: str) -> dict[str, float]:
    """What a process of its own says of itself."""
    command = [sys.executable, "-m", "benchmarks.scale", "--one", what, "--folder", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        raise RuntimeError(f"{what}: {done.stderr[-2000:]}")
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    """Measure at a tenth of the rows and at all of them, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--dir", default=None, help="where the temporary folder is made")
    parser.add_argument("--one", choices=[*WHAT, "write"], help="measure this one in --folder, and say so in JSON")
    parser.add_argument("--folder")
    given = parser.parse_args()
    if given.one:
        told = {} if given.one == "write" else WHAT[given.one](given.folder)
        if given.one == "write":
            write(given.folder, given.rows)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({**told, "peak": peak}))
        return
    with tempfile.TemporaryDirectory(prefix="suffice-scale-", dir=given.dir) as root:
        for rows in (given.rows // 10, given.rows):
            folder = Path(root) / str(rows)
            folder.mkdir()
            command = [sys.executable, "-m", "benchmarks.scale", "--one", "write", "--rows", str(rows)]
            subprocess.run([*command, "--folder", str(folder)], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
            _print(rows, {what: measured(what, str(folder)) for what in WHAT})


def _print(rows: int, told: dict[str, dict[str, float]]) -> None:
    alone = told["pyarrow reads"]["a pass"]
    speed = f"{rows / alone / 1e6:.1f} million rows a second"
    print(f"\n{rows:,} rows x {COLUMNS} columns; speeds as shares of pyarrow's {speed}")
    print(f"{'':24}{'a pass':>10}{'first pass':>12}{'fit, s':>10}{'peak, MB':>10}")
    for what, one in told.items():
        first = f"{alone / one['first pass']:.0%}" if "first pass" in one else ""
        fit = f"{one['fit']:.1f}" if "fit" in one else ""
        print(f"{what:24}{alone / one['a pass']:>10.0%}{first:>12}{fit:>10}{one['peak'] / 1e6:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
