"""One entry for each classifier and each engine; every law runs over every entry whose model has the ability."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn import discriminant_analysis, naive_bayes
from sklearn.base import clone

from suffice import (
    AdditiveTables,
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
from suffice.bayesian_networks import BayesNetClassifier, KDependenceNB, TreeAugmentedNB
from suffice.data import Memory
from suffice.encoders import Categories
from suffice.encoders.table import Table
from suffice.encoders.views import Clip, Range, Views
from suffice.learners import TM, ClosedForm, DiscriminativeFrequency, GradientDescent, RiskCalibration
from suffice.models import Binned, FullGaussian, Nested
from suffice.models.compose.experts import Experts
from suffice.models.networks.families import Families
from suffice.models.tables.categorical import Pooled
from tests.oracles import (
    Ratio,
    fitted,
    nearest_means,
    newton,
    normal_classes,
    ordinal,
    planes,
    poisson_classes,
    pooled_variances,
    pulled_classes,
    regularised_classes,
    shrunk_classes,
)
from tests.strangers.lazy import Lazy
from tests.toy import Unit

Oracle = Callable[[Any, Any, Any], Any]

# A law that holds after a few steps of a learner holds after many; `make test-long` takes as many as a user would.
STEPS = 64 if os.environ.get("SUFFICE_LAWS") == "long" else 10


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
    searches: bool = False  # whether the first rows choose a structure, which sums are about
    words: bool = False  # whether its rows are categories, whatever its encoder takes

    @property
    def adds(self):
        """Whether fits can be added and subtracted exactly: all that is learned is a function of the sums."""
        return self.prototype._learner().exact and not self.searches

    @property
    def carries(self):
        """Whether what is learned from rows is carried along as these come and go."""
        return self.prototype._learner().carries_over and not self.prototype._learner().exact

    @property
    def categories(self):
        return self.words or isinstance(self.model().encoder, Categories)

    @property
    def mixed(self):
        return isinstance(self.model().encoder, Table | Views | Families)

    def rows_for_laws(self, seed):
        """Rows and labels to check the model on, if it does not take any number of columns; else none."""
        return self.draw(seed) if self.words else ()

    @property
    def sparse(self):
        """Whether sparse rows can stay so."""
        return getattr(self.model().encoder, "sparse", False)

    @property
    def out_of_sample(self):
        """Whether rows are learned in memory, each without itself: a row twice is then another thing than weight 2."""
        return getattr(self.prototype._learner(), "out_of_sample", False)

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
        d = 3 if self.words else d  # its settings name columns
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


EXPLICIT = GaussianPrior(4, 6, mean=0.0, covariance=2.0)
NIW = GaussianPrior(4, 6, covariance="total", kind="niw")
EVIDENCE = GaussianPrior("evidence", "evidence", correlation="evidence", kind="niw")
OWN = GaussianPrior(4, 6, mean={1: 3.0}, covariance={0: 2.0, 1: 5.0})  # of some classes
VECTORS = Dirichlet(0.5, "table", columns={0: {"1": 3, "2": 1}}, classes={1: {0: 2.0}})
RC, GD = RiskCalibration(0.1, STEPS, stop=None), GradientDescent(max_iter=STEPS, stop=None)
HONEST = RiskCalibration(0.1, 8, stop=None, out_of_sample=True)
FREQUENCY = DiscriminativeFrequency(stop=None)
CHAIN = {1: [0], 2: [1, 0]}  # the parents of columns
DECLARED = {0: [str(v) for v in range(17)]}
TABLES = Dirichlet("evidence", base="marginal")
EXPERTS = Experts(  # columns are seen twice, by a table and by a normal density
    {"bins": Binned(TABLES, n_bins=8), "category": Pooled(TABLES), "normal": FullGaussian(GaussianPrior(0.0, 6.0))},
    weights={"classes": 0.9, "bins": 0.4, "category": 1.2, "normal": 0.7},
    encoder=Views(Table(), (("normal", Clip(6.0, None, 0.0, (Range(0, 0, 0.0, 5.0), Range(1, 1, 0.0, 5.0)))),)),
)

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
    Entry("logistic-gd", LogisticRegression(learner=GD)),
    Entry("categorical-rc", CategoricalNB(learner=RC), units=False),
    Entry("categorical-dfe", CategoricalNB(learner=DiscriminativeFrequency(stop=None)), units=False),
    Entry("categorical-gd", CategoricalNB(learner=GD), units=False),
    Entry("gaussian-nb-rc", GaussianNB(learner=RC), missing=False, tolerance=1e-9),
    Entry("qda-rc", QuadraticDiscriminantAnalysis(learner=RC), tolerance=1e-8),
    Entry("qda-gd", QuadraticDiscriminantAnalysis(learner=GD), tolerance=1e-8),
    Entry("lda-tm", LinearDiscriminantAnalysis(learner=TM(max_iter=8)), tolerance=1e-6),
    Entry(
        "rda-rc",
        QuadraticDiscriminantAnalysis(shrinkage="oas", tying=0.5, learner=RC),
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
    Entry("scatter-rc", ScatterDiscriminant(learner=RiskCalibration(0.1, STEPS, anchor=0, stop=None)), tolerance=1e-6),
    Entry("binned", ModelClassifier(Binned(Dirichlet())), missing=True),
    Entry("binned-kmeans", ModelClassifier(Binned(Dirichlet(), "kmeans", 5)), missing=True),
    Entry("binned-uniform", ModelClassifier(Binned(Dirichlet(), "uniform", 8, spikes=False)), missing=True),
    Entry("binned-mdl", ModelClassifier(Binned(Dirichlet(), "mdl")), missing=True),
    Entry("binned-rc", ModelClassifier(Binned(Dirichlet(), n_bins=8), RC)),
    Entry("nested", ModelClassifier(Nested()), missing=True),
    Entry("nested-few", ModelClassifier(Nested(n_bins=12, coarser=(3,))), missing=True),
    Entry("naive-bayes", NaiveBayes(), units=False, missing=True),
    Entry("naive-bayes-normal", NaiveBayes(numeric="gaussian"), units=False, missing=True),
    Entry("naive-bayes-rc", NaiveBayes(learner=RC), units=False, tolerance=1e-9),
    Entry(
        "naive-bayes-gd",
        NaiveBayes(numeric="gaussian", learner=GD),
        units=False,
        tolerance=1e-8,
    ),
    Entry("experts", ModelClassifier(EXPERTS), units=False),
    Entry("additive", AdditiveTables(pairs=None, learner=ClosedForm()), units=False, missing=True),
    Entry("multinomial", MultinomialNB(), fitted(naive_bayes.MultinomialNB()), False, counts=True),
    Entry("multinomial-ml", MultinomialNB(prior=None), units=False, counts=True),
    Entry("multinomial-rc", MultinomialNB(learner=RC), units=False, counts=True),
    Entry("multinomial-dfe", MultinomialNB(learner=DiscriminativeFrequency(stop=None)), units=False, counts=True),
    Entry("multinomial-gd", MultinomialNB(learner=GD), units=False, counts=True),
    Entry("bernoulli", BernoulliNB(), fitted(naive_bayes.BernoulliNB()), False, True, counts=True),
    Entry("bernoulli-ml", BernoulliNB(prior=None), units=False, missing=True, counts=True),
    Entry("bernoulli-tm", BernoulliNB(learner=TM(max_iter=8)), None, False, False, 1e-8, counts=True),
    Entry("bernoulli-gd", BernoulliNB(learner=GD), units=False, counts=True),
    Entry("poisson", PoissonNB(), poisson_classes, False, True, counts=True),
    Entry("poisson-ml", PoissonNB(prior=None), units=False, missing=True, counts=True),
    Entry("poisson-rc", PoissonNB(learner=RC), None, False, False, 1e-9, counts=True),
    Entry(
        "poisson-gd",
        PoissonNB(learner=GD),
        None,
        False,
        False,
        1e-9,
        counts=True,
    ),
    Entry("toy", ModelClassifier(Unit()), nearest_means, units=False),
    Entry("categorical-honest", CategoricalNB(learner=HONEST), units=False),
    Entry("gaussian-nb-honest", GaussianNB(learner=HONEST), tolerance=1e-9),
    Entry("qda-honest", QuadraticDiscriminantAnalysis(learner=HONEST), tolerance=1e-8),
    Entry("lda-honest", LinearDiscriminantAnalysis(learner=HONEST), tolerance=1e-8),
    Entry("naive-bayes-honest", NaiveBayes(learner=HONEST), units=False, tolerance=1e-9),
    Entry("tan", TreeAugmentedNB(), units=False, searches=True),
    Entry("k-dependence", KDependenceNB(strategy="quantile", n_bins=4), units=False, searches=True),
    Entry(
        "tan-rc", TreeAugmentedNB(strategy="quantile", n_bins=4, learner=RC), None, False, False, 1e-9, searches=True
    ),
    Entry("bayes-net", BayesNetClassifier(CHAIN), units=False, words=True),
    Entry("bayes-net-ml", BayesNetClassifier(CHAIN, prior=None), units=False, words=True),
    Entry("bayes-net-uniform", BayesNetClassifier(CHAIN, prior=Dirichlet()), units=False, words=True),
    Entry("bayes-net-rc", BayesNetClassifier(CHAIN, learner=RC), units=False, words=True),
    Entry("bayes-net-honest", BayesNetClassifier(CHAIN, learner=HONEST), units=False, words=True),
    Entry("bayes-net-tm", BayesNetClassifier(CHAIN, learner=TM(max_iter=8)), units=False, words=True),
    Entry("bayes-net-dfe", BayesNetClassifier(CHAIN, learner=FREQUENCY), units=False, words=True),
    Entry("bayes-net-gd", BayesNetClassifier(CHAIN, learner=GD), units=False, words=True),
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
        entries = [entry for entry in ZOO if isinstance(entry.model().base_model, ability)]
    else:
        entries = [entry for entry in ZOO if capable is None or capable(entry)]
    assert entries, "a law without an entry"
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)
