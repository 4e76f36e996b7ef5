"""AdditiveTables forgets the categories of pairs: no name of a forgotten row is left, and sums still add up."""

from __future__ import annotations

import pickle
import zipfile

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice import AdditiveTables, load
from suffice.report import explain

pytestmark = pytest.mark.filterwarnings("ignore::suffice.learners.StaleWarning")
WORD = "ZZ-ALICE"  # the last category, whose cell is the last one of its column


def table(n=600, names="abcd", seed=0):
    """Two columns of categories that count together, and a number; the first row has a category of its own."""
    rng = np.random.default_rng(seed)
    town, job = rng.choice(list("wxyz"), n), rng.choice(list(names), n)
    X = pd.DataFrame({"town": town, "job": job, "age": rng.normal(size=n)})
    y = X["job"].isin(["a", "b"]) ^ X["town"].isin(["w", "x"]) ^ (rng.random(n) < 0.1)
    X.loc[0, "job"] = WORD
    return X, y.to_numpy().astype(int)


def traces(model, folder):
    """Where the word still is."""
    model.save(folder / "model.suffice")
    with zipfile.ZipFile(folder / "model.suffice") as file:
        stored = b"".join(file.read(name) for name in file.namelist())
    places = {"pickle": pickle.dumps(model), "file": stored, "page": explain(model).encode()}
    shown = f"{model.shapes_} {[shape.cells for shape in model.shapes_.values()]} {model.columns_}"
    return [name for name, held in {**places, "shapes": shown.encode()}.items() if WORD.encode() in held]


@pytest.mark.parametrize("names", ["abcd", "abcdefghij"])  # a cell of its own, or one with others
def test_no_name_of_a_forgotten_row_is_left(names, tmp_path):
    X, y = table(names=names)
    model = AdditiveTables(pairs=[("town", "job")]).fit(X, y)
    assert {"pickle", "file", "page"} <= set(traces(model, tmp_path))
    assert traces(model.forget(X[:1], y[:1]), tmp_path) == []
    loaded = load(tmp_path / "model.suffice")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert traces(model.recalibrate(X[1:], y[1:]), tmp_path) == []
    again = AdditiveTables(pairs=[("town", "job")]).fit(X, y)
    assert traces(again.partial_fit(X[1:], y[1:], decay=0.0), tmp_path) == []


@pytest.mark.parametrize("names", ["abcd", "abcdefghij"])
def test_what_is_left_is_what_was_learned_from_the_others(names):
    X, y = table(names=names)
    model = AdditiveTables(pairs=[("town", "job")]).fit(X, y)
    encoder = model.encoder_
    model.forget(X[:1], y[:1]).recalibrate(X[1:], y[1:])
    others = AdditiveTables(encoder=encoder).fit(X[1:], y[1:])
    assert_allclose(model.predict_proba(X[1:]), others.predict_proba(X[1:]), atol=1e-8)
    assert_array_equal(model.predict_proba(X[:1]), model.predict_proba(X[:1].assign(job="never learned")))
    drawn = np.exp(model.nomogram().scores({name: X[name] for name in X}))
    assert_allclose(drawn / drawn.sum(axis=1, keepdims=True), model.predict_proba(X), atol=1e-9)
    with duckdb.connect() as database:
        database.register("people", X.assign(id=np.arange(len(X))))
        asked = database.sql(model.to_sql("people", "duckdb", keys=["id"])).df().sort_values("id")
    assert_allclose(asked.iloc[:, 1:3].to_numpy(dtype=float), model.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("names", ["abcd", "abcdefghij"])
@pytest.mark.parametrize("turned", [False, True])
def test_fits_that_share_pairs_merge_whichever_has_forgotten(names, turned, tmp_path):
    X, y = table(names=names)
    first = AdditiveTables(pairs=[("town", "job")]).fit(X[:300], y[:300])
    rest, of_rest = X[300:].copy(), y[300:]
    rest.iloc[:5, 1] = WORD
    second = AdditiveTables(encoder=first.encoder_).fit(rest, of_rest)
    whole = AdditiveTables(encoder=first.encoder_).fit(pd.concat([X[1:300], rest]), np.append(y[1:300], of_rest))
    first.forget(X[:1], y[:1])
    assert traces(first, tmp_path) == []
    both = second + first if turned else first + second
    both.recalibrate(pd.concat([X[1:300], rest]), np.append(y[1:300], of_rest))
    assert_allclose(both.predict_proba(rest), whole.predict_proba(rest), atol=1e-8)
    both.forget(rest[:5], of_rest[:5]).set_params(encoder=None)  # a setting stays as it was given
    assert traces(both, tmp_path) == []


def test_what_other_rows_have_chosen_stays_known():
    X, y = table()
    first = AdditiveTables(pairs=[("town", "job")]).fit(X, y)
    some = X["job"].isin(["a", "b"]).to_numpy()
    second = AdditiveTables(encoder=first.encoder_).fit(X[some], y[some])
    second.forget(X[some][:1], y[some][:1]).partial_fit(X[~some], y[~some])
    whole = AdditiveTables(encoder=first.encoder_).fit(X, y).forget(X[some][:1], y[some][:1])
    assert_array_equal(
        second.statistics_.sums.parts["pairs"].table, whole.statistics_.sums.parts["pairs"].table
    )  # also of categories that the first piece did not have


@pytest.mark.parametrize("names", ["abcd", "abcdefghij"])
def test_a_shared_encoder_gives_no_category_to_those_who_had_no_row_of_it(names, tmp_path):
    X, y = table(names=names)
    first = AdditiveTables(pairs=[("town", "job")]).fit(X[:300], y[:300])
    second = AdditiveTables(encoder=first.encoder_).fit(X[300:], y[300:])
    first.forget(X[:1], y[:1])
    assert traces(second, tmp_path) == []
    loaded = load(tmp_path / "model.suffice")
    assert_array_equal(loaded.predict_proba(X), second.predict_proba(X))
    for both in (first + second, second + first, loaded + first):
        assert traces(both, tmp_path) == []
        assert traces(both.recalibrate(X[1:], y[1:]), tmp_path) == []
    assert second.encoder is not second.encoder_  # the setting stays the user's
    assert WORD in repr(second.encoder.views[0][1].coarse)


def test_a_category_with_a_cell_in_the_given_encoder_has_it_when_it_comes_later():
    X, y = table()
    first = AdditiveTables(pairs=[("town", "job")]).fit(X, y)
    second = AdditiveTables(encoder=first.encoder_).fit(X[1:], y[1:]).partial_fit(X[:1], y[:1])
    tables = (one.statistics_.sums.parts["pairs"].table for one in (first, second))
    assert_array_equal(*tables)
    assert_array_equal(
        second.encoder_.views[0][1].coarse.categories[1], first.encoder_.views[0][1].coarse.categories[1]
    )


def test_other_categories_in_as_many_cells_do_not_merge():
    X, y = table()
    other = X.replace({"job": {"a": "A", "b": "B"}})
    pairs = [("town", "job")]
    a, b = AdditiveTables(pairs=pairs).fit(X, y), AdditiveTables(pairs=pairs).fit(other, y)
    with pytest.raises(ValueError, match="different pairs of columns were chosen"):
        a.merge(b)
    with pytest.raises(ValueError, match="different pairs of columns were chosen"):
        a.forget(X[:1], y[:1]).merge(b.forget(other[:1], y[:1]))
