"""Answers of a density: its own rows, log p(x), and strange rows."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from suffice import (
    BernoulliNB,
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice._estimator.answers import JointDensity, LogDensity
from suffice.encoders import TreePartitions
from suffice.models import Binned, Density, Nested, Samplable
from suffice.models.tables.categorical import Leaves
from suffice.testing._trial import LawTrial
from suffice.testing.models import Case, a_sample_leads_back
from tests.populations import exact, mixed_table
from tests.strangers.lazy import Lazy
from tests.strangers.poisson import PoissonNB as StrangersNB
from tests.zoo import every

X, y_iris = load_iris(return_X_y=True)
names = np.array(["setosa", "versicolor", "virginica"])[y_iris]


@pytest.fixture(scope="module")
def table():
    return mixed_table()


# Samples


@pytest.mark.filterwarnings("ignore")  # of columns that do not vary
@every(lambda entry: isinstance(entry.model(), Samplable) and entry.prototype.learner is None)
def test_samples_are_rows_like_those_learned(entry):
    """That they lead back to the parameters is a law of every model (`check_model`)."""
    rows, y = entry.draw(4)
    model = entry.estimator().fit(rows, y)
    drawn, labels = model.sample(500, random_state=0)
    assert drawn.shape == (500, rows.shape[1])
    assert set(labels) <= set(y)
    assert np.isfinite(model.score_samples(drawn)).all()
    again, more = model.sample(500, random_state=0)
    assert_array_equal(drawn, again)
    assert_array_equal(labels, more)
    assert not np.array_equal(drawn, model.sample(500, random_state=1)[0])


def test_a_wrong_sampler_is_found():
    class Wide(Binned):
        def filled(self, cells, rng):
            return super().filled(np.maximum(cells - (rng.random(cells.shape) < 0.1), 0), rng)

    with pytest.raises(AssertionError, match=r"a sample of 10000 rows, learned, gains"):
        a_sample_leads_back(Case(LawTrial("Wide", ""), Wide(n_bins=5), X, y_iris, 0))


def test_parameters_come_back_within_sampling_error():
    model = QuadraticDiscriminantAnalysis(prior=None).fit(X, y_iris)
    rows, labels = model.sample(30_000, random_state=0)
    assert_allclose(np.bincount(labels) / 30_000, 1 / 3, atol=4 * np.sqrt(2 / 9 / 30_000))
    for c in range(3):
        own, cov = rows[labels == c], np.cov(X[y_iris == c].T, bias=True)
        error = np.sqrt(np.diag(cov) / len(own))
        assert (abs(own.mean(axis=0) - X[y_iris == c].mean(axis=0)) < 4.5 * error).all()
        spread = np.sqrt((np.outer(np.diag(cov), np.diag(cov)) + cov**2) / len(own))
        assert (abs(np.cov(own.T) - cov) < 4.5 * spread).all()


def test_the_classes_of_a_sample_can_be_given():
    model = GaussianNB().fit(X, names)
    assert_array_equal(model.sample(7, y="virginica", random_state=0)[1], ["virginica"] * 7)
    assert_array_equal(model.sample(2, y=["virginica", "setosa"], random_state=0)[1], ["virginica", "setosa"])
    assert model.sample(random_state=0)[0].shape == (1, 4)
    with pytest.raises(ValueError, match=r"sample: y has \['rose'\]: the classes are"):
        model.sample(3, y="rose")
    with pytest.raises(ValueError, match="sample: y must be one class, or one for each of the 3 rows, got 2"):
        model.sample(3, y=["setosa", "setosa"])
    with pytest.raises(ValueError, match="sample: n must be a whole number of at least 1, got 0"):
        model.sample(0)


def test_mixed_tables_come_as_they_were(table):
    frame, y = table
    model = NaiveBayes(missing="indicator", columns={"same": "drop"}).fit(frame, y)
    rows, labels = model.sample(30_000, random_state=0)
    new = pd.DataFrame(rows, columns=frame.columns)
    assert set(new["job"]) == {"cook", "clerk", "smith"}
    assert new["same"].isna().all()
    assert frame["day"].min() <= new["day"].min() < new["day"].max() <= frame["day"].max()
    for c in ("no", "yes"):  # an entry is missing as often as it was
        share, n = frame["age"][y == c].isna().mean(), (labels == c).sum()
        assert abs(new["age"][labels == c].isna().mean() - share) < 5 * np.sqrt(share / n) + 0.02
    again = clone(model).fit(new, labels)
    assert abs(again.predict_proba(frame) - model.predict_proba(frame)).mean() < 0.03
    assert np.isfinite(model.score_samples(new)).all()


def test_rare_categories_and_constant_columns():
    values = np.array(["often"] * 50 + ["a", "b", "c"] + ["other"] * 47, dtype=object)
    rows = np.column_stack([values, np.full(100, "same", dtype=object), np.linspace(0, 1, 100).astype(object)])
    model = NaiveBayes(min_frequency=5).fit(rows, np.arange(100) // 50)
    drawn, _ = model.sample(5000, random_state=0)
    rare = np.isin(drawn[:, 0].astype(str), ["a", "b", "c"])
    assert 0 < rare.mean() < 0.1
    assert set(drawn[rare, 0]) == {"a", "b", "c"}
    assert set(drawn[:, 1]) == {"same"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat = LinearDiscriminantAnalysis().fit(np.column_stack([X, np.full(150, 7.0)]), y_iris)
    assert (flat.sample(10, random_state=0)[0][:, 4] == 7.0).all()


def test_values_that_share_a_cell_come_by_their_shares():
    """Whether an entry is missing, where that tells nothing of the class; and rare categories, of unequal weight."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    frame = pd.DataFrame({"a": rng.normal(size=2000) + y, "b": rng.choice(["u", "v"], 2000)})
    frame.loc[rng.random(2000) < 0.05, "b"] = None
    model = NaiveBayes(missing="indicator").fit(frame, y)
    rows = model.sample(4000, random_state=0)[0]
    assert abs(pd.isnull(rows[:, 1]).mean() - frame["b"].isnull().mean()) < 0.02
    words = np.repeat(["u", "v", "w", "x"], [50, 40, 9, 1])[:, None]
    pool = NaiveBayes(min_frequency=20).fit(words, np.arange(100) % 2)
    drawn = pool.sample(8000, random_state=0)[0].ravel()
    rare = np.array([(drawn == word).sum() for word in ("w", "x")])
    assert_allclose(rare / rare.sum(), [0.9, 0.1], atol=0.05)


