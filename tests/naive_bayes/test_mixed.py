"""Naive Bayes over mixed tables: against its parts on their own, in pieces, and on real tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from suffice import CategoricalNB, Dirichlet, GaussianNB, GaussianPrior, NaiveBayes, PoorFitWarning
from suffice.learners import TM, DiscriminativeFrequency, GradientDescent, RiskCalibration
from suffice.testing import check_model


def table(n=300, seed=0):
    """A mixed table with missing values, and labels that depend on all columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    age = np.round(rng.normal(40 + 5 * y, 10))
    pay = np.where(rng.random(n) < 0.5, 0.0, rng.lognormal(y / 2))
    job = np.array(["clerk", "cook", "smith", "guard"])[(y + rng.integers(3, size=n)) % 4]
    town = np.array([f"t{v}" for v in rng.geometric(0.2, size=n)])
    left = rng.random(n) < 0.2 + 0.2 * y
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n) + 50 * y, unit="D")
    X = pd.DataFrame({"age": age, "pay": pay, "job": job, "town": town, "left": left, "when": when})
    for name in ("age", "job", "when"):
        X.loc[rng.random(n) < 0.1, name] = None
    return X, np.array(["low", "mid", "top"])[y]


X, Y = table()
NEW, _ = table(seed=1)
PRIOR, WEIGHT = GaussianPrior(2, 2), Dirichlet(0.5)


def log_density(model, X):
    """log p(x | y), up to a constant, of a fitted naive Bayes."""
    return model.predict_log_proba(X) - np.log(model.class_prior_)


def test_blocks_are_what_their_models_are_on_their_own():
    both = NaiveBayes(numeric="gaussian", prior=WEIGHT, numeric_prior=PRIOR, min_frequency=0).fit(X, Y)
    numbers = X[["age", "pay"]].assign(when=(X["when"] - pd.Timestamp(0)) / pd.Timedelta(days=1))
    words = X[["job", "town", "left"]].astype(object).where(X[["job", "town", "left"]].notna(), None)
    parts = [GaussianNB(prior=PRIOR).fit(numbers, Y), CategoricalNB(prior=WEIGHT).fit(words, Y)]
    log = np.log(parts[0].class_prior_) + log_density(parts[0], numbers) + log_density(parts[1], words)
    log -= np.logaddexp.reduce(log, axis=1, keepdims=True)
    assert_allclose(both.predict_log_proba(X), log, atol=1e-9)


@pytest.mark.parametrize("numeric", ["bins", "gaussian"])
@pytest.mark.parametrize("settings", [{}, {"min_frequency": 5}, {"missing": "indicator"}], ids=str)
def test_pieces_merging_and_forgetting(numeric, settings):
    whole = NaiveBayes(numeric=numeric, **settings).fit(X, Y)
    pieces = NaiveBayes(numeric=numeric, **settings)
    for rows in np.array_split(np.random.default_rng(0).permutation(len(Y)), 7):
        pieces.partial_fit(X.iloc[rows], Y[rows])
    parts = [NaiveBayes(numeric=numeric, **settings).fit(X[i::3], Y[i::3]) for i in range(3)]
    for other in (pieces, sum(parts)):
        assert_allclose(other.predict_log_proba(NEW), whole.predict_log_proba(NEW), atol=1e-10)
        assert repr(other.columns_) == repr(whole.columns_)
    rest = NaiveBayes(numeric=numeric, **settings).fit(X[50:], Y[50:])
    whole.forget(X[:50], Y[:50])
    assert_allclose(whole.predict_log_proba(NEW), rest.predict_log_proba(NEW), atol=1e-8)


def test_pandas_polars_and_arrow_agree():
    models = [NaiveBayes().fit(frame, Y) for frame in (X, pl.from_pandas(X), pa.Table.from_pandas(X))]
    first = models[0].predict_proba(NEW)
    for model, new in zip(models[1:], (pl.from_pandas(NEW), pa.Table.from_pandas(NEW)), strict=True):
        np.testing.assert_array_equal(model.predict_proba(new), first)
        np.testing.assert_array_equal(model.predict_proba(NEW), first)


