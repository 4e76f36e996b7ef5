"""Engines that hold tables: each makes, of a data frame and the name of its target, a data set and a collector."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice.data import Memory, Parquet


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
    """Three files of which one has no rows, read a few rows at a time."""
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    for i, rows in enumerate(np.split(np.arange(len(frame)), [len(frame) // 3, len(frame) // 3])):
        frame.iloc[rows].to_parquet(folder / f"part-{i}.parquet", index=False)
    return Parquet(folder, target, batch_rows=16), np.asarray


ENGINES = {
    "memory": Engine(memory),
    "parquet": Engine(parquet),
}


def every_engine(which=lambda name: True):
    """Run a law over every engine, with its marks."""
    chosen = [pytest.param(engine, id=name, marks=engine.marks) for name, engine in ENGINES.items() if which(name)]
    assert chosen, "a law without an engine"
    return pytest.mark.parametrize("engine", chosen)