def test_spikes_and_bins_stay_in_their_cells():
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(400) < 0.6, 0.0, rng.exponential(size=400))[:, None]
    model = ModelClassifier(Binned(n_bins=8)).fit(gains, np.arange(400) % 2)
    drawn, _ = model.sample(4000, random_state=0)
    assert abs((drawn == 0.0).mean() - (gains == 0).mean()) < 0.03
    assert gains.min() <= drawn.min()
    assert drawn.max() <= gains.max()


# log p(x)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis(), GaussianNB(), LinearDiscriminantAnalysis()])
def test_densities_integrate_to_one(kind):
    for d in (1, 2):
        model = clone(kind).fit(X[:, 2 : 2 + d], y_iris)
        axis = np.linspace(-10, 20, 3001 if d == 1 else 601)
        grid = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
        total = np.exp(model.score_samples(grid)).sum() * (axis[1] - axis[0]) ** d
        assert_allclose(total, 1.0, atol=1e-6)


def test_probabilities_of_cells_sum_to_one():
    rows = np.array([["u", "1"], ["v", "2"], ["u", "3"], ["w", "1"]] * 5)
    model = CategoricalNB().fit(rows, np.arange(20) % 2)
    every_row = np.array([[a, b] for a in "uvw" for b in "123"])
    assert_allclose(np.exp(model.score_samples(every_row)).sum(), 1.0)
    bins = ModelClassifier(Binned(n_bins=4)).fit(X[:, :1], y_iris)
    bounds = bins.parameters_.domain.features.categories[0]
    inside = np.append(-100.0, bounds[1:])[:, None]
    assert_allclose(np.exp(bins.score_samples(inside)).sum(), 1.0)
    counts = PoissonNB().fit(np.array([[0], [2], [1], [5]]), [0, 0, 1, 1])
    assert_allclose(np.exp(counts.score_samples(np.arange(60)[:, None])).sum(), 1.0)


