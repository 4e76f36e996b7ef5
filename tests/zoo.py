"""One entry for each classifier and each engine; every law runs over every entry whose model has the ability."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal, poisson
from sklearn import discriminant_analysis, linear_model, naive_bayes
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from suffice import (
    BernoulliNB,
    CategoricalNB,
    DesignedDiscriminant,
    Dirichlet,
    FisherDiscriminant,
    GaussianNB,
    GaussianPrior,
    LinearBayes,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    ModelClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    QuasiBayes,
    ScatterDiscriminant,
)
from suffice.data import Memory
from suffice.encoders import Categories
from suffice.encoders.table import Table
from suffice.learners import TM, ClosedForm, DiscriminativeFrequency, GradientDescent, RiskCalibration
from suffice.models import Binned
from tests.strangers.lazy import Lazy
from tests.toy import Unit

Oracle = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Entry:
    """A classifier; `units`: blind to units; `missing`: takes NaN; `oracle`: (X, y, new X) -> p(y | x).

    `counts`: its rows are numbers of at least 0.
    """

    name: str
    prototype: Any
    oracle: Oracle | None = None
    units: bool = True
    missing: bool = False
    tolerance: float = 1e-10  # of probabilities, where they should be the same
    counts: bool = False

    @property
    def adds(self):
        """Whether fits can be added and subtracted."""
        return hasattr(self.prototype, "partial_fit")

    @property
    def categories(self):
        return isinstance(self.model().encoder, Categories)

    @property
    def mixed(self):
        return isinstance(self.model().encoder, Table)

    @property
    def sparse(self):
        """Whether sparse rows can stay so."""
        return getattr(self.model().encoder, "sparse", False)

    def estimator(self):
        return clone(self.prototype)

    def model(self):
        return self.prototype._model()

    def holed(self, X, seed, share=0.15):
        """The same rows with entries missing at random, and one row that has none at all."""
        gone = np.random.default_rng(seed).random(X.shape) < share
        gone[0] = True
        holes = X.astype(object if self.categories or self.mixed else float)
        holes[gone] = np.nan
        return holes

    def encode(self, X):
        encoder = self.model().encoder
        return encoder.prepare(Memory(X, np.zeros(len(X))))(X)

    def draw(self, seed, n=60, d=3, k=3):
        """Rows of k overlapping classes, every class with at least 8 of them."""
        rng = np.random.default_rng(seed)
        y = np.concatenate([np.repeat(np.arange(k), 8), rng.integers(k, size=max(0, n - 8 * k))])
        rng.shuffle(y)
        if self.categories:
            return (rng.integers(4, size=(len(y), d)) + y[:, None] % 2).astype(str), y
        if self.counts:
            return rng.poisson(rng.uniform(0.2, 2.0, size=(k, d))[y]).astype(float), y
        mix = rng.normal(size=(d, d)) + 2 * np.eye(d)
        numbers = (rng.normal(size=(len(y), d)) + rng.normal(size=(k, d))[y]) @ mix + rng.normal(size=d) * 5
        if not self.mixed:
            return numbers, y
        words = np.array(["u", "v", "w"])[(rng.integers(2, size=len(y)) + y) % 3]
        return np.column_stack([numbers[:, 1:].astype(object), words]), y


def posterior(log_joint):
    joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return joint / joint.sum(axis=1, keepdims=True)


def normal_classes(X, y, new):
    parts = [X[y == c] for c in np.unique(y)]
    log = [multivariate_normal(p.mean(0), np.cov(p.T, bias=True)).logpdf(new) + np.log(len(p) / len(y)) for p in parts]
    return posterior(np.column_stack(log))


def shrunk_classes(X, y, new):
    """QDA under the default prior, written out: 30 rows of new rows' spread, and 3/10 of the variance of all rows."""
    classes, codes = np.unique(y, return_inverse=True)
    N, k = len(y), len(classes)
    means = np.stack([X[y == c].mean(0) for c in classes])
    within = ((X - means[codes]) ** 2).sum(0) / (N - k) * (1 + k / N)
    prior = np.diag(within + 0.3 * X.var(0))
    scores = []
    for c, mean in zip(classes, means, strict=True):
        n = (y == c).sum()
        cov = (30 * prior + n * np.cov(X[y == c].T, bias=True)) / (30 + n)
        scores.append(multivariate_normal(mean, cov).logpdf(new) + np.log(n / N))
    return posterior(np.column_stack(scores))


