"""Contributions: terms by column that add up to the log-odds, for every classifier that can."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris

import suffice._estimator.classifier
from suffice import (
    AdditiveTables,
    BernoulliNB,
    CategoricalNB,
    Contributions,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    ModelClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice._core.probability import log_posterior
from suffice.data import Memory
from suffice.encoders import TreePartitions
from suffice.models import Contests, HasNomogram
from suffice.models.tables.categorical import Leaves
from suffice.priors import Dirichlet
from suffice.report import explain
from tests.toy import Unit
from tests.zoo import every


def same_answers(found, log_p, atol=1e-10):
    """Sums equal log p(y | x); where a class is all but impossible, as far as such numbers have digits."""
    assert_allclose(log_posterior(found.log_joint), log_p, rtol=1e-10, atol=atol)


def explained(entry):
    return isinstance(entry.model().base_model, HasNomogram)


@pytest.mark.filterwarnings("ignore")  # of how learning went
@every(explained)
@pytest.mark.parametrize("k", [2, 3])
def test_contributions_add_up(entry, k):
    X, y = entry.draw(k, k=k)
    model = entry.estimator().fit(X, y)
    if isinstance(entry.model(), Contests) and k > 2:
        with pytest.raises(ValueError, match="several contests of two classes together are not a sum"):
            model.contributions(X)
        return
    found = model.contributions(X)
    same_answers(found, model.predict_log_proba(X))
    assert found.terms.shape == (len(X), k, len(found.names))
    possible = found.terms[(found.terms > -1e6).all(axis=(1, 2))]
    assert_allclose(possible.sum(axis=1), 0.0, atol=1e-9)
    if entry.missing:
        holes = entry.holed(X, 3)
        found = model.contributions(holes)
        same_answers(found, model.predict_log_proba(holes))
        at = [j for j, name in enumerate(found.names) if isinstance(name, int)]
        assert len(at) == X.shape[1]
        gone = pd.isna(holes)[:, [found.names[j] for j in at]]
        if not isinstance(model, AdditiveTables):  # there it is the mean over the rows learned that is left out
            assert not found.terms.swapaxes(1, 2)[:, at][gone].any()


def test_terms_are_those_of_the_formulas():
    X, y = load_iris(return_X_y=True)
    log_p = norm.logpdf(X[:, None, :], *(np.array([f(X[y == c], axis=0) for c in range(3)]) for f in (np.mean, np.std)))
    found = GaussianNB(prior=None).fit(X, y).contributions(X)
    assert_allclose(found.terms, log_p - log_p.mean(axis=1, keepdims=True), atol=1e-10)
    model = QuadraticDiscriminantAnalysis(prior=None).fit(X, y)
    gap = X[:, None, :] - np.array([X[y == c].mean(axis=0) for c in range(3)])
    inverse = np.linalg.inv([np.cov(X[y == c].T, bias=True) for c in range(3)])
    square = -0.5 * gap * np.einsum("nkd,kde->nke", gap, inverse)
    found = model.contributions(X)
    assert_allclose(found.terms, square - square.mean(axis=1, keepdims=True), atol=1e-8)
    log_det = 0.5 * np.linalg.slogdet(inverse)[1]
    assert_allclose(found.base[0], log_det - log_det.mean(), atol=1e-10)
    linear = LogisticRegression().fit(X, y)
    slopes = linear.coef_ * (X - X.mean(axis=0))[:, None, :]
    assert_allclose(linear.contributions(X).terms, slopes, atol=1e-8)


def test_a_plane_adds_to_the_log_odds():
    X, y = load_breast_cancer(return_X_y=True)
    model = MinimaxProbabilityMachine().fit(X[:, :5], y)
    found = model.contributions(X[:, :5])
    odds = model.coef_ * (X[:, :5] - X[:, :5].mean(axis=0))
    assert_allclose(found.terms[:, 1] - found.terms[:, 0], odds, rtol=1e-8, atol=1e-10)


def test_the_splits_of_trees_are_those_on_the_way():
    """Against the share of each class in every node, found by sending all leaves down by hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = ModelClassifier(Leaves(Dirichlet(1.0), encoder=TreePartitions(n=1, max_rows=60))).fit(X, y)
    trees, theta = model._encoder.trees, model.parameters_
    p = np.exp(theta.log_probability)

    def below(node):
        left = trees.left[node]
        return p[-1 - left] if left < 0 else below(left) + below(left + 1)

    want = np.zeros((len(X), 2, 3))
    for i, row in enumerate(X):
        node = 0
        while trees.left[node] >= 0:
            child = trees.left[node] + (row[trees.feature[node]] > trees.threshold[node])
            want[i, :, trees.feature[node]] += np.log(below(child) / below(node))
            node = child
    found = model.contributions(X)
    assert_allclose(found.terms, want - want.mean(axis=1, keepdims=True), atol=1e-10)
    assert found.importances[2] < min(found.importances[0], found.importances[1])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {"job": rng.choice(["cook", "clerk"], n), "age": rng.normal(40, 9, n), "noise": rng.normal(size=n)}
    )
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    X.loc[rng.random(n) < 0.1, "job"] = None
    X["same"] = 1.0
    return X, np.where((X["age"] > 40) ^ (X["job"] == "cook") ^ (rng.random(n) < 0.1), "yes", "no")


def test_experts_are_gathered_by_column(table):
    X, y = table
    model = TabularClassifier(random_state=0, n_trees=20).fit(X, y)
    assert {"normal", "bins", "greedy trees"} <= set(model.weights_)
    found = model.contributions(X)
    same_answers(found, model.predict_log_proba(X))
    assert found.names == ["job", "age", "noise"]
    assert list(model.importances(X))[-1] == "noise"
    numbers = TabularClassifier(random_state=0, n_trees=20).fit(X.to_numpy(), y)
    assert numbers.contributions(X.to_numpy()).names == [0, 1, 2]
    assert_allclose(numbers.contributions(X.to_numpy()).terms, found.terms, atol=1e-10)


