"""Class probabilities that are given stay as they are given, whatever else is learned."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from suffice import CategoricalNB, GaussianNB, QuadraticDiscriminantAnalysis
from suffice.learners import GradientDescent
from tests.samples import IRIS, binned, loss, plain


@pytest.mark.parametrize("kind", [CategoricalNB, GaussianNB, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("rate", [0.1, "adaptive"])
@plain
def test_gradient_descent_leaves_given_class_probabilities(kind, rate):
    X, y = (binned(IRIS[0]) if kind is CategoricalNB else IRIS[0]), IRIS[1]
    model = kind(class_prior=[0.8, 0.1, 0.1], learner=GradientDescent(rate)).fit(X, y)
    assert_allclose(model.class_prior_, [0.8, 0.1, 0.1], rtol=1e-12)
    assert loss(model, X, y) < loss(kind(class_prior=[0.8, 0.1, 0.1]).fit(X, y), X, y)  # the rest is learned
