"""The data sets of the benchmarks: their names by half, and their tables as they are.

Sorted by name, the sets at even places are for choosing (defaults, settings, what a method is made of) and those at odd
places for reporting. The RC authors' versions of the same rows (`_rc`) are left out; whatever is said about one of them
belongs to the half of its original.
"""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

FOLDER = Path(os.environ.get("SUFFICE_DATA") or "../shared/data")
HALVES = ("choose", "report")
TWIN = "_rc"
FEWEST = 4  # rows of a class, below which 75/25 leaves none of them to test on
MOST, IMAGES, MOST_IMAGES = 50_000, 500, 5_000  # rows; columns from which on a set is one of images; its rows


def names(folder=FOLDER, half="all"):
    """The sets of a half, or of both, sorted by name."""
    known = tomllib.loads((Path(folder) / "datasets.toml").read_text(encoding="utf-8"))
    found = sorted(name for name in known if not name.endswith(TWIN))
    return found if half == "all" else found[HALVES.index(half) :: 2]


def half_of(name, folder=FOLDER):
    """The half of a set; a twin is in that of its original."""
    return HALVES[names(folder).index(name.removesuffix(TWIN)) % 2]


@dataclass(frozen=True)
class Set:
    """A table as it is: X (n, d), labels y (n,) as text, and what was left out of the file."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    said: tuple[str, ...] = ()

    @property
    def binary(self):
        """True if there are two classes."""
        return len(np.unique(self.y)) == 2

    @property
    def complete_numbers(self):
        """True if all columns are numbers without missing values."""
        return all(map(pd.api.types.is_numeric_dtype, self.X.dtypes)) and not self.X.isna().any(axis=None)

    def split(self, seed):
        """Rows to learn from and rows to test on: 75/25, stratified."""
        return train_test_split(np.arange(len(self.y)), test_size=0.25, stratify=self.y, random_state=seed)


def read(name, folder=FOLDER, most=MOST, most_images=MOST_IMAGES):
    """A set without classes too small to split; images and large sets as a stratified sample, the same for all."""
    table = pd.read_parquet(Path(folder) / f"{name}.parquet")
    size = table.groupby("target")["target"].transform("size")
    said = []
    if (size < FEWEST).any():
        few = table.loc[size < FEWEST, "target"]
        said.append(f"{len(few)} rows of {few.nunique()} classes with fewer than {FEWEST} rows left out")
        table = table[size >= FEWEST]
    limit = most_images if table.shape[1] > IMAGES else most
    if limit is not None and len(table) > limit:
        said.append(f"{limit:,} of {len(table):,} rows, stratified")
        table, _ = train_test_split(table, train_size=limit, stratify=table["target"], random_state=0)
    table = table.reset_index(drop=True)
    return Set(name, table.drop(columns="target"), table["target"].astype(str).to_numpy(), tuple(said))
