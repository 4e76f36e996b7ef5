"""The scoring query answers what Python does, in every database, whatever names, labels and entries are."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from suffice import (
    BernoulliNB,
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice.learners import ClosedForm
from suffice.models import HasFormula, NoNomogramError
from tests.conftest import DATA
from tests.data.databases import DATABASES, database
from tests.zoo import every

NASTY = ['a"b', "c'; DROP TABLE t; --", "p(0)", "v0", "step"]
TABLE = 'rows"; DROP TABLE x; --'
REFUSED = {  # what several columns or pairs of classes say together
    "logistic-ovo",
    "fisher",
    "scatter",
    "minimax",
    "minimum-error",
    "quasi-bayes",
    "linear-bayes",
    "designed",
    "experts",
}


def answers(db, model, X, keys=("row number",), **settings):
    """Probabilities (n, k), NaN where they are NULL, and labels, in the order of the rows."""
    table = X.copy()
    table["row number"] = np.arange(len(X))
    db.load(table, TABLE)
    got = db.ask(model.to_sql(TABLE, db.dialect, keys=keys, **settings)).sort_values("row number")
    return got.iloc[:, 1:-1].to_numpy(dtype=float), got["prediction"].to_numpy()


def same(db, model, X, **settings):
    """All rows that have an answer have Python's; which these are."""
    p, label = answers(db, model, X, **settings)
    known = ~np.isnan(p).any(axis=1)
    rows = X.iloc[np.flatnonzero(known)]
    expected = model.predict_proba(rows)
    assert_allclose(p[known], expected, rtol=0, atol=1e-9)
    first, second = np.sort(expected, axis=1)[:, :-3:-1].T
    clear = first - second > 1e-9
    assert (label[known] == model.predict(rows))[clear].all()
    assert pd.isna(label[~known]).all()
    return known


def scored(entry):
    """Whether an entry has scores of its own: a learner or an evidence only makes other numbers of the same form."""
    plain = isinstance(entry.prototype._learner(), ClosedForm) and "evidence" not in entry.name
    return plain and isinstance(entry.model().base_model, HasFormula)


FORMS = {  # one of each form that scores have
    "categorical-ml",
    "gaussian-nb",
    "qda",
    "lda",
    "logistic-ovr",
    "minimax-ovr",
    "binned",
    "nested",
    "naive-bayes",
    "additive",
    "multinomial",
    "bernoulli",
    "poisson",
}


@every(lambda entry: scored(entry) and entry.name in FORMS)
@pytest.mark.filterwarnings("ignore")
def test_the_query_answers_what_python_does(entry, db):
    answers_of(entry, db)


@every(lambda entry: scored(entry) and entry.name not in FORMS)
@pytest.mark.filterwarnings("ignore")
def test_the_query_answers_what_python_does_in_every_form(entry):
    with database("duckdb") as db:
        answers_of(entry, db)


def answers_of(entry, db):
    X, y = entry.draw(3)
    if entry.missing:
        X = entry.holed(X, 5)
    X = pd.DataFrame({name: _typed(column) for name, column in zip(NASTY, X.T, strict=False)})
    model = entry.estimator().fit(X, y)
    if entry.name in REFUSED:
        with pytest.raises(NoNomogramError, match=r"cannot be written in SQL"):
            model.to_sql(TABLE, db.dialect)
        return
    known = same(db, model, X)
    assert known[~X.isna().any(axis=1).to_numpy()].all()


def _typed(column):
    values = [None if v != v else v for v in column.tolist()]
    if all(v is None or isinstance(v, float) for v in values):
        return np.array([np.nan if v is None else v for v in values], dtype=float)
    return np.array(values, dtype=object)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("adult", NaiveBayes()),
        ("mammographic", GaussianNB()),
        ("heart_cleveland", NaiveBayes(numeric="gaussian")),
        ("soybean", CategoricalNB()),
        ("pendigits", QuadraticDiscriminantAnalysis()),
        ("satimage", LinearDiscriminantAnalysis()),
        ("vote", BernoulliNB()),
    ],
)
def test_real_tables(db, name, model):
    table = pd.read_parquet(DATA / f"{name}.parquet").sample(600, random_state=0, replace=True, ignore_index=True)
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    if name == "vote":
        X = (X == "y").astype(float).mask(X.isna())
    for column in X.columns:
        if X[column].dtype.kind not in "fiub":
            X[column] = X[column].astype(object).where(X[column].notna(), None)
    half = len(X) // 2
    known = same(db, model.fit(X[:half], y[:half]), X)  # the other half brings categories that were never learned
    assert known[~X.isna().any(axis=1).to_numpy()].all()


def test_entries_of_every_kind(db):
    rng = np.random.default_rng(0)
    n = 120
    y = rng.integers(3, size=n)
    X = pd.DataFrame(
        {
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n) + 100 * y, unit="h"),
            "yes": rng.random(n) < 0.2 + 0.3 * y,
            "count": rng.poisson(1 + y),
            "word": rng.choice(["", "it's", '"', "NaN", "é\\n"], n).astype(object),
            "size": rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
            "zero": np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n)),
        }
    )
    X.loc[::7, "day"], X.loc[::5, "word"], X.loc[::11, "size"] = pd.NaT, None, np.nan
    model = NaiveBayes(columns={"count": "category"}).fit(X, y)
    assert same(db, model, X).all()
    new = X.assign(word="never seen", count=99, size=np.where(X["size"] > 0, np.nan, 5e-324))
    assert same(db, model, new).all()


