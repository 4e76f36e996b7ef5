"""Bayesian-network classifiers: mixed tables, structures that are given or shared, and what people read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from typer.testing import CliRunner

from suffice import BayesNetClassifier, KDependenceNB, NaiveBayes, TreeAugmentedNB, load
from suffice.cli.app import app
from suffice.data import Memory
from suffice.learners import TM, DiscriminativeFrequency, GradientDescent, RiskCalibration
from tests.populations import mixed_table
from tests.strangers.lazy import Lazy


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module")
def flow():
    """Rows in which `b` is `a`, or not, by the class: one column alone says nothing."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    a = rng.integers(2, size=2000)
    b = np.where(rng.random(2000) < 0.9, a ^ y, 1 - (a ^ y))
    number = rng.normal(size=2000) + 3 * a
    return pd.DataFrame({"a": np.array(["u", "v"])[a], "b": np.array(["x", "z"])[b], "c": number}), y


def test_pairs_tell_what_columns_do_not(flow):
    X, y = flow
    assert NaiveBayes().fit(X, y).score(X, y) < 0.6
    for model in (TreeAugmentedNB(), KDependenceNB(), BayesNetClassifier({"b": ["a"]})):
        assert model.fit(X, y).score(X, y) > 0.85


def test_mixed_tables_with_everything_that_people_read(table):
    X, y = table
    model = KDependenceNB(columns={"same": "drop"}).fit(X, y)
    assert set(model.parents_) <= set(X.columns)
    assert "given" in str(model.columns_)
    assert "same" in model.columns_
    assert model.structure_.who == "KDependenceNB"
    assert "|" in repr(model.structure_)
    found = model.contributions(X.iloc[:5])
    assert any(" & " in str(name) for name in found.names)
    rows, labels = model.sample(200, random_state=0)
    assert rows.shape == (200, X.shape[1])
    assert set(labels) <= set(y)
    assert pd.isnull(rows[:, list(X.columns).index("same")]).all()


def test_a_sample_has_the_parameters_of_the_model(flow):
    X, y = flow
    model = BayesNetClassifier({"b": ["a"], "c": ["a", "b"]}, n_bins=4, strategy="quantile").fit(X, y)
    rows, labels = model.sample(60_000, random_state=0)
    again = clone(model).set_params(structure=model.structure_).fit(pd.DataFrame(rows, columns=X.columns), labels)
    assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=0.05)
    same = clone(model).set_params(structure=model.structure_).fit(X, y)
    assert_allclose(same.predict_proba(X), model.predict_proba(X), rtol=0, atol=0)


@pytest.mark.parametrize("kind", [TreeAugmentedNB, KDependenceNB])
def test_fits_that_share_a_structure_merge_and_forget_exactly(table, kind):
    X, y = table
    whole = kind().fit(X, y)
    parts = np.array_split(np.random.default_rng(0).permutation(len(y)), 3)
    first, *others = (kind(structure=whole.structure_).fit(X.iloc[rows], y[rows]) for rows in parts)
    merged = sum(others, first)
    assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    less = merged.forget(X.iloc[parts[1]], y[parts[1]])
    rest = np.concatenate([parts[0], parts[2]])
    without = kind(structure=whole.structure_).fit(X.iloc[rest], y[rest])
    assert_allclose(less.predict_proba(X), without.predict_proba(X), atol=1e-12)
    one, other = kind().fit(X.iloc[parts[0]], y[parts[0]]), kind().fit(X.iloc[parts[2]], y[parts[2]])
    if one.structure_.graph.agrees(other.structure_.graph):
        pytest.skip("both parts have the same structure")
    with pytest.raises(ValueError, match=r"structure=first.structure_"):
        one.merge(other)


def test_the_structure_does_not_depend_on_order_batches_or_engine(table, tmp_path):
    X, y = table
    model = KDependenceNB().fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    parts = [(X.iloc[rows], y[rows]) for rows in np.array_split(order, 4)]
    path = tmp_path / "rows.parquet"
    X.assign(label=y).to_parquet(path)
    fits = [
        KDependenceNB().fit(X.iloc[order], y[order]),
        KDependenceNB().fit(Memory(X, y, batch_size=17)),
        KDependenceNB().fit(Lazy(parts)),
        KDependenceNB().fit(path, "label"),
    ]
    for other in fits:
        assert other.parents_ == model.parents_
        assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "learner",
    [RiskCalibration(), RiskCalibration(out_of_sample=True), TM(), DiscriminativeFrequency(), GradientDescent()],
)
def test_every_learner_of_tables_lowers_the_loss(table, learner):
    X, y = table
    model = TreeAugmentedNB(learner=learner).fit(X, y)
    if not isinstance(learner, DiscriminativeFrequency):  # which only adds
        assert model.history_["objective"][-1] <= model.history_["objective"][0]
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_graphs_come_as_mappings_and_from_networkx(flow):
    X, y = flow

    class Graph:  # what BayesNetClassifier uses of networkx.DiGraph
        nodes = ("a", "b", "c")

        def predecessors(self, column):
            return iter({"b": ["a"], "c": ["a"]}.get(column, []))

    by_graph = BayesNetClassifier(Graph()).fit(X, y)
    by_mapping = BayesNetClassifier({"b": ["a"], 2: [0]}).fit(X, y)
    assert by_graph.parents_ == by_mapping.parents_ == {"a": [], "b": ["a"], "c": ["a"]}
    assert_allclose(by_graph.predict_proba(X), by_mapping.predict_proba(X))


