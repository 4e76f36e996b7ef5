"""FSCL against scikit-learn's k-means with as many centres: time and sum of squared distances, in the same run."""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from suffice.features import FSCL

DATA = Path(os.environ.get("SUFFICE_DATA") or Path(__file__).parents[2] / "shared" / "data")
SETS, SEEDS = ("ionosphere", "breast_cancer_wisconsin", "liver_disorders"), 10
PEERS = {
    "KMeans": lambda m, seed: KMeans(m, n_init=1, random_state=seed),
    "KMeans, best of 10": lambda m, seed: KMeans(m, n_init=10, random_state=seed),
    "MiniBatchKMeans": lambda m, seed: MiniBatchKMeans(m, n_init=1, random_state=seed),
}


def timed(model, X):
    """A fitted clusterer's seconds and sum of squared distances."""
    with threadpool_limits(1):  # on busy cores two threads can take many times as long as one
        start = time.perf_counter()
        model.fit(X)
        return np.array([time.perf_counter() - start, model.inertia_])


def samples():
    """Name, rows, number of centres."""
    yield "normal", np.random.default_rng(0).normal(size=(10_000, 10)), 50
    for name in SETS if DATA.is_dir() else ():
        X = pd.read_parquet(DATA / f"{name}.parquet").dropna().drop(columns="target")
        yield name, MinMaxScaler((-1, 1)).fit_transform(X), 40


def main():
    FSCL(2, epochs=1).fit(np.eye(3))  # compiles what is not compiled yet
    title = f"FSCL over its peers (below 1 is better): time by median, error by mean of {SEEDS} seeds, one thread each"
    table = Table("data", "alive", "seconds", "peer", "time", "error", "worst", title=title)
    for name, X, m in samples():
        models = [FSCL(m, random_state=seed) for seed in range(SEEDS)]
        ours = np.array([timed(model, X) for model in track(models, name, console=Console(stderr=True))])
        alive = min(len(np.unique(model.labels_)) for model in models)
        for peer, kind in PEERS.items():
            theirs = np.array([timed(kind(m, seed), X) for seed in range(SEEDS)])
            seconds, error = np.median(ours[:, 0]), ours[:, 1] / theirs[:, 1]
            numbers = seconds / np.median(theirs[:, 0]), error.mean(), error.max()
            table.add_row(name, f"{alive}/{m}", f"{seconds:.3f}", peer, *(f"{v:.2f}" for v in numbers))
    Console().print(table)
    if not DATA.is_dir():
        Console().print(f"[red]no data sets at {DATA}: set SUFFICE_DATA to their folder[/]")


if __name__ == "__main__":
    main()
