"""The tables of the thesis on disjoint tangent configurations: declarations, their quick form, and printed numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from papers.agreement import cells, counts, printed
from papers.datasets import Library, registry
from papers.derived import Derived
from papers.protocols import Shuffled
from papers.runner import run
from papers.store import Store, Task
from papers.table import Table
from papers.tables import TABLES, dtc, dtc_networks, dtc_simulated
from suffice.model_selection.measures import Dataset
from suffice.tangent import FisherDiscriminant, LinearBayes
from tests.conftest import DATA

MINE = [*dtc.TABLES, *dtc_networks.TABLES, *dtc_simulated.TABLES]


@pytest.fixture
def library():
    return Library.at(DATA, online=False)


@pytest.mark.parametrize("table", MINE, ids=lambda table: table.name)
def test_declarations_are_sound(table):
    columns = {column.name for column in table.columns}
    assert TABLES[table.name] is table
    assert {column for _, column in printed(table.name)} <= columns
    assert {column for _, column in table.reasons} <= columns | {"*"}
    if isinstance(table, Table):
        assert {name for name, _ in printed(table.name)} <= set(table.datasets)
        assert {table.needs(task) for task in table.tasks()} <= set(registry())
        assert 0 < len(table.tasks(quick=True)) < len(table.tasks())
    if isinstance(table, Derived):
        assert all(source in TABLES for source in table.sources)
        assert table.measured({}) == {}


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rows", "features"),
    [("Breast cancer", 683, 9), ("Ionosphere", 351, 33), ("Heart disease", 143, 13), ("Vote", 232, 16)],
)
def test_rows_are_those_of_the_thesis(library, name, rows, features):
    assert TABLES["dtc-table4.2"].data(name, library).X.shape == (rows, features)


def test_a_pair_of_digits_is_the_centre_of_their_images(rng):
    images = rng.uniform(1, 255, (12, 784))
    digits = Dataset("mnist:7-8", images, np.array(list("178" * 4)), tuple(map(str, range(784))), np.zeros(784, bool))
    pair = dtc.complete(digits)
    assert pair.X.shape == (8, 400)
    assert set(pair.y) == {"7", "8"}
    assert pair.names[0] == str(28 * 4 + 4)


@pytest.mark.data
def test_table_4_2_is_near_the_print_and_its_tables_follow(library, tmp_path):
    some = {name: dtc.SETS[name] for name in ("Two norm", "Vote")}
    table = replace(TABLES["dtc-table4.2"], datasets=some, protocol=Shuffled(8, 0.3))
    store, _ = run([table], tmp_path, library)
    found = [cell for cell in cells(table, store.measured()) if cell.measured is not None]
    assert len([cell for cell in found if cell.printed is not None]) == 12
    assert all(abs(cell.difference) <= 2 for cell in found if cell.printed is not None)
    assert {cell.column for cell in found if cell.printed is None} == set(dtc.RIDGED)
    times = TABLES["dtc-table4.3"].measured(store.measured())
    assert times["Vote", "All DTCs"] > 0
    assert ("MNIST", "MPM") not in times
    assert TABLES["dtc-table4.3"].measured(store.read()) == {}
    groups = TABLES["dtc-table4.2-groups"].measured(store.measured())
    assert set(groups.values()) <= {0.0, 1.0}
    assert max(groups["Vote", method] for method in dtc.DISCRIMINANTS) == 1
    summary = TABLES["dtc-table4.8"].measured(store.measured())
    assert summary["MPM", "accuracy"] == summary["MPDH-DTC", "accuracy"] > 95
    assert sum(summary[method, "rank"] for method in dtc.DISCRIMINANTS) == pytest.approx(15)


@pytest.mark.data
def test_quick_tables_run(library, tmp_path):
    tables = [replace(TABLES["dtc-table4.2"], quick=("Heart disease",)), TABLES["tangent-multiclass"]]
    store, missing = run(tables, tmp_path, library, quick=True)
    assert not missing
    assert not [task for task, result in store.read().items() if "failed" in result]
    assert counts(cells(tables[0], store.read()))["compared"] == 6
    assert len(tables[1].measured(store.read())) == 10


@pytest.mark.data
def test_networks_on_the_heart_patients(library, tmp_path):
    methods = {name: dtc_networks.METHODS[name] for name in ("RBF-MPDH-DTC", dtc_networks.KERNEL)}
    one = {"Heart disease": "heart_statlog"}
    table = replace(TABLES["dtc-table4.5"], datasets=one, methods=methods, protocol=Shuffled(1, 0.3))
    results = run([table], tmp_path, library)[0].measured()
    assert table.measured(results)["Heart disease", "RBF-MPM"] > 60
    assert TABLES["dtc-table4.4"].measured(results)["Heart disease", "RBF-MPDH-DTC"] in dtc_networks.NODES
    assert TABLES["dtc-table4.4"].measured(results)["Heart disease", dtc_networks.KERNEL] in dtc_networks.WIDTHS
    assert 0 < TABLES["dtc-table4.6"].measured(results)["Heart disease", "RBF-MPM"] < 60_000


def rings(rng, n):
    """Two classes that no plane tells apart."""
    y = np.arange(n) % 2
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * (0.3 + 0.6 * y[:, None]), y


def test_network_chooses_its_nodes_and_learns_from_all_rows(rng):
    X, y = rings(rng, 300)
    model = dtc_networks.RBFNetwork(LinearBayes(), values=(400, 8), folds=3).fit(X, y)
    assert model.best_params_ == {"nodes": 8}  # 400 are more than there are rows
    assert model.score(X, y) > 0.95
    assert model.model_[-1].class_count_.sum() == 300
    assert model.predict_proba(X).shape == (300, 2)
    assert set(model.seconds_) == {"train"}


def test_discriminants_of_a_split_share_their_centres(rng):
    X, y = rings(rng, 120)
    dtc_networks._columns.cache_clear()
    for discriminant in (LinearBayes(), FisherDiscriminant()):
        dtc_networks.RBFNetwork(discriminant, values=(3, 5), folds=2).fit(X, y)
    assert dtc_networks._columns.cache_info()[:2] == (4, 4)  # hits, misses


def test_kernel_machine_takes_components_when_rows_are_many(rng, monkeypatch):
    X, y = rings(rng, 200)
    few = dtc_networks.KernelMachine(values=(0.5, 1.0), folds=2).fit(X, y)
    monkeypatch.setattr(dtc_networks, "WHOLE", 50)
    monkeypatch.setattr(dtc_networks, "COMPONENTS", 40)
    many = dtc_networks.KernelMachine(values=(0.5, 1.0), folds=2).fit(X, y)
    assert hasattr(few.model_, "machine_")
    assert many.model_[0].components_.shape == (40, 2)
    assert min(few.score(X, y), many.score(X, y)) > 0.95


def test_a_sample_keeps_the_shares_of_classes(rng):
    y = np.repeat([0, 1], [900, 100])
    kept = dtc_networks.sample(np.arange(1000)[:, None], y, 100, 0)
    assert kept[1].sum() == 10


def test_table_a1():
    table = TABLES["dtc-tableA.1"]
    results = {task: table.run(task, Library())[0] for task in table.tasks() if task.split < 4}
    ours = table.measured(results)
    assert ours["Gaussian", "total"] == pytest.approx(100 * norm.cdf(np.sqrt(3)), abs=0.15)
    assert ours["t", "total"] == pytest.approx(96.2, abs=0.2)
    assert 95.5 < ours["Uniform", "total"] <= 100
    assert min(ours.values()) > 100 * dtc_simulated.BOUND


@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
def test_accuracy_against_the_prior(monkeypatch):
    monkeypatch.setattr(dtc_simulated, "SAMPLES", 20_000)
    monkeypatch.setattr(dtc_simulated, "ROWS", 4_000)
    monkeypatch.setattr(dtc_simulated, "RUNS", 2)
    for curves in (dtc_simulated.uniform(0)["curves"], dtc_simulated.gaussian(5, 0)["curves"]):
        assert len(curves["P1"]) == len(curves["Bayes"]) == 19
        for rule in dtc_simulated.RULES:
            assert (np.array(curves["Bayes"]) - curves[rule] > -1.5).all()
    minimax = curves["MPDH-DTC"]
    assert np.ptp(minimax) < 1e-3  # for normal classes it does not depend on the prior
    task = Task("dtc-figure4.2", "n = 5", "computed", 0)
    ours = TABLES["dtc-figure4.2"].measured({task: {"curves": curves}})
    assert ours["n = 5", "Linear-Bayes gap"] < ours["n = 5", "MPDH-DTC gap"]


def test_exponents_come_from_times_and_results_hold_none(tmp_path, monkeypatch):
    monkeypatch.setattr(dtc_simulated, "FEATURES", (5, 10))
    table = TABLES["dtc-table4.7"]
    task = Task(table.name, "MPM", "computed", 0)
    store = Store(tmp_path)
    store.append(task, table.key(task, Library()), *table.run(task, Library()))
    assert store.read() == {task: {}}
    assert set(store.read_times()[task]) == {"fit", "5", "10"}
    known = {task: {"seconds": {"fit": 9.0, "10": 0.001, "20": 0.008, "40": 0.064}}}
    assert table.measured(known)["MPM", "exponent"] == pytest.approx(3)
    short = dtc_simulated.fitting(lambda nodes: dtc_simulated.network(FisherDiscriminant, nodes), (3, 6), 50, 0)
    assert set(short["seconds"]) == {"3", "6"}
