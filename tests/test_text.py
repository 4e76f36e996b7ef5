"""Counts and text: equality with scikit-learn at the size of a real vocabulary, memory, and time to forget."""

from __future__ import annotations

import itertools
import runpy
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn import naive_bayes
from sklearn.model_selection import cross_val_score

from suffice import BernoulliNB, CategoricalNB, Dirichlet, GammaPrior, GaussianNB, MultinomialNB, PoissonNB
from suffice.learners import TM, DiscriminativeFrequency, GradientDescent, RiskCalibration
from suffice.models import Bernoulli, Multinomial, Poisson
from suffice.priors.gaussian import FLAT
from suffice.testing import check_model
from tests.samples import loss, plain

WORDS, DOCUMENTS = 200_000, 20_000


def corpus(n, d, k=3, seed=0, length=60, share=1.0):
    """Counts of words by Zipf's law; in a share of them the 20 most frequent words are shuffled by class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    lengths = rng.poisson(length, n)
    rows = np.repeat(np.arange(n), lengths)
    words = np.minimum(rng.zipf(1.3, lengths.sum()), d) - 1
    shuffled = np.stack([rng.permutation(20) for _ in range(k)])
    moved = (words < 20) & (rng.random(len(words)) < share)
    words = np.where(moved, shuffled[y[rows], words % 20], words)
    counts = sparse.coo_array((np.ones(len(words)), (rows, words)), shape=(n, d))
    return counts.tocsr(), y


@pytest.fixture(scope="module")
def text():
    X, y = corpus(DOCUMENTS, WORDS)
    return X, y, np.random.default_rng(1).integers(0, 4, DOCUMENTS) / 2


def assert_equal_to(ours, theirs, X):
    for name in ("feature_log_prob_", "feature_count_", "class_log_prior_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-10)
    rows = X[:500]
    assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=0, atol=1e-10)
    assert_allclose(ours.predict_log_proba(rows), theirs.predict_log_proba(rows), rtol=1e-10, atol=1e-10)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("alpha", [1.0, 0.01, 3.5])
@pytest.mark.parametrize(
    ("ours", "theirs"), [(MultinomialNB, naive_bayes.MultinomialNB), (BernoulliNB, naive_bayes.BernoulliNB)]
)
def test_equal_to_scikit_learn(text, ours, theirs, alpha):
    X, y, weight = text
    assert_equal_to(ours(prior=Dirichlet(alpha)).fit(X, y, weight), theirs(alpha=alpha).fit(X, y, weight), X)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(MultinomialNB, naive_bayes.MultinomialNB), (BernoulliNB, naive_bayes.BernoulliNB)]
)
def test_equal_to_scikit_learn_with_given_class_probabilities(text, ours, theirs):
    X, y, _ = text
    for ours_given, theirs_given in (
        ([0.2, 0.3, 0.5], {"class_prior": [0.2, 0.3, 0.5]}),
        ("uniform", {"fit_prior": False}),
    ):
        assert_equal_to(ours(class_prior=ours_given).fit(X, y), theirs(**theirs_given).fit(X, y), X)
    bits = ours()
    for rows in np.array_split(np.random.default_rng(0).permutation(DOCUMENTS), 7):
        bits.partial_fit(X[rows], y[rows])
    assert_equal_to(bits, theirs().fit(X, y), X)


def test_bernoulli_thresholds_as_scikit_learn_does(text):
    X, y, _ = text
    assert_equal_to(BernoulliNB(binarize=1.0).fit(X, y), naive_bayes.BernoulliNB(binarize=1.0).fit(X, y), X)
    flags = (X > 0).astype(np.int8)
    assert_equal_to(
        BernoulliNB(binarize=None).fit(flags, y), naive_bayes.BernoulliNB(binarize=None).fit(flags, y), flags
    )


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, PoissonNB, GaussianNB])
@pytest.mark.filterwarnings("ignore::suffice.ConstantColumnWarning")
def test_memory_stays_that_of_the_sparse_matrix(text, kind):
    X, y, _ = text
    kind().fit(X[:100], y[:100]).predict(X[:100])  # compiled before it is measured
    tracemalloc.start()
    try:
        kind().fit(X, y).predict_proba(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    stored, cells = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes, 8 * 3 * WORDS
    assert peak < 4 * stored + 24 * cells  # 8 * DOCUMENTS * WORDS would be 700 times as much


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, PoissonNB])
def test_forgetting_a_document_takes_no_longer_than_its_parameters(text, kind):
    X, y, _ = text
    two = np.flatnonzero(y < 2)
    X, y = X[two], y[two]
    model = kind().fit(X, y)
    rows = iter(range(20))

    def forget():
        i = next(rows)
        model.forget(X[i : i + 1], y[i : i + 1])

    assert best_time(forget, 20) < 6 * best_time(lambda: model._solve(model.statistics_), 20)  # whatever the documents
    assert_allclose(model.feature_count_, kind().fit(X[20:], y[20:]).feature_count_)
    assert_allclose(model.predict_proba(X[:50]), kind().fit(X[20:], y[20:]).predict_proba(X[:50]), atol=1e-10)


def best_time(f, times):
    best = np.inf
    for _ in range(times):
        begin = time.process_time()  # other processes may be busy
        f()
        best = min(best, time.process_time() - begin)
    return best


# Learners


@plain
@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, PoissonNB])
@pytest.mark.parametrize("learner", [RiskCalibration(), TM(), GradientDescent("adaptive")])
def test_learners_lower_the_log_loss(kind, learner):
    X, y = corpus(300, 200, seed=4, length=25, share=0.1)
    X = (3 * X).tocsr()  # every word three times, so that the closed form is too sure
    closed, learned = kind().fit(X, y), kind(learner=learner).fit(X, y)
    assert loss(learned, X, y) < 0.9 * loss(closed, X, y)
    assert learned.history_["log_loss"][0] == pytest.approx(loss(closed, X, y))


@plain
@pytest.mark.parametrize(
    "learner",
    [None, RiskCalibration(), TM(), GradientDescent(stop=None), DiscriminativeFrequency(stop=None)],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("prior", ["default", None, Dirichlet(1, "table")])
def test_bernoulli_is_categorical_for_two_categories(rng, learner, prior):
    y = np.arange(150) % 3
    X = (rng.random((150, 6)) < rng.uniform(0.1, 0.9, size=(3, 6))[y]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    ours, tables = BernoulliNB(prior=prior, learner=learner), CategoricalNB(prior=prior, learner=learner)
    assert_allclose(ours.fit(X, y).predict_proba(X), tables.fit(X, y).predict_proba(X), rtol=0, atol=1e-9)


# Densities


def test_multinomial_probabilities_sum_to_one(rng):
    X, y = rng.poisson(2.0, size=(40, 3)), np.arange(40) % 2
    fit = MultinomialNB().fit(X, y)
    model, theta = fit._fit_result().model, fit.parameters_
    for length in (0, 1, 5):
        rows = [row for row in itertools.product(range(length + 1), repeat=3) if sum(row) == length]
        log_p = model.log_density(model.encoder(rows), theta)
        assert_allclose(np.exp(log_p).sum(axis=0), 1.0)
        theirs = [stats.multinomial(length, np.exp(p)).logpmf(rows) for p in fit.feature_log_prob_]
        assert_allclose(log_p, np.transpose(theirs), atol=1e-10)
        assert_allclose(model.log_density(model.encoder(sparse.csr_array(rows)), theta), log_p, atol=1e-12)


def test_bernoulli_probabilities_sum_to_one(rng):
    X, y = rng.poisson(0.7, size=(40, 4)), np.arange(40) % 2
    for prior in ("default", None):
        fit = BernoulliNB(prior=prior).fit(X, y)
        rows = list(itertools.product((0, 1), repeat=4))
        model = fit._fit_result().model
        assert_allclose(np.exp(model.log_density(model.encoder(rows), fit.parameters_)).sum(axis=0), 1.0)


def test_poisson_probabilities_are_those_of_scipy(rng):
    X, y = rng.poisson(2.0, size=(40, 3)), np.arange(40) % 2
    fit = PoissonNB().fit(X, y)
    model = fit._fit_result().model
    expected = np.transpose([stats.poisson.logpmf(X, rate).sum(axis=1) for rate in fit.rate_])
    assert_allclose(model.log_density(model.encoder(X), fit.parameters_), expected)
    assert_allclose(model.log_density(model.encoder(sparse.csr_array(X)), fit.parameters_), expected)


@pytest.mark.parametrize("model", [Multinomial(), Bernoulli(), Poisson()], ids=lambda model: type(model).__name__)
def test_the_laws_hold_for_sparse_rows(model):
    X, y = corpus(60, 40, k=3, seed=2, length=15)
    check_model(model, X, y)
    check_model(type(model)(GammaPrior() if isinstance(model, Poisson) else Dirichlet()), X, y)


def test_the_laws_hold_for_sparse_normal_rows(rng):
    from suffice.models import DiagonalGaussian, TiedDiagonalGaussian

    y = np.arange(120) % 3
    dense = (rng.normal(size=(120, 4)) + y[:, None]) * (rng.random((120, 4)) < 0.6)
    for model in (DiagonalGaussian(FLAT), TiedDiagonalGaussian(FLAT)):
        check_model(model, sparse.csr_array(dense), y)


# Priors, missing counts, and words that are not there


def test_the_rate_of_a_prior():
    X, y = [[1, 0], [3, 0], [5, 2]], [0, 0, 1]
    assert_allclose(PoissonNB(prior=None).fit(X, y).rate_, [[2, 0], [5, 2]])
    assert_allclose(PoissonNB().fit(X, y).rate_, [[(4 + 3) / 3, (2 / 3) / 3], [(5 + 3) / 2, (2 + 2 / 3) / 2]])
    assert_allclose(PoissonNB(prior=GammaPrior(2, rate=[1, 4])).fit(X, y).rate_, [[6 / 4, 8 / 4], [7 / 3, 10 / 3]])
    with pytest.raises(ValueError, match=r"GammaPrior: rate has shape \(3,\), but there are 2 features"):
        PoissonNB(prior=GammaPrior(rate=[1, 1, 1])).fit(X, y)
    with pytest.raises(ValueError, match="GammaPrior: rate must be finite numbers of at least 0"):
        PoissonNB(prior=GammaPrior(rate=-1)).fit(X, y)
    with pytest.raises(ValueError, match="prior must be 'default', None or a GammaPrior"):
        PoissonNB(prior=Dirichlet()).fit(X, y)


def test_forgetting_the_last_missing_entry_leaves_no_trace():
    X, y = np.array([[1.0, 0.0], [np.nan, 2.0], [3.0, 1.0], [0.0, 1.0]]), [0, 0, 1, 1]
    for kind in (BernoulliNB, PoissonNB):
        model = kind().fit(X, y)
        assert model.statistics_.sums.count.tolist() == [[1, 2], [2, 2]]
        model.forget(X[1:2], y[1:2])
        assert model.statistics_.sums.count.tolist() == [[1], [2]]
        assert_allclose(model.predict_proba(X), kind().fit(X[[0, 2, 3]], [0, 1, 1]).predict_proba(X))


def test_a_class_without_values_has_no_rate():
    X = [[np.nan, 1], [np.nan, 2], [3, 1]]
    with pytest.raises(
        ValueError, match=r"class 0 has no values in column 0: its rate is unknown. Use prior='default'"
    ):
        PoissonNB(prior=None).fit(X, [0, 0, 1])
    assert_allclose(PoissonNB().fit(X, [0, 0, 1]).rate_[0], [3, (3 + 4 / 3) / 3])


def test_a_word_that_nobody_has_says_nothing():
    X, y = np.array([[1, 0, 2], [0, 0, 1], [3, 0, 1]]), [0, 1, 1]
    for model in (PoissonNB(), PoissonNB(prior=None)):
        model.fit(X, y)
        assert_allclose(model.predict_log_proba([[1, 7, 1]]), model.predict_log_proba([[1, 0, 1]]), atol=1e-13)
    assert np.isinf(MultinomialNB(prior=None).fit(X, y).feature_log_prob_[:, 1]).all()


# Forgetting what was not learned


def test_what_cannot_be_forgotten():
    X, y = np.array([[1, 0], [2, 1], [0, 3], [1, 1]]), np.array([0, 0, 1, 1])
    for kind in (MultinomialNB, BernoulliNB, PoissonNB):
        model = kind().fit(X, y)
        before = model.feature_count_
        with pytest.raises(ValueError, match="these rows were not all learned"):
            model.forget([[9, 0], [0, 0]], [0, 0])
        with pytest.raises(ValueError, match=r"the classes \[2\] were never learned"):
            model.forget(X[:1], [2])
        assert_allclose(model.feature_count_, before)
    with pytest.raises(ValueError, match="class 0 would keep more rows with column 0 than rows"):
        BernoulliNB().fit(X, y).forget([[0, 0]], [0])
    with pytest.raises(ValueError, match="class 1 would keep less than nothing in column 0"):
        MultinomialNB().fit(X, y).forget([[2, 0]], [1])


def test_vocabularies_that_differ():
    a, b = MultinomialNB().fit(np.eye(3), [0, 1, 1]), MultinomialNB().fit(np.eye(4), [0, 1, 1, 1])
    with pytest.raises(ValueError, match=r"the features differ: 3 here, 4 there.*for text, use the same vocabulary"):
        a + b
    with pytest.raises(ValueError, match=r"X has 4 features, but MultinomialNB is expecting 3 features"):
        a.partial_fit(sparse.eye_array(4).tocsr(), [0, 1, 1, 1])


def test_in_a_search(text):
    X, y, _ = text
    assert cross_val_score(MultinomialNB(), X[:600], y[:600], cv=3, scoring="roc_auc_ovr").min() > 0.9


def test_the_spam_filter(capsys):
    runpy.run_path(str(Path(__file__).parents[1] / "examples" / "spam_filter.py"))
    said = capsys.readouterr().out
    before, after = (float(line.rsplit(maxsplit=1)[1]) for line in said.splitlines() if "with probability" in line)
    assert before > 0.5 > after
    assert "largest difference from a filter that never saw it: 0.0e+00" in said
