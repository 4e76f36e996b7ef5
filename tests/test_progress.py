"""What is shown of passes and rows while learning lasts, and that nothing is unless it is asked for."""

import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from suffice import GaussianNB
from suffice._runtime import progress as _progress
from suffice._runtime.progress import progress, reading
from suffice.data import SQL, Memory
from suffice.learners import RiskCalibration

IRIS = load_iris(return_X_y=True)


@pytest.fixture(params=["bars", "lines"])
def shown(request, monkeypatch, capsys):
    """What stands on standard error, with `rich` and without."""
    if request.param == "lines":
        monkeypatch.setattr(_progress, "find_spec", lambda name: None)
        monkeypatch.setitem(sys.modules, "rich", None)
    return lambda: " ".join(capsys.readouterr().err.split())


def test_rows_passes_and_loss_are_shown_together(shown):
    learner = RiskCalibration(0.1, max_iter=3, stop=None, verbose=1)
    GaussianNB(learner=learner).fit(Memory(*IRIS, verbose=1))
    said = shown()
    assert "150 of 150 rows" in said
    assert "rows/s" in said
    assert "3/3" in said
    assert "log loss" in said


def test_nothing_is_shown_unless_asked_for(shown):
    GaussianNB(learner=RiskCalibration(max_iter=3, stop=None)).fit(Memory(*IRIS))
    with reading("rows.csv", 3, wanted=0) as seen:
        seen(3)
    assert shown() == ""


def test_rows_of_unknown_number_and_partitions(shown):
    with reading("a.csv") as seen:
        seen(1000)
        seen(234)
    assert "a.csv" in (said := shown())
    assert "1,234 rows" in said
    with reading("table", 7, unit="partitions") as seen:
        seen(7)
    assert "7 of 7 partitions" in shown()


def test_rows_are_counted_from_threads(shown):
    with reading("files", 4000) as seen, ThreadPoolExecutor(8) as pool:
        list(pool.map(seen, np.full(400, 10)))
    assert "4,000 of 4,000 rows" in shown()


def test_long_passes_say_how_far_they_are(shown, monkeypatch):
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN_LINES", 0.0)
    with progress("RC", 2, 1) as step, reading("a.csv", 3) as seen:
        seen(1)
        step("log loss 0.5")
        seen(2)
    assert "RC" in (said := shown())
    assert "log loss 0.5" in said
    assert "1/2" in said


def test_queries_of_a_database_are_counted(shown):
    connection = sqlite3.connect(":memory:")
    pd.DataFrame(IRIS[0], columns=list("abcd")).assign(y=IRIS[1]).to_sql("iris", connection, index=False)
    for verbose in (0, 1):
        model = GaussianNB().fit(data := SQL(connection, "iris", target="y", verbose=verbose))
        assert ("table 'iris'" in (said := shown())) == verbose
        assert (f"{len(data.queries)} queries" in said) == verbose
        model.predict(data).fetch()
        assert ("1 queries" in shown()) == verbose


def test_an_error_ends_the_display(shown):
    with pytest.raises(ZeroDivisionError), progress("RC", 2, 1), reading("a.csv", 3) as seen:
        seen(1 // 0)
    assert _progress._DISPLAY.place is None
    assert _progress._DISPLAY.users == 0
    with reading("b.csv", 3) as seen:
        seen(3)
    assert "b.csv" in shown()


def test_settings_of_rows_in_memory_stay_with_their_parts():
    data = Memory(*IRIS, batch_size=40, verbose=0)
    data.verbose = 1
    drawn = data.sample(0.5), data.resample(0), *data.split([0.5, 0.5], 0)
    for part in (data.map(), data.changed(lambda batch: batch), *drawn):
        assert (part.batch_size, part.verbose) == (40, 1)