def pulled_classes(X, y, new):
    """QDA under rc1's prior about all rows, weights of 4 and 6, with the shift of the means (NIW), written out."""
    scores = []
    for c in np.unique(y):
        part, n = X[y == c], (y == c).sum()
        gap = part.mean(0) - X.mean(0)
        mean = (4 * X.mean(0) + n * part.mean(0)) / (4 + n)
        shift = 4 * n / (4 + n) * np.outer(gap, gap)
        cov = (6 * np.diag(X.var(0)) + n * np.cov(part.T, bias=True) + shift) / (6 + n)
        scores.append(multivariate_normal(mean, cov).logpdf(new) + np.log(n / len(y)))
    return posterior(np.column_stack(scores))


def regularised_classes(tying, shrinkage):
    """RDA row by row: every row counts for its own class, and `tying` times for all others, about its own mean."""

    def proba(X, y, new):
        classes, codes = np.unique(y, return_inverse=True)
        means = np.stack([X[y == c].mean(0) for c in classes])
        scores = []
        for c, mean in enumerate(means):
            cov = np.cov((X - means[codes]).T, aweights=np.where(codes == c, 1.0, tying), bias=True).reshape(
                X.shape[1], -1
            )
            cov = (1 - shrinkage) * cov + shrinkage * np.diag(np.diag(cov))
            scores.append(multivariate_normal(mean, cov).logpdf(new) + np.log((codes == c).mean()))
        return posterior(np.column_stack(scores))

    return proba


def nearest_means(X, y, new):
    parts = [X[y == c] for c in np.unique(y)]
    identity = np.eye(X.shape[1])
    log = [multivariate_normal(p.mean(0), identity).logpdf(new) + np.log(len(p) / len(y)) for p in parts]
    return posterior(np.column_stack(log))


def pooled_variances(X, y, new):
    """Tied naive Bayes as LDA on a covariance whose off-diagonal entries are dropped."""
    classes, codes = np.unique(y, return_inverse=True)
    means = np.stack([X[y == c].mean(0) for c in classes])
    cov = np.diag(((X - means[codes]) ** 2).mean(0))
    log = [
        multivariate_normal(m, cov).logpdf(new) + np.log((y == c).mean()) for m, c in zip(means, classes, strict=True)
    ]
    return posterior(np.column_stack(log))


def newton(X, y, new):
    """scikit-learn's logistic regression on standardised features."""
    scale = StandardScaler().fit(X)
    theirs = linear_model.LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000)
    return theirs.fit(scale.transform(X), y).predict_proba(scale.transform(new))


@dataclass(frozen=True)
class Ratio:
    """A separability of two projected classes, which leaves the cut open; its best s is factor / (factor + 1)."""

    factor: float = 2.0

    def __call__(self, mu1, mu2, var1, var2):
        return (mu2 - mu1) ** 2 / (self.factor * var1 + var2)


def planes(weight):
    """Pairs of classes by w = [s S1 + (1 - s) S2]^-1 (m2 - m1), s = weight(P1); coupled by a general optimiser."""

    def proba(X, y, new):
        labels = np.unique(y)
        odds = {}
        for a, b in itertools.combinations(range(len(labels)), 2):
            one, two = X[y == labels[a]], X[y == labels[b]]
            p = len(one) / (len(one) + len(two))
            s = weight(p)
            S1, S2 = (np.cov(part.T, bias=True).reshape(X.shape[1], -1) for part in (one, two))
            gap = two.mean(0) - one.mean(0)
            w = np.linalg.solve(s * S1 + (1 - s) * S2, gap)
            cut = w @ one.mean(0) + s * w @ S1 @ w
            odds[a, b] = (new @ w - cut) * (w @ gap) / (p * w @ S1 @ w + (1 - p) * w @ S2 @ w)
        if len(labels) == 2:
            return np.column_stack([expit(-odds[0, 1]), expit(odds[0, 1])])
        return np.stack(
            [couple({pair: expit(-o[i]) for pair, o in odds.items()}, len(labels)) for i in range(len(new))]
        )

    return proba


