"""Files of older versions load, and answer as they did.

The first tests compare with formulas that know nothing of this library. The last one compares many kinds of models with
the answers that were stored with them. After a change of the format, `python -m tests.persistence.test_older` writes a
set of files for the new one; those of older formats stay.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import suffice
from suffice.learners import Newton, RiskCalibration
from suffice.persistence.file import FORMAT

GOLDEN = Path(__file__).parent / "golden"
LOW = np.array([[0.5, 1.0], [1.5, 0.0], [2.0, 3.0]])
HIGH = np.array([[4.5, 2.5], [5.0, 4.0], [6.5, 3.5]])


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_normal_classes(version):
    """Those of 1.1 have forgotten a row."""
    model = suffice.load(GOLDEN / f"gaussian-nb-{version}.suffice")
    rows = np.array([[1.0, 2.0], [3.0, 2.5], [6.0, 3.0]])
    joint = np.column_stack([norm.pdf(rows, c.mean(axis=0), c.std(axis=0)).prod(axis=1) for c in (HIGH, LOW)])
    np.testing.assert_allclose(model.predict_proba(rows), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    assert model.classes_.tolist() == ["high", "low"]
    assert model.prior is None
    more = model.partial_fit([[3.0, 3.0]], ["low"]).forget(HIGH[:1], ["high"])
    new = suffice.GaussianNB(prior=None).fit([*LOW, [3.0, 3.0], *HIGH[1:]], ["low"] * 4 + ["high"] * 2)
    np.testing.assert_allclose(more.predict_proba(rows), new.predict_proba(rows), rtol=1e-10)


def test_tables_of_format_1_0():
    """Laplace's rule by hand: 2 rows of class 0, 3 of class 1, one of which has no shape."""
    model = suffice.load(GOLDEN / "categorical-nb-1.0.suffice")
    joint = np.array([2 / 5 * (3 / 5) * (2 / 4), 3 / 5 * (1 / 6) * (2 / 4)])  # red and round
    np.testing.assert_allclose(model.predict_proba([["red", "round"]])[0], joint / joint.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba([["red", None]])[0], [12 / 17, 5 / 17], rtol=1e-12)
    assert model.class_count_.tolist() == [2.0, 3.0]


def table(n=60):
    """Rows of three classes by a formula: two numbers, one of them with gaps, and two columns of words."""
    i = np.arange(n)
    y = i % 3
    numbers = np.column_stack([y + np.sin(3.0 * i), 0.5 * y + np.cos(7.0 * i)])
    words = np.column_stack([np.array(list("abcd"))[(i * 7 + y) % 4], np.array(list("uv"))[(i // 2 + y) % 2]])
    return numbers, words, np.array(["p", "q", "r"])[y]


def models():
    """Unfitted models of many kinds, each with the rows it takes."""
    numbers, words, y = table()
    holes, counts = numbers.copy(), np.abs(np.round(3 * numbers))
    holes[::7, 1] = np.nan
    mixed = np.column_stack([holes.astype(object), words.astype(object)])
    rc = RiskCalibration(0.1, 5, stop=None)
    two = y != "r"
    return {
        "bernoulli-nb": (suffice.BernoulliNB(), counts, y),
        "categorical-nb-rc": (suffice.CategoricalNB(learner=rc), words, y),
        "lda-shrunk": (suffice.LinearDiscriminantAnalysis(shrinkage="oas"), numbers, y),
        "logistic-ovr": (suffice.LogisticRegression(learner=Newton(), multi_class="ovr"), numbers, y),
        "minimax": (suffice.MinimaxProbabilityMachine(), numbers[two], y[two]),
        "multinomial-nb": (suffice.MultinomialNB(), counts, y),
        "naive-bayes-rc": (suffice.NaiveBayes(learner=rc), mixed, y),
        "pairs": (suffice.AdditiveTables(pairs=1), mixed, y),
        "poisson-nb": (suffice.PoissonNB(), counts, y),
        "qda-missing": (suffice.QuadraticDiscriminantAnalysis(), holes, y),
        "tabular": (suffice.TabularClassifier(n_trees=2, random_state=0), mixed, y),
    }


def write():
    """Write the set of files of the present format, with the answers of the models."""
    version, answers = ".".join(map(str, FORMAT)), {}
    for name, (model, X, y) in models().items():
        suffice.save(model.fit(X, y), GOLDEN / f"{name}-{version}.suffice")
        answers[name] = model.predict_proba(X).tolist()
    (GOLDEN / f"answers-{version}.json").write_text(json.dumps(answers))


@pytest.mark.parametrize("name", models())
@pytest.mark.parametrize("version", ["1.1"])
def test_stored_answers(name, version):
    _, X, _ = models()[name]
    model = suffice.load(GOLDEN / f"{name}-{version}.suffice")
    answers = json.loads((GOLDEN / f"answers-{version}.json").read_text())[name]
    np.testing.assert_allclose(model.predict_proba(X), answers, rtol=1e-9, atol=1e-12)


def test_the_present_format_has_files():
    assert (GOLDEN / f"answers-{'.'.join(map(str, FORMAT))}.json").exists(), "python -m tests.persistence.test_older"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write()