def test_dates_as_categories_and_labels(db):
    days = [datetime.datetime(2024, 1, d) for d in (1, 2, 3)]
    X = pd.DataFrame({"when": pd.to_datetime(days * 8)})
    y = np.array(["2024-01-01", "2024-01-05"], dtype="M8[D]")[np.arange(24) % 5 % 2]
    model = CategoricalNB().fit(X, y)
    p, label = answers(db, model, X)
    assert_allclose(p, model.predict_proba(X), atol=1e-9)
    assert label.tolist() == model.predict(X).astype(str).tolist()


@pytest.mark.parametrize("costs", [[[0, 1, 2], [9, 0, 1], [1, 5, 0]], None])
def test_labels_are_those_at_costs(db, costs):
    X, y = _normal(3)
    same(db, MinimaxProbabilityMachine(multi_class="ovr", costs=costs).fit(X, y), X)


def test_two_classes_at_costs(db):
    X, y = _normal(2)
    model = FisherDiscriminant(costs=[[0, 1], [7, 0]]).fit(X, y)
    assert (model.predict(X) != model.set_params(costs=None).predict(X)).any()
    same(db, model.set_params(costs=[[0, 1], [7, 0]]), X)


def test_a_class_without_rows_has_no_probability(db):
    X, y = _normal(2)
    model = GaussianNB().partial_fit(X, y, classes=[0, 1, 2])
    p, _ = answers(db, model, X)
    assert (p[:, 2] == 0).all()
    assert_allclose(p, model.predict_proba(X), atol=1e-9)


def test_far_rows_are_sure_and_no_error(db):
    X, y = _normal(2)
    model = GaussianNB().fit(X, y)
    same(db, model, X * 1e6)


def _normal(k, n=80):
    rng = np.random.default_rng(k)
    y = np.arange(n) % k
    return pd.DataFrame(rng.normal(size=(n, 3)) + y[:, None], columns=["a", "b", "c"]), y


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    table=words,
    columns=st.lists(words, min_size=2, max_size=2, unique=True),
    labels=st.lists(words, min_size=2, max_size=2, unique=True),
)
@pytest.mark.parametrize("dialect", DATABASES[:2])
def test_no_name_or_label_is_taken_for_sql(dialect, table, columns, labels):
    fold = str.casefold  # names of databases differ by more than case
    if len({fold(c) for c in columns}) < 2 or fold(table).startswith("sqlite_"):
        return
    X = pd.DataFrame({columns[0]: [0.0, 1.0, 5.0, 6.0], columns[1]: labels * 2})
    y = np.array([*labels, *labels])
    model = NaiveBayes().fit(X, y)
    with database(dialect) as db, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        db.load(X, table)
        got = db.ask(model.to_sql(table, dialect))
        assert_allclose(got.iloc[:, :-1].to_numpy(dtype=float), model.predict_proba(X), atol=1e-9)
        assert got["prediction"].tolist() == model.predict(X).tolist()
        assert len(db.ask(f'SELECT 1 FROM "{table.replace(chr(34), 2 * chr(34))}"')) == 4  # noqa: S608 - it is quoted


def test_columns_by_number_are_named():
    X, y = _normal(2)
    model = GaussianNB().fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="learned by number: give columns="):
        model.to_sql("t")
    with pytest.raises(ValueError, match=r"columns must be a list of 3 names, got \['a'\]"):
        model.to_sql("t", columns=["a"])
    with database("duckdb") as db:
        same_by_number = answers(db, model, X, columns=["a", "b", "c"])[0]
    assert_allclose(same_by_number, model.predict_proba(X.to_numpy()), atol=1e-9)


def test_a_schema_and_keys():
    X, y = _normal(2)
    query = GaussianNB().fit(X, y).to_sql(("my schema", "t"), keys=["id", "when"])
    assert '"my schema"."t"' in query
    assert not query.endswith(";")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dialect": "oracle"}, r"dialect must be one of \['duckdb', 'postgres', 'sqlite'\], got 'oracle'"),
        ({"keys": "prediction"}, "the key 'prediction' is also the name of an answer"),
        ({"table": ""}, r"table must be the name of a table, or \(schema, name\), got ''"),
        ({"table": "a\0b"}, "zero byte"),
    ],
)
def test_what_cannot_be_asked(settings, message):
    X, y = _normal(2)
    with pytest.raises(ValueError, match=message):
        GaussianNB().fit(X, y).to_sql(**{"table": "t", **settings})


def test_trees_and_spans_of_time_refuse():
    X, y = _normal(2)
    with pytest.raises(NoNomogramError, match="TabularClassifier cannot be written in SQL: its part"):
        TabularClassifier(n_trees=2).fit(X, y).to_sql("t")
    spans = X.assign(a=pd.to_timedelta(X["a"], unit="h"))
    with pytest.raises(TypeError, match="column 'a' holds times or spans of time"):
        NaiveBayes().fit(spans, y).to_sql("t")


def test_logistic_regression_answers_complete_rows_alone(db):
    X, y = _normal(3)
    model = LogisticRegression().fit(X, y)
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    assert (same(db, model, holes) == holes.notna().all(axis=1).to_numpy()).all()
