"""What comes in: kinds of tables, and a clear word for every bad one."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from suffice import (
    CategoricalNB,
    Dirichlet,
    FisherDiscriminant,
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import TM, ClosedForm, RiskCalibration
from suffice.models import DegenerateError
from suffice.models.gaussian.base import ConstantColumnWarning


def ClosedLogistic(**settings):  # noqa: N802 - one of the kinds
    return LogisticRegression(learner=ClosedForm(), **settings)


NUMBERS = [GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis, ClosedLogistic]
KINDS = [CategoricalNB, *NUMBERS]
FULL = [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis]
every_kind = pytest.mark.parametrize("kind", KINDS)

X = np.random.default_rng(0).integers(0, 5, size=(40, 3)).astype(float)
Y = np.repeat(["a", "b"], 20)


def without_class(values, label):
    return values[label != Y]


# Bad input, by its message


def test_nan_where_it_has_no_meaning():
    with pytest.raises(ValueError, match=r"Input X contains NaN.*use NaiveBayes.* or LinearDiscriminantAnalysis"):
        LogisticRegression().fit(np.where(X == 0, np.nan, X), Y)


@every_kind
def test_infinity(kind):
    with pytest.raises(ValueError, match="contains infinity"):
        kind().fit(np.where(X == 0, np.inf, X), Y)


@pytest.mark.parametrize(
    "estimator", [FisherDiscriminant(learner=TM()), GaussianNB(learner=RiskCalibration(costs=1 - np.eye(2)))]
)
def test_one_class_is_said_before_learning(estimator):
    with pytest.raises(ValueError, match=r"needs rows of at least two classes, got one class: \['a'\]. partial_fit"):
        estimator.fit(X, np.repeat("a", len(X)))


@every_kind
def test_one_class(kind):
    with pytest.raises(ValueError, match=r"needs rows of at least two classes, got one class: \['a'\]. partial_fit"):
        kind().fit(X[:20], Y[:20])
    assert (kind().partial_fit(X[:20], Y[:20]).predict(X) == "a").all()


@every_kind
def test_no_rows(kind):
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        kind().fit(X[:0], Y[:0])


@every_kind
def test_wrong_width(kind):
    model = kind().fit(X, Y)
    for call in (model.predict, lambda Z: model.partial_fit(Z, Y), lambda Z: model.forget(Z, Y)):
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
            call(X[:, :2])


@every_kind
def test_weights(kind):
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        kind().fit(X, Y, sample_weight=np.linspace(-1, 1, 40))
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number"):
        kind().fit(X, Y, sample_weight=np.zeros(40))


def test_fewer_rows_than_features_under_maximum_likelihood(rng):
    few = rng.normal(size=(23, 5))
    y = np.repeat(["many", "few"], [20, 3])
    with pytest.raises(
        DegenerateError, match=r"class 'few' has 3 rows and a singular covariance, of rank 2 for 5"
    ) as e:
        QuadraticDiscriminantAnalysis(prior=None).fit(few, y)
    assert "Use prior='default', take more rows, or leave columns out" in str(e.value)
    assert QuadraticDiscriminantAnalysis().fit(few, y).predict_proba(few).min() >= 0


@pytest.mark.parametrize("kind", FULL)
def test_collinear_columns(kind):
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "twice": 2 * X[:, 0] - X[:, 1]})
    with pytest.raises(DegenerateError, match=r"of rank 2 for 3 features \(column 'twice' adds nothing"):
        kind(prior=None).fit(table, Y)
    assert kind().fit(table, Y).score(table, Y) > 0.4


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("prior", [None, "default"])
def test_a_constant_column_is_left_out(kind, prior):
    with pytest.warns(ConstantColumnWarning, match="left out, as it has one value only: column 1"):
        model = kind(prior=prior).fit(np.insert(X, 1, 0.1, axis=1), Y)
    alone = kind(prior=prior).fit(X, Y)
    assert_allclose(model.predict_proba(np.insert(X, 1, 7.0, axis=1)), alone.predict_proba(X), atol=1e-12)


def test_a_column_constant_in_one_class_under_maximum_likelihood():
    flat = np.where((np.arange(3) == 2) & (Y == "b")[:, None], 3.0, X)
    with pytest.raises(DegenerateError, match=r"class 'b' has no variance in column 2 \(20 rows, too alike"):
        GaussianNB(prior=None).fit(flat, Y)
    many, labels = np.tile(flat, (5000, 1)), np.tile(Y, 5000)
    with pytest.raises(DegenerateError, match=r"class 'b' has no variance in column 2 \(100000 rows"):
        GaussianNB(prior=None).fit(many, labels)
    inside = np.column_stack([X[:, 0], Y == "a"])
    with pytest.raises(DegenerateError, match="column 1 does not vary within any class: the pooled variance is zero"):
        GaussianNB(prior=None, tied=True).fit(inside, Y)
    hollow = np.where((np.arange(3) == 2) & (Y == "b")[:, None], np.nan, X)
    with pytest.raises(DegenerateError, match="class 'b' has no values in column 2"):
        GaussianNB(prior=None).fit(hollow, Y)


def test_columns_of_mixed_types():
    with pytest.raises(ValueError, match="column 'odd' mixes numbers and strings; convert it to one type"):
        CategoricalNB().fit(pd.DataFrame({"odd": ["u", 1, "v"]}), [0, 1, 1])
    with pytest.raises(TypeError, match="column 0: a category argument must be a string or a number"):
        CategoricalNB().fit(np.array([[{}], [1]], dtype=object), [0, 1])
    model = CategoricalNB().fit([["u"], ["v"]], [0, 1])
    with pytest.raises(ValueError, match="the values of column 0 are numbers here and strings in what was learned"):
        model.predict([[1]])
    with pytest.raises(ValueError, match="the values of column 0 are strings here and numbers there"):
        model.partial_fit([[1]], [0])


@pytest.mark.parametrize("kind", NUMBERS)
def test_text_among_numbers(kind):
    with pytest.raises(
        ValueError,
        match=r"takes numbers, but the columns \['t'\] are text: use NaiveBayes",
    ):
        kind().fit(pd.DataFrame({"t": ["u", "v"], "x": [1.0, 2.0]}), [0, 1])


@every_kind
def test_settings(kind):
    wrong = Dirichlet() if kind is not CategoricalNB else GaussianPrior()
    with pytest.raises(ValueError, match=r"prior must be 'default', None or a"):
        kind(prior=wrong).fit(X, Y)
    with pytest.raises(ValueError, match=r"class_prior has 3 entries, but there are 2 classes: \['a', 'b'\]"):
        kind(class_prior=[0.2, 0.3, 0.5]).fit(X, Y)
    with pytest.raises(ValueError, match="class_prior must be probabilities that sum to 1"):
        kind(class_prior=[0.2, 0.3]).fit(X, Y)
    with pytest.raises(ValueError, match=r"class_prior has no probability for the classes \['b'\]"):
        kind(class_prior={"a": 1.0}).fit(X, Y)
    with pytest.raises(ValueError, match="class_weight must be None, 'balanced' or a dict"):
        kind(class_weight="even").fit(X, Y)
    with pytest.raises(ValueError, match=r"class_weight must be positive numbers, got {'a': -1}"):
        kind(class_weight={"a": -1}).fit(X, Y)


def test_priors():
    with pytest.raises(ValueError, match=r"Dirichlet: per must be one of \('cell', 'table'\), got 'row'"):
        CategoricalNB(prior=Dirichlet(1, "row")).fit(X, Y)
    with pytest.raises(ValueError, match="weight must be 'evidence' or a finite number of at least 0, got -1"):
        CategoricalNB(prior=Dirichlet(-1)).fit(X, Y)
    with pytest.raises(ValueError, match="cov_weight must be 'evidence' or a finite number of at least 0, got 'ten'"):
        GaussianNB(prior=GaussianPrior(cov_weight="ten")).fit(X, Y)
    with pytest.raises(ValueError, match=r"mean has shape \(2,\), but there are 3 features: give a number or an"):
        GaussianNB(prior=GaussianPrior(mean=[0.0, 1.0])).fit(X, Y)


# What is refused leaves the model as it was


def unchanged(model, call, message, error=ValueError):
    before = copy.deepcopy(model)
    with pytest.raises(error, match=message):
        call()
    assert (model.predict_proba(X) == before.predict_proba(X)).all()
    assert repr(model.statistics_) == repr(before.statistics_)


@every_kind
def test_merging_what_does_not_fit(kind):
    model = kind().fit(X, Y)
    unchanged(model, lambda: model.merge(kind().fit(X[:, :2], Y)), "the features differ: 3 here, 2 there")
    unchanged(model, lambda: model + kind(prior=None), "is not fitted yet")
    other = kind(class_prior=[0.5, 0.5]).fit(X, Y)
    unchanged(
        model, lambda: model.merge(other), r"the settings differ: class_prior is None here and \[0.5, 0.5\] there"
    )
    unchanged(model, lambda: model.merge(kind().fit(X, np.repeat([0, 1], 20))), "class labels are strings here and num")
    wrong = GaussianNB if kind is CategoricalNB else CategoricalNB
    unchanged(model, lambda: model.merge(wrong().fit(X, Y)), "cannot merge a", TypeError)


def test_merging_other_columns():
    one, two = (GaussianNB().fit(pd.DataFrame(X, columns=list(names)), Y) for names in ("abc", "abd"))
    with pytest.raises(ValueError, match=r"the feature names differ: only here \['c'\], only there \['d'\]"):
        one.merge(two)
    assert one.class_count_.tolist() == [20, 20]


@every_kind
def test_forgetting_what_was_not_learned(kind):
    model = kind().fit(X, Y)
    unchanged(model, lambda: model.forget(X[:1], ["c"]), r"the classes \['c'\] were never learned")
    unchanged(model, lambda: model.forget(np.repeat(X, 2, axis=0)[:41], ["a"] * 41), r"\['a'\] would keep less than no")
    unchanged(model, lambda: model.forget(X, Y), "no rows would be left")
    unchanged(model, lambda: model.forget(X[:1] + 100, ["a"]), "these rows were not all learned")
    unchanged(model, lambda: model.forget(X[:20] + 0.1, ["a"] * 20), "these rows were not all learned")


def test_forgetting_a_direction_between_the_axes():
    ring = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1.0]])
    rows, y = np.concatenate([ring, ring]), np.repeat([0, 1], 4)
    model = QuadraticDiscriminantAnalysis().fit(rows, y)
    with pytest.raises(ValueError, match="class 0, column 0, would have a negative variance"):
        model.forget([[1, 1], [1, 1], [-1, -1]], [0, 0, 0])


def test_forgetting_so_much_that_no_parameters_are_left():
    model = QuadraticDiscriminantAnalysis(prior=None).fit(X, Y)
    unchanged(model, lambda: model.forget(X[:18], Y[:18]), "class 'a' has 2 rows and a singular covariance")


# Good input of every kind

TABLE = {
    "s": ["u", "v", "u", None, "w"],
    "i": [1, 2, 2, 1, 1],
    "b": [True, False, True, True, False],
    "f": [0.5, 1, 1, 0.5, 1],
}
LABELS = ["yes", "no", "yes", "no", "no"]


def frames():
    frame = pd.DataFrame(TABLE)
    yield "pandas", frame
    yield "pandas-categorical", frame.astype("category")
    yield "pandas-nullable", frame.convert_dtypes()
    yield "polars", pl.DataFrame(TABLE)
    yield "polars-categorical", pl.DataFrame(TABLE).with_columns(pl.col("s").cast(pl.Categorical))
    yield "pyarrow", pa.table(TABLE)
    yield "object array", frame.to_numpy(dtype=object)


@pytest.mark.parametrize(("name", "frame"), list(frames()), ids=lambda v: v if isinstance(v, str) else "")
def test_tables_of_categories(name, frame):
    model = CategoricalNB().fit(frame, LABELS)
    assert [c.tolist() for c in model.categories_] == [["u", "v", "w"], [1, 2], [False, True], [0.5, 1.0]]
    assert model.category_count_[0].tolist() == [[0, 1, 1], [2, 0, 0]]
    reference = CategoricalNB().fit(pd.DataFrame(TABLE), LABELS)
    assert_allclose(model.predict_proba(frame), reference.predict_proba(pd.DataFrame(TABLE)))
    if name != "object array":
        assert model.feature_names_in_.tolist() == ["s", "i", "b", "f"]


@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_tables_of_numbers(kind, wrap):
    frame = wrap({"p": X[:, 0], "q": X[:, 1].astype(int), "r": X[:, 2] > 1})
    plain = np.column_stack([X[:, 0], X[:, 1], X[:, 2] > 1])
    model = kind().fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["p", "q", "r"]
    assert_allclose(model.predict_proba(frame), kind().fit(plain, Y).predict_proba(plain))


def test_missing_numbers_in_frames():
    holes = pl.DataFrame({"p": [1.0, None, 2.0, 5.0, 4.0], "q": [1, 2, 3, None, 5]})
    model = GaussianNB().fit(holes, [0, 0, 0, 1, 1])
    assert model.statistics_.sums.count.tolist() == [[2, 3], [2, 1]]


def test_labels_of_any_kind():
    for labels in (Y, Y.astype(object), Y == "a", np.repeat([-1, 7], 20), pd.Series(Y), pl.Series(Y)):
        model = GaussianNB().fit(X, labels)
        assert model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
        assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())


def test_new_classes_and_categories_at_any_time():
    model = CategoricalNB().partial_fit([["u"], ["v"]], ["x", "x"]).partial_fit([["w"]], ["y"])
    assert model.classes_.tolist() == ["x", "y"]
    assert model.category_count_[0].tolist() == [[1, 1, 0], [0, 0, 1]]
    declared = GaussianNB().partial_fit(X, Y, classes=["a", "b", "z"])
    assert declared.classes_.tolist() == ["a", "b", "z"]
    assert (declared.predict_proba(X)[:, 2] == 0).all()
    with pytest.raises(ValueError, match=r"y has the classes \['b'\], which are not among `classes`"):
        GaussianNB().partial_fit(X, Y, classes=["a"])


def test_given_class_probabilities():
    shares = LinearDiscriminantAnalysis().fit(X, Y)
    given = clone(shares).set_params(class_prior={"a": 0.9, "b": 0.1}).fit(X, Y)
    assert_allclose(given.class_prior_, [0.9, 0.1])
    assert_allclose(shares.decision_function(X) - given.decision_function(X), np.log(9), atol=1e-12)
    smooth = CategoricalNB(class_prior=Dirichlet(1)).fit(X[10:], Y[10:])
    assert_allclose(smooth.class_prior_, [11 / 32, 21 / 32])


def test_balanced_classes_in_pieces():
    y = np.repeat(["a", "b"], [10, 30])
    whole = GaussianNB(class_weight="balanced").fit(X, y)
    assert_allclose(whole.class_prior_, [0.5, 0.5])
    pieces = GaussianNB(class_weight="balanced").partial_fit(X[:15], y[:15]).partial_fit(X[15:], y[15:])
    assert_allclose(pieces.predict_proba(X), whole.predict_proba(X), atol=1e-12)


def test_statistics_read_well():
    assert repr(GaussianNB().fit(X, Y).statistics_) == "Moments of 3 features, mass 40 in 2 classes: a: 20, b: 20"
