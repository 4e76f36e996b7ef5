"""TabularClassifier: the laws of its sums with trees and weights given, and what it makes of odd tables."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from suffice import AdditiveTables, ConstantColumnWarning, NaiveBayes, PoorFitWarning, TabularClassifier
from suffice.data import Memory
from suffice.learners import StaleWarning
from tests.strangers.lazy import Lazy

EQUAL = {"rtol": 0, "atol": 1e-10}


def mixed(n=240, seed=0, k=3):
    """Rows of numbers and words in k classes, with missing entries."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n) + y,
            "b": rng.normal(size=n) * (1 + y),
            "word": np.array(["u", "v", "w", "x"])[(rng.integers(2, size=n) + y) % 4],
            "count": rng.poisson(2 + y),
        }
    )
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    X.loc[rng.random(n) < 0.1, "word"] = None
    return X, np.array(["no", "perhaps", "yes"])[:k][y]


def given(X, y):
    """An estimator with the trees, clipping and weights of a first fit."""
    first = TabularClassifier(n_trees=20, random_state=0).fit(X, y)
    return TabularClassifier(encoder=first.encoder_, weights=first.weights_)


@pytest.mark.parametrize("shuffle", [1, 2])
def test_the_order_of_rows_does_not_matter(shuffle):
    X, y = mixed()
    order = np.random.default_rng(shuffle).permutation(len(y))
    a = TabularClassifier(random_state=0).fit(X, y)
    b = TabularClassifier(random_state=0).fit(X.iloc[order], y[order])
    assert_allclose(b.predict_proba(X), a.predict_proba(X), rtol=0, atol=1e-8)
    assert b.encoder_.within("greedy trees").trees == a.encoder_.within("greedy trees").trees


def test_weights_are_repetitions_where_experts_are_weighed_alike():
    X, y = mixed()
    times = np.random.default_rng(3).integers(0, 4, len(y))
    times[:3] = 1
    proto = given(X, y)
    again = np.repeat(np.arange(len(y)), times)
    ours = clone(proto).fit(X, y, sample_weight=times)
    theirs = clone(proto).fit(X.iloc[again], y[again])
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **EQUAL)


def test_trees_and_clipping_are_those_of_repeated_rows():
    X, y = mixed()
    times = np.random.default_rng(3).integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), times)
    ours = TabularClassifier(n_trees=20, random_state=0).fit(X, y, sample_weight=times).encoder_
    theirs = TabularClassifier(n_trees=20, random_state=0).fit(X.iloc[again], y[again]).encoder_
    assert ours.within("random trees").trees == theirs.within("random trees").trees
    assert_allclose(np.array(ours.within("normal").ranges), np.array(theirs.within("normal").ranges), rtol=1e-12)


def test_three_merged_parts_are_the_whole():
    X, y = mixed()
    proto = given(X[:100], y[:100])
    whole = clone(proto).fit(X, y)
    parts = [clone(proto).fit(X.iloc[i::3], y[i::3]) for i in range(3)]
    both = sum(parts)
    assert_allclose(both.predict_proba(X), whole.predict_proba(X), **EQUAL)
    pieces = clone(proto)
    for i in range(3):
        pieces.partial_fit(X.iloc[i::3], y[i::3])
    assert_allclose(pieces.predict_proba(X), whole.predict_proba(X), **EQUAL)


def test_fits_of_the_same_trees_merge_and_are_weighed_anew():
    X, y = mixed()
    first = TabularClassifier(n_trees=20, random_state=0).fit(X[::2], y[::2])
    both = first + TabularClassifier(n_trees=20, encoder=first.encoder_).fit(X[1::2], y[1::2])
    whole = TabularClassifier(encoder=first.encoder_).fit(X, y)
    assert_allclose(both.recalibrate(X, y).predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-8)
    assert both.get_params()["encoder"] is None