def couple(r, k):
    """Least squares of r_ba p_a - r_ab p_b over the simplex, as a stacked system."""
    rows = []
    for (a, b), p in r.items():
        p = np.clip(p, 1e-7, 1 - 1e-7)
        row = np.zeros(k)
        row[a], row[b] = 1 - p, -p
        rows.append(row)
    A = np.array(rows)
    Z = np.vstack([np.eye(k - 1), -np.ones(k - 1)])  # p = 1/k + Z q sums to 1
    q = np.linalg.lstsq(A @ Z, -A @ np.full(k, 1 / k), rcond=None)[0]
    return np.full(k, 1 / k) + Z @ q


def poisson_classes(X, y, new):
    """Poisson naive Bayes under the default prior, one row at the mean of all, written out."""
    classes = np.unique(y)
    rates = np.stack([(X[y == c].sum(0) + X.mean(0)) / ((y == c).sum() + 1) for c in classes])
    log = poisson.logpmf(new[:, None, :], rates).sum(axis=2) + np.log([(y == c).mean() for c in classes])
    return posterior(log)


def fitted(theirs):
    return lambda X, y, new: clone(theirs).fit(X, y).predict_proba(new)


def ordinal(theirs):
    """scikit-learn's CategoricalNB on ordinal codes."""

    def proba(X, y, new):
        encoder = OrdinalEncoder().fit(X)
        return clone(theirs).fit(encoder.transform(X), y).predict_proba(encoder.transform(new))

    return proba


EXPLICIT = GaussianPrior(4, 6, mean=0.0, covariance=2.0)
NIW = GaussianPrior(4, 6, covariance="total", kind="niw")
EVIDENCE = GaussianPrior("evidence", "evidence", correlation="evidence", kind="niw")
OWN = GaussianPrior(4, 6, mean={1: 3.0}, covariance={0: 2.0, 1: 5.0})  # of some classes
VECTORS = Dirichlet(0.5, "table", columns={0: {"1": 3, "2": 1}}, classes={1: {0: 2.0}})
DECLARED = {0: [str(v) for v in range(17)]}

