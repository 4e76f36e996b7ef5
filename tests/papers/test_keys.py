"""Keys: the same wherever they are computed, and another one for whatever a result depends on."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice
from papers import code, keys
from papers.datasets import Library
from papers.protocols import Shuffled
from papers.tables import TABLES, dtc, dtc_simulated, rc, rc1_figures
from suffice.learners import RiskCalibration

OFFLINE = Library(online=False)
TABLE = TABLES["rc1-table2"]
TASK = next(task for task in TABLE.tasks() if task.dataset == "iris" and task.method == "rc")


def pipeline(**settings):
    return make_pipeline(StandardScaler(), suffice.GaussianNB(learner=RiskCalibration(**settings)))


def test_every_parameter_counts():
    assert keys.key(pipeline()) == keys.key(pipeline())
    assert keys.key(pipeline()) != keys.key(pipeline(rate=0.3))
    assert keys.key(suffice.GaussianNB()) != keys.key(suffice.GaussianNB(prior=suffice.GaussianPrior(1.0)))


def test_functions_count_with_their_code_and_what_it_uses(monkeypatch):
    prepare = rc1_figures.components
    assert keys.key(prepare(3)) == keys.key(prepare(3))
    assert keys.key(prepare(3)) != keys.key(prepare(4))
    assert keys.key(dtc.complete) != keys.key(rc.complete)
    assert keys.key(partial(dtc_simulated.gaussian, 5)) != keys.key(partial(dtc_simulated.gaussian, 10))
    before = keys.key(dtc_simulated.gaussian)
    monkeypatch.setattr(dtc_simulated, "ROWS", 7)  # of a function that it calls
    keys._code.cache_clear()
    assert keys.key(dtc_simulated.gaussian) != before
    keys._code.cache_clear()


@pytest.mark.parametrize(
    "change",
    [
        {"protocol": Shuffled(2, 0.25)},
        {"prepare": dtc.complete},
        {"keep_wrong": True},
        {"methods": {"rc": rc.nb(RiskCalibration(rate=0.2))}},
        {"datasets": {"iris": "wine"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_a_result_depends_on_is_in_its_key(change):
    assert replace(TABLE, **change).key(TASK, OFFLINE) != TABLE.key(TASK, OFFLINE)
    assert replace(TABLE, notes="Other words.").key(TASK, OFFLINE) == TABLE.key(TASK, OFFLINE)


def test_version_and_rows_are_in_the_key(monkeypatch, tmp_path):
    before = TABLE.key(TASK, OFFLINE)
    for folder, value in (("one", 1.0), ("two", 2.0)):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"a": [value, 3.0], "target": ["x", "y"]}), tmp_path / folder / "iris.parquet")
    one, two = (TABLE.key(TASK, Library(tmp_path / folder, online=False)) for folder in ("one", "two"))
    assert len({before, one, two}) == 3
    for package in (np, scipy, sklearn):
        with monkeypatch.context() as patch:
            patch.setattr(package, "__version__", "99.9")
            assert TABLE.key(TASK, OFFLINE) != before


def test_the_code_that_an_estimator_reaches_is_in_the_key(monkeypatch):
    """Whatever it imports counts, directly or not, and nothing else does."""

    def with_other(module):
        whole = code._tree
        with monkeypatch.context() as patch:
            changed = ast.parse("CHANGED = 1")
            patch.setattr(code, "_tree", lambda name: changed if name == module else whole(name))
            for cached in (code.digest, code.reached, code._contents, code._imported, code._defining):
                patch.setattr(code, cached.__name__, cached.__wrapped__)
            keys._code.cache_clear()
            return keys.key(suffice.CategoricalNB())

    before = with_other(None)
    keys._code.cache_clear()
    assert with_other("suffice.models.tables.categorical") != before
    assert with_other("suffice._core.probability") != before
    assert with_other("suffice.tabular") == before


def test_a_module_reaches_what_it_imports_and_not_what_its_package_passes_on():
    assert "suffice.learners.newton" not in code.reached("suffice.learners.calibration")
    assert {"suffice.models.gaussian.moments", "suffice._core.vector"} <= code.reached("suffice.tangent")
    everything = {
        ".".join(["suffice", *path.relative_to(code.ROOT).with_suffix("").parts]).removesuffix(".__init__")
        for path in code.ROOT.rglob("*.py")
    }
    assert code.reached("suffice.tabular") < everything


def test_docstrings_are_not_code():
    tree = ast.dump(code._tree("suffice.learners.newton"))
    assert "Newton's method" not in tree


def test_a_function_counts_with_the_estimators_that_it_names():
    def one():
        return suffice.LinearBayes()

    assert any("LinearBayes" in str(part) and code.digest("suffice.tangent") in str(part) for part in _used(one))


def _used(function):
    names, _ = keys._text(function)
    return [keys.described(one) for one in keys._of_library({"suffice": suffice}, names).values()]


@pytest.mark.thorough
def test_keys_are_the_same_in_every_process():
    every = "[t.key(t.tasks()[0], L()) for t in TABLES.values() if t.tasks() and (not t.needs(t.tasks()[0]))]"
    some = "TABLES['nblr-table2'].key(Task('nblr-table2', 'Iris', 'NB', 0), L())"
    head = "from papers.tables import TABLES; from papers.store import Task; from papers.datasets import Library as L"
    command = [sys.executable, "-c", f"{head}; print({some}, {every})"]
    path = {"PYTHONPATH": ":".join(sys.path)}
    said = {
        subprocess.run(command, check=True, capture_output=True, env={**path, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


@pytest.mark.parametrize("table", [t for t in TABLES.values() if t.tasks()], ids=lambda table: table.name)
def test_every_task_has_a_key_of_its_own(table, monkeypatch):
    monkeypatch.setattr(Library, "digest", lambda self, name: name)
    found = {}
    for task in table.tasks():
        found.setdefault(table.key(task, OFFLINE), []).append((task.dataset, task.method, task.split))
    methods = {method for same in found.values() if len(same) > 1 for _, method, _ in same}
    assert not methods


def test_arrays_and_sets_are_described_by_their_contents():
    assert keys.described({3, 1, 2}) == keys.described({1, 2, 3})
    assert keys.described(np.ones(2)) != keys.described(np.ones(2, dtype=np.float32))