def test_an_entry_that_is_missing_leaves_its_column_out():
    for name in X.columns:
        without = NEW.astype(object).assign(**{name: None})
        smaller = NaiveBayes().fit(X.drop(columns=name), Y)
        found = NaiveBayes().fit(X, Y).predict_proba(without)
        assert_allclose(found, smaller.predict_proba(NEW.drop(columns=name)), atol=1e-12)
    nothing = pd.DataFrame({name: pd.Series([None], dtype=object) for name in X.columns})
    model = NaiveBayes().fit(X, Y)
    assert_allclose(model.predict_proba(nothing)[0], model.class_prior_, atol=1e-12)


@pytest.mark.parametrize("numeric", ["bins", "gaussian"])
@pytest.mark.parametrize("learner", [RiskCalibration(), TM(), GradientDescent(1e-3)], ids=lambda v: type(v).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learners_lower_the_loss(numeric, learner):
    model = NaiveBayes(numeric=numeric, learner=learner).fit(X, Y)
    assert min(model.history_["objective"]) < model.history_["objective"][0] or learner.__class__ is TM
    assert model.score(X, Y) > 0.6


def test_frequencies_where_all_blocks_are_tables():
    model = NaiveBayes(learner=DiscriminativeFrequency(stop=None)).fit(X, Y)
    assert model.n_iter_ > 1
    with pytest.raises(TypeError, match=r"DiscriminativeFrequency cannot be used with .*lacks tables of counts"):
        NaiveBayes(columns={"age": "gaussian"}, learner=DiscriminativeFrequency()).fit(X, Y)


def test_columns_say_what_became_of_them():
    full = X.assign(id=[f"p{i}" for i in range(len(X))], number=np.arange(len(X)), one="same", none=None)
    model = NaiveBayes(columns={"left": "drop", "age": "gaussian"}, min_frequency=5).fit(full, Y)
    notes = model.columns_
    assert notes["left"].note == "left out, as `columns` says"
    assert notes["age"].kind == "gaussian"
    assert "left out: an identifier" in notes["id"].note
    assert "left out" in notes["number"].note
    assert "left out: it has one value only" in notes["one"].note
    assert "left out" in notes["none"].note
    assert "fewer than 5 rows" in notes["town"].note
    assert list(notes) == list(full.columns)
    assert repr(notes).splitlines()[0].split() == ["column", "holds", "read", "as", "what", "became", "of", "it"]
    assert "<table>" in notes._repr_html_()
    left = ["left", "id", "number", "one", "none"]
    smaller = NaiveBayes(columns={"age": "gaussian"}, min_frequency=5).fit(full.drop(columns=left), Y)
    assert_allclose(model.predict_proba(full), smaller.predict_proba(full.drop(columns=left)), atol=1e-12)


LIGHT = pytest.mark.filterwarnings("ignore:sample_weight sums to:UserWarning")


@LIGHT
def test_weights_make_no_identifier():
    rng = np.random.default_rng(0)
    X, y = np.array([["a", "b", "c"][v] for v in rng.integers(3, size=90)])[:, None], rng.integers(2, size=90)
    light = NaiveBayes(min_frequency=0).fit(X, y, sample_weight=np.full(90, 1e-3))
    assert "3 cells" in light.columns_[0].note


def test_missingness_that_informs():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    x = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    x.loc[rng.random(400) < 0.1 + 0.7 * y, "a"] = None
    x.loc[rng.random(400) < 0.3, "b"] = None
    ignored, told = (NaiveBayes(missing=how).fit(x, y) for how in ("ignore", "indicator"))
    assert told.score(x, y) > ignored.score(x, y) + 0.1
    assert "tells classes apart" in told.columns_["a"].note
    assert "tells classes apart" not in told.columns_["b"].note


def test_strange_settings():
    with pytest.raises(ValueError, match="numeric must be one of"):
        NaiveBayes(numeric="kde").fit(X, Y)
    with pytest.raises(ValueError, match="missing must be one of"):
        NaiveBayes(missing="drop").fit(X, Y)
    with pytest.raises(ValueError, match="min_frequency must be"):
        NaiveBayes(min_frequency=-1).fit(X, Y)


def test_merging_what_was_read_differently():
    text = X.assign(age=X["age"].astype(str))
    with pytest.raises(ValueError, match="column 'age' is read as bins here and as category there"):
        NaiveBayes().fit(X, Y).merge(NaiveBayes().fit(text, Y))


@pytest.mark.parametrize("settings", [{}, {"numeric": "gaussian"}, {"missing": "indicator"}], ids=str)
def test_the_laws_of_models_hold_on_a_mixed_table(settings):
    rows = X.astype(object).where(X.notna(), None).to_numpy()
    check_model(NaiveBayes(**settings)._model(), rows, Y, seeds=[0])


@pytest.mark.parametrize("weights", [None, "balanced", {1: 1.5}], ids=str)
def test_identifiers_are_left_out_of_parts_of_the_rows_and_under_class_weights(weights):
    rng, n = np.random.default_rng(0), 400
    x = pd.DataFrame({"id": np.arange(n), "a": rng.normal(size=n)})
    y = np.repeat([0, 1], [290, 110])
    part = rng.permutation(n)[:300]
    model = NaiveBayes(class_weight=weights).fit(x.iloc[part], y[part])
    assert "an identifier" in model.columns_["id"].note
    found = model.predict_proba(x.assign(a=np.nan).iloc[[0, -1]])
    assert_allclose(found[0], found[1])


def test_what_is_given_and_dates_are_no_identifiers():
    y = (np.arange(400) > 200).astype(int)
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=400)})
    assert NaiveBayes().fit(days, y).score(days, y) > 0.95
    numbers = pd.DataFrame({"day": np.arange(400)})
    assert NaiveBayes(columns={"day": "bins"}).fit(numbers, y).score(numbers, y) > 0.95
    with pytest.warns(PoorFitWarning, match="every column is left out"):
        NaiveBayes().fit(numbers, y)


