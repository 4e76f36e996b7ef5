"""How much of each law a run checks, which tests share a worker, and where the data sets are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits
from xdist.scheduler import LoadScopeScheduling

# Examples of each law: `make quick`, `make test`, and `make test-long`, which is for the night.
for name, examples in {"quick": 1, "laws": 2, "long": 12}.items():
    settings.register_profile(
        name, max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
settings.load_profile(os.environ.get("SUFFICE_LAWS", "laws"))

# Workers run side by side already. The environment is for libraries that are loaded later, and for child processes.
threadpool_limits(1)
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

DATA = Path(os.environ.get("SUFFICE_DATA") or Path(__file__).parents[2] / "shared" / "data")
ONE_WORKER = {  # files whose fixtures take seconds
    "tests/persistence/test_damage.py",
    "tests/report/test_compare_page.py",
    "tests/report/test_contest.py",
    "tests/sklearn_own/test_outcomes.py",
    "tests/test_architecture.py",
    "tests/test_class_shares.py",
    "tests/test_text.py",
}
MISSING = f"no data sets at {DATA}: set SUFFICE_DATA to their folder"


def scope(nodeid):
    """Return the name of the tests that share a costly fixture, or the test itself."""
    if "dask" in nodeid:
        return "dask"  # one cluster
    file = nodeid.partition("::")[0]
    return file if file in ONE_WORKER else nodeid


class Together(LoadScopeScheduling):
    """Send the tests that share a costly fixture to one worker, and all others to whichever worker is free."""

    def _split_scope(self, nodeid):
        return scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.option.dist != "loadgroup":
        return None
    # xdist's own groups (`xdist_group`) are silently ignored with pytest 9.2: pytest-dev/pytest-xdist#1386
    config.option.loadscopereorder = False  # the order is that of `turn`
    return Together(config, log)


def turn(item):
    """Return when a test runs: long groups first, small tests of the top folder last, so that no worker waits long.

    What starts a cluster or the processes of a comparison comes in between: on a fresh clone each of these processes
    would compile what the workers compile, too.
    """
    if scope(item.nodeid) == "dask" or item.nodeid.startswith(("tests/cli/", "tests/report/")):
        return 2
    if scope(item.nodeid) in ONE_WORKER:
        return 0
    return 3 if item.nodeid.startswith("tests/test_") else 1


def pytest_collection_modifyitems(items):
    items.sort(key=turn)
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
    """Return a function from the name of a data set to its complete rows: features (data frame) and labels."""
    import pandas as pd

    def read(name):
        table = pd.read_parquet(DATA / f"{name}.parquet").dropna(ignore_index=True)
        return table.drop(columns="target"), table["target"].to_numpy()

    return read
