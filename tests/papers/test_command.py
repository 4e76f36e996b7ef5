"""The command of the papers: what it runs, what it reports, and what it says where it cannot."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import scipy
import sklearn

from papers.cli import app
from tests.commands import run, spoken


def call(*words, code=0):
    return spoken(run(app, *words, code=code, SUFFICE_DATA="", COLUMNS="200"))


def test_bench_says_which_data_sets_are_missing(tmp_path):
    said = call("run", "rc1-table2", "--quick", "--offline", "--out", tmp_path)
    assert "missing: diabetes: put diabetes.parquet" in said
    assert "data sets are missing; everything else was measured" in said
    assert "rc1-table2 6" in said  # iris comes with scikit-learn
    assert "page: " in call("report", tmp_path, "--docs", tmp_path / "doc.md")
    assert "Table II" in (tmp_path / "report.html").read_text()
    assert "| iris |" in (tmp_path / "doc.md").read_text()
    assert "Incomplete: 3 of 75 results" in (tmp_path / "doc.md").read_text()
    assert (tmp_path / "cells.csv").read_text().startswith("table,dataset,column,printed,measured")


def test_bench_on_names_that_do_not_exist(tmp_path):
    assert "there is no table rc9; see `python -m papers list`" in call("run", "rc9", code=2)
    assert "there are no results in" in call("report", tmp_path / "none", code=2)
    assert "there is no folder /nowhere" in call("run", "rc1-table2", "--data", "/nowhere", code=2)


def test_tables_are_listed():
    assert "rc1-table2" in call("list")


def test_one_row_of_a_table_shows_its_cells(tmp_path):
    said = call("run", "rc1-table2", "--set", "iris", "--offline", "--out", tmp_path)
    assert "rc1-table2 iris rc_error 0.03333 0.033 equal" in said
    assert "diabetes" not in said
    strange = call("run", "rc1-table2", "--set", "irises", "--offline", "--out", tmp_path, code=2)
    assert "there is no row irises in these tables; they have adult" in strange


def test_a_report_says_when_and_with_what(tmp_path):
    call("run", "rc1-table2", "--quick", "--offline", "--out", tmp_path)
    call("report", tmp_path, "--docs", tmp_path / "doc.md")
    text = (tmp_path / "doc.md").read_text()
    assert f"Measured on {date.today().isoformat()} with Python 3." in text
    assert f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}." in text
    assert "Not measured yet: rc1-table3" in text
    assert text.index("## Verdicts") < text.index("## Tables")


def test_stale_results_are_counted_and_measured_again(tmp_path):
    words = ("run", "rc1-table2", "--quick", "--offline", "--out", tmp_path)
    assert "are stale" not in call(*words)
    results = tmp_path / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    lines[0]["key"] = "of another version"
    del lines[1]["key"]
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "2 of 3 results are stale." in call("report", tmp_path, "--docs", tmp_path / "doc.md")
    for written in ("report.html", "doc.md"):
        assert "2 of 3 results are stale." in (tmp_path / written).read_text()
    assert "2 results are stale (settings, code, data or versions have changed): they are measured again" in call(
        *words
    )
    assert "0 of 3 results are stale." in call("report", tmp_path)
    assert len(results.read_text().splitlines()) == 5
