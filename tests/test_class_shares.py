"""Classes in other shares than in learning, and the Bayes error of a density."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from suffice import (
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    ModelClassifier,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
    load,
)
from suffice._core.probability import posterior
from suffice.data import Memory
from suffice.learners import TM, GradientDescent, RiskCalibration
from suffice.learners.base import level_of
from suffice.models import Binned
from tests.populations import exact, mixed_table, two_normal
from tests.strangers.lazy import Lazy

X, y_iris = load_iris(return_X_y=True)
names = np.array(["setosa", "versicolor", "virginica"])[y_iris]


@pytest.fixture(scope="module")
def table():
    return mixed_table()


# Other shares of the classes


def test_shifted_shares_are_those_of_bayes():
    model = QuadraticDiscriminantAnalysis().fit(X, names)
    new = np.array([0.7, 0.2, 0.1])
    twin = model.shift_priors(new)
    P = model.predict_proba(X) * new / model.class_prior_
    assert_allclose(twin.predict_proba(X), P / P.sum(axis=1, keepdims=True), atol=1e-12)
    assert_allclose(twin.class_prior_, new)
    assert_allclose(model.class_prior_, 1 / 3)
    assert twin.statistics_ is model.statistics_
    by_label = model.shift_priors({"virginica": 0.1, "setosa": 0.7, "versicolor": 0.2})
    assert_allclose(by_label.predict_proba(X), twin.predict_proba(X))
    assert_allclose(model.shift_priors("uniform").predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_shifted_classifiers_go_on():
    model = GaussianNB().fit(X[::2], y_iris[::2])
    twin = model.shift_priors([0.7, 0.2, 0.1]).partial_fit(X[1::2], y_iris[1::2])
    want = GaussianNB(class_prior=[0.7, 0.2, 0.1]).fit(X, y_iris)
    assert_allclose(twin.predict_proba(X), want.predict_proba(X), atol=1e-10)
    assert_allclose(clone(twin).fit(X, y_iris).predict_proba(X), want.predict_proba(X), atol=1e-10)
    around = ModelClassifier(Binned(n_bins=4)).fit(X, y_iris).shift_priors([0.7, 0.2, 0.1])
    assert_allclose(around.partial_fit(X, y_iris).class_prior_, [0.7, 0.2, 0.1])


@pytest.mark.filterwarnings("ignore")  # that what was learned is stale
@pytest.mark.parametrize("learner", [RiskCalibration(0.1, 8, stop=None), GradientDescent(max_iter=5, stop=None)])
def test_shifted_shares_are_carried_along(learner):
    model = QuadraticDiscriminantAnalysis(learner=learner).fit(X[::2], y_iris[::2])
    twin = model.shift_priors([0.7, 0.2, 0.1])
    before = twin.class_prior_
    assert_allclose(twin.partial_fit(X[1::2], y_iris[1::2]).class_prior_, before)
    assert_allclose(np.exp(level_of(twin._fit_result())), [0.7, 0.2, 0.1])


def overlapping(n, share, seed=0):
    """One signal, seen six times, which naive Bayes is too sure of."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return (rng.normal(size=n) + y)[:, None] + 0.3 * rng.normal(size=(n, 6)), y


LEARNERS = {
    "RC": {"learner": RiskCalibration()},
    "RC, unfinished": {"learner": RiskCalibration(0.1, 8, stop=None)},
    "RC, given p(y)": {"learner": RiskCalibration(), "class_prior": [0.5, 0.5]},
    "RC, out of sample": {"learner": RiskCalibration(out_of_sample=True)},
    "TM": {"learner": TM()},
    "GD": {"learner": GradientDescent()},
}


