"""Conformance to scikit-learn's API, and cases that its own estimators get wrong."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn import naive_bayes
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import (
    BernoulliNB,
    CategoricalNB,
    DesignedDiscriminant,
    Dirichlet,
    FisherDiscriminant,
    GaussianNB,
    GaussianPrior,
    KernelMPM,
    LinearBayes,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    QuasiBayes,
    ScatterDiscriminant,
    TabularClassifier,
)
from suffice.learners import ClosedForm, RiskCalibration
from tests.oracles import Ratio

KINDS = [
    NaiveBayes,
    CategoricalNB,
    GaussianNB,
    QuadraticDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    FisherDiscriminant,
    partial(TabularClassifier, n_trees=8),
]
COUNTING = [MultinomialNB, BernoulliNB, PoissonNB]  # of numbers that are not negative
NOT_ADDITIVE = [KernelMPM]
PLANES = [  # with the base class of FisherDiscriminant
    ScatterDiscriminant,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    QuasiBayes,
    LinearBayes,
    partial(DesignedDiscriminant, Ratio()),
]
SETTINGS = [  # other settings of the estimators above
    partial(QuadraticDiscriminantAnalysis, shrinkage="evidence", tying=0.5),
    partial(LinearDiscriminantAnalysis, shrinkage="oas"),
    partial(GaussianNB, learner=RiskCalibration(0.1, 8, stop=None)),
    partial(TabularClassifier, n_trees=8, learner=ClosedForm()),
]


def excused(estimator):
    """Return the checks that cannot hold, with the reason."""
    if isinstance(estimator, TabularClassifier) and estimator.learner is None:
        why = "expert weights are learned by leaving rows out, and a row of weight 2 is left out as a whole"
        return {"check_sample_weight_equivalence_on_dense_data": why}
    return {}


@parametrize_with_checks([kind() for kind in KINDS + COUNTING + NOT_ADDITIVE], expected_failed_checks=excused)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.thorough
@parametrize_with_checks([kind() for kind in PLANES + SETTINGS])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_of_further_planes_and_settings(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning", "ignore:numbers with fractions")
@pytest.mark.parametrize("kind", KINDS + PLANES + SETTINGS)
def test_weights_are_routed(kind):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.1, 5, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            kind().set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
        )
        pipeline.fit(X, y, sample_weight=weight)
        scores = cross_val_score(pipeline, X, y, params={"sample_weight": weight}, cv=3)
    assert scores.shape == (3,)
    plain = kind().fit(StandardScaler().fit_transform(X), y, weight)
    assert_allclose(pipeline[-1].class_count_, plain.class_count_)
    assert_allclose(pipeline[-1].class_count_, [weight[y == c].sum() for c in range(3)])


def test_priors_can_be_searched():
    X, y = load_iris(return_X_y=True)
    grid = {"prior__mean_weight": [0, 1, 100], "prior__cov_weight": [1, 10]}
    search = GridSearchCV(QuadraticDiscriminantAnalysis(prior=GaussianPrior()), grid, cv=3).fit(X, y)
    assert search.best_params_["prior__mean_weight"] in (0, 1)
    grid = {"prior__per": ["cell", "table"], "class_prior": [None, Dirichlet(1)]}
    assert GridSearchCV(CategoricalNB(prior=Dirichlet()), grid, cv=3).fit((2 * X).round(), y).best_score_ > 0.9


def test_qda_does_not_mind_small_units(rng):
    X = rng.normal(size=(60, 3)) + np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    small = QuadraticDiscriminantAnalysis(prior=None).fit(X * 1e-9, y)
    assert_allclose(
        small.predict_proba(X * 1e-9), QuadraticDiscriminantAnalysis(prior=None).fit(X, y).predict_proba(X), atol=1e-9
    )


def test_a_huge_column_of_noise_does_not_drown_the_others(rng):
    X, y = load_iris(return_X_y=True)
    noisy = np.column_stack([X, 1e9 * rng.normal(size=len(y))])
    assert naive_bayes.GaussianNB().fit(noisy, y).score(noisy, y) < 0.6
    assert GaussianNB().fit(noisy, y).score(noisy, y) > 0.9


def test_a_feature_constant_within_the_classes():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0], [1.0, 1.0], [1.0, 3.0], [1.0, 4.0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    assert LinearDiscriminantAnalysis().fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="the classes together have 6 rows and a singular covariance, of rank 1 for 2"):
        LinearDiscriminantAnalysis(prior=None).fit(X, y)


def test_log_probabilities_have_no_floor():
    X, y = np.array([[0.0], [1.0], [100.0], [101.0]]), np.array([0, 0, 1, 1])
    for model in (GaussianNB(prior=None), QuadraticDiscriminantAnalysis(prior=None)):
        far = model.fit(X, y).predict_log_proba([[-400.0]])[0]
        assert far[1] < -1e5
        assert far[0] == 0


def test_attributes_have_the_names_and_shapes_that_users_know():
    X, y = load_iris(return_X_y=True)
    nb = GaussianNB(prior=None).fit(X, y)
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
    for name in ("theta_", "var_", "class_prior_", "class_count_"):
        assert_allclose(getattr(nb, name), getattr(theirs, name))
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TheirQDA

    lda, their_lda = LinearDiscriminantAnalysis(prior=None).fit(X, y), TheirLDA("lsqr").fit(X, y)
    for name in ("means_", "covariance_", "priors_"):
        assert_allclose(getattr(lda, name), getattr(their_lda, name), atol=1e-12)
    assert_allclose(np.diff(lda.coef_, axis=0), np.diff(their_lda.coef_, axis=0))
    assert_allclose(np.diff(lda.intercept_), np.diff(their_lda.intercept_))
    two = LinearDiscriminantAnalysis(prior=None).fit(X[:100], y[:100])
    their_two = TheirLDA("lsqr").fit(X[:100], y[:100])
    assert_allclose(two.coef_, their_two.coef_)
    assert_allclose(two.intercept_, their_two.intercept_)
    assert_allclose(two.decision_function(X), their_two.decision_function(X))
    qda = QuadraticDiscriminantAnalysis(prior=None).fit(X, y)
    assert_allclose(qda.means_, TheirQDA().fit(X, y).means_)
    assert_allclose(qda.covariance_, [np.cov(X[y == c].T, bias=True) for c in range(3)])
    their_qda = TheirQDA().fit(X, y)
    assert_allclose(qda.scalings_, their_qda.scalings_)
    assert_allclose(abs(qda.rotations_), np.abs(their_qda.rotations_), atol=1e-10)
    logistic = LogisticRegression().fit(X, y)
    assert logistic.coef_.shape == (3, 4)
    log_p = X @ logistic.coef_.T + logistic.intercept_
    assert_allclose(np.diff(log_p), np.diff(logistic.predict_log_proba(X)), atol=1e-9)
    X = X.round()
    codes = CategoricalNB().fit(X, y)
    their_codes = naive_bayes.CategoricalNB().fit(
        np.column_stack([np.unique(c, return_inverse=True)[1] for c in X.T]), y
    )
    assert codes.n_categories_.tolist() == their_codes.n_categories_.tolist()
    for j in range(4):
        assert_allclose(codes.feature_log_prob_[j], their_codes.feature_log_prob_[j])
        assert_allclose(codes.category_count_[j], their_codes.category_count_[j])
    assert_allclose(codes.class_log_prior_, their_codes.class_log_prior_)