ZOO = [
    Entry("categorical", CategoricalNB(), ordinal(naive_bayes.CategoricalNB(alpha=1.0)), False, True),
    Entry("categorical-ml", CategoricalNB(prior=None), units=False, missing=True),
    Entry("categorical-table", CategoricalNB(prior=Dirichlet(1, "table")), units=False, missing=True),
    Entry("categorical-evidence", CategoricalNB(Dirichlet("evidence", base="marginal")), units=False, missing=True),
    Entry("categorical-vectors", CategoricalNB(VECTORS, categories=DECLARED), units=False),
    Entry("gaussian-nb", GaussianNB(), missing=True),
    Entry("gaussian-nb-evidence", GaussianNB(prior=EVIDENCE)),
    Entry("gaussian-nb-own", GaussianNB(prior=OWN), units=False, missing=True),
    Entry("gaussian-nb-ml", GaussianNB(prior=None), fitted(naive_bayes.GaussianNB(var_smoothing=0)), missing=True),
    Entry("tied-nb", GaussianNB(tied=True), missing=True),
    Entry("tied-nb-ml", GaussianNB(tied=True, prior=None), pooled_variances, missing=True),
    Entry("qda", QuadraticDiscriminantAnalysis(), shrunk_classes, missing=True),
    Entry("qda-ml", QuadraticDiscriminantAnalysis(prior=None), normal_classes, missing=True),
    Entry("qda-explicit", QuadraticDiscriminantAnalysis(prior=EXPLICIT), units=False, missing=True),
    Entry("qda-balanced", QuadraticDiscriminantAnalysis(class_weight="balanced"), missing=True),
    Entry("lda", LinearDiscriminantAnalysis(), missing=True),
    Entry("qda-niw", QuadraticDiscriminantAnalysis(prior=NIW), pulled_classes),
    Entry("qda-evidence", QuadraticDiscriminantAnalysis(prior=EVIDENCE)),
    Entry("qda-own", QuadraticDiscriminantAnalysis(prior=OWN), units=False),
    Entry("lda-evidence", LinearDiscriminantAnalysis(prior=EVIDENCE)),
    Entry(
        "lda-ml",
        LinearDiscriminantAnalysis(prior=None),
        fitted(discriminant_analysis.LinearDiscriminantAnalysis("lsqr")),
        missing=True,
    ),
    Entry("rda", QuadraticDiscriminantAnalysis(tying=0.5)),
    Entry("rda-ml", QuadraticDiscriminantAnalysis(prior=None, tying=0.5), regularised_classes(0.5, 0.0)),
    Entry("rda-shrunk", QuadraticDiscriminantAnalysis(None, shrinkage=0.3, tying=0.2), regularised_classes(0.2, 0.3)),
    Entry("rda-evidence", QuadraticDiscriminantAnalysis(shrinkage="evidence")),
    Entry("lda-shrunk", LinearDiscriminantAnalysis(prior=None, shrinkage=0.3), regularised_classes(1.0, 0.3)),
    Entry("lda-oas", LinearDiscriminantAnalysis(shrinkage="oas", n_components=1)),
    Entry("logistic", LogisticRegression(learner=ClosedForm())),
    Entry("logistic-ml", LogisticRegression(learner=ClosedForm(), prior=None), pooled_variances),
    Entry("logistic-ovo", LogisticRegression(learner=ClosedForm(), multi_class="ovo")),
    Entry("logistic-ovr", LogisticRegression(learner=ClosedForm(), multi_class="ovr")),
    Entry("logistic-newton", LogisticRegression(), newton, tolerance=1e-6),
    Entry("logistic-newton-ovr", LogisticRegression(multi_class="ovr"), tolerance=1e-6),
    Entry("logistic-gd", LogisticRegression(learner=GradientDescent(stop=None))),
    Entry("categorical-rc", CategoricalNB(learner=RiskCalibration(0.1, stop=None)), units=False),
    Entry("categorical-dfe", CategoricalNB(learner=DiscriminativeFrequency(stop=None)), units=False),
    Entry("categorical-gd", CategoricalNB(learner=GradientDescent(stop=None)), units=False),
    Entry("gaussian-nb-rc", GaussianNB(learner=RiskCalibration(0.1, stop=None)), missing=False, tolerance=1e-9),
    Entry("qda-rc", QuadraticDiscriminantAnalysis(learner=RiskCalibration(0.1, stop=None)), tolerance=1e-8),
    Entry("qda-gd", QuadraticDiscriminantAnalysis(learner=GradientDescent(stop=None)), tolerance=1e-8),
    Entry("lda-tm", LinearDiscriminantAnalysis(learner=TM(max_iter=8)), tolerance=1e-6),
    Entry(
        "rda-rc",
        QuadraticDiscriminantAnalysis(shrinkage="oas", tying=0.5, learner=RiskCalibration(0.1, stop=None)),
        tolerance=1e-8,
    ),
    Entry("lda-shrunk-tm", LinearDiscriminantAnalysis(shrinkage=0.5, learner=TM(max_iter=8)), tolerance=1e-6),
    Entry("fisher", FisherDiscriminant(ridge=0), planes(lambda p: 0.5), missing=True),
    Entry("scatter", ScatterDiscriminant(ridge=0), planes(lambda p: p), missing=True),
    Entry("minimax", MinimaxProbabilityMachine(), missing=True),
    Entry("minimum-error", MinimumErrorMPM(), missing=True, tolerance=1e-6),
    Entry("quasi-bayes", QuasiBayes(), missing=True),
    Entry("linear-bayes", LinearBayes(), missing=True, tolerance=1e-6),
    Entry("designed", DesignedDiscriminant(Ratio()), missing=True, tolerance=1e-6),
    Entry("minimax-ovr", MinimaxProbabilityMachine(multi_class="ovr"), missing=True),
    Entry("scatter-rc", ScatterDiscriminant(learner=RiskCalibration(0.1, anchor=0, stop=None)), tolerance=1e-6),
    Entry("binned", ModelClassifier(Binned(Dirichlet())), missing=True),
    Entry("binned-kmeans", ModelClassifier(Binned(Dirichlet(), "kmeans", 5)), missing=True),
    Entry("binned-uniform", ModelClassifier(Binned(Dirichlet(), "uniform", 8, spikes=False)), missing=True),
    Entry("binned-mdl", ModelClassifier(Binned(Dirichlet(), "mdl")), missing=True),
    Entry("binned-rc", ModelClassifier(Binned(Dirichlet(), n_bins=8), RiskCalibration(0.1, stop=None))),
    Entry("naive-bayes", NaiveBayes(), units=False, missing=True),
    Entry("naive-bayes-normal", NaiveBayes(numeric="gaussian"), units=False, missing=True),
    Entry("naive-bayes-rc", NaiveBayes(learner=RiskCalibration(0.1, stop=None)), units=False, tolerance=1e-9),
    Entry(
        "naive-bayes-gd",
        NaiveBayes(numeric="gaussian", learner=GradientDescent(stop=None)),
        units=False,
        tolerance=1e-8,
    ),
    Entry("multinomial", MultinomialNB(), fitted(naive_bayes.MultinomialNB()), False, counts=True),
    Entry("multinomial-ml", MultinomialNB(prior=None), units=False, counts=True),
    Entry("multinomial-rc", MultinomialNB(learner=RiskCalibration(0.1, stop=None)), units=False, counts=True),
    Entry("multinomial-dfe", MultinomialNB(learner=DiscriminativeFrequency(stop=None)), units=False, counts=True),
    Entry("multinomial-gd", MultinomialNB(learner=GradientDescent(stop=None)), units=False, counts=True),
    Entry("bernoulli", BernoulliNB(), fitted(naive_bayes.BernoulliNB()), False, True, counts=True),
    Entry("bernoulli-ml", BernoulliNB(prior=None), units=False, missing=True, counts=True),
    Entry("bernoulli-tm", BernoulliNB(learner=TM(max_iter=8)), None, False, False, 1e-8, counts=True),
    Entry("bernoulli-gd", BernoulliNB(learner=GradientDescent(stop=None)), units=False, counts=True),
    Entry("poisson", PoissonNB(), poisson_classes, False, True, counts=True),
    Entry("poisson-ml", PoissonNB(prior=None), units=False, missing=True, counts=True),
    Entry("poisson-rc", PoissonNB(learner=RiskCalibration(0.1, stop=None)), None, False, False, 1e-9, counts=True),
    Entry("poisson-gd", PoissonNB(learner=GradientDescent(stop=None)), None, False, False, 1e-9, counts=True),
    Entry("toy", ModelClassifier(Unit()), nearest_means, units=False),
]


