"""Classes of equal probability, whatever their shares of the rows, for every classifier that takes class_prior."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from suffice.learners import ClosedForm
from tests.zoo import ZOO

ABLE = [
    entry
    for entry in ZOO
    if "class_prior" in entry.prototype.get_params()
    and isinstance(entry.prototype._learner(), ClosedForm)
    and entry.prototype.get_params().get("multi_class", "softmax") == "softmax"
]
able = pytest.mark.parametrize("entry", ABLE, ids=lambda entry: entry.name)


@able
@pytest.mark.parametrize("k", [2, 3, 10])
def test_uniform_is_a_vector_of_equal_shares(entry, k):
    X, y = entry.draw(1, n=40 * k, k=k)
    uniform, given, shares = (
        clone(entry.prototype).set_params(class_prior=p).fit(X, y) for p in ("uniform", np.full(k, 1 / k), None)
    )
    assert_allclose(uniform.predict_proba(X), given.predict_proba(X), atol=entry.tolerance)
    differs = abs(uniform.predict_proba(X) - shares.predict_proba(X)).max() > 1e-6
    assert differs == (entry.prototype.class_weight != "balanced")  # which makes them equal by itself


@able
def test_a_new_class_gets_its_share(entry):
    X, y = entry.draw(2, n=120, k=3)
    model = clone(entry.prototype).set_params(class_prior="uniform")
    for rows, k in ((y < 2, 2), (y == 2, 3)):
        model.partial_fit(X[rows], y[rows])
        equal = clone(entry.prototype).set_params(class_prior=np.full(k, 1 / k))
        if entry.searches:
            equal.set_params(structure=model.structure_)
        equal.fit(X[y < k], y[y < k])
        assert_allclose(model.predict_proba(X), equal.predict_proba(X), atol=entry.tolerance)


@able
def test_other_words_are_refused(entry):
    X, y = entry.draw(0)
    with pytest.raises(ValueError, match=r"class_prior must be 'uniform', None, probabilities.* got 'even'"):
        clone(entry.prototype).set_params(class_prior="even").fit(X, y)
