"""What a database cannot be asked for, and rows that cannot be learned from, each with its sentence."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

from suffice import (
    AdditiveTables,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    TabularClassifier,
)
from suffice.data import SQL, DataError
from suffice.learners import ClosedForm, RiskCalibration
from suffice.models import NoNomogramError
from tests.data.databases import database
from tests.data.test_scale import TARGET, tabled
from tests.data.test_sql import broken, engine

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (TabularClassifier(n_trees=2), "cannot be learned in a database"),
        (AdditiveTables(), "what Views makes of rows cannot be asked"),
        (LogisticRegression(), "cannot be learned in a database"),
        (GaussianNB(learner=RiskCalibration(out_of_sample=True)), "Memory|memory"),
        (GaussianNB(learner=RiskCalibration(batch_size=10)), "draws single rows, which SQL cannot do"),
    ],
    ids=["trees", "views", "newton", "out-of-sample", "minibatches"],
)
def test_what_has_no_query_says_so(estimator, message):
    frame = tabled(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2)
    with database("duckdb") as db, pytest.raises(TypeError, match=message):
        estimator.fit(engine(db, frame))


@pytest.mark.parametrize(
    ("frame", "settings", "message"),
    [
        (broken(), {"columns": ["a", "z"]}, r"table 't': there is no column \['z'\]; the columns are"),
        (broken(), {"weight": "z"}, r"table 't': there is no column \['z'\]"),
        (broken(b=["x", "y", "x", "y"]), {}, r"table 't': GaussianNB takes numbers, but the columns \['b'\] are text"),
        (
            broken(b=[np.inf, 1.0, 2.0, 3.0]),
            {},
            r"table 't': GaussianNB takes finite numbers, but \['b'\]",
        ),
        (broken(w=[1.0, -1.0, 1.0, 1.0]), {"weight": "w"}, "the weights in column 'w' must be finite numbers of at"),
        (broken(w=[1.0, np.nan, 1.0, 1.0]), {"weight": "w"}, "the weights in column 'w' must be finite"),
    ],
    ids=["column", "weight column", "text", "infinity", "negative weight", "no weight"],
)
def test_rows_that_cannot_be_learned_from(db, frame, settings, message):
    with pytest.raises(DataError, match=message):
        GaussianNB().fit(engine(db, frame, **settings))


def test_missing_values_where_none_may_be(db):
    frame = broken(a=[np.nan, 1.0, 2.0, 3.0])
    with pytest.raises(DataError, match=r"table 't': LogisticRegression takes no missing values, but \['a'\] has some"):
        LogisticRegression(learner=ClosedForm()).fit(engine(db, frame))


def test_a_table_that_is_not_there(db):
    with pytest.raises(DataError, match=r"table 'nowhere': .*nowhere"):
        GaussianNB().fit(SQL(db.connection, "nowhere", target="y"))


def test_a_lost_connection():
    with database("duckdb") as db:
        data = engine(db, broken())
    with pytest.raises(DataError, match=r"table 't': .*[cC]onnection"):
        GaussianNB().fit(data)


def test_a_column_that_the_model_knows_and_the_table_does_not(db):
    frame = broken()
    model = GaussianNB().fit(frame[["a", "b"]].rename(columns={"b": "B"}), frame[TARGET])
    with pytest.raises(DataError, match=r"table 't': there is no column 'B'; the columns are \['a', 'b'"):
        model.predict(engine(db, frame))


def test_dates_are_no_numbers(db):
    frame = broken(b=pd.to_datetime(["2024-01-01"] * 4))
    with pytest.raises(ValueError, match=r"GaussianNB takes numbers, but the columns \['b'\] hold dates"):
        GaussianNB().fit(engine(db, frame))


def test_labels_are_needed_to_learn(db):
    db.load(broken(), "t")
    with pytest.raises(DataError, match="table 't' has no labels to learn from: give target="):
        GaussianNB().fit(SQL(db.connection, "t", columns=["a", "b"]))


@pytest.mark.parametrize(
    ("given", "settings", "error", "message"),
    [
        (object(), {"table": "t"}, TypeError, "the database of a object is not known: give dialect="),
        (
            sqlite3.connect(":memory:"),
            {},
            TypeError,
            r"a Connection is not a table: name one, as in suffice.data.SQL\(connection",
        ),
        (sqlite3.connect(":memory:"), {"table": "t", "dialect": "db2"}, ValueError, "dialect must be one of"),
        ("nowhere.duckdb", {"table": "t"}, DataError, "there is no database 'nowhere.duckdb'"),
    ],
    ids=["object", "no table", "dialect", "path"],
)
def test_what_is_no_table(given, settings, error, message):
    with pytest.raises(error, match=message):
        SQL(given, **settings)


def test_sqlite_columns_of_several_types():
    with database("sqlite") as db:
        db.load(broken(), "t")
        db.connection.execute("UPDATE t SET a = 'word' WHERE b = 5")
        with pytest.raises(DataError, match="table 't': column 'a' holds real and text values: convert it to one type"):
            NaiveBayes().fit(SQL(db.connection, "t", target=TARGET))
        with pytest.raises(DataError, match="table 't': column 'a' holds real and text values"):
            NaiveBayes().fit(SQL(db.connection, "t", target="a", columns=["b"]))
        used = SQL(db.connection, "t", target=TARGET, columns=["b"])  # of what is in the others nothing is asked
        model = GaussianNB().fit(used)
        assert len(model.predict(SQL(db.connection, "t")).fetch()) == 4


def test_rows_that_have_no_answer_have_no_score(db):
    frame = broken(a=[np.nan, 1.0, 2.5, 3.0])
    model = LinearDiscriminantAnalysis().fit(broken()[["a", "b"]], frame[TARGET])
    with pytest.raises(DataError, match="table 't': 1 rows have missing values, for which this model has no formula"):
        model.score(engine(db, frame))
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    trees = TabularClassifier(n_trees=2, random_state=0).fit(X, np.where(X["a"] * X["b"] > 0, "u", "v"))
    with pytest.raises(NoNomogramError, match="TabularClassifier cannot be written in SQL"):
        trees.score(engine(db, frame))
    with pytest.raises(DataError, match="table 't': there is no column 'b'"):
        model.score(engine(db, frame.drop(columns="b")))


def test_columns_that_are_named_twice(db):
    with pytest.raises(ValueError, match=r"columns has \['a'\] more than once: name each feature once"):
        SQL(db.connection, "t", columns=["a", "b", "a"])


@pytest.mark.parametrize("estimator", [GaussianNB(), NaiveBayes(), GaussianNB(learner=RiskCalibration(max_iter=2))])
@pytest.mark.parametrize("rows", [0, 4], ids=["no rows", "no weight"])
def test_nothing_to_learn_from(db, estimator, rows):
    frame = broken(w=[0.0] * 4)[:rows]
    with pytest.raises(ValueError, match="table 't' has no rows with a label and a weight above zero"):
        estimator.fit(engine(db, frame, weight="w"))


def test_columns_that_differ_in_case_alone():
    frame = broken().rename(columns={"b": "A"})
    model = GaussianNB().fit(frame[["a", "A"]], frame[TARGET])
    for dialect in ("duckdb", "sqlite"):
        with pytest.raises(ValueError, match=f"columns 'a' and 'A' differ only in case, which {dialect} does not tell"):
            model.to_sql("t", dialect)
    assert '"A"' in model.to_sql("t", "postgres")
    assert '"A_1"' in model.to_sql("t", "duckdb", columns=["a", "A_1"])


def test_a_connection_is_no_table():
    duckdb = pytest.importorskip("duckdb")
    with (
        duckdb.connect() as connection,
        pytest.raises(TypeError, match=r"is not a table: name one, as in suffice"),
    ):
        GaussianNB().fit(connection, "y")


def test_a_file_of_sqlite(tmp_path):
    path = tmp_path / "rows & more.sqlite"
    connection = sqlite3.connect(path)
    broken().to_sql("t", connection, index=False)
    connection.close()
    data = SQL(path, "t", target=TARGET)
    assert data.source.dialect.name == "sqlite"
    frame = broken()
    expected = GaussianNB().fit(frame[["a", "b"]], frame[TARGET]).predict(frame[["a", "b"]])
    assert [row[0] for row in GaussianNB().fit(data).predict(data).fetch()] == expected.tolist()
    with pytest.raises(DataError, match="readonly"):
        GaussianNB().fit(data).predict(data).create("answers")