def lazy(count):
    """Rows in random order in so many partitions, the first third of them empty."""

    def make(X, y):
        order, rng = np.random.default_rng(count).permutation(len(y)), np.random.default_rng(count)
        ends = np.sort(rng.integers(0, len(y) + 1, count - 1))
        ends[: count // 3] = 0
        return Lazy([(X[rows], y[rows]) for rows in np.split(order, ends)]), order

    return make


def by_class(X, y):
    """A partition for each class, and an empty one."""
    order = np.argsort(y, kind="stable")
    ends = np.searchsorted(y[order], np.unique(y))
    return Lazy([(X[rows], y[rows]) for rows in np.split(order, ends)]), order


def in_memory(X, y):
    return Memory(X, y, batch_size=16), np.arange(len(y))


ENGINES = {"memory": in_memory, "lazy-1": lazy(1), "lazy-7": lazy(7), "lazy-50": lazy(50), "by-class": by_class}


def every(capable=None):
    """Run a law over all entries that can: a predicate, or an ability as the type of the model that learns."""
    if isinstance(capable, type):
        ability = capable
        entries = [entry for entry in ZOO if isinstance(entry.model().unit, ability)]
    else:
        entries = [entry for entry in ZOO if capable is None or capable(entry)]
    assert entries, "a law without an entry"
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)