def test_log_densities_are_those_of_scipy():
    model = QuadraticDiscriminantAnalysis(prior=None).fit(X, y_iris)
    classes = [multivariate_normal(X[y_iris == c].mean(axis=0), np.cov(X[y_iris == c].T, bias=True)) for c in range(3)]
    want = logsumexp([one.logpdf(X) - np.log(3) for one in classes], axis=0)
    assert_allclose(model.score_samples(X), want, atol=1e-9)
    holes = X.copy()
    holes[:, 1] = np.nan  # integrated out
    some = [0, 2, 3]
    few = [
        multivariate_normal(X[y_iris == c][:, some].mean(axis=0), np.cov(X[y_iris == c][:, some].T, bias=True))
        for c in (0, 1, 2)
    ]
    assert_allclose(model.score_samples(holes), logsumexp([f.logpdf(X[:, some]) - np.log(3) for f in few], axis=0))
    assert_allclose(model.score_samples(np.full((1, 4), np.nan)), 0.0, atol=1e-12)
    assert model.score_samples(X[:1].astype(np.float32)).dtype == np.float32
    assert_allclose(logsumexp(model.predict_joint_log_proba(X), axis=1), model.score_samples(X))


# Strange rows


def test_strange_rows_have_few_beyond_them():
    model = QuadraticDiscriminantAnalysis().fit(X, y_iris)
    assert_allclose(model.anomaly_score([[50.0, 0.0, 0.0, 9.0]]), 1.0)
    own, _ = model.sample(4000, random_state=5)
    share = np.sort(model.anomaly_score(own))  # uniform for rows of the model itself
    assert_allclose(share, np.arange(1, 4001) / 4000, atol=0.04)
    one = exact(1, gap=0.0)  # a standard normal density: denser is nearer
    assert_allclose(one.anomaly_score([[1.0], [-2.5]]), [norm.cdf(1) * 2 - 1, norm.cdf(2.5) * 2 - 1], atol=0.02)


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_bins_find_strange_rows(strategy):
    """Nearly as well as the density that the rows were drawn from."""
    rng = np.random.default_rng(0)
    rows, others = rng.normal(size=(2000, 4)), rng.normal(size=(600, 4)) * np.repeat([1.0, 3.0], 300)[:, None]
    labels, strange = (rows[:, 0] > 0).astype(int), np.repeat([0, 1], 300)
    model = NaiveBayes(strategy=strategy).fit(rows, labels)
    best = roc_auc_score(strange, (others**2).sum(axis=1))
    assert roc_auc_score(strange, model.anomaly_score(others)) > best - 0.02
    assert_allclose(model.anomaly_score(np.full((3, 4), [[9.0], [1e9], [-1e308]])), 1.0)
    own = np.sort(model.anomaly_score(model.sample(2000, random_state=5)[0].astype(float)))
    assert abs(own - np.linspace(0, 1, 2000)).max() < 0.05  # uniform