@pytest.fixture(scope="module", params=LEARNERS)
def calibrated(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that steps end before they settle
        return GaussianNB(**LEARNERS[request.param]).fit(*overlapping(3000, 0.3))


def test_the_rows_learned_have_the_shares_that_probabilities_have_on_average(calibrated):
    rows, _ = overlapping(3000, 0.3)
    share = calibrated.predict_proba(rows).mean(axis=0)
    assert_allclose(calibrated.estimate_priors(rows), share, atol=2e-3)
    assert_allclose(calibrated.shift_priors(share).predict_proba(rows).mean(axis=0), share, atol=2e-3)


def test_a_calibrated_classifier_finds_and_takes_another_mix(calibrated):
    """Against the greatest likelihood of shares, by probabilities over their mean of the rows learned."""
    rows, _ = overlapping(3000, 0.3)
    new, truth = overlapping(3000, 0.05, seed=1)
    ratio = calibrated.predict_proba(new) / calibrated.predict_proba(rows).mean(axis=0)
    want = minimize_scalar(lambda q: -np.log(ratio @ [1 - q, q]).mean(), (1e-6, 0.5), bounds=(1e-6, 1 - 1e-6)).x
    found = calibrated.estimate_priors(new)
    assert_allclose(found[1], want, atol=2e-3)
    assert abs(found[1] - truth.mean()) < 0.12
    twin = calibrated.shift_priors(found)
    P = ratio * found
    assert_allclose(twin.predict_proba(new), P / P.sum(axis=1, keepdims=True), atol=2e-3)
    assert_allclose(twin.predict_proba(new).mean(axis=0), found, atol=1e-6)
    assert_allclose(twin.estimate_priors(new), found, atol=1e-6)
    assert_allclose(
        twin.shift_priors([0.5, 0.5]).predict_proba(new), calibrated.shift_priors("uniform").predict_proba(new)
    )


def test_settled_calibration_counts_at_the_shares_of_the_rows():
    rows, y = overlapping(3000, 0.3)
    model = GaussianNB(learner=RiskCalibration(anchor=0.0, max_iter=300, tol=1e-9)).fit(rows, y)
    share = np.bincount(y) / len(y)
    assert abs(model.class_prior_[1] - share[1]) > 0.02  # the parameter has moved
    assert_allclose(model.shift_priors(share).predict_proba(rows), model.predict_proba(rows), atol=1e-3)
    weighed = GaussianNB(learner=RiskCalibration(), class_weight="balanced").fit(rows, y)
    assert_allclose(np.exp(level_of(weighed._fit_result())), [0.5, 0.5], atol=0.01)


@pytest.mark.filterwarnings("ignore")  # that what was learned is stale
def test_the_shares_follow_rows_that_come_and_go(tmp_path):
    """Rows of the second class come: the shares at which probabilities count follow, and go back as these go."""
    rows, y = overlapping(3000, 0.3)
    more, labels = overlapping(3000, 1.0, seed=2)
    model = GaussianNB(learner=RiskCalibration()).fit(rows, y)
    before = level_of(model._fit_result())
    model.save(tmp_path / "m.suffice")
    assert_array_equal(level_of(load(tmp_path / "m.suffice")._fit_result()), before)
    both = GaussianNB(learner=RiskCalibration()).fit(np.r_[rows, more], np.r_[y, labels])
    model.partial_fit(more, labels)
    assert_allclose(np.exp(level_of(model._fit_result())), np.exp(level_of(both._fit_result())), atol=0.01)
    assert_allclose(level_of(model.forget(more, labels)._fit_result()), before, atol=1e-9)


@pytest.mark.filterwarnings("ignore")  # that steps end before they settle
@pytest.mark.parametrize("learner", [RiskCalibration(0.1, 8, stop=None), TM(max_iter=3), GradientDescent(max_iter=5)])
def test_calibration_does_not_undo_shifted_shares(learner, tmp_path):
    model = GaussianNB(learner=learner).fit(X, y_iris)
    twin = model.shift_priors([0.7, 0.2, 0.1])
    before = twin.predict_proba(X)
    twin.save(tmp_path / "twin.suffice")
    for one in (twin, twin.shift_priors("uniform"), load(tmp_path / "twin.suffice")):
        with pytest.raises(ValueError, match="this copy has shifted class probabilities"):
            one.recalibrate(X, y_iris)
    assert_array_equal(twin.predict_proba(X), before)
    again = model.recalibrate(X, y_iris).shift_priors([0.7, 0.2, 0.1])
    assert_allclose(again.predict_proba(X), before, atol=1e-9)
    twin.fit(X, y_iris).recalibrate(X, y_iris)  # at shares that are a setting now


def test_experts_are_weighed_anew_at_the_shares_of_the_rows(table):
    model = TabularClassifier(n_trees=4, random_state=0).fit(*table)
    twin = model.shift_priors([0.1, 0.9])
    before = twin.predict_proba(table[0])
    assert_allclose(twin.recalibrate(*table).predict_proba(table[0]), before, atol=1e-6)


@pytest.mark.parametrize("kind", ["datetime64[ns]", "datetime64[D]", "timedelta64[ns]", "timedelta64[h]"])
def test_classes_that_are_dates(kind, tmp_path):
    days = y_iris.astype(kind)
    model = GaussianNB().fit(X, days)
    new = [0.7, 0.2, 0.1]
    twin, plain = model.shift_priors(new), GaussianNB().fit(X, y_iris).shift_priors(new)
    assert_allclose(twin.predict_proba(X), plain.predict_proba(X))
    by_label = model.shift_priors(dict(zip(model.classes_, new, strict=True)))
    assert_allclose(by_label.predict_proba(X), twin.predict_proba(X))
    twin.save(tmp_path / "twin.suffice")
    assert_array_equal(load(tmp_path / "twin.suffice").predict_proba(X), twin.predict_proba(X))
    want = plain.partial_fit(X[:5], y_iris[:5]).predict_proba(X)
    assert_allclose(twin.partial_fit(X[:5], days[:5]).predict_proba(X), want)
    assert_allclose(clone(twin).fit(X, days).class_prior_, new)


def test_experts_shift_with_weight_one(table):
    frame, y = table
    model = TabularClassifier(n_trees=4, random_state=0).fit(frame, y)
    P = model.predict_proba(frame) * [0.1, 0.9] / model.class_prior_
    twin = model.shift_priors([0.1, 0.9])
    assert_allclose(twin.predict_proba(frame), P / P.sum(axis=1, keepdims=True), atol=1e-10)
    assert twin.weights_ == model.weights_
    assert_allclose(twin.shift_priors(model.class_prior_).predict_proba(frame), model.predict_proba(frame), atol=1e-10)


def test_a_shifted_mix_is_found():
    model = QuadraticDiscriminantAnalysis().fit(*two_normal(4000, 0.5))
    rows, y = two_normal(6000, 0.15, seed=1)
    found = model.estimate_priors(rows)
    assert_allclose(found, [1 - y.mean(), y.mean()], atol=0.02)
    assert_allclose(model.estimate_priors(Memory(rows, batch_size=100)), found, atol=1e-9)
    assert_allclose(model.estimate_priors(Lazy([(rows[:99], y[:99]), (rows[99:], y[99:])])), found, atol=1e-9)
    P = posterior(np.log(model.predict_proba(rows)) + np.log(found / model.class_prior_))
    assert_allclose(P.mean(axis=0), found, atol=1e-6)  # a fixed point
    twin = model.shift_priors(found)
    assert twin.score(rows, y) > model.score(rows, y)


def test_a_shifted_mix_of_three_classes():
    model = LinearDiscriminantAnalysis().fit(X, names)
    rows, labels = model.shift_priors([0.6, 0.1, 0.3]).sample(6000, random_state=3)
    share = np.array([(labels == c).mean() for c in model.classes_])
    assert_allclose(model.estimate_priors(rows), share, atol=0.02)
    tabular = TabularClassifier(n_trees=4, random_state=0).fit(*two_normal(2000, 0.5))
    new, y = two_normal(4000, 0.8, seed=2)
    assert_allclose(tabular.estimate_priors(new)[1], y.mean(), atol=0.02)


def alike():
    """A model of three classes that hardly differ, on which plain EM takes 13,000 steps, and rows of another mix."""
    rng = np.random.default_rng(0)
    y, new = rng.integers(0, 3, 4000), rng.choice(3, size=3000, p=[0.1, 0.1, 0.8])
    model = GaussianNB().fit((rng.normal(size=4000) + 0.15 * y)[:, None], y)
    return model, (rng.normal(size=3000) + 0.15 * new)[:, None]


def slopes(model, rows, share):
    ratio = model.predict_proba(rows) / model.class_prior_
    return (ratio / (ratio @ share)[:, None]).mean(axis=0)


def test_a_mix_of_classes_that_are_alike_is_the_most_probable():
    """No slope of a concave likelihood is above 1, and that of every class with a share is 1."""
    model, rows = alike()
    share = model.estimate_priors(rows)
    assert_allclose(share.sum(), 1.0)
    assert slopes(model, rows, share).max() < 1 + 1e-9
    assert_allclose(slopes(model, rows, share)[share > 1e-6], 1.0, atol=1e-6)
    never = model.shift_priors([0.5, 0.5, 0.0])
    assert never.estimate_priors(rows)[2] == 0


def test_a_mix_that_has_not_settled_says_so(monkeypatch):
    model, rows = alike()
    monkeypatch.setattr("suffice._estimator.answers.MAX_CYCLES", 1)
    with pytest.warns(ConvergenceWarning, match="estimate_priors has not converged"):
        share = model.estimate_priors(rows)
    assert slopes(model, rows, share).max() > 1 + 1e-6


def test_a_mix_of_many_classes():
    rng = np.random.default_rng(3)
    centre, y = 20.0 * rng.normal(size=(300, 5)), np.arange(3000) % 300
    model = GaussianNB().fit(centre[y] + rng.normal(size=(3000, 5)), y)
    new = rng.integers(0, 100, 2000)
    rows = centre[new] + rng.normal(size=(2000, 5))
    share = model.estimate_priors(rows)
    assert slopes(model, rows, share).max() < 1 + 0.01 / 2000
    assert share[:100].sum() > 0.9


# The Bayes error


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("gap", [1.0, 3.0])
def test_the_error_of_two_normal_classes(d, gap):
    found = exact(d, gap).bayes_error()
    want = norm.cdf(-gap / 2)
    if d <= 2:
        assert found.standard_error == 0
        assert_allclose(found.error, want, atol=(1e-10, 2e-5)[d - 1])
    else:
        assert 0 < found.standard_error < 1e-3
        assert abs(found.error - want) < 4 * found.standard_error


def test_unequal_classes_in_one_dimension():
    """Against the crossing points of 0.3 N(0, 1) and 0.7 N(1, 9)."""
    rows = np.concatenate([[-1.0, 1.0] * 30, [-2.0, 4.0] * 70])[:, None]
    model = QuadraticDiscriminantAnalysis(prior=None).fit(rows, np.repeat([0, 1], [60, 140]))
    roots = np.sort(np.roots([-0.5 + 1 / 18, -1 / 9, 1 / 18 + np.log(0.3) - np.log(0.7) + np.log(3)]))
    inside = norm.cdf(roots[1], 1, 3) - norm.cdf(roots[0], 1, 3)
    outside = 1 - (norm.cdf(roots[1]) - norm.cdf(roots[0]))
    assert_allclose(model.bayes_error().error, 0.7 * inside + 0.3 * outside, atol=1e-10)


def test_the_error_of_tables_and_of_far_classes(table):
    rows = np.array([["u"], ["u"], ["u"], ["v"]] * 3 + [["v"], ["v"], ["w"], ["u"]] * 3)
    model = CategoricalNB(prior=None).fit(rows, np.repeat([0, 1], 12))
    found = model.bayes_error(n=20_000)
    assert abs(found.error - (0.25 + 0.25) / 2) < 4 * found.standard_error
    assert_array_equal(found, model.bayes_error(n=20_000))
    assert NaiveBayes().fit(*table).bayes_error(n=2000).error < 0.5
    assert exact(1, 50.0).bayes_error().error < 1e-100
    scales = GaussianNB().fit([[-1e6], [1e6], [1e-3], [-1e-3]], ["wide", "wide", "narrow", "narrow"])
    assert 0 < scales.bayes_error().error < 0.5


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (None, "shift_priors: class_prior must be probabilities by class, or 'uniform', got None"),
        ([0.5, 0.5], "class_prior has 2 entries, but there are 3 classes"),
        ([0.5, 0.6, 0.2], "class_prior"),
        ({"setosa": 1.0}, "class_prior has no probability for the classes"),
    ],
)
def test_shares_that_are_none(prior, message):
    with pytest.raises(ValueError, match=message):
        GaussianNB().fit(X, names).shift_priors(prior)