def test_classes_that_come_one_after_the_other():
    X, y = mixed(k=2)
    order = np.argsort(y, kind="stable")
    model = TabularClassifier(n_trees=20, random_state=0)
    for rows in (order[:50], order[50:60], order[60:]):
        model.partial_fit(X.iloc[rows], y[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleWarning)
        assert np.isfinite(model.predict_proba(X)).all()


def test_forgetting_equals_never_having_counted():
    X, y = mixed()
    proto = given(X, y)
    left = clone(proto).fit(X, y).forget(X[:40], y[:40])
    assert_allclose(left.predict_proba(X), clone(proto).fit(X[40:], y[40:]).predict_proba(X), **EQUAL)


def test_where_the_rows_are_does_not_matter():
    X, y = mixed(60)
    rows = X.to_numpy(dtype=object)
    ours = TabularClassifier(n_trees=10, random_state=0).fit(rows, y)
    theirs = TabularClassifier(n_trees=10, random_state=0).fit(Lazy([(rows[:20], y[:20]), (rows[20:], y[20:])]))
    batches = TabularClassifier(n_trees=10, random_state=0).fit(Memory(rows, y, batch_size=7))
    for one in (theirs, batches):
        assert_allclose(one.predict_proba(rows), ours.predict_proba(rows), rtol=0, atol=1e-8)


def test_weights_are_carried_along_and_stale_until_they_are_learned_anew():
    X, y = mixed()
    model = TabularClassifier(n_trees=20, random_state=0).partial_fit(X[:120], y[:120])
    assert not model.stale_
    before = model.weights_
    model.partial_fit(X[120:], y[120:])
    with pytest.warns(StaleWarning, match="recalibrate"):
        assert model.stale_
    assert model.weights_ == before
    whole = TabularClassifier(n_trees=20, encoder=model.encoder_).fit(X, y)
    model.recalibrate(X, y)
    assert not model.stale_
    assert_allclose(list(model.weights_.values()), list(whole.weights_.values()), rtol=1e-8, atol=1e-12)
    assert_allclose(model.predict_proba(X), whole.predict_proba(X), **EQUAL)
    model.forget(X[:10], y[:10])
    with pytest.warns(StaleWarning, match="come or gone"):
        model.predict(X)
    assert model.stale_  # which is said once


def test_rows_forgotten_are_in_no_sum():
    X, y = mixed()
    proto = given(X, y)
    left, never = clone(proto).fit(X, y).forget(X[:40], y[:40]), clone(proto).fit(X[40:], y[40:])
    for gap in (left.statistics_ - never.statistics_).leaves():  # about the same origin
        assert_allclose(gap, 0, atol=1e-9)


def test_a_fit_of_other_trees_does_not_merge():
    X, y = mixed()
    a, b = (TabularClassifier(n_trees=10, random_state=0).fit(X.iloc[i::2], y[i::2]) for i in range(2))
    with pytest.raises(ValueError, match=r"fit the others with encoder=first\.encoder_"):
        a.merge(b)


def test_few_rows_teach_little():
    """Four rows of six columns: no better than guessing, but not worse by much."""
    losses = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y, truth = np.arange(4) % 2, rng.integers(2, size=200)
        X, new = (rng.normal(size=(len(c), 6)) + 0.8 * c[:, None] for c in (y, truth))
        losses.append(log_loss(truth, TabularClassifier(random_state=0).fit(X, y).predict_proba(new)))
    assert np.mean(losses) < 0.7
    assert max(losses) < 1.0


def test_only_learned_rows_can_weigh_experts():
    X, y = mixed()
    model = TabularClassifier(n_trees=20, random_state=0).fit(X[:120], y[:120])
    with pytest.raises(ValueError, match="recalibrate takes rows that were learned, but"):
        model.recalibrate(X[120:], y[120:])
    with pytest.raises(ValueError, match=r"the classes \['new'\] were never learned"):
        model.recalibrate(X[:3], ["new", "no", "no"])
    assert model.recalibrate(X[:60], y[:60]).stale_ is False


def test_leave_one_out_is_what_the_weights_were_learned_from():
    X, y = mixed()
    model = TabularClassifier(n_trees=40, random_state=0).fit(X, y)
    out = model.loo_log_proba(X, y)
    codes = np.searchsorted(model.classes_, y)
    w, first = np.array(list(model.weights_.values())), model._fit_result().model.first_weights()
    pull = 0.5 * ((w / first - (np.arange(len(w)) == 0)) ** 2).sum()
    loss = -out[np.arange(len(y)), codes].sum()
    assert_allclose((loss + pull) / len(y), model.history_["log_loss"][-1], rtol=1e-8)


def test_given_class_probabilities_are_obeyed():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + rng.normal(size=600) > 1).astype(int)
    plain = TabularClassifier(n_trees=20, random_state=0).fit(X, y)
    share = np.log(plain.class_prior_)
    for given in ([0.1, 0.9], [0.5, 0.5], [0.999, 0.001]):
        model = TabularClassifier(n_trees=20, random_state=0, class_prior=given).fit(X, y)
        assert model.weights_ == plain.weights_
        odds = plain.decision_function(X) + np.subtract(*(np.log(given) - share)[::-1])
        assert_allclose(model.decision_function(X), odds, atol=1e-8)
        assert_allclose(model.class_prior_, given)


