"""Tables of a shop, and the command as a new user types it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pytest

from suffice.cli.app import app
from tests.commands import run, spoken


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run the command in a folder of its own; what it says, in one line."""
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        result = run(app, *words, code=code, COLUMNS="80")
        call.stdout = result.stdout
        return spoken(result)

    return call


def shop(n, seed=0, **more):
    """Customers: numbers, text, missing values, and whether they came back."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "yes", "no")
    town = np.where(rng.random(n) < 0.3, "Rome", np.where(y == "yes", "Oslo", "Bonn")).tolist()
    age = (rng.normal(size=n) * 8 + 40 + 10 * (y == "yes")).round(1).tolist()
    columns = {
        "age": [None if i % 11 == 5 else v for i, v in enumerate(age)],
        "town": town,
        "visits": rng.poisson(np.where(y == "yes", 6, 2)).tolist(),
        "back": y.tolist(),
    }
    return pa.table({**columns, **more})


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two halves to learn from, and rows to ask about."""
    monkeypatch.chdir(tmp_path)
    whole = shop(300)
    for name, table in {"a": whole.slice(0, 160), "b": whole.slice(160), "both": whole, "new": shop(40, 1)}.items():
        pcsv.write_csv(table, tmp_path / f"{name}.csv")
    return tmp_path


@pytest.fixture
def model(files, call):
    """A model of the first half."""
    call("fit", "a.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    return files / "m.suffice"
