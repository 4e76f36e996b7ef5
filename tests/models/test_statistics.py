"""The arithmetic of statistics at its edges: rounding, far rows, odd weights, declared classes."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from suffice import (
    CategoricalNB,
    ConstantColumnWarning,
    DegenerateError,
    GaussianNB,
    GaussianPrior,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.labels import OneHot
from suffice.encoders.categories import coded as encode
from suffice.learners import ClosedForm
from suffice.models import DiagonalGaussian, FullGaussian, TiedDiagonalGaussian, TiedFullGaussian
from suffice.models.gaussian.moments import moments

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
Y = np.arange(200) % 2
each = pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])


@each
@pytest.mark.parametrize("distance", [1e2, 1e4, 1e5])
def test_forgetting_a_far_row(kind, distance):
    far = np.full((1, 2), distance)
    model = kind().fit(np.concatenate([X, far]), np.append(Y, 0)).forget(far, [0])
    assert_allclose(model.predict_proba(X), kind().fit(X, Y).predict_proba(X), atol=1e-17 * distance**2 + 1e-11)


@each
@pytest.mark.parametrize("distance", [1e8, 1e9, 1e12])
def test_forgetting_a_row_too_far_is_refused(kind, distance):
    far = np.full((1, 2), distance)
    model = kind().fit(np.concatenate([X, far]), np.append(Y, 0))
    with pytest.raises(ValueError, match="class 0, column 0, would lose its variance to rounding"):
        model.forget(far, [0])


def test_a_far_row_of_one_class_leaves_the_others_alone():
    model = GaussianNB(prior=None).fit(np.concatenate([X, [[1e9, 1e9]]]), np.append(Y, 0))
    assert_allclose(model.var_[1], X[Y == 1].var(axis=0), rtol=1e-6)


def test_forgetting_until_a_column_is_constant():
    whole = np.column_stack([X[:, 0], np.arange(200) < 7])
    with pytest.warns(ConstantColumnWarning, match="left out, as it has one value only: column 1"):
        model = GaussianNB().fit(whole, Y).forget(whole[:7], Y[:7])
    with pytest.warns(ConstantColumnWarning, match="left out, as it has one value only: column 1"):
        never = GaussianNB().fit(whole[7:], Y[7:])
    assert_allclose(model.predict_proba(whole), never.predict_proba(whole), atol=1e-12)


@pytest.mark.filterwarnings("ignore:sample_weight sums to")
def test_weights_of_any_size_are_forgotten():
    model = CategoricalNB().fit([["u"], ["u"], ["v"], ["v"]], [0, 0, 0, 1], sample_weight=[1e6, 0.1, 1, 1])
    model.forget([["u"]], [0], [1e6]).forget([["u"]], [0], [0.1])
    assert model.category_count_[0].tolist() == [[1.0], [1.0]]
    heavy = CategoricalNB().fit([["u"], ["v"], ["v"]], [0, 0, 1], sample_weight=[1e13, 1, 1])
    assert heavy.forget([["u"]], [0], [1e13]).classes_.tolist() == [0, 1]
    weight = 0.9 ** np.arange(200)
    fading = GaussianNB().fit(X, Y, weight)
    for i in range(150):
        fading.forget(X[i : i + 1], Y[i : i + 1], weight[i : i + 1])
    assert_allclose(fading.theta_, GaussianNB().fit(X[150:], Y[150:], weight[150:]).theta_, atol=1e-6)


def test_forgetting_values_that_contradict_the_rows():
    model = GaussianNB().fit([[0.0, 1], [1, 2], [2, 3], [3, 4]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="class 0, column 0, would keep more or fewer values than rows"):
        model.forget([[np.nan, 1.0]], [0])
    tables = CategoricalNB().fit([["a"], ["b"], ["b"]], [0, 1, 1])
    with pytest.raises(ValueError, match="class 1 would keep more values than rows in column 0"):
        tables.forget(np.array([[None]], dtype=object), [1])


def test_declared_classes_outlive_their_rows():
    model = GaussianNB().partial_fit(X, Y, classes=[0, 1]).forget(X[Y == 1], Y[Y == 1])
    assert model.classes_.tolist() == [0, 1]
    assert (model.predict(X) == 0).all()


def test_a_stream_may_forget_before_it_has_parameters():
    model = QuadraticDiscriminantAnalysis(prior=None).partial_fit(X[:4], Y[:4]).forget(X[:1], Y[:1])
    model.partial_fit(X[4:], Y[4:])
    never = QuadraticDiscriminantAnalysis(prior=None).fit(X[1:], Y[1:])
    assert_allclose(model.predict_proba(X), never.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("prior", [None, GaussianPrior(0, 0)], ids=str)
def test_a_class_without_rows_has_no_mean(prior):
    for model in (
        LinearDiscriminantAnalysis(prior=prior, class_prior=[0.3, 0.3, 0.4]),
        LogisticRegression(learner=ClosedForm(), prior=prior, class_prior=[0.3, 0.3, 0.4]),
    ):
        model.partial_fit(X, Y, classes=[0, 1, 2])
        with pytest.raises(DegenerateError, match=r"class 2 has no values.*its mean is unknown"):
            model.predict(X)


@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_a_class_without_rows_is_as_the_prior_has_it(kind):
    """However light the prior's mean is: the limit of ever smaller weights."""
    given = {"class_prior": [0.3, 0.3, 0.4]}
    none, little = (
        kind(prior=GaussianPrior(weight, 10), **given).partial_fit(X, Y, classes=[0, 1, 2]) for weight in (0.0, 1e-9)
    )
    assert_allclose(none.predict_proba(X), little.predict_proba(X), atol=1e-8)


