"""The HTML form of classifiers: scikit-learn's diagram, and what was learned."""

from __future__ import annotations

import re
import warnings
from html import unescape

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from suffice import CategoricalNB, GaussianNB, LogisticRegression, QuadraticDiscriminantAnalysis, TabularClassifier
from suffice.learners import RiskCalibration, StaleWarning
from tests.samples import plain
from tests.zoo import every

X, y = load_iris(return_X_y=True, as_frame=True)


def learned(model):
    """The rows of the table, by name."""
    html = model._repr_html_()
    found = re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", html)
    return {unescape(name): unescape(words) for name, words in found}


@pytest.mark.filterwarnings("ignore")  # of how learning went
@every()
def test_every_classifier_shows_what_it_learned(entry):
    rows, labels = entry.draw(0)
    model = entry.estimator().fit(rows, labels)
    before = {name: id(value) for name, value in vars(model).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = learned(model)
    assert shown["rows"] == f"{len(rows)}"
    assert shown["columns"].startswith(f"{rows.shape[1]}")
    assert str(len(np.unique(labels))) in shown["classes"]
    assert type(model._learner()).__name__ in shown["learner"]
    assert before == {name: id(value) for name, value in vars(model).items()}


def test_without_a_fit_it_is_as_scikit_learn_has_it():
    assert not learned(GaussianNB())
    assert "Learned" not in GaussianNB()._repr_html_()


def test_classes_columns_and_the_course_of_learning():
    shown = learned(QuadraticDiscriminantAnalysis(learner=RiskCalibration()).fit(X, y))
    assert shown["rows"] == "150"
    assert shown["classes"] == "3: 0 (50), 1 (50), 2 (50)"
    assert shown["columns"] == "4: sepal length (cm), sepal width (cm), petal length (cm), petal width (cm)"
    assert re.fullmatch(r"RiskCalibration, \d+ passes, converged: log loss \S+ to \S+", shown["learner"])
    assert learned(GaussianNB().fit(X, y))["learner"] == "ClosedForm"


@plain
def test_what_did_not_converge_says_so():
    shown = learned(GaussianNB(learner=RiskCalibration(max_iter=2)).fit(X, y))
    assert "not converged" in shown["learner"]
    assert shown["warnings"].startswith("ConvergenceWarning: ")


def test_weights_and_whether_they_are_stale():
    X, y = load_breast_cancer(return_X_y=True)
    model = TabularClassifier(random_state=0, n_trees=10).fit(X[::2], y[::2])
    assert re.search(r"normal \d\.\d\d", learned(model)["weights"])
    model.partial_fit(X[1::2], y[1::2])
    assert "recalibrate(X, y)" in learned(model)["stale"]
    with pytest.warns(StaleWarning):  # which looking at the model has not taken away
        model.predict(X[:1])
    assert "StaleWarning" in learned(model)["warnings"]


@plain
def test_calibration_that_is_carried_along_is_stale():
    model = GaussianNB(learner=RiskCalibration()).fit(X[::2], y[::2])
    assert "stale" not in learned(model)
    assert "recalibrate(X, y)" in learned(model.partial_fit(X[1::2], y[1::2]))["stale"]
    assert "stale" not in learned(model.recalibrate(X, y))


def test_looking_computes_nothing():
    model = GaussianNB().partial_fit(X[:1], y[:1])
    assert learned(model)["classes"] == "1: 0 (1)"
    assert "when they are first used" in learned(model)["parameters"]
    assert model._learned is None


def test_of_many_classes_the_greatest():
    labels = np.repeat(np.arange(1000), 2)
    labels[:9] = 700
    shown = learned(GaussianNB().fit(np.arange(2000.0)[:, None], labels))
    assert re.match(r"996: 700 \(11\), .* and 986 more", shown["classes"])


def test_words_are_no_html():
    model = CategoricalNB().fit([["a"], ["b"]], ["<script>alert(1)</script>", "b"])
    assert "<script>alert" not in model._repr_html_()
    assert "'<script>alert(1)</script>' (1)" in learned(model)["classes"]


def test_steps_of_a_pipeline_show_theirs():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    if hasattr(BaseEstimator, "_get_fitted_attr_html"):
        assert learned(pipeline)["rows"] == "150"


def test_older_versions_of_scikit_learn_have_it_below(monkeypatch):
    if hasattr(BaseEstimator, "_get_fitted_attr_html"):
        monkeypatch.delattr(BaseEstimator, "_get_fitted_attr_html")
    model = GaussianNB().fit(X, y)
    assert model._repr_html_().rstrip().endswith("</details></div>")
    assert "Learned" not in GaussianNB()._repr_html_()


def test_settings_of_scikit_learn_hold():
    model = GaussianNB().fit(X, y)
    assert "sk-top-container" in model._repr_html_()
    assert "Parameters" in estimator_html_repr(model)
    assert "Learned" in model._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
