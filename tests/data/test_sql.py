"""A table that is summed where it lies leads to what its rows in memory do, and only sums come back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sqlglot
from numpy.testing import assert_allclose

from suffice import (
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    ModelClassifier,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.data import SQL
from suffice.data.sql import _rows
from suffice.data.sql._rows import SQLRows
from suffice.data.sql._source import RELATION
from suffice.data.sql._writing import PARTS
from suffice.encoders import Categories, Numbers
from suffice.encoders.table import Table
from suffice.learners import ClosedForm, DiscriminativeFrequency, RiskCalibration
from suffice.models import Binned, NoNomogramError, SqlSummable
from suffice.models.tables import histogram as grid
from suffice.priors import Dirichlet
from tests.data.databases import database
from tests.data.test_scale import TARGET, few_passes, iterates, mixed, tabled, tolerance
from tests.zoo import every

KEY = "the key"
CALIBRATED = RiskCalibration(0.1, max_iter=2, stop=None)
pytestmark = pytest.mark.filterwarnings("ignore")


def engine(db, frame, table="t", **settings):
    db.load(frame.assign(**{KEY: np.arange(len(frame))}), table)
    return SQL(db.connection, table, target=TARGET, keys=KEY, **settings)


def collected(answer):
    """Answers in the order of the rows, NaN for NULL."""
    rows = [row[1:] for row in sorted(answer.fetch(), key=lambda row: row[0])]
    return np.array([row[0] for row in rows]) if len(rows[0]) == 1 else np.array(rows, dtype=float)


def same(db, estimator, frame, atol, table="t"):
    """Learned in the database and in memory: the same probabilities, and the same answers where there are any."""
    rows = frame.drop(columns=TARGET)
    data = engine(db, frame, table)
    theirs = estimator.fit(data)
    probabilities = theirs.predict_proba(rows)
    try:
        answer, labels = collected(theirs.predict_proba(data)), collected(theirs.predict(data))
    except NoNomogramError:  # what pairs say together
        assert estimator._fit_result().model.scheme != "ovr"
        answer = labels = None
    ours = estimator.fit(rows, frame[TARGET])
    expected = ours.predict_proba(rows)
    assert_allclose(probabilities, expected, rtol=0, atol=atol)
    if answer is not None:
        known = ~np.isnan(answer).any(axis=1)
        assert known[rows.notna().all(axis=1).to_numpy()].all()
        assert_allclose(answer[known], expected[known], rtol=0, atol=max(atol, 1e-9))
        first, second = np.sort(expected, axis=1)[:, :-3:-1].T
        clear = known & (first - second > 10 * atol)
        assert (labels == ours.predict(rows))[clear].all()
    return data


def broken(**changes):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 5.0, 2.0, 2.0], TARGET: ["u", "v", "u", "v"]})
    return frame.assign(**changes)


def asked(entry):
    """Whether an entry is learned from sums that have a query."""
    model, learner = entry.model(), entry.prototype._learner()
    moves = isinstance(learner, RiskCalibration | DiscriminativeFrequency) and model.base_model is model
    reads = type(model.encoder) in (Numbers, Categories, Table) and not getattr(model.encoder, "declared", ())
    plain = isinstance(learner, ClosedForm) or (moves and not entry.out_of_sample)
    return plain and reads and isinstance(model.base_model, SqlSummable) and "evidence" not in entry.name


def few(entry):
    """Those of a form of their own, for databases that differ in what they say only."""
    return asked(entry) and entry.name in {"gaussian-nb", "qda", "binned", "naive-bayes", "categorical", "fisher"}


def holed(entry, seed=4):
    X, y = entry.draw(seed)
    return tabled(entry.holed(X, seed), y)


@every(asked)
def test_every_sum_is_that_of_rows_in_memory(entry):
    with database("duckdb") as db:
        same(db, few_passes(entry), tabled(*entry.draw(3)), tolerance(entry))


@every(lambda entry: asked(entry) and entry.missing and not iterates(entry))
def test_missing_entries_are_summed_as_in_memory(entry):
    with database("sqlite") as db:
        same(db, few_passes(entry), holed(entry), tolerance(entry))


@every(few)
@pytest.mark.postgres
def test_every_sum_on_a_server(entry, server):
    with database("postgres", server) as db:
        same(db, few_passes(entry), holed(entry), tolerance(entry))


@pytest.mark.parametrize(
    ("estimator", "atol"),
    [
        (NaiveBayes(), 1e-10),
        (NaiveBayes(numeric="gaussian"), 1e-10),
        (NaiveBayes(learner=CALIBRATED), 1e-8),
        (NaiveBayes(class_weight="balanced"), 1e-10),
    ],
    ids=["bins", "normal", "calibrated", "balanced"],
)
def test_mixed_tables(db, estimator, atol):
    frame = mixed()
    for column in ("visits", "member", "colour"):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    same(db, estimator, frame, atol)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_pass_of_calibration_is_one_query(dialect):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=60)
    frame = tabled(rng.normal(size=(60, 2)) + y[:, None] + 1e6, y)
    with database(dialect) as db:
        data = same(db, GaussianNB(learner=RiskCalibration(0.1, max_iter=2, stop=None)), frame, 1e-8, "weighed")
        counts = []
        for passes in (2, 4):
            before = len(data.queries)
            GaussianNB(learner=RiskCalibration(0.1, max_iter=passes, stop=None)).fit(data)
            counts.append(len(data.queries) - before)
        assert counts[1] == counts[0] + 2


def test_weights_and_rows_of_weight_zero(db):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    frame = pd.DataFrame({"a": rng.normal(size=80) + y, "b": rng.normal(size=80), "w": rng.integers(0, 3, 80) / 2})
    frame[TARGET] = np.where(frame["w"] == 0, 7, y)  # a class that no row of some weight has
    ours = QuadraticDiscriminantAnalysis().fit(frame[["a", "b"]], frame[TARGET], sample_weight=frame["w"])
    theirs = QuadraticDiscriminantAnalysis().fit(engine(db, frame, weight="w", columns=["a", "b"]))
    assert theirs.classes_.tolist() == [0, 1]
    assert_allclose(theirs.predict_proba(frame[["a", "b"]]), ours.predict_proba(frame[["a", "b"]]), atol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "columns"), [(GaussianNB(learner=CALIBRATED), 40), (NaiveBayes(learner=CALIBRATED), 12)]
)
def test_many_columns_are_calibrated_in_sqlite(estimator, columns):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150)
    with database("sqlite") as db:
        same(db, estimator, tabled(rng.normal(size=(150, columns)) + 0.3 * y[:, None], y), 1e-8)


def test_rows_stand_once_in_a_query_of_many_columns():
    """SQLite keeps a copy of a query for every place that speaks of it."""
    rng = np.random.default_rng(0)
    frame = tabled(rng.normal(size=(40, 9)), np.arange(40) % 2)
    with database("sqlite") as db:
        data = engine(db, frame)
        NaiveBayes(learner=CALIBRATED).fit(data)
        for query in map(sqlglot.parse_one, data.queries[-2:]):  # of the passes
            places = [table.name for table in query.find_all(sqlglot.exp.Table) if table.name != PARTS]
            assert "t" in places
            assert len(places) == len(set(places))


def test_many_classes(db):
    y = np.repeat(np.arange(220), 2)
    frame = tabled(np.random.default_rng(0).normal(size=(440, 1)) * 0.1 + y[:, None], y)
    same(db, GaussianNB(), frame, 1e-9)


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), NaiveBayes(), FisherDiscriminant(costs=[[0, 1], [5, 0]])],
    ids=["normal", "bins", "costs"],
)
def test_the_share_of_right_answers_is_that_of_memory(db, estimator):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=90)
    frame = tabled(rng.normal(size=(90, 2)) + y[:, None], np.array(["no", "yes"], dtype=object)[y])
    frame["w"] = rng.integers(0, 3, 90) / 2
    rows = frame[["x0", "x1"]]
    model = estimator.fit(rows, frame[TARGET])
    data = engine(db, frame, weight="w", columns=["x0", "x1"])
    assert model.score(data) == pytest.approx(model.score(rows, frame[TARGET], frame["w"]), abs=1e-12)
    frame.loc[::9, TARGET] = "maybe"  # never learned, and so never right
    other = engine(db, frame, weight="w", columns=["x0", "x1"])
    assert model.score(other) == pytest.approx(model.score(rows, frame[TARGET], frame["w"]), abs=1e-12)


# The grid


def awkward(n, seed=0):
    """Numbers at and beside powers of two, of both signs and all sizes, with zeros and the smallest there are."""
    rng = np.random.default_rng(seed)
    power = 2.0 ** rng.integers(-1022, 1023, n)
    beside = np.where(rng.random(n) < 0.5, np.nextafter(power, 0.0), power)
    ordinary = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n)
    values = np.where(rng.random(n) < 0.4, beside, ordinary) * rng.choice([-1.0, 1.0], n)
    values[:6] = [0.0, -0.0, 5e-324, -5e-324, np.finfo(float).max, -np.finfo(float).tiny]
    return values


@pytest.mark.parametrize("shift", [1, 20, 44, 51, 52])
def test_cells_are_those_of_the_grid(db, shift):
    values = awkward(400)
    db.load(pd.DataFrame({"x": values, TARGET: 0, "row": np.arange(400)}), "t")
    rows = SQLRows.of(SQL(db.connection, "t", target=TARGET, columns=["x"]).source)
    say = rows.writer()
    query = say.query(rows.source.from_table, {"x": _rows.truncated(say, say.read("x"), shift), "row": say.raw("row")})
    found = np.array([x for x, _ in sorted(rows.source.run(query), key=lambda row: row[1])])
    own = grid.ordered(values) >> shift
    assert (grid.ordered(found) >> shift == own).all()
    big = abs(values) >= np.finfo(float).tiny
    cells = pd.Series(found[big]).groupby(own[big]).nunique()
    assert (cells == 1).all()  # a number for each cell


@pytest.mark.parametrize("fetched", [1, 16])
def test_histograms_are_those_of_memory(monkeypatch, fetched):
    monkeypatch.setattr(_rows, "MAX_FETCHED", fetched)
    rng = np.random.default_rng(0)
    n = 9000
    y = rng.integers(2, size=n)
    frame = pd.DataFrame({"many": rng.normal(size=n) + y, "few": rng.integers(5, size=n) * 1.0, "odd": awkward(n)})
    ours = ModelClassifier(Binned(Dirichlet())).fit(frame, y)
    with database("duckdb") as db:
        theirs = ModelClassifier(Binned(Dirichlet())).fit(engine(db, frame.assign(**{TARGET: y})))
    a, b = ours.statistics_.sums, theirs.statistics_.sums
    assert a.shift == b.shift
    assert a.shift[0] > 0
    assert all(np.array_equal(p, q) for p, q in zip(a.keys, b.keys, strict=True))
    assert np.array_equal(a.table, b.table)


def test_digits_are_kept_far_from_zero(db):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    frame = pd.DataFrame(rng.normal(size=(90, 2)) + y[:, None] + 1e9, columns=["a", "b"]).assign(**{TARGET: y})
    same(db, GaussianNB(), frame, 1e-6)
    data = engine(db, frame)
    exact = frame.groupby(TARGET)[["a", "b"]].var(ddof=0).to_numpy()
    s = data.map(Numbers()).sum(_observed()).sums
    assert_allclose(s.scatter() / s.count, exact, rtol=1e-6)


def _observed():
    from suffice.learners import Observed
    from suffice.models import DiagonalGaussian

    return Observed(DiagonalGaussian())


# What comes back, and what is handed over


def test_only_sums_come_back():
    rng = np.random.default_rng(0)
    frame = tabled(rng.normal(size=(5000, 3)), rng.integers(2, size=5000))
    with database("duckdb") as db:
        data = engine(db, frame)
        GaussianNB().fit(data)
        assert max(len(data.source.fetch(query)[1]) for query in list(data.queries)) <= 5  # columns, or classes


def test_a_relation_and_a_path_of_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    frame = tabled(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2)
    expected = GaussianNB().fit(frame.drop(columns=TARGET), frame[TARGET]).predict_proba(frame.drop(columns=TARGET))
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE t AS FROM frame")
        relation = connection.table("t").filter("x0 < 1e9")
        model = GaussianNB().fit(relation, TARGET)
        assert_allclose(model.predict_proba(frame.drop(columns=TARGET)), expected, atol=1e-12)
        assert np.asarray(model.predict_proba(connection.table("t").project("x0, x1"))).shape == (40, 2)
    assert_allclose(GaussianNB().fit(SQL(path, "t", target=TARGET)).predict_proba(frame.drop(columns=TARGET)), expected)


def test_a_table_may_have_the_name_that_relations_go_by():
    frame = tabled(np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2)
    with database("sqlite") as db:
        db.load(frame, RELATION)
        model = GaussianNB().fit(SQL(db.connection, RELATION, target=TARGET))
    X = frame.drop(columns=TARGET)
    assert_allclose(model.predict_proba(X), GaussianNB().fit(X, frame[TARGET]).predict_proba(X), atol=1e-12)


def test_answers_stay_in_the_database(db):
    frame = tabled(np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2)
    data = engine(db, frame)
    model = GaussianNB().fit(data)
    answer = model.predict_proba(data)
    assert '"p(0)"' in answer.sql
    assert "query for" in repr(answer)
    assert len(repr(answer)) < 500
    before = len(data.queries)
    made = answer.create('an"swer')
    assert len(data.queries) == before + 1
    assert made.count() == 30
    assert np.asarray(answer).shape == (30, 2)
    assert np.asarray(model.predict(data)).shape == (30,)
    log_p = collected(model.predict_log_proba(data))
    assert_allclose(log_p, model.predict_log_proba(frame.drop(columns=TARGET)), atol=1e-9)


def test_columns_by_number_and_pieces(db):
    frame = tabled(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2)
    data, rows = engine(db, frame), frame.drop(columns=TARGET)
    model = GaussianNB().fit(rows.to_numpy(), frame[TARGET])  # has no names
    assert_allclose(collected(model.predict_proba(data)), model.predict_proba(rows.to_numpy()), atol=1e-9)
    twice = GaussianNB().partial_fit(data).partial_fit(data).forget(data)
    assert_allclose(twice.predict_proba(rows), GaussianNB().fit(data).predict_proba(rows), atol=1e-9)


def test_truth_values_are_numbers_too(db):
    frame = broken(b=[True, False, True, True])
    ours = GaussianNB().fit(frame[["a", "b"]], frame[TARGET])
    data = engine(db, frame)
    theirs = GaussianNB().fit(data)
    assert_allclose(theirs.predict_proba(frame[["a", "b"]]), ours.predict_proba(frame[["a", "b"]]), atol=1e-12)
    assert_allclose(collected(theirs.predict_proba(data)), ours.predict_proba(frame[["a", "b"]]), atol=1e-9)


def test_lda_and_categories_of_a_view():
    with database("sqlite") as db:
        frame = tabled(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2).assign(c=["u", "v"] * 20)
        db.load(frame, "t")
        db.connection.execute("CREATE VIEW seen AS SELECT x0 * 2 AS x0, x1, c, label FROM t WHERE x1 < 1")
        kept = frame[frame["x1"] < 1].assign(x0=lambda f: 2 * f["x0"])
        for model, columns in ((LinearDiscriminantAnalysis(), ["x0", "x1"]), (CategoricalNB(), ["c"])):
            theirs = model.fit(SQL(db.connection, "seen", target=TARGET, columns=columns)).predict_proba(kept[columns])
            assert_allclose(theirs, model.fit(kept[columns], kept[TARGET]).predict_proba(kept[columns]), atol=1e-12)
