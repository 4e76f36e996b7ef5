"""The vocabulary of columns: one word for one content on every engine, in files of any age, and in what people read."""

import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import AdditiveTables, NaiveBayes, TabularClassifier, load, save
from suffice._core.kinds import ColumnContent, LeftOut
from suffice.data import SQL
from suffice.encoders.table import Role

duckdb = pytest.importorskip("duckdb")
N = 60
DAY = pd.Timestamp("2024-03-04")
FRAME = pd.DataFrame(
    {
        "member": np.arange(N) % 3 == 0,
        "since": DAY + pd.to_timedelta(np.arange(N) % 4, unit="D"),
        "age": np.arange(N) % 7,
        "same": 1,
        "state": np.where(np.arange(N) % 2, "a", "b"),
    }
)
X, Y = FRAME.drop(columns="state"), FRAME["state"]


def in_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (member BOOLEAN, since TIMESTAMP, age INTEGER, same INTEGER, state TEXT)")
    rows = FRAME.assign(member=FRAME["member"].astype(int), since=FRAME["since"].astype(str))
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows.astype(object).values.tolist())
    return SQL(connection, "people", target="state")


def in_duckdb():
    connection = duckdb.connect()
    connection.register("given", FRAME)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return SQL(connection, "people", target="state")


ENGINES = {
    "pandas": lambda: (X, Y),
    "objects": lambda: (X.astype(object), Y),
    "polars": lambda: (pl.DataFrame(X.to_dict("list")), Y),
    "arrow": lambda: (pa.Table.from_pandas(X), Y),
    "sqlite": lambda: (in_sqlite(),),
    "duckdb": lambda: (in_duckdb(),),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_one_word_for_booleans_and_dates_on_every_engine(engine):
    notes = NaiveBayes().fit(*ENGINES[engine]()).columns_
    assert (notes["member"].holds, notes["since"].holds) == ("booleans", "dates")
    assert notes["same"].left_out is LeftOut.CONSTANT


def test_databases_tell_times_of_day_from_durations():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT TIME '10:00:00' AS clock, INTERVAL 3 DAY AS span, 'a' AS state")
    contents = SQL(connection, "t", target="state").source.contents
    assert (contents["clock"], contents["span"]) == (ColumnContent.TIMES_OF_DAY, ColumnContent.DURATIONS)


@pytest.mark.parametrize("kind", [NaiveBayes, AdditiveTables])
def test_cells_of_dates_are_named_by_dates(kind):
    note = kind().fit(X, Y).columns_["since"].note
    assert note.startswith("4 cells, 2024-03-04, 2024-03-05, 2024-03-06 and 1 more on their own")


def test_times_of_one_day_are_told_apart():
    hours = X.assign(since=DAY + pd.to_timedelta(6 * (np.arange(N) % 2), unit="h"))
    assert "2024-03-04T00:00, 2024-03-04T06:00 on their own" in NaiveBayes().fit(hours, Y).columns_["since"].note


def test_a_column_without_variation_still_counts_where_its_gaps_do():
    """One block leaves it out, that of missing entries does not: then it takes part, and rows need it."""
    gaps = pd.DataFrame({"x": np.where(Y == "a", 1.0, np.nan), "age": X["age"]})
    model = NaiveBayes(missing="indicator").fit(gaps, Y)
    note = model.columns_["x"]
    assert "it has one value only" in note.note
    assert "whether it is missing tells classes apart" in note.note
    assert not note.silent
    assert (model.predict(gaps) == Y).all()


@pytest.mark.parametrize(
    ("words", "content"),
    [
        ("boolean", ColumnContent.BOOLEANS),
        ("truth values", ColumnContent.BOOLEANS),
        ("times", ColumnContent.TIMES),
        ("numbers and strings", ColumnContent.MIXED),
        *((one.value, one) for one in ColumnContent),
    ],
)
def test_words_of_every_age_are_known(words, content):
    assert ColumnContent(words) is content
    assert Role("x", "bins", words, False).content is content


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("left out: it has one value only", LeftOut.CONSTANT),
        ("left out: it has one value only, to double precision", LeftOut.ROUNDED),
        ("left out: it has no values", LeftOut.EMPTY),
        ("left out: an identifier, it numbers the rows", LeftOut.NUMBERS_ROWS),
        ("left out: an identifier, 60 values in about as many rows", LeftOut.NAMES_ROWS),
    ],
)
def test_sentences_of_older_files_are_known(sentence, reason):
    assert LeftOut(sentence) is reason


def test_older_words_load_and_are_shown_as_todays(tmp_path):
    model = TabularClassifier(n_trees=4, random_state=0).fit(X, Y)
    encoder, table = model._encoder, model._encoder.inner
    old = {"booleans": "boolean", "whole numbers": "whole numbers", "dates": "dates"}
    roles = tuple(role._replace(holds=old[role.holds]) for role in table.roles)
    object.__setattr__(table, "roles", roles)
    model._silent = {3: "left out: it has one value only"}
    save(model, tmp_path / "old.suffice")
    notes = load(tmp_path / "old.suffice").columns_
    assert encoder.inner.roles[0].holds == "boolean"
    assert notes["member"].holds == "booleans"
    assert (notes["same"].left_out, notes["same"].note) == (LeftOut.CONSTANT, "left out: it has one value only")


def test_only_what_did_not_vary_may_change():
    assert {one for one in LeftOut if one.may_change} == {LeftOut.CONSTANT, LeftOut.ROUNDED, LeftOut.EMPTY}
    assert all(one.sentence.startswith("left out") for one in LeftOut)
