"""Where the data sets are, and what a test run says when they are not there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

for name, examples in {"laws": 6, "quick": 1}.items():
    settings.register_profile(
        name, max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
settings.load_profile(os.environ.get("SUFFICE_LAWS", "laws"))
threadpool_limits(1)  # processes run side by side already
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # for what is not loaded yet, as SciPy, and started

DATA = Path(os.environ.get("SUFFICE_DATA") or Path(__file__).parents[2] / "shared" / "data")
MISSING = f"no data sets at {DATA}: set SUFFICE_DATA to their folder"


def pytest_collection_modifyitems(items):
    if DATA.is_dir():
        return
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(pytest.mark.skip(reason=MISSING))


def pytest_terminal_summary(terminalreporter):
    if not DATA.is_dir():
        terminalreporter.write_line(f"NOT RUN: the tests on real data ({MISSING})", red=True)


def pytest_sessionfinish(session, exitstatus):
    if not DATA.is_dir() and os.environ.get("CI") == "true" and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def load():
    """A function from a data set's name to its complete rows: features (data frame) and labels."""
    import pandas as pd

    def read(name):
        table = pd.read_parquet(DATA / f"{name}.parquet").dropna(ignore_index=True)
        return table.drop(columns="target"), table["target"].to_numpy()

    return read