@LIGHT
def test_light_weights_leave_categories_as_they_are():
    light = NaiveBayes().fit(X, Y, sample_weight=np.full(len(Y), 1 / len(Y)))
    assert light.columns_["town"] == NaiveBayes().fit(X, Y).columns_["town"]


def test_priors_by_column_of_a_mixed_table():
    heavy = {"job": {"cook": 1e9}}
    for prior in (Dirichlet(columns=heavy), Dirichlet(columns={2: {"cook": 1e9}}), Dirichlet(classes={"low": heavy})):
        model = NaiveBayes(prior=prior).fit(X, Y)
        cell = model.parameters_.parts["category"].log_probability[1]
        assert cell[0] > -1e-3
    with pytest.raises(ValueError, match="has 'jobb', which is not a column"):
        NaiveBayes(prior=Dirichlet(columns={"jobb": 1})).fit(X, Y)


def test_a_column_that_begins_empty():
    first = X[:50].assign(age=pd.Series([None] * 50, dtype=object))
    with pytest.raises(ValueError, match="column 'age' had no values in the first rows, and now holds numbers"):
        NaiveBayes().partial_fit(first, Y[:50]).partial_fit(X[50:], Y[50:])
    said = NaiveBayes(columns={"age": "bins"})
    said.partial_fit(first, Y[:50]).partial_fit(X[50:], Y[50:])
    assert_allclose(
        said.predict_proba(NEW),
        NaiveBayes(columns={"age": "bins"}).fit(pd.concat([first, X[50:]]), Y).predict_proba(NEW),
        atol=1e-12,
    )
    with pytest.raises(ValueError, match="column 'when' held dates in the first rows, and now holds whole numbers"):
        NaiveBayes().fit(X, Y).predict(NEW.assign(when=5))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.int8, np.uint64])
def test_numbers_of_every_size(dtype):
    x = np.random.default_rng(0).integers(0, 50, size=(60, 3))
    wide, own = (NaiveBayes().fit(x.astype(kind), np.arange(60) % 2) for kind in (float, dtype))
    assert_allclose(own.predict_proba(x.astype(dtype)), wide.predict_proba(x.astype(float)), rtol=1e-6)
