"""Learning from files that do not fit into memory: rows a second beside reading alone, and peak memory.

`python -m benchmarks.scale --rows 50000000` writes Parquet files to a temporary folder, a tenth of them and all, and
removes them in the end. Everything is a process of its own, one after the other, so that peak memory is its own. Speeds
are shares of that of `pyarrow` reading the same files in the same run with as many threads: by the clock, and by the
time of all cores, which other processes disturb less. DuckDB sums the same columns.
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
Told = dict[str, Any]  # seconds, by the clock and of all cores, and the bytes at the peak
NONE = (float("inf"), float("inf"))


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


def reading(folder: str) -> Told:
    """All columns by pyarrow alone."""
    import pyarrow.dataset as ds

    def read() -> None:
        for _ in ds.dataset(folder).to_batches():
            pass

    return {"a pass": _least(read)}


def duckdb(folder: str) -> Told:
    """The sums of GaussianNB by DuckDB."""
    import duckdb as db

    sums = ", ".join(f"sum(x{j}), sum(x{j} * x{j})" for j in range(COLUMNS))
    query = f"select y, count(*), {sums} from read_parquet('{folder}/*.parquet') group by y"  # noqa: S608 - our own
    return {"a pass": _least(lambda: db.sql(query).fetchall())}


def closed_form(folder: str) -> Told:
    """GaussianNB in closed form."""
    from suffice import GaussianNB

    return _learned(lambda: GaussianNB(), folder)


def calibrated(folder: str) -> Told:
    """Binned naive Bayes by four passes of risk-based calibration."""
    from suffice import NaiveBayes
    from suffice.learners import RiskCalibration

    return _learned(lambda: NaiveBayes(learner=RiskCalibration(0.1, max_iter=PASSES, stop=None)), folder)


def predicted(folder: str) -> Told:
    """Probabilities of GaussianNB, written to files."""
    from suffice import GaussianNB
    from suffice.data import Files

    model = GaussianNB().fit(Files(sorted(map(str, Path(folder).iterdir()))[0], "y"))
    rows = Files(folder, columns=[f"x{j}" for j in range(COLUMNS)])
    with tempfile.TemporaryDirectory(dir=Path(folder).parent) as out:
        return {"a pass": _least(lambda: model.predict_proba(rows).write(Path(out) / "answers", overwrite=True), 1)}


WHAT: dict[str, Callable[[str], Told]] = {
    "pyarrow reads": reading,
    "DuckDB sums": duckdb,
    "GaussianNB": closed_form,
    "NaiveBayes, RC": calibrated,
    "predict_proba, written": predicted,
}


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(then: tuple[float, float]) -> tuple[float, float]:
    """Seconds by the clock, and of all cores."""
    now = _clocks()
    return now[0] - then[0], now[1] - then[1]


def _least(f: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, float]:
    """Seconds by the clock, and of all cores; of several times the least."""

    def once() -> tuple[float, float]:
        start = _clocks()
        f()
        return _since(start)

    each = [once() for _ in range(repeats)]
    return min(wall for wall, _ in each), min(cpu for _, cpu in each)


def _learned(make: Callable[[], Any], folder: str) -> Told:
    """Seconds of a fit, of its first sum and of each later one, once loops are compiled; of several fits the least."""
    import warnings

    from suffice.data import Files

    warnings.simplefilter("ignore")
    make().fit(Files(sorted(map(str, Path(folder).iterdir()))[0], "y"))
    took, fits = _timed_sums(), []
    for _ in range(REPEATS):
        took.clear()
        start = _clocks()
        make().fit(Files(folder, "y"))
        later = took[1:] or took
        mean = tuple(sum(one) / len(later) for one in zip(*later, strict=True))
        fits.append((_since(start), took[0], mean))
    return dict(zip(("fit", "first pass", "a pass"), (min(one) for one in zip(*fits, strict=True)), strict=True))


def _timed_sums() -> list[tuple[float, float]]:
    """Where the seconds of every sum over all rows go from now on."""
    from suffice.data import Data

    took: list[tuple[float, float]] = []
    busy: list[bool] = []

    def timed(sum_: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any, f: Any) -> Any:
            if busy:  # one data set asks another
                return sum_(self, f)
            busy.append(True)
            start = _clocks()
            try:
                return sum_(self, f)
            finally:
                took.append(_since(start))
                busy.pop()

        return run

    kinds = [Data]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if "sum" in vars(kind):
            kind.sum = timed(kind.sum)  # type: ignore[method-assign] # every engine, timed
    return took


def measured(what: str, folder: str) -> Told:
    """Return the measurements that a separate process makes of itself."""
    command = [sys.executable, "-m", "benchmarks.scale", "--one", what, "--folder", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        raise RuntimeError(f"{what}: {done.stderr[-2000:]}")
    told: Told = json.loads(done.stdout.splitlines()[-1])
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
            command += ["--folder", str(folder)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ourselves
            _print(rows, {what: measured(what, str(folder)) for what in WHAT})


def _print(rows: int, told: dict[str, Told]) -> None:
    alone, own = told["pyarrow reads"]["a pass"]
    speed = f"{rows / alone / 1e6:.1f} million rows a second ({own / rows * 1e9:.0f} ns of a core a row)"
    print(f"\n{rows:,} rows x {COLUMNS} columns; speeds as shares of pyarrow's {speed}")
    print(f"{'':24}{'a pass':>10}{'by core':>10}{'first pass':>12}{'by core':>10}{'fit, s':>10}{'peak, MB':>10}")
    for what, one in told.items():
        shares = [
            f"{alone / wall:>10.0%}{own / cpu:>10.0%}" for wall, cpu in (one["a pass"], one.get("first pass", NONE))
        ]
        fit = f"{one['fit'][0]:.1f}" if "fit" in one else ""
        first = f"  {shares[1]}" if "first pass" in one else " " * 22
        print(f"{what:24}{shares[0]}{first}{fit:>10}{one['peak'] / 1e6:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
