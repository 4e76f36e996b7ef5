"""AdditiveTables: fits that share an encoder, what cells are called, and shapes of more than two classes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from suffice import AdditiveTables, TabularClassifier
from suffice.learners import StaleWarning
from tests.additive.test_additive import people

pytestmark = pytest.mark.filterwarnings("error")


def test_pairs_chosen_by_different_rows_do_not_merge():
    X, y = people()
    a, b = AdditiveTables(pairs=2).fit(X[:300], y[:300]), AdditiveTables(pairs=2).fit(X[300:], y[300:])
    with pytest.raises(ValueError, match=r"different pairs of columns were chosen.*encoder=first.encoder_"):
        a.merge(b)
    with pytest.raises(ValueError, match=r"columns and pairs here, columns there: .*encoder=first.encoder_"):
        a.merge(AdditiveTables(pairs=None).fit(X[300:], y[300:]))


def test_fits_that_share_what_the_first_rows_have_chosen_merge():
    X, y = people()
    first = AdditiveTables(pairs=2).fit(X[:300], y[:300])
    second = AdditiveTables(encoder=first.encoder_).fit(X[300:], y[300:])
    assert second.pairs_ == first.pairs_
    both = first + second
    with pytest.warns(StaleWarning, match="come or gone"):
        both.predict(X)
    assert both.get_params()["encoder"] is None
    assert both.weights_ == first.weights_
    whole = AdditiveTables(encoder=first.encoder_).fit(X, y)
    assert_allclose(both.recalibrate(X, y).predict_proba(X), whole.predict_proba(X), atol=1e-8)
    again = clone(second).fit(X[:300], y[:300])
    assert_allclose(again.predict_proba(X), first.predict_proba(X), atol=1e-8)


def test_an_encoder_is_that_of_its_like():
    X, y = people()
    first = AdditiveTables(pairs=[("age", "pay")]).fit(X, y)
    said = r"monotone has 'pay', which is in a pair of the `encoder` given"
    with pytest.raises(ValueError, match=said):
        AdditiveTables(encoder=first.encoder_, monotone={"pay": 1}).fit(X, y)
    for strange in ("pairs", AdditiveTables()._model().encoder):
        with pytest.raises(ValueError, match="encoder must be None or the encoder_ of a fitted classifier"):
            AdditiveTables(encoder=strange).fit(X, y)
    other = TabularClassifier(n_trees=2, random_state=0).fit(X, y).encoder_
    with pytest.raises(ValueError, match="must be the encoder_ of a fitted AdditiveTables, got that of a Tabular"):
        AdditiveTables(encoder=other).fit(X, y)


def test_cells_are_called_by_what_they_hold():
    rng, n = np.random.default_rng(0), 2000
    y = rng.integers(2, size=n)
    days = np.datetime64("2018-01-01") + rng.integers(0, 900, n)
    gain = np.where(rng.random(n) < 0.8, 0.0, rng.lognormal(6, 1, n) + 100 * y)
    X = pd.DataFrame({"gain": gain, "both": gain - (rng.random(n) < 0.02), "day": days, "near": 1e6 + rng.random(n)})
    model = AdditiveTables(pairs=[("gain", "day")]).fit(X, y)
    shapes = model.shapes_
    assert shapes["gain"].cells[0][0] == "0"
    assert re.fullmatch(r"above 0 to \d+(\.\d+)?", shapes["gain"].cells[0][1])
    zero = shapes["both"].cells[0].index("0")
    assert shapes["both"].cells[0][zero + 1].startswith("above 0 to ")
    assert shapes["both"].rows[zero] == (X["both"] == 0).sum()
    assert shapes["gain", "day"].cells[0][0] == "0"
    first = shapes["day"].cells[0][0].removeprefix("below ")
    assert (X["day"] < np.datetime64(first)).sum() == shapes["day"].rows[0]
    since, until = shapes["day"].cells[0][5].split(" to ")
    assert X["day"].between(since, until, inclusive="left").sum() == shapes["day"].rows[5]
    for shape in shapes.values():
        assert all(len(set(names)) == len(names) for names in shape.cells)
    for cell in ("0", shapes["gain"].cells[0][1]):
        new = model.edited({"gain": {cell: 3.0}}).model.shapes_["gain"].values - shapes["gain"].values
        assert np.argmax(abs(new - np.median(new))) == shapes["gain"].cells[0].index(cell)


def test_how_frequent_a_value_is_does_not_count():
    rng, n = np.random.default_rng(0), 4000
    y = np.array(list("abc"))[rng.integers(0, 3, n)]
    seldom = np.where((y == "a") & (rng.random(n) < 0.3), "u", "v")
    X = pd.DataFrame(
        {
            "weak": np.where(rng.random(n) < 0.9, "usual", seldom),
            "strong": np.where(rng.random(n) < np.where(y == "b", 0.35, 0.65), "l", "r"),
        }
    )
    model = AdditiveTables(pairs=None).fit(X, y)
    assert list(model.shapes_) == ["strong", "weak"]
    shape, table = model.shapes_["strong"], np.log(pd.crosstab(X["strong"], y, normalize="columns"))
    between = table.sub(table.mean(axis=1), axis=0) * shape.weight
    assert_allclose(shape.values - shape.absent, between, atol=0.01)
    twin, loss = model.edited({"strong": {"l": [1.0, 0.0, -1.0]}}, X, y)
    gap = twin.predict_log_proba(X) - model.predict_log_proba(X)
    moved = [1.0, 0.0, -1.0] - model.shapes_["strong"].values[0]
    rows = np.flatnonzero(X["strong"] == "l")
    assert_allclose(gap[rows][:, 1:] - gap[rows][:, :1], np.tile(moved[1:] - moved[0], (len(rows), 1)), atol=1e-10)
    assert_allclose(gap[X["strong"] == "r"], 0.0, atol=1e-10)
    assert loss > log_loss(y, model.predict_proba(X))


def test_a_class_of_probability_zero_stays_one():
    X, y = load_iris(return_X_y=True)
    model = AdditiveTables(pairs=None, class_prior=[0.5, 0.5, 0.0]).fit(X, y)
    found = model.contributions(X)
    assert_allclose(log_softmax(found.log_joint, axis=1), model.predict_log_proba(X), atol=1e-12)


def test_a_column_may_be_called_as_the_indicator_of_another():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=300), rng.exponential(size=300)
    a[rng.random(300) < 0.2] = np.nan
    X = pd.DataFrame({"a": a, "a (missing)": b, "b": rng.normal(size=300)})
    model = AdditiveTables(missing="indicator").fit(X, (np.nan_to_num(a, nan=2) > 0).astype(int))
    why = model.contributions(X)
    assert_allclose(np.diff(why.log_joint, axis=1)[:, 0], model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": [("a", "same")]}, "pairs has 'same', which has a single cell"),
        ({"monotone": {"a": True}}, "monotone must be None or a dict of column: 1 or -1"),
        ({"monotone": {"a": 2}}, "monotone must be None or a dict of column: 1 or -1"),
    ],
)
def test_columns_that_cannot_be_used_so(settings, message):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "same": 1.0})
    with pytest.raises(ValueError, match=message):
        AdditiveTables(**settings).fit(X, np.arange(80) % 2)


def test_a_float_will_do_for_a_direction():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    model = AdditiveTables(monotone={0: 1.0}).fit(rng.normal(size=(200, 2)) + y[:, None], y)
    assert (np.diff(model.decision_function(np.column_stack([np.linspace(-4, 4, 50), np.zeros(50)]))) >= -1e-12).all()