def test_weights_that_were_never_learned_are_told():
    X, y = mixed(k=2)
    one, two = (y == c for c in np.unique(y))
    model = TabularClassifier(n_trees=10, random_state=0).partial_fit(X[one], y[one]).partial_fit(X[two], y[two])
    with pytest.warns(StaleWarning, match="recalibrate"):
        assert model.stale_
    assert not model.recalibrate(X, y).stale_
    with pytest.raises(AttributeError):
        TabularClassifier(weights={}).recalibrate  # noqa: B018 - asking is refused


@pytest.mark.filterwarnings("ignore:ExpertWeights. the columns do not predict:suffice.PoorFitWarning")
@pytest.mark.parametrize(("n", "d"), [(200, 50), (200, 200), (50, 100), (2, 4), (20, 4)])
def test_noise_is_no_worse_than_chance(n, d):
    rng = np.random.default_rng(0)
    model = TabularClassifier(n_trees=20, random_state=0).fit(rng.normal(size=(n, d)), np.arange(n) % 2)
    assert log_loss(rng.integers(2, size=1000), model.predict_proba(rng.normal(size=(1000, d)))) < 0.8


def test_leave_one_out_is_honest():
    """Labels without any relation to the columns: what is left out is no better than the classes' shares."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(2, size=400)
    model = TabularClassifier(random_state=0).fit(X, y)
    assert -model.loo_log_proba(X, y)[np.arange(400), y].mean() > 0.68
    assert log_loss(rng.integers(2, size=400), model.predict_proba(rng.normal(size=(400, 5)))) < 0.72


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_it_tells_probabilities_better_than_boosting(load):
    X, y = load(return_X_y=True)
    ours = theirs = 0.0
    for seed in range(3):
        A, B, a, b = train_test_split(X, y, random_state=seed, stratify=y)
        ours += log_loss(b, TabularClassifier(random_state=seed).fit(A, a).predict_proba(B))
        theirs += log_loss(b, HistGradientBoostingClassifier(random_state=0).fit(A, a).predict_proba(B))
    assert ours < theirs


@pytest.mark.parametrize("weight", [None, 2.0, 0.5])
def test_columns_that_only_number_or_name_the_rows_take_no_part(weight):
    X, y = mixed()
    X = X.assign(row=np.arange(len(y)), name=[f"person {i}" for i in range(len(y))], same=1.0)
    order = np.argsort(y, kind="stable")  # the row's number would tell its class
    X, y = X.iloc[order].assign(row=np.arange(len(y))), y[order]
    weights = None if weight is None else np.full(len(y), weight)
    model = TabularClassifier(n_trees=10, random_state=0).fit(X, y, weights)
    said = {name: note.note for name, note in model.columns_.items()}
    assert said["row"] == "left out: an identifier, it numbers the rows"
    assert said["name"].startswith("left out: an identifier")
    assert said["same"] == "left out: it has one value only"
    assert said["a"] == "a table, trees and a normal density"
    assert said["word"] == "a table and trees"
    without = X.drop(columns=["row", "name", "same"])
    small = TabularClassifier(n_trees=10, random_state=0).fit(without, y, weights)
    assert_allclose(model.predict_proba(X), small.predict_proba(without), **EQUAL)


@pytest.mark.filterwarnings("ignore:ExpertWeights. the columns do not predict:suffice.PoorFitWarning")
def test_a_table_without_a_word_to_say_is_told():
    with pytest.warns(PoorFitWarning, match="no column tells rows apart"):
        model = TabularClassifier(n_trees=5, random_state=0).fit(np.ones((10, 2)), np.arange(10) % 2)
    assert_allclose(model.predict_proba([[1.0, 1.0]]), [[0.5, 0.5]], atol=1e-6)


@pytest.mark.filterwarnings("ignore:ExpertWeights. the columns do not predict:suffice.PoorFitWarning")
@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"u": list("abcabcabcabc"), "v": list("xyxyxyxxyyxy")}),
        pd.DataFrame({"u": [None] * 12, "v": np.arange(12) % 5}),
        pd.DataFrame({"u": pd.date_range("2024-01-01", periods=12), "v": [True, False, None] * 4}),
        pd.DataFrame({"u": [1e200, -1e200, 3.0] * 4, "v": [np.nan] * 11 + [1.0]}),
    ],
    ids=["words", "empty column", "dates and truth", "far away"],
)
def test_odd_tables(table):
    y = np.arange(12) % 2
    p = TabularClassifier(n_trees=10, random_state=0).fit(table, y).predict_proba(table)
    assert np.isfinite(p).all()
    assert_allclose(p.sum(axis=1), 1)


def test_far_away_rows_are_predicted_sanely():
    X, y = load_iris(return_X_y=True)
    model = TabularClassifier(random_state=0).fit(X, y)
    far = model.predict_proba(np.array([[1e300] * 4, [-1e300] * 4, [np.nan] * 4]))
    assert np.isfinite(far).all()
    edge = model.predict_proba([X.mean(axis=0) + 6.0 * X.std(axis=0)])
    assert_allclose(far[0], edge[0], atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_class_of_one_or_two_rows(rows):
    X, y = load_iris(return_X_y=True)
    keep = np.r_[0:100, 100 : 100 + rows]
    model = TabularClassifier(random_state=0).fit(X[keep], y[keep])
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert model.score(X[:100], y[:100]) > 0.95


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 120))
    X[:, 0] += 3 * y
    p = TabularClassifier(random_state=0).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()


def test_it_pickles_clones_and_copies():
    X, y = mixed()
    model = TabularClassifier(n_trees=10, random_state=0).fit(X, y)
    for one in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(X, y)):  # noqa: S301
        np.testing.assert_array_equal(one.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_trees": 0}, "n_trees"),
        ({"weights": [1, 2]}, "weights must be None or a dict"),
        ({"weights": {"classes": 1.0}}, "weights must have a number of at least 0 for each of"),
        ({"weights": {"classes": -1.0}}, "at least 0"),
        ({"encoder": "trees"}, "encoder must be None or the encoder_ of a fitted classifier"),
        ({"columns": {"a": "number"}}, "must be one of"),
        ({"columns": {"a": "gaussian"}}, r"must be one of \('bins', 'category', 'drop'\), got 'gaussian'"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    X, y = mixed(60)
    with pytest.raises(ValueError, match=message):
        TabularClassifier(**{"n_trees": 5, "random_state": 0, **settings}).fit(X, y)


def test_it_is_no_density():
    with pytest.raises(AttributeError) as refusal:
        TabularClassifier().predict_joint_log_proba  # noqa: B018 - asking is refused
    assert "log p(x, y) is unknown" in str(refusal.value.__cause__)


def test_what_does_not_vary_in_the_first_piece_is_told():
    X, y = mixed()
    X = X.assign(
        late=np.where(np.arange(len(X)) < 100, 1.0, X["b"]), empty=np.where(np.arange(len(X)) < 100, np.nan, 1.0)
    )
    with pytest.warns(
        ConstantColumnWarning, match=r"left out of all further pieces.*: \['late', 'empty'\]; begin"
    ) as told:
        model = TabularClassifier(random_state=0).partial_fit(X[:100], y[:100])
    assert len(told) == 1
    model.partial_fit(X[100:], y[100:])
    TabularClassifier(random_state=0).fit(X[:100], y[:100])  # where all rows are there at once, columns_ tells


@pytest.mark.parametrize("kind", [TabularClassifier, AdditiveTables])
def test_recalibrate_takes_no_rows_that_were_not_learned(kind):
    X, y = mixed()
    model = kind().fit(X, y)
    for rows in (slice(60), slice(None)):
        with pytest.raises(ValueError, match="recalibrate takes rows that were learned, but"):
            model.recalibrate(X[rows].assign(b=X["b"][rows] + 100), y[rows])
    before = model.predict_proba(X)
    assert_allclose(model.recalibrate(X, y).predict_proba(X), before, atol=1e-8)


@pytest.mark.filterwarnings("ignore:ExpertWeights. the columns do not predict:suffice.PoorFitWarning")
@pytest.mark.parametrize("kind", [TabularClassifier, AdditiveTables, NaiveBayes])
def test_weights_that_are_nothing_beside_the_prior_are_told(kind):
    X, y = mixed()
    with pytest.warns(UserWarning, match="sample_weight sums to 1, but the prior counts for"):
        kind().fit(X, y, sample_weight=np.full(len(X), 1 / len(X)))


def test_another_kind_of_values_is_refused_even_where_it_does_not_count():
    X, y = mixed(k=2)
    X = X.assign(flag=X["b"] > 0)
    weights = TabularClassifier(random_state=0).fit(X, y).weights_
    model = TabularClassifier(random_state=0, weights={**weights, "category": 0.0}).fit(X, y)
    with pytest.raises(
        ValueError, match="the values of column 'flag' are strings here and numbers in what was learned"
    ):
        model.predict(X.assign(flag=np.where(X["flag"], "yes", "no")))


def test_the_smallest_numbers_have_no_normal_density(rng):
    X, y = rng.normal(size=(240, 2)) * 1e-155, np.arange(240) % 2
    assert np.isfinite(TabularClassifier(random_state=0).fit(X, y).predict_proba(X)).all()