def test_a_refused_fit_leaves_the_model_as_it_was():
    model = GaussianNB().fit(X, Y)
    for call in (
        lambda: model.fit(X[:, :1], np.zeros(200)),
        lambda: model.fit(pd.DataFrame({"a": X[:, 0]}), np.zeros(200)),
        lambda: model.partial_fit(X[:, :1], Y),
    ):
        with pytest.raises(ValueError, match=r"class|features"):
            call()
        assert model.n_features_in_ == 2
        assert not hasattr(model, "feature_names_in_")
        model.predict(X)


def test_settings_of_the_classes_are_refused_at_once():
    model = GaussianNB(class_prior=[0.5, 0.5]).fit(X, Y)
    with pytest.raises(ValueError, match="class_prior has 2 entries, but there are 4 classes"):
        model.merge(GaussianNB(class_prior=[0.5, 0.5]).fit(X, Y + 2))
    assert model.predict(X).shape == (200,)
    with pytest.raises(ValueError, match="class_weight must be"):
        GaussianNB(class_weight="even").partial_fit(X, Y)


def test_the_origin_is_that_of_the_heavier_side():
    near, far = (moments(X + shift, OneHot.of(Y)) for shift in (0.0, 1e9))
    few = moments(X[:2] + 1e9, OneHot.of(Y[:2]))
    for total in (near + few, few + near):
        assert (total.origin == near.origin).all()
    assert (moments(X[:2], OneHot.of(Y[:2])) + far).origin.min() > 1e8


@pytest.mark.parametrize("model", [DiagonalGaussian(), FullGaussian(), TiedDiagonalGaussian(), TiedFullGaussian()])
def test_what_has_no_parameters_is_not_valid(model):
    rows = model.encoder(X)
    good = model.statistics(rows, OneHot.of(Y))
    model = model.resolve(good)
    bad = good + model.statistics(rows, np.column_stack([-0.999 * (Y == 0) - 0.3 * (Y == 1), np.zeros(200)]))
    mask = model.attempt(bad).valid.sums
    assert not mask.first[0].all()
    assert mask.first[1].all() == (not model.tied)
    with pytest.raises(DegenerateError):
        model.parameters(bad)


