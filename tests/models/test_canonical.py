"""Canonical variates: those of scikit-learn, and what makes them canonical."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import discriminant_analysis
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline

from suffice import GaussianPrior, LinearDiscriminantAnalysis
from suffice.learners import TM, RiskCalibration

LEARNERS = [None, RiskCalibration(max_iter=8, stop=None), TM(max_iter=8)]
calibrated = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def up_to_sign(ours, theirs):
    """Columns turned so that they point the same way as those of another matrix."""
    return ours * np.sign((ours * theirs).sum(axis=0))


@pytest.mark.data
@pytest.mark.parametrize("name", ["iris", "wine", "vehicle", "wdbc", "satimage", "seeds", "waveform", "pendigits"])
def test_coordinates_are_those_of_scikit_learn(load, name):
    X, y = load(name)
    X = X.to_numpy(dtype=float)
    ours = LinearDiscriminantAnalysis(prior=None).fit(X, y)
    eigen = discriminant_analysis.LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    m = min(X.shape[1], len(ours.classes_) - 1)
    theirs = eigen.transform(X)
    assert_allclose(up_to_sign(ours.transform(X), theirs), theirs, rtol=1e-6, atol=1e-8 * abs(theirs).max())
    scalings = eigen.scalings_[:, :m]
    assert_allclose(up_to_sign(ours.scalings_, scalings), scalings, atol=1e-7 * abs(scalings).max())
    assert_allclose(ours.explained_variance_ratio_, eigen.explained_variance_ratio_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_coordinates_are_those_of_scikit_learns_default(priors):
    X, y = load_wine(return_X_y=True)
    ours = LinearDiscriminantAnalysis(prior=None, class_prior=priors).fit(X, y)
    svd = discriminant_analysis.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = svd.transform(X)
    about = ours.transform(X) - ours.xbar_ @ ours.scalings_  # which that solver subtracts
    assert_allclose(up_to_sign(about, theirs), theirs, rtol=1e-8, atol=1e-8)
    assert_allclose(ours.xbar_, svd.xbar_)
    assert_allclose(ours.explained_variance_ratio_, svd.explained_variance_ratio_)
    one = LinearDiscriminantAnalysis(prior=None, class_prior=priors, n_components=1).fit(X, y)
    assert_allclose(one.transform(X), ours.transform(X)[:, :1])
    assert one.explained_variance_ratio_.shape == (1,)


@calibrated
@pytest.mark.parametrize("learner", LEARNERS, ids=["closed form", "RC", "TM"])
@pytest.mark.parametrize("settings", [{}, {"prior": GaussianPrior(0, 3)}, {"shrinkage": 0.4}, {"shrinkage": "oas"}])
def test_within_the_classes_the_covariance_is_the_identity_and_between_them_diagonal(learner, settings):
    X, y = load_wine(return_X_y=True)
    fit = LinearDiscriminantAnalysis(learner=learner, **settings).fit(X, y)
    V = fit.scalings_
    assert_allclose(V.T @ fit.covariance_ @ V, np.eye(2), atol=1e-9)
    gap = fit.means_ - fit.class_prior_ @ fit.means_
    between = (V.T @ gap.T * fit.class_prior_) @ gap @ V
    assert_allclose(between, np.diag(np.diag(between)), atol=1e-9 * abs(between).max())
    assert_allclose(fit.explained_variance_ratio_, np.diag(between) / np.trace(between))
    z, means = fit.transform(X), fit.transform(fit.means_)
    distances = ((z[:, None, :] - means) ** 2).sum(axis=2)  # all that the posterior depends on
    log_p = np.log(fit.class_prior_) - 0.5 * distances
    assert_allclose(np.diff(log_p), np.diff(fit.predict_log_proba(X)), atol=1e-8)


def test_the_last_class_is_on_the_positive_side():
    X, y = load_iris(return_X_y=True)
    for labels in (y, -y, (y + 1) % 3):
        fit = LinearDiscriminantAnalysis().fit(X, labels)
        last, centre = fit.transform(np.stack([fit.means_[-1], fit.xbar_]))
        assert (last > centre).all()
    two = LinearDiscriminantAnalysis().fit(X[:100], y[:100])
    assert np.corrcoef(two.transform(X).ravel(), two.decision_function(X))[0, 1] > 1 - 1e-12


def test_a_class_at_the_centre_does_not_choose_the_side():
    corners = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    means = np.array([[-10.0, 0.0], [10.0, 0.0], [0.0, 4.0], [0.0, -4.0], [0.0, 0.0]])
    X, y = (means[:, None] + corners).reshape(-1, 2), np.repeat(np.arange(5), 4)
    scores = LinearDiscriminantAnalysis(prior=None).fit(X, y).transform(means)
    assert_allclose(scores[:4] / abs(scores).max(axis=0), [[-1, 0], [1, 0], [0, -1], [0, 1]], atol=1e-9)


def test_coordinates_of_pieces_merged_and_forgotten_rows():
    X, y = load_wine(return_X_y=True)
    whole = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    a, b = LinearDiscriminantAnalysis().fit(X[::2], y[::2]), LinearDiscriminantAnalysis().fit(X[1::2], y[1::2])
    assert_allclose((a + b).transform(X), whole, atol=1e-9)
    assert_allclose((a + b).forget(X[::2], y[::2]).transform(X), b.transform(X), atol=1e-9)
    c = LinearDiscriminantAnalysis().partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    assert_allclose(pickle.loads(pickle.dumps(c)).transform(X), whole, atol=1e-9)  # noqa: S301 - its own bytes
    units = np.geomspace(1e-6, 1e6, X.shape[1])
    assert_allclose(LinearDiscriminantAnalysis().fit(X * units, y).transform(X * units), whole, atol=1e-8)


def test_classes_of_one_mean_have_nothing_to_explain():
    X, y = np.tile([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], (2, 1)), np.repeat([0, 1], 3)
    fit = LinearDiscriminantAnalysis(prior=None).fit(X, y)
    assert fit.explained_variance_ratio_.tolist() == [0.0]
    assert np.isfinite(fit.transform(X)).all()


def test_names_and_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    fit = LinearDiscriminantAnalysis().fit(X, y)
    names = ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert fit.get_feature_names_out().tolist() == names
    assert LinearDiscriminantAnalysis(n_components=1).fit(X, y).get_feature_names_out().tolist() == names[:1]
    frame = LinearDiscriminantAnalysis().set_output(transform="pandas").fit_transform(X, y)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == names
    assert_allclose(frame.to_numpy(), fit.transform(X))
    assert fit.transform(X.astype(np.float32)).dtype == np.float32
    pipeline = make_pipeline(LinearDiscriminantAnalysis(n_components=1), LinearDiscriminantAnalysis()).fit(X, y)
    assert pipeline.score(X, y) > 0.95


def test_too_many_components_are_refused():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis(n_components=3)
    with pytest.raises(
        ValueError, match=r"n_components cannot be larger than min\(n_features, n_classes - 1\) = 2, got 3"
    ):
        model.fit(X, y)
    assert not hasattr(model, "statistics_")
    with pytest.raises(ValueError, match="n_components must be None or a whole number of at least 1, got 0"):
        LinearDiscriminantAnalysis(n_components=0).fit(X, y)
    late = LinearDiscriminantAnalysis(n_components=2).partial_fit(X[:100], y[:100])  # a third class may still come
    with pytest.raises(ValueError, match="n_components cannot be larger than"):
        late.transform(X)
    assert late.partial_fit(X[100:], y[100:]).transform(X).shape == (150, 2)
