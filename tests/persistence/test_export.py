"""What is exported to scikit-learn has the same probabilities."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import suffice
from suffice import (
    BernoulliNB,
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from suffice.learners import ClosedForm, RiskCalibration
from tests.zoo import ZOO, every

HAVE = ("categorical", "gaussian-nb", "tied-nb", "qda", "rda", "lda", "logistic", "multinomial", "bernoulli")
NOT = ("categorical-ml", "multinomial-ml", "bernoulli-ml", "logistic-ovo", "logistic-ovr", "logistic-newton-ovr")


@pytest.mark.filterwarnings("ignore")
@every(lambda entry: entry.name.startswith(HAVE) and entry.name not in NOT)
def test_the_same_probabilities(entry):
    X, y = entry.draw(0)
    new, _ = entry.draw(1)
    own = entry.estimator().fit(X, y)
    made = own.to_sklearn()
    assert type(made).__module__.startswith("sklearn.")
    for rows in (X, new):
        np.testing.assert_allclose(made.predict_proba(rows), own.predict_proba(rows), rtol=0, atol=1e-9)
        assert (made.predict(rows) == own.predict(rows)).mean() == 1.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        FisherDiscriminant(),
        MinimaxProbabilityMachine(class_prior="uniform"),
        LogisticRegression(multi_class="ovo"),
        LinearDiscriminantAnalysis(learner=RiskCalibration(0.1, 4)),
        GaussianNB(class_prior=[0.3, 0.7]),
    ],
    ids=str,
)
def test_two_classes_by_name_far_from_the_origin(model):
    X, y = next(entry for entry in ZOO if entry.name == "qda").draw(3, k=2)
    frame, y = pd.DataFrame(X + 50.0, columns=["a", "b", "c"]), np.array(["no", "yes"])[y]
    own = clone(model).fit(frame, y)
    made = own.to_sklearn()
    np.testing.assert_allclose(made.predict_proba(frame), own.predict_proba(frame), rtol=0, atol=1e-9)
    assert list(made.predict(frame)) == list(own.predict(frame))
    assert list(made.feature_names_in_) == ["a", "b", "c"]


def test_categories_that_are_missing_unknown_or_numbers():
    X = pd.DataFrame({"a": ["u", "v", None, "u"], "b": ["x", "x", "y", "z"]})
    new = pd.DataFrame({"a": ["u", None, "other", "v"], "b": ["y", "x", None, "x"]})
    own = CategoricalNB().fit(X, [0, 1, 1, 0])
    made = own.to_sklearn()
    np.testing.assert_allclose(made.predict_proba(new), own.predict_proba(new), rtol=0, atol=1e-12)
    assert list(made.feature_names_in_) == ["a", "b"]
    whole = np.array([[3, 10], [5, 20], [3, 20], [7, 10]])
    own = CategoricalNB().fit(whole, [0, 1, 1, 0])
    rows = np.array([[7, 20], [3, 99]])
    np.testing.assert_allclose(own.to_sklearn().predict_proba(rows), own.predict_proba(rows), rtol=0, atol=1e-12)


def frames():
    rng = np.random.default_rng(0)
    text, whole = rng.choice(["u", "v", "w"], 60), rng.integers(3, size=60)
    mixed = pd.DataFrame({"text": text, "whole": whole, "truth": whole > 0, "half": rng.integers(3, size=60) + 0.5})
    return {
        "mixed": mixed,
        "categories": mixed.astype({"text": "category", "whole": "category"}),
        "whole": mixed[["whole"]].astype("category"),
        "Int64": mixed.astype({"whole": "Int64"}),
        "holes": mixed.mask(rng.random(mixed.shape) < 0.1).astype({"whole": float}),
    }


@pytest.mark.parametrize("name", frames())
def test_columns_of_several_types(name):
    """In whatever types the rows come that are asked about."""
    X, y = frames()[name], np.arange(60) % 3
    own = CategoricalNB().fit(X, y)
    made = own.to_sklearn()
    for rows in (X, X.astype(object), X.astype({"whole": float})):
        strange = rows.copy()
        strange["whole"] = strange["whole"].astype(float).replace(1.0, 99.0)
        for new in (rows, strange):
            np.testing.assert_allclose(made.predict_proba(new), own.predict_proba(new), rtol=0, atol=1e-12)


@pytest.mark.parametrize("unit", ["M8[D]", "M8[ns]", "m8[s]"])
def test_dates_as_categories_are_refused(unit):
    X = np.array([[3, 10], [5, 20], [3, 20], [7, 10]]).astype(unit)
    with pytest.raises(ValueError, match="CategoricalNB has no counterpart in scikit-learn: it has dates or times"):
        CategoricalNB().fit(X, [0, 1, 1, 0]).to_sklearn()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model", [GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()], ids=str
)
def test_as_far_from_zero_as_is_promised(model):
    X, y = next(entry for entry in ZOO if entry.name == "qda").draw(3, k=2)
    X = 1e6 * X.std(axis=0) + X
    own = clone(model).fit(X, y)
    np.testing.assert_allclose(own.to_sklearn().predict_proba(X), own.predict_proba(X), rtol=0, atol=1e-9)


NUMBERS = np.array([[0.0, 1.0], [0.0, 2.0], [7.0, 3.0], [9.0, 5.0], [4.0, 1.0], [5.0, 2.0]])
THREE, TWO = [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (suffice.PoissonNB(), TWO, "PoissonNB has no counterpart in scikit-learn: GaussianNB"),
        (LogisticRegression(learner=ClosedForm(), multi_class="ovr"), THREE, "under multi_class='ovr'"),
        (FisherDiscriminant(), THREE, "more than two classes"),
        (FisherDiscriminant(costs=[[0, 1], [5, 0]]), TWO, "it has costs"),
        (MultinomialNB(prior=None), THREE, "has probabilities of 0"),
        (BernoulliNB(binarize=0.5, prior=None), TWO, "has a feature that every row|probabilities of 0"),
        (CategoricalNB(prior=None), TWO, "has probabilities of 0"),
    ],
    ids=str,
)
def test_what_has_no_equal_is_refused(model, y, words):
    own = clone(model).fit(NUMBERS, y)
    with pytest.raises((TypeError, ValueError), match=words):
        own.to_sklearn()


@pytest.mark.filterwarnings("ignore")
def test_a_column_that_does_not_vary():
    X = np.column_stack([NUMBERS, np.full(6, 3.0)])
    for model in (GaussianNB(), QuadraticDiscriminantAnalysis()):
        with pytest.raises(ValueError, match="a column that does not vary"):
            model.fit(X, TWO).to_sklearn()
    own = LinearDiscriminantAnalysis().fit(X, TWO)
    np.testing.assert_allclose(own.to_sklearn().predict_proba(X), own.predict_proba(X), rtol=0, atol=1e-9)