@pytest.mark.parametrize(
    ("structure", "says"),
    [
        ({"b": ["a"], "a": ["b"]}, "structure has a cycle"),
        ({"b": ["nobody"]}, "structure has 'nobody', which is not a column"),
        ({"b": "a"}, "structure must be a dict of column"),
        (["a"], "structure must be a dict of column"),
        ({"b": ["b"]}, "structure has a cycle"),
    ],
)
def test_graphs_that_make_no_sense_are_refused(flow, structure, says):
    with pytest.raises(ValueError, match=says):
        BayesNetClassifier(structure).fit(*flow)


def test_settings_that_make_no_sense_are_refused(flow):
    X, y = flow
    with pytest.raises(ValueError, match='k must be a whole number from 0 to 5, or "loo", got 6'):
        KDependenceNB(6).fit(X, y)
    with pytest.raises(ValueError, match="structure has 'a', which `columns` leaves out"):
        BayesNetClassifier({"b": ["a"]}, columns={"a": "drop"}).fit(X, y)
    many = pd.DataFrame(np.random.default_rng(0).integers(300, size=(3000, 3)).astype(str), columns=list("uvw"))
    with pytest.raises(ValueError, match="fewer parents"):
        BayesNetClassifier({"u": ["v", "w"]}).fit(many, np.arange(3000) % 2)


def test_structures_of_other_columns_are_refused(flow, table):
    X, y = flow
    with pytest.raises(ValueError, match="expecting"):
        TreeAugmentedNB(structure=TreeAugmentedNB().fit(X, y).structure_).fit(*table)


def test_sql_is_python(flow):
    duckdb = pytest.importorskip("duckdb")
    X, y = flow
    model = KDependenceNB(strategy="quantile", n_bins=5).fit(X, y)
    rows = X.iloc[:50].reset_index(drop=True)
    rows.loc[::5, "a"] = None
    rows.loc[::7, "c"] = np.nan
    assert max(map(len, model.parents_.values())) == 2
    found = duckdb.sql(model.to_sql("rows")).fetchall()
    assert_allclose(np.array([one[:2] for one in found], dtype=float), model.predict_proba(rows), atol=1e-9)


def test_dask_learns_the_same(table):
    frames = pytest.importorskip("dask.dataframe")
    X, y = table
    rows = frames.from_pandas(X.assign(label=y), npartitions=3)
    model, other = KDependenceNB().fit(X, y), KDependenceNB().fit(rows, "label")
    assert other.parents_ == model.parents_
    assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-10)


def test_files_and_the_command_keep_structures(table, tmp_path, monkeypatch):
    X, y = table
    model = TreeAugmentedNB().fit(X, y)
    model.save(tmp_path / "one.suffice")
    again = load(tmp_path / "one.suffice")
    assert again.parents_ == model.parents_
    assert_allclose((again + model).predict_proba(X), (model + model).predict_proba(X), atol=1e-12)
    both = X.assign(label=y)
    both.iloc[::2].to_parquet(tmp_path / "a.parquet")
    both.iloc[1::2].to_parquet(tmp_path / "b.parquet")
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    found = run(app, ["fit", "a.parquet", "--target", "label", "--model", "tan", "--out", "a.suffice"])
    assert found.exit_code == 0, found.output
    found = run(app, ["fit", "b.parquet", "--like", "a.suffice", "--out", "b.suffice"])
    assert found.exit_code == 0, found.output
    found = run(app, ["merge", "a.suffice", "b.suffice", "--out", "c.suffice"])
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize("learner", [None, RiskCalibration(max_iter=4)])
def test_a_database_learns_the_same(table, learner):
    duckdb = pytest.importorskip("duckdb")
    X, y = table
    rows = X.assign(label=y)  # noqa: F841 - duckdb reads it by name
    relation = duckdb.sql("select * from rows")
    for kind in (TreeAugmentedNB, KDependenceNB, lambda **more: BayesNetClassifier({"age": ["job"]}, **more)):
        model, other = kind(learner=learner).fit(X, y), kind(learner=learner).fit(relation, "label")
        assert other.parents_ == model.parents_
        complete = X.dropna()
        assert_allclose(other.predict_proba(complete), model.predict_proba(complete), atol=1e-6 if learner else 1e-10)