def test_the_density_of_bins_is_that_of_what_they_draw():
    """p(cell) over its width; continuous at the ends, and falling beyond them."""
    x = np.random.default_rng(1).exponential(size=(3000, 1))
    model = ModelClassifier(Binned(n_bins=8)).fit(x, np.arange(3000) % 2)
    bins, theta = model._fit_result().model, model._fit_result().parameters
    edges = np.concatenate([[x.min()], bins.domain.features.categories[0][1:], [x.max()]])
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    dense = np.exp(LogDensity(JointDensity(bins, theta))(middle) - bins.log_volume(bins.encoder(middle)))
    share = np.histogram(model.sample(40_000, random_state=0)[0].ravel(), edges, density=True)[0]
    assert_allclose(dense, share, rtol=0.1)
    assert_allclose(dense @ np.diff(edges), 1.0, rtol=1e-9)
    beyond = bins.log_volume(bins.encoder(x.max() + np.array([[0.0], [1e-12], [1.0], [50.0], [np.nan]])))
    assert_allclose(beyond[0], beyond[1])
    assert beyond[0] < beyond[2] < beyond[3]
    assert beyond[4] == 0


def test_values_with_cells_of_their_own_count_by_their_probability():
    rng = np.random.default_rng(2)
    codes = rng.choice([0.0, 1.0, 2.0, 999.0], p=[0.5, 0.3, 0.15, 0.05], size=(3000, 1))
    model = NaiveBayes().fit(codes, np.arange(3000) % 2)
    score = model.anomaly_score([[0.0], [1.0], [2.0], [999.0], [-1e5]])
    assert_allclose(score, [0.0, 0.5, 0.8, 0.95, 1.0], atol=0.05)
    half = np.where(rng.random((3000, 3)) < 0.4, 0.0, rng.normal(size=(3000, 3)))  # a spike among numbers
    model = NaiveBayes().fit(half, np.arange(3000) % 2)
    score = model.anomaly_score([[0.0, 0.0, 0.1], [0.1, 0.2, 0.1], [0.0, 0.0, 9.0]])
    assert score[:2].max() < 0.6
    assert score[2] > 0.99


def test_the_farthest_rows_are_the_strangest():
    """Also where their density is zero, as far as numbers go."""
    model = QuadraticDiscriminantAnalysis().fit(X, y_iris)
    assert model.score_samples([[1e200] * 4])[0] == -np.inf
    assert_array_equal(model.anomaly_score([[1e200] * 4, [1e30] * 4]), 1.0)


def test_scores_are_of_the_columns_that_a_row_has():
    model = GaussianNB().fit(X, y_iris)
    holes = X[:5].copy()
    holes[:, 2:] = np.nan
    holes[4] = np.nan
    got = model.anomaly_score(holes)
    narrow = GaussianNB().fit(X[:, :2], y_iris)
    assert_allclose(got[:4], narrow.anomaly_score(X[:4, :2]), atol=0.03)
    assert got[4] == 0.0
    words = CategoricalNB().fit(np.array([["u", "x"], ["v", "x"], ["u", "y"], ["u", "x"]] * 9), np.arange(36) % 2)
    assert_allclose(words.anomaly_score([["new", "y"]]), words.anomaly_score(np.array([[None, "y"]], dtype=object)))


def test_sparse_rows_may_lack_entries():
    rows = np.where(X > 1, X, 0.0)
    rows[::7, 1] = np.nan
    model = GaussianNB().fit(rows, y_iris)
    assert_allclose(model.anomaly_score(csr_array(rows)), model.anomaly_score(rows), atol=1e-12)
    assert_allclose(model.anomaly_score(csr_array(rows[1:7])), model.anomaly_score(rows[1:7]), atol=1e-12)


def test_scores_survive_merging_and_units(table):
    a, b = (QuadraticDiscriminantAnalysis().fit(X[i::2], y_iris[i::2]) for i in range(2))
    whole = QuadraticDiscriminantAnalysis().fit(X, y_iris)
    assert_allclose((a + b).anomaly_score(X), whole.anomaly_score(X), atol=2e-4)
    assert_allclose(
        GaussianNB().fit(1e3 * X, y_iris).anomaly_score(1e3 * X), GaussianNB().fit(X, y_iris).anomaly_score(X)
    )
    frame, y = table
    model = NaiveBayes().fit(frame, y)
    lazy = model.anomaly_score(Lazy([(frame[:100], y[:100]), (frame[100:], y[100:])])).collect()
    assert_allclose(lazy, model.anomaly_score(frame), atol=1e-12)


