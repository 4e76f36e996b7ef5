"""AdditiveTables: what it shows is what it predicts, pairs, shapes that only rise, and shapes changed by hand."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_estimator

from suffice import AdditiveTables, NaiveBayes
from suffice.data import Memory
from suffice.learners import ClosedForm, ExpertWeights, StaleWarning
from suffice.testing._trial import copied
from tests.strangers.lazy import Lazy


def people(n=600, seed=0, holes=0.1):
    """A table of all kinds of columns, in which two columns count together alone; every second class has gaps."""
    rng = np.random.default_rng(seed)
    age, pay, left, right = (
        rng.normal(40, 10, n),
        rng.lognormal(3, 1, n),
        rng.integers(2, size=n),
        rng.integers(2, size=n),
    )
    job = rng.choice(["cook", "clerk", "judge"], n)
    score = 0.08 * (age - 40) + 0.8 * (job == "judge") + 2.0 * np.where(left == right, 1, -1)
    y = np.where(rng.random(n) < expit(score), "yes", "no")
    X = pd.DataFrame({"age": age, "pay": pay, "left": left, "right": right, "job": job})
    X.loc[rng.random(n) < holes, "age"] = np.nan
    X.loc[rng.random(n) < holes, "job"] = None
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = people()
    return AdditiveTables().fit(X, y), X, y


def looked_up(shapes, X):
    """The log-odds of rows, read off the shapes with nothing but pandas."""
    total = np.full(len(X), shapes.base)
    for shape in shapes.values():
        codes = [
            in_cells(X[c], names, edges)
            for c, names, edges in zip(shape.columns, shape.cells, shape.edges, strict=True)
        ]
        there = np.all([code >= 0 for code in codes], axis=0)
        total += np.where(there, shape.values[tuple(codes)], shape.absent)
    return total


def in_cells(column, names, edges):
    if edges is not None:
        return np.where(column.isna(), -1, np.searchsorted(edges, column, side="right") - 1)
    return np.array([names.index(v) if isinstance(v, str) and v in names else -1 for v in column.astype(object)])


def test_shapes_add_up_to_the_log_odds(fitted):
    model, X, _ = fitted
    assert ("left", "right") in model.shapes_
    assert_allclose(looked_up(model.shapes_, X), model.decision_function(X), atol=1e-10)
    found = model.contributions(X)
    assert_allclose(np.diff(found.log_joint, axis=1)[:, 0], model.decision_function(X), atol=1e-10)
    assert_allclose(found.terms.mean(axis=0), 0.0, atol=1e-10)  # centred over the rows learned
    assert_allclose(np.diff(found.base), model.shapes_.base, atol=1e-10)
    assert found.names[:5] == list(X.columns)
    assert "left & right" in found.names


def test_new_rows_add_up_too(fitted):
    model, *_ = fitted
    X, _ = people(100, seed=1)
    X.loc[0, "job"] = "smith"
    X.loc[1] = [1e300, -1e300, 7, -3, None]
    assert_allclose(looked_up(model.shapes_, X), model.decision_function(X), atol=1e-10)


def test_more_classes_have_a_score_each():
    X, y = load_iris(return_X_y=True)
    model = AdditiveTables(pairs=2).fit(X, y)
    found = model.contributions(X)
    assert found.terms.shape == (150, 3, 6)
    assert_allclose(softmax(found.log_joint, axis=1), model.predict_proba(X), atol=1e-12)
    assert_allclose(log_softmax(found.log_joint, axis=1), model.predict_log_proba(X), atol=1e-12)
    assert_allclose(found.terms.sum(axis=1), 0.0, atol=1e-12)
    assert model.shapes_[2].values.shape[1] == 3
    assert_allclose(model.shapes_[2].values.sum(axis=1), 0.0, atol=1e-12)
    assert "Shape of 2" in repr(model.shapes_)


def test_a_pair_that_counts_together_is_found(fitted):
    model, X, y = fitted
    assert model.pairs_[0] == ("left", "right")
    new, labels = people(2000, seed=5)
    alone = AdditiveTables(pairs=None).fit(X, y)
    assert alone.pairs_ == []
    assert log_loss(labels, model.predict_proba(new)) < log_loss(labels, alone.predict_proba(new)) - 0.1


@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")  # noise
def test_pairs_of_noise_are_not_found():
    rng = np.random.default_rng(1)
    counts = []
    for _ in range(10):
        X, y = rng.normal(size=(400, 6)), rng.integers(2, size=400)
        counts.append(len(AdditiveTables().fit(X, y).pairs_))
    assert np.mean(counts) < 1.0  # of 15


def test_pairs_are_counted_or_named():
    X, y = people()
    assert len(AdditiveTables(pairs=3).fit(X, y).pairs_) == 3
    assert AdditiveTables(pairs=[("pay", "age"), (3, "job")]).fit(X, y).pairs_ == [("age", "pay"), ("right", "job")]
    assert AdditiveTables(pairs=0).fit(X, y).pairs_ == []


def test_a_pair_given_twice_counts_once():
    X, y = people()
    assert AdditiveTables(pairs=[("pay", "age"), ("age", "pay")]).fit(X, y).pairs_ == [("age", "pay")]


def test_a_log_loss_needs_labels(fitted):
    model, X, y = fitted
    for rows in ((X, None), (None, y)):
        with pytest.raises(ValueError, match="edited needs both X and y"):
            model.edited({}, *rows)


def test_the_order_of_rows_and_the_engine_do_not_matter():
    X, y = people()
    order = np.random.default_rng(0).permutation(len(y))
    model, other = AdditiveTables().fit(X, y), AdditiveTables().fit(X.iloc[order], y[order])
    assert model.pairs_ == other.pairs_
    assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-8)
    batches = AdditiveTables().fit(Memory(X, y, batch_size=37))
    assert batches.pairs_ == model.pairs_
    assert_allclose(batches.predict_proba(X), model.predict_proba(X), atol=1e-8)


def test_rows_in_partitions_elsewhere():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    parts = Lazy([(X[rows], y[rows]) for rows in np.array_split(np.arange(len(y)), 5)])
    model, other = AdditiveTables(pairs=2).fit(X, y), AdditiveTables(pairs=2).fit(parts)
    assert model.pairs_ == other.pairs_
    assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-8)


@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")  # with these weights they are worse than the shares
def test_weights_of_one_are_naive_bayes_but_for_smoothing():
    X, y = people()
    X = X[["left", "job"]].astype(str)
    names = AdditiveTables(pairs=None).fit(X, y).weights_
    model = AdditiveTables(pairs=None, weights=dict.fromkeys(names, 1.0)).fit(X, y)
    assert_allclose(model.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), atol=1e-12)


def test_weights_that_do_not_help_are_small():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=800)
    X = np.column_stack([rng.normal(size=800) + 1.5 * y, rng.normal(size=800)])
    X = np.column_stack([X, X[:, 0]])  # the first column again
    model = AdditiveTables(pairs=None, learner=ExpertWeights(0.01)).fit(X, y)
    _, first, noise, again = model.weights_.values()
    assert 0.8 < first + again < 1.2
    assert model.shapes_[1].importance < 0.1 * model.shapes_[0].importance
    assert min(first, noise, again) >= 0.0


def test_leave_one_out_is_honest():
    X, y = people()
    model = AdditiveTables().fit(X, y)
    left_out = -np.take_along_axis(model.loo_log_proba(X, y), (y == "yes").astype(int)[:, None], 1).mean()
    new, labels = people(4000, seed=9)
    assert abs(left_out - log_loss(labels, model.predict_proba(new))) < 0.05


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, -1]))
@settings(max_examples=10)
def test_monotone_columns_never_turn(seed, way):
    X, y = people(200, seed)
    model = AdditiveTables(monotone={"age": way, 1: 1}).fit(X, y)
    assert not any({"age", "pay"} & set(pair) for pair in model.pairs_)
    for column, sign, grid in (("age", way, np.linspace(0, 90, 500)), ("pay", 1, np.geomspace(0.1, 1e4, 500))):
        rows = pd.concat([X.iloc[[0]]] * 500, ignore_index=True)
        rows[column] = grid
        assert (sign * np.diff(model.decision_function(rows)) >= -1e-12).all()


def test_pieces_merge_and_forget_with_what_the_first_rows_have_chosen():
    X, y = people()
    learner = ClosedForm()
    whole = AdditiveTables(pairs=2, learner=learner).fit(X, y)
    parts = [clone(whole), clone(whole)]
    for part, rows in zip(parts, (slice(0, 250), slice(250, None)), strict=True):
        part._fit_sums(whole._sum(X[rows], y[rows], None, reset=False)[1], whole)
    merged = parts[0] + parts[1]
    assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    left = copied(whole).forget(X[:250], y[:250])
    assert_allclose(left.predict_proba(X), parts[1].predict_proba(X), atol=1e-10)


def test_weights_are_carried_along_and_learned_anew():
    X, y = people()
    model = AdditiveTables().fit(X[:500], y[:500])
    with pytest.warns(StaleWarning, match="come or gone"):
        model.partial_fit(X[500:], y[500:]).predict(X)
    assert model.stale_
    before = model.weights_
    assert not model.recalibrate(X, y).stale_
    assert model.weights_ != before


def test_a_shape_changed_by_hand(fitted):
    model, X, y = fitted
    flat = np.zeros_like(model.shapes_["age"].values)
    twin, loss = model.edited({"age": flat, "job": {"cook": 2.0}, ("left", "right"): {(0, 1): -1.0}}, X, y)
    old, new = model.shapes_, twin.shapes_
    assert_allclose(np.ptp(new["age"].values), 0.0, atol=1e-12)
    expected = old["job"].values.copy()
    expected[old["job"].cells[0].index("cook")] = 2.0
    assert_allclose(new["job"].values - new["job"].values[0], expected - expected[0], atol=1e-12)
    assert_allclose(looked_up(new, X), twin.decision_function(X), atol=1e-10)
    assert loss == pytest.approx(log_loss(y, twin.predict_proba(X)))
    there, cook = X["age"].notna() & X["job"].notna(), X["job"] == "cook"
    gap = twin.decision_function(X) - model.decision_function(X)
    by_hand = -old["age"].values[in_cells(X["age"], *(old["age"].cells[0], old["age"].edges[0]))] + cook * (
        2.0 - old["job"].values[old["job"].cells[0].index("cook")]
    )
    same = there & ~((X["left"] == 0) & (X["right"] == 1))
    assert_allclose(gap[same], by_hand[same], atol=1e-10)
    assert_allclose(model.edited({}).model.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_a_shape_changed_by_hand_learns_no_more(fitted):
    model, X, y = fitted
    twin = model.edited({"age": {0: 1.0}}).model
    said = "these shapes were edited"
    for act in (twin.forget, twin.partial_fit, twin.recalibrate, twin.loo_log_proba):
        with pytest.raises(ValueError, match=said):
            act(X, y)
    for a, b in ((twin, model), (model, twin)):
        with pytest.raises(ValueError, match=said):
            a.merge(b)
    assert_allclose(copied(twin).predict_proba(X), twin.predict_proba(X))
    again = twin.fit(X, y)
    assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-10)
    again.loo_log_proba(X, y)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"size": [0.0]}, "there is no shape of 'size'"),
        ({"age": [0.0, 1.0]}, r"edited\['age'\] must be finite numbers of shape"),
        ({"job": {"smith": 1.0}}, r"edited\['job'\] has 'smith', which is not a cell: the cells are 0 to 2 or"),
        ({"job": {7: 1.0}}, "has 7, which is not a cell"),
        ({"job": {0: np.nan}}, "must be finite numbers"),
        ({"age": "high"}, r"edited\['age'\] must be finite numbers"),
        ({"job": {0: "high"}}, r"edited\['job'\] must be finite numbers"),
        ([1.0], "edited takes a dict of column: values"),
    ],
)
def test_changes_that_cannot_be(fitted, changes, said):
    with pytest.raises(ValueError, match=said):
        fitted[0].edited(changes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pairs": "many"}, 'pairs must be "auto", a whole number of at least 0, a list of'),
        ({"pairs": -1}, "pairs must be"),
        ({"pairs": [("age",)]}, "pairs must be"),
        ({"pairs": [("age", "size")]}, "pairs has 'size', which is not a column"),
        ({"pairs": [("age", "age")]}, "twice the same column"),
        ({"pairs": [("age", "pay")], "monotone": {"pay": 1}}, "a column that is monotone or left out"),
        ({"monotone": {"age": 2}}, "monotone must be None or a dict of column: 1 or -1"),
        ({"monotone": ["age"]}, "monotone must be None or a dict of column: 1 or -1"),
        ({"monotone": {"size": 1}}, "monotone has 'size', which is not a column"),
        ({"monotone": {"job": 1}}, "monotone has 'job', which holds text and is read as category"),
        ({"resolutions": (16, 4)}, "resolutions must be whole numbers of at least 2 in rising order"),
        ({"resolutions": ()}, "resolutions must be whole numbers of at least 2 in rising order"),
        ({"columns": {"age": "gaussian"}}, r"columns\['age'\] must be \"bins\", \"category\" or \"drop\""),
        ({"missing": "mean"}, "missing must be"),
        ({"weights": {"classes": -1.0}}, "weights must be None or a dict"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    X, y = people(60)
    with pytest.raises(ValueError, match=said):
        AdditiveTables(**settings).fit(X, y)


def test_monotone_needs_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="monotone is for two classes, but there are 3"):
        AdditiveTables(monotone={0: 1}).fit(X, y)
    two = y < 2
    model = AdditiveTables(monotone={0: 1}).partial_fit(X[two], y[two])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="monotone is for two classes, but there are 3"):
        model.partial_fit(X, y)
    assert_allclose(model.predict_proba(X), before, rtol=0)


def test_an_entry_that_is_missing_may_count():
    X, y = people(holes=0.0)
    X.loc[(y == "yes") & (np.arange(len(y)) % 3 == 0), "pay"] = np.nan
    model = AdditiveTables(missing="indicator").fit(X, y)
    assert model.shapes_["pay (missing)"].importance > 0.1
    assert_allclose(np.diff(model.contributions(X).log_joint, axis=1)[:, 0], model.decision_function(X), atol=1e-10)


def test_columns_say_what_became_of_them(fitted):
    model, X, _ = fitted
    columns = model.columns_
    assert list(columns) == list(X.columns)
    assert columns["job"].note == "3 cells"
    assert columns["left"].note.endswith("a map with right")
    assert columns["pay"].note == "64 cells"


@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")  # noise
def test_nothing_to_learn_from_leaves_the_shares():
    X, y = pd.DataFrame({"same": [1.0] * 30, "none": [None] * 30}), np.arange(30) % 3
    model = AdditiveTables().fit(X, y)
    assert_allclose(model.predict_proba(X), 1.0 / 3.0)
    assert len(model.shapes_) == 0
    assert not model.contributions(X).terms.any()


@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")  # noise
def test_odd_tables_are_taken():
    rng = np.random.default_rng(0)
    y = np.array([0] * 40 + [1] * 2)
    X = pd.DataFrame({"none": [None] * 42, "same": 1, "id": [f"a{i}" for i in range(42)], "x": rng.normal(size=42)})
    p = AdditiveTables().fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()
    assert_allclose(p.sum(axis=1), 1.0)
    far = X.assign(x=1e300)
    assert np.isfinite(AdditiveTables().fit(X, y).decision_function(far)).all()


@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")  # noise
def test_scikit_learn_takes_it():
    check_estimator(AdditiveTables(pairs=None, learner=ClosedForm()), on_skip=None)
    reason = "a row of weight 2 is left out as a whole, of two equal rows one at a time"
    expected = {"check_sample_weight_equivalence_on_dense_data": reason}
    results = check_estimator(AdditiveTables(), expected_failed_checks=expected, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] in ("xfail", "failed")}
    assert failed == set(expected)


def test_better_than_naive_bayes_on_real_rows():
    X, y = load_breast_cancer(return_X_y=True)
    losses = []
    for seed in range(3):
        a, b, ya, yb = train_test_split(X, y, stratify=y, random_state=seed)
        losses.append([log_loss(yb, m.fit(a, ya).predict_proba(b)) for m in (AdditiveTables(), NaiveBayes())])
    ours, theirs = np.mean(losses, axis=0)
    assert ours < 0.5 * theirs
    assert re.match(r"Shapes of \d+ terms", repr(AdditiveTables().fit(X, y).shapes_))
