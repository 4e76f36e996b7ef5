"""The scoring query beside `predict_proba`, and learning in the database beside learning in memory, in the same run.

    python benchmarks/sql.py [--rows 1000000] [--columns 30] [--classes 5] [--only MODEL]

All is in DuckDB, in memory, on the threads that there are. The query's answers become a table there; `predict_proba`
gets the same columns as a data frame.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from suffice import GaussianNB, LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.data import SQL

REPEATS = 3
MODELS = {
    "GaussianNB": GaussianNB(),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis(),
    "NaiveBayes, 32 bins a column": NaiveBayes(),
}


def rows(n: int, d: int, k: int) -> pd.DataFrame:
    """Normal columns of k classes that overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(k, d))[y]
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]).assign(label=y)


def fastest(f: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds of the fastest of some runs."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        f()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--only", default="", help="models whose name begins so")
    given = parser.parse_args()
    table = rows(given.rows, given.columns, given.classes)
    X, y = table.drop(columns="label"), table["label"]
    connection = duckdb.connect()
    connection.register("frame", table)
    connection.execute("CREATE TABLE scored AS FROM frame")
    data = SQL(connection, "scored", target="label")
    print(f"{given.rows:,} rows, {given.columns} columns, {given.classes} classes")
    print(f"seconds: a fit, and the fastest of {REPEATS} answers\n")
    print("| model | predict_proba | query | ratio | fit in memory | fit in DuckDB | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name, model in MODELS.items():
        if not name.startswith(given.only):
            continue
        learned, asked = (fastest(lambda m=model, r=source: m.fit(*r), 1) for source in ((X, y), (data,)))
        query = f"CREATE OR REPLACE TABLE answers AS {model.to_sql('scored')}"
        python, sql = fastest(lambda m=model: m.predict_proba(X)), fastest(lambda q=query: connection.execute(q))
        answered = connection.execute('SELECT AVG("p(0)") FROM answers').fetchone()
        if answered is None or abs(answered[0] - model.predict_proba(X)[:, 0].mean()) > 1e-9:
            raise SystemExit(f"{name}: the query answers otherwise than predict_proba")
        times = (python, sql, sql / python, learned, asked, asked / learned)
        print(f"| {name} | " + " | ".join(f"{one:.2f}" for one in times) + " |", flush=True)


if __name__ == "__main__":
    main()
