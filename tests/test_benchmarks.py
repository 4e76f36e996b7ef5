"""The benchmarks: halves that share no set, splits and measures, results that outlast a stopped run, the report."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from benchmarks import additive, sets, tables
from benchmarks.accuracy import methods as known
from benchmarks.accuracy import report
from benchmarks.accuracy import run as running
from benchmarks.accuracy.summary import Summary, lines, of_half
from benchmarks.kept import Kept
from benchmarks.measures import scores
from tests.conftest import DATA

pytestmark = pytest.mark.thorough  # small measurements

ROOT = Path(__file__).parents[1]
FAST = ["NaiveBayes", "LogisticRegression"]


@pytest.fixture
def folder(tmp_path):
    """Five small sets, one of them with a twin; text, missing values, and a class too small to split."""
    rng = np.random.default_rng(0)
    for name in ("a", "b", "b_rc", "c", "d"):
        y = np.repeat(["no", "yes"], 30)
        table = pd.DataFrame(
            {"x": rng.normal(size=60) + (y == "yes"), "word": np.where(rng.random(60) < 0.5, "u", "v")}
        )
        table.loc[rng.integers(60, size=4), "x"] = np.nan
        table["target"] = y
        if name == "c":
            table.loc[:2, "target"] = "rare"
        table.to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "datasets.toml").write_text("".join(f"[{name}]\n" for name in ("d", "a", "b_rc", "c", "b")))
    return tmp_path


def plan(folder, names=("a",), wanted=FAST, seeds=2, **more):
    return running.plan(list(names), seeds, wanted, folder / "out", folder=folder, **more)


def test_halves_share_no_set_and_twins_stay_with_their_originals(folder):
    assert sets.names(folder) == ["a", "b", "c", "d"]
    assert sets.names(folder, "choose") == ["a", "c"]
    assert sets.names(folder, "report") == ["b", "d"]
    assert [sets.half_of(name, folder) for name in ("a", "b", "b_rc")] == ["choose", "report", "report"]


@pytest.mark.data
def test_halves_of_the_real_sets():
    choose, reporting = (sets.names(DATA, half) for half in sets.HALVES)
    assert len(choose) + len(reporting) == len(set(choose) | set(reporting)) == len(sets.names(DATA))
    assert {path.stem.removesuffix("_rc") for path in DATA.glob("*.parquet")} == set(choose) | set(reporting)
    tables = {name: sets.read(name, DATA) for name in sets.names(DATA) if "mnist" not in name}
    small = [name for name, table in tables.items() if table.binary and len(table.y) <= 1500]
    firsts = [name for name in small if name in choose][:3]
    assert sorted([*firsts, *(name for name in small if name in reporting)]) == list(known.SMALL_BINARY)


def test_a_table_is_read_as_it_is_and_says_what_is_left_out(folder):
    data = sets.read("c", folder)
    assert data.said == ("3 rows of 1 classes with fewer than 4 rows left out",)
    assert len(data.y) == 57
    assert data.X["x"].isna().any()
    assert not data.complete_numbers
    part = sets.read("a", folder, most=40)
    assert part.said == ("40 of 60 rows, stratified",)
    assert np.array_equal(part.y, sets.read("a", folder, most=40).y)
    assert (part.y == "yes").sum() == 20
    train, test = data.split(0)
    assert not set(train) & set(test)
    assert len(test) == 15


def test_measures():
    rng = np.random.default_rng(0)
    p, truth = rng.dirichlet(np.ones(3), 200), rng.choice(["a", "b", "c"], 200)
    found = scores(p, np.array(["a", "b", "c"]), truth)
    assert found["log_loss"] == pytest.approx(log_loss(truth, p))
    assert found["auc"] is None
    sure = np.array([[0.9, 0.1]] * 10)
    half_right = scores(sure, np.array(["a", "b"]), np.array(["a", "b"] * 5))
    assert half_right["error"] == pytest.approx(0.5)
    assert half_right["calibration"] == pytest.approx(0.4)
    assert half_right["auc"] == 0.5


def test_a_stopped_run_goes_on(folder):
    class StoppedError(Exception):
        pass

    said = []

    def stop(line):
        said.append(line)
        if len(said) == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        plan(folder).run(stop)
    before = plan(folder).kept.read()
    assert len(before) == 2
    with plan(folder).kept.path.open("a") as file:
        file.write('{"set": "a", "se')  # cut short
    later = []
    plan(folder).run(later.append)
    rows = plan(folder).kept.read()
    assert len(rows) == 4
    assert len(later) == 1 + 2
    assert {key: rows[key] for key in before} == before
    assert not list(plan(folder).jobs())
    more = plan(folder, seeds=3)
    assert [(seed, method.name) for _, seed, method in more.jobs()] == [(2, "NaiveBayes"), (2, "LogisticRegression")]


def test_other_settings_are_measured_and_again_measures_anew(folder):
    work = plan(folder, wanted=["NaiveBayes"], seeds=1)
    work.run(lambda _: None)
    other = replace(work, methods=[replace(work.methods[0], make=lambda _: known.suffice.NaiveBayes(n_bins=4))])
    assert len(list(other.jobs())) == 1
    plan(folder, seeds=1, again="NaiveBayes").run(lambda _: None)
    lines_there = work.kept.path.read_text().splitlines()
    assert ["boosting_fit" in json.loads(line) for line in lines_there] == [False, True]
    assert len(work.kept.read()) == 1
    again = plan(folder, seeds=1, again="NaiveBayes")
    assert len(list(again.jobs())) == 1
    assert not list(replace(again, since="2020-01-01T00:00").jobs())


def test_settings_do_not_change_from_run_to_run(folder):
    code = (
        "import json; from pathlib import Path; from benchmarks import sets;"
        "from benchmarks.accuracy.methods import methods;"
        f"data = sets.read('a', Path({str(folder)!r}));"
        "print(json.dumps({name: method.settings(data) for name, method in methods().items()}))"
    )
    data = sets.read("a", folder)
    here = {name: method.settings(data) for name, method in known.methods().items()}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == here


def test_what_fails_is_kept_and_said(folder):
    work = plan(folder, wanted=["NaiveBayes"], seeds=1)
    work.methods = [replace(work.methods[0], make=lambda _: known.suffice.NaiveBayes(n_bins=-1))]
    work.run(lambda _: None)
    (row,) = work.kept.read().values()
    assert "n_bins" in row["failed"]
    assert any("NaiveBayes failed on 1 splits of a" in line for line in report.notes(lines(folder / "out")))


def test_unknown_method_is_named(folder):
    with pytest.raises(SystemExit, match=r"methods are TabularClassifier, .* got Forest"):
        plan(folder, wanted=["Forest"])


def test_several_writers_lose_nothing(tmp_path):
    first, second = (Kept(tmp_path / "r.jsonl", ("k",)) for _ in range(2))
    for i in range(3):
        first.add({"k": i, "v": 0})
        second.add({"k": i, "v": 1})
    assert {key: row["v"] for key, row in first.read().items()} == {(0,): 1, (1,): 1, (2,): 1}


def line(name, seed, method, error, fit, **more):
    scores = {"error": error, "log_loss": 2 * error, "calibration": error / 2, "auc": None, "fit": fit, "predict": 1.0}
    said = {"rows": 60, "columns": 2, "said": [], "version": "suffice 1", "threads": 1, "settings": "x"}
    return scores | said | {"set": name, "seed": seed, "method": method, "protocol": running.PROTOCOL} | more


def results(folder):
    kept = Kept(folder / "out" / "results.jsonl", running.KEYS)
    for i, name in enumerate(("a", "b", "c", "d")):
        for seed in range(2):
            kept.add(line(name, seed, "HistGradientBoosting", 0.2 + 0.02 * i, 1.0))
            kept.add(line(name, seed, "LightGBM", 0.2, 0.5))
            kept.add(line(name, seed, "NaiveBayes", 0.1 + 0.1 * seed, 0.5, boosting_fit=4.0 if name == "b" else None))
            if name == "d":
                kept.add(line(name, seed, "QDA + RC", 0.3, 2.0))
    return folder / "out"


def test_summary(folder):
    summary = Summary(lines(results(folder)))
    assert summary.names == ["a", "b", "c", "d"]
    assert summary.everywhere == (["NaiveBayes", "HistGradientBoosting", "LightGBM"], ["QDA + RC"])
    own, base, count = summary.on("NaiveBayes")
    assert (own["error"], base["error"], count) == (pytest.approx(0.15), pytest.approx(0.23), 4)
    assert own["fit"] == pytest.approx((0.5**3 * 0.125) ** 0.25)
    assert summary.on("QDA + RC")[0]["fit"] == pytest.approx(2.0)
    assert summary.on("QDA + RC")[1]["error"] == pytest.approx(0.26)
    assert summary.duel("NaiveBayes", "HistGradientBoosting", "error") == (4, 0, 0, 0.125)
    assert summary.duel("LightGBM", "HistGradientBoosting", "error")[:3] == (3, 0, 1)


def test_a_set_with_a_missing_split_does_not_count(folder):
    out = results(folder)
    Kept(out / "results.jsonl", running.KEYS).add(line("a", 0, "NaiveBayes", 0.1, 1.0, failed="ValueError: no"))
    assert Summary(lines(out)).everywhere[1] == ["NaiveBayes", "QDA + RC"]


def test_the_report_is_of_the_reporting_half(folder):
    path = folder / "docs" / "accuracy.md"
    report.write(results(folder), path, folder)
    text = path.read_text()
    whole, rest = text.split("## The choosing half: 2 sets")
    assert "## The reporting half: 2 sets" in whole
    assert "| b | 60 |" in whole
    assert "| a | 60 |" not in whole
    assert "| a | 60 |" in rest
    assert "| NaiveBayes | 0.150 | 0.300 | 0.075 |" in whole
    assert sorted(p.name for p in path.parent.glob("*.svg")) == [
        "accuracy-ranks-error.svg",
        "accuracy-ranks-log-loss.svg",
        "accuracy-sets.svg",
    ]


def test_one_half_alone_shows_nothing_of_the_other(folder):
    text = "\n".join(report.of_one_half(of_half(results(folder), "choose", folder)))
    assert "| a | 60 |" in text
    assert "| c | 60 |" in text
    assert "| b |" not in text


def test_adult_in_splits_of_its_own(folder, capsys):
    (folder / "adult.parquet").write_bytes((folder / "a.parquet").read_bytes())
    many, once = tables.plans(folder, 2, folder / "adult", [*FAST, "HistGradientBoosting"])
    many.run(lambda _: None)
    assert not once.methods
    found = tables.by_method(many.kept)
    tables.show(found)
    shown = capsys.readouterr().out.splitlines()
    assert [text.split()[:2] for text in shown[1:]] == [[name, "2"] for name in [*FAST, "HistGradientBoosting"]]
    assert shown[-1].endswith(" 1.00")
    assert not list(many.jobs())
    (again, _) = tables.plans(folder, 2, folder / "adult", [], again="NaiveBayes")
    assert [(seed, method.name) for _, seed, method in again.jobs()] == [(0, "NaiveBayes"), (1, "NaiveBayes")]


def test_a_report_needs_results(tmp_path):
    with pytest.raises(SystemExit, match="no results in"):
        report.write(tmp_path, tmp_path / "docs.md", tmp_path)


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py")))
def test_every_benchmark_can_be_loaded(name):
    importlib.import_module(f"benchmarks.{name}")


def test_additive_tables_are_measured_on_small_sets(folder, monkeypatch, capsys):
    monkeypatch.setattr(additive, "SMALL_BINARY", ("a", "b"))
    monkeypatch.setattr(additive, "methods", lambda: {k: v for k, v in known.methods().items() if k != known.EBM})
    monkeypatch.setattr(sys, "argv", ["additive", "small", "--data", str(folder), "--out", str(folder / "out")])
    additive.main()
    said = capsys.readouterr().out
    assert "log_loss, mean over the splits" in said
    assert said.count("AdditiveTables, no pairs") >= 4