# Who cannot, and odd input


def test_who_has_no_density_says_so(table):
    frame, y = table
    for model in (LogisticRegression().fit(X, y_iris), TabularClassifier(n_trees=4, random_state=0).fit(frame, y)):
        for name in ("sample", "score_samples", "anomaly_score", "bayes_error"):
            assert not hasattr(model, name)
            with pytest.raises(AttributeError) as refusal:
                getattr(model, name)
            assert "learns p(y | x) alone, so that log p(x, y) is unknown" in str(refusal.value.__cause__)
    with pytest.raises(AttributeError) as refusal:
        FisherDiscriminant().fit(X, y_iris).shift_priors([1, 1, 1])
    assert "has no class probabilities to change: fit it with class_prior" in str(refusal.value.__cause__)
    assert not hasattr(LogisticRegression(), "estimate_priors")


def test_a_strangers_density_answers_what_it_can():
    model = StrangersNB().fit(np.array([[1, 2], [0, 5], [3, 3], [2, 0]]), [0, 0, 1, 1])
    assert_allclose(logsumexp(model.predict_joint_log_proba([[1, 1]]), axis=1), model.score_samples([[1, 1]]))
    assert_allclose(model.shift_priors([0.2, 0.8]).class_prior_, [0.2, 0.8])
    with pytest.raises(AttributeError) as refusal:
        model.sample(3)
    assert "is a density without a way to draw rows: it would have to be `Samplable`" in str(refusal.value.__cause__)


def test_leaves_are_no_rows():
    model = ModelClassifier(Leaves(encoder=TreePartitions(n=2))).fit(X, y_iris)
    with pytest.raises(TypeError, match="rows encoded by TreePartitions cannot be decoded"):
        model.sample(3)


def test_too_many_entries_are_refused():
    rows = csr_array(np.eye(3, 200_000))
    model = MultinomialNB().fit(rows, [0, 1, 0])
    with pytest.raises(MemoryError, match="10000 rows of 200000 columns are too many to draw at once"):
        model.anomaly_score(rows)


def test_counts_are_drawn():
    rows = np.random.default_rng(0).poisson(2.0, size=(300, 4)) * 1.0
    y = np.arange(300) % 2
    for kind in (MultinomialNB(), PoissonNB(), BernoulliNB(binarize=1.0)):
        model = kind.fit(csr_array(rows), y)
        drawn, labels = model.sample(4000, random_state=0)
        assert abs(clone(kind).fit(drawn, labels).predict_proba(rows) - model.predict_proba(rows)).max() < 0.12
        assert model.anomaly_score(csr_array(rows)).max() <= 1.0


def test_many_classes():
    numbers = (np.arange(2000) // 2 + np.tile([0, 0.1], 1000))[:, None]
    model = GaussianNB(prior=None).fit(numbers, np.arange(2000) // 2)
    rows, labels = model.sample(50, random_state=0)
    assert_array_equal(model.predict(rows), labels)
    assert_allclose(model.estimate_priors(numbers).sum(), 1.0)


def test_all_densities_of_the_library_can_be_drawn_from():
    kinds = [kind for kind in _below(Density) if kind.__module__.startswith("suffice.")]
    assert Nested in kinds
    for kind in kinds:
        if not getattr(kind, "__abstractmethods__", None):
            assert issubclass(kind, Samplable), kind


def _below(kind):
    return {*kind.__subclasses__(), *(one for sub in kind.__subclasses__() for one in _below(sub))}


def test_times_of_day_are_drawn_as_times_of_day():
    hours = pd.DataFrame({"clock": [datetime.time(9 + i % 8, 30) for i in range(80)]})
    rows, _ = NaiveBayes().fit(hours, np.arange(80) % 2).sample(50, random_state=0)
    assert all(datetime.time(9) <= time <= datetime.time(17) for time in rows[:, 0])