def test_rows_of_another_class_are_no_rows_of_an_empty_one():
    two = GaussianNB().fit(X, Y)
    with pytest.raises(ValueError, match="class 0, column 0, would have a negative variance"):
        two.forget(X[Y == 1], np.zeros(100, dtype=int))


def test_impossible_under_maximum_likelihood_never_wins():
    tall = np.array([[str(v)] * 1000 for v in range(8)])
    flat = np.array([["0"] * 1000] * 8)
    tall[:, 0], flat[:, 0] = "a", "b"
    model = CategoricalNB(prior=None).fit(np.concatenate([tall, flat]), [0] * 8 + [1] * 8)
    assert model.predict_proba([["a"] + ["0"] * 999]).tolist() == [[1.0, 0.0]]
    assert model.feature_log_prob_[0].tolist() == [[0.0, -np.inf], [-np.inf, 0.0]]


def test_infinitely_far_is_not_a_number():
    for kind in (GaussianNB, QuadraticDiscriminantAnalysis, LogisticRegression):
        with np.errstate(over="ignore"):
            assert np.isfinite(kind().fit(X, Y).predict_proba([[1e200, 1e200]])).all()


def test_missing_values_of_every_kind():
    ids = pd.DataFrame({"a": pd.array([2**60, 2**60 + 1, 2**60 + 2, None], dtype="Int64")})
    assert CategoricalNB().fit(ids, [0, 1, 0, 1]).categories_[0].tolist() == [2**60, 2**60 + 1, 2**60 + 2]
    spans = np.array([[1], [2], ["NaT"]], dtype="timedelta64[D]")
    assert len(CategoricalNB().fit(spans, [0, 1, 1]).categories_[0]) == 2
    objects = np.array([["u"], [pd.NA], [pd.NaT], [None], [np.nan], ["v"]], dtype=object)
    assert CategoricalNB().fit(objects, [0, 0, 0, 1, 1, 1]).categories_[0].tolist() == ["u", "v"]
    with pytest.raises(ValueError, match="column 0 contains infinity"):
        CategoricalNB().fit(np.array([[1.0], [np.inf]], dtype=object), [0, 1])


def test_priors_must_be_possible():
    for prior, message in (
        (GaussianPrior(mean=np.nan), "mean must be finite"),
        (GaussianPrior(covariance=-1.0), "covariance must be positive definite, but its least variance is -1"),
        (GaussianPrior(covariance=[[1.0, 0.5], [0.0, 1.0]]), "covariance must be symmetric"),
    ):
        with pytest.raises(ValueError, match=message):
            GaussianNB(prior=prior).fit(X, Y)


@cache
def gaussian():
    return GaussianNB().fit(X, Y)


def predict(_):
    return gaussian().predict_proba(X)


def test_a_forked_process_can_predict():
    expected = predict(None)
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        for result in pool.map(predict, range(3), timeout=60):
            assert (result == expected).all()


@pytest.mark.parametrize(
    "column",
    [
        np.array([-128, 127, 0, 127], dtype=np.int8),
        np.array([2**63, 2**63 + 1, 2**63], dtype=np.uint64),
        np.array([5.0, -3.0, 5.0]),
        np.array([5.0, -3.5, 5.0], dtype=np.float32),
        np.array([1e300, -1e300, 0.0]),
        np.array([2.0, np.nan, 1.0]),
        np.array([7]),
        np.array([True, False, True]),
    ],
    ids=str,
)
def test_numbers_are_encoded_as_they_sort(column):
    coded = encode([column])
    categories, codes = np.unique(column[~np.isnan(column)], return_inverse=True)
    assert coded.features.categories[0].dtype == column.dtype
    assert coded.features.categories[0].tolist() == categories.tolist()
    assert coded.values[~np.isnan(column), 0].tolist() == codes.tolist()
    assert (coded.values[np.isnan(column), 0] == -1).all()