def test_a_weight_for_each_column(table):
    X, y = table
    views = TabularClassifier(random_state=0, n_trees=4).fit(X, y).encoder_
    model = TabularClassifier(encoder=views.__class__(**{**vars(views), "apart": True}), random_state=0).fit(X, y)
    assert "bins: column 'age'" in model.weights_
    same_answers(model.contributions(X), model.predict_log_proba(X))


def test_pairs_have_both_names(table):
    X, y = table
    model = AdditiveTables(pairs=[("age", "job")]).fit(X, y)
    found = model.contributions(X)
    assert found.names == ["job", "age", "noise", "same", "job & age"]
    same_answers(found, model.predict_log_proba(X))


def test_mixed_tables_keep_their_order(table):
    X, y = table
    found = NaiveBayes(numeric="gaussian").fit(X[["age", "job", "noise"]], y).contributions(X[["age", "job", "noise"]])
    assert found.names == ["age", "job", "noise"]


def test_names_are_those_learned(table):
    X, y = table
    model = GaussianNB().fit(X[["noise", "age"]], y)
    assert list(model.importances(X[["noise", "age"]])) == ["age", "noise"]


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, PoissonNB, GaussianNB])
def test_sparse_rows_are_dense_ones(kind):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.5, size=(60, 8)).astype(float), np.arange(60) % 3
    model = kind().fit(csr_array(X), y)
    found = model.contributions(csr_array(X))
    assert_allclose(found.terms, model.contributions(X).terms, atol=1e-12)
    same_answers(found, model.predict_log_proba(X))


def test_too_much_to_hold_is_refused(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    monkeypatch.setattr(suffice._estimator.classifier, "free_memory", lambda: 8.0 * 4 * 3 * 4 * 10 * 2)
    assert len(model.contributions(X[:10])) == 10
    with pytest.raises(MemoryError, match=r"pass at most 10 rows at a time"):
        model.contributions(X)


def test_one_row_reads_well():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    found = model.contributions(X[:1])
    assert isinstance(found, Contributions)
    row = found.row(0)
    sizes = [abs(value) for value in row.values()]
    assert sizes == sorted(sizes, reverse=True)
    odds = model.decision_function(X[:1])[0]  # of class 1; the row is of class 0
    assert_allclose(sum(row.values()) + found.base[0, 0] - found.base[0, 1], -odds, rtol=1e-10)
    assert_allclose(sum(found.row(0, y=1).values()), -sum(row.values()))
    assert repr(found).startswith("Contributions of 30 terms to 2 classes, for 1 row; row 0:\n  class 0 against")
    assert "(base)" in repr(found)
    with pytest.raises(ValueError, match="there is no class 7: the classes are"):
        found.row(0, y=7)


def test_impossible_classes_do_not_drown_the_others():
    X, y = np.array([["u", "a"], ["u", "b"], ["v", "a"], ["w", "b"]] * 5), np.array([0, 0, 1, 2] * 5)
    X = np.column_stack([np.where(np.arange(20) % 3, "p", "q"), X])
    model = CategoricalNB(prior=None).fit(X, y)
    found = model.contributions(X)
    same_answers(found, model.predict_log_proba(X))
    assert list(found.importances) == [1, 2, 0]
    assert found.importances[1] == found.importances[2] == np.inf  # these rule classes out
    assert 0 < found.importances[0] < 10
    assert "rule a class out altogether" in explain(model, X=X)
    given = GaussianNB(class_prior=[0.5, 0.5, 0.0]).fit(*load_iris(return_X_y=True))
    assert max(given.importances([[5.0, 3.0, 2.0, 1.0]]).values()) < np.inf  # no column does
    same_answers(given.contributions([[5.0, 3.0, 2.0, 1.0]]), given.predict_log_proba([[5.0, 3.0, 2.0, 1.0]]))


def test_odd_rows_and_labels():
    X, y = load_iris(return_X_y=True)
    words = np.array(["a", "b", "c"], dtype=object)[y]
    model = LinearDiscriminantAnalysis().fit(X.astype(np.float32), words)
    same_answers(model.contributions(X[:1].astype(np.float32)), model.predict_log_proba(X[:1]), 1e-4)
    assert model.contributions(X[:1]).row(0, y="b")
    many = GaussianNB().fit(
        np.repeat(np.arange(1000.0), 2)[:, None] + np.tile([0, 0.1], 1000)[:, None], np.arange(2000) // 2
    )
    same_answers(many.contributions([[3.0], [700.0]]), many.predict_log_proba([[3.0], [700.0]]), 1e-8)
    with pytest.raises(ValueError, match="0 sample"):
        model.contributions(X[:0])
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.contributions(X[:, :2])


def test_who_cannot_say_so():
    X, y = load_iris(return_X_y=True)
    toy = ModelClassifier(Unit()).fit(X, y)
    assert not hasattr(toy, "contributions")
    with pytest.raises(AttributeError) as refusal:
        toy.importances(X)
    assert str(refusal.value.__cause__).startswith("Unit is not a sum of terms by column")
    with pytest.raises(TypeError, match="contributions takes rows in memory"):
        GaussianNB().fit(X, y).contributions(Memory(X))
    with pytest.raises(ValueError, match="FisherDiscriminant: several contests of two classes together"):
        FisherDiscriminant().fit(X, y).contributions(X)
