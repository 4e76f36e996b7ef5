"""Cells chosen from histograms: against oracles, in pieces, with spikes, and columns left out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import KBinsDiscretizer

from suffice import Dirichlet, ModelClassifier
from suffice._core.features import Encoded, Features
from suffice._core.labels import OneHot
from suffice._core.probability import log_posterior
from suffice.learners import ClosedForm, DiscriminativeFrequency, GradientDescent, RiskCalibration
from suffice.models import BinFeatures, Binned, Binning
from suffice.models.tables.binned import STRATEGIES, describe, kmeans, mdl
from suffice.models.tables.histogram import ColumnHistogram, ordered
from tests.models.test_histogram import SHAPES, statistics

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
EVERY = np.array([-np.inf])


def cells(x, strategy="quantile", n_bins=32, spikes=True, identifiers=True, y=None, weight=None):
    """The lower bounds of the cells of one column."""
    x = np.asarray(x, dtype=float)[:, None]
    s = statistics(x, OneHot.of(np.zeros(len(x)) if y is None else y, weight))
    return Binning(strategy, n_bins, spikes, identifiers).features(s).categories[0]


def codes(x, bounds):
    return np.searchsorted(bounds, x, side="right") - 1


# Strategies


@pytest.mark.parametrize("shape", ["normal", "log-normal", "cauchy", "offset", "huge"])
@pytest.mark.parametrize("n", [500, 50_000])
def test_quantiles_are_quantiles(rng, shape, n):
    x = SHAPES[shape](rng, n)
    bounds = cells(x, spikes=False)
    assert len(bounds) == 32
    rank = np.searchsorted(np.sort(x), bounds[1:]) / n
    assert_allclose(rank, np.arange(1, 32) / 32, atol=0.5 / n + 1e-12 if n < 4096 else 0.003)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 5)), min_size=8, max_size=60), st.integers(2, 9))
def test_a_quantile_is_the_nearest_possible_cut(rows, n):
    x, weight = np.array(rows).T
    values = np.unique(x)
    if len(values) <= n:
        assert_array_equal(codes(values, cells(x, n_bins=n, spikes=False, weight=weight)), np.arange(len(values)))
        return
    below = np.array([weight[x < v].sum() for v in values[1:]]) / weight.sum()
    best = {values[1:][np.argmin(abs(below - i / n).round(9))] for i in range(1, n)}
    bounds = cells(x, n_bins=n, spikes=False, identifiers=False, weight=weight)
    assert {values[values >= b].min() for b in bounds[1:]} == best


@pytest.mark.parametrize("shape", ["normal", "log-normal", "offset"])
def test_codes_of_equal_widths_are_those_of_scikit_learn(rng, shape):
    x = SHAPES[shape](rng, 3000)
    theirs = KBinsDiscretizer(5, encode="ordinal", strategy="uniform", subsample=None).fit_transform(x[:, None])[:, 0]
    theirs = np.unique(theirs, return_inverse=True)[1]  # cells without a row are none here
    assert_array_equal(codes(x, cells(x, "uniform", 5, spikes=False)), theirs)
    weight = rng.integers(1, 5, 3000).astype(float)
    edges = KBinsDiscretizer(5, strategy="uniform", subsample=None).fit(x[:, None], sample_weight=weight).bin_edges_[0]
    theirs = np.unique(np.searchsorted(edges[1:-1], x, side="right"), return_inverse=True)[1]
    assert_array_equal(codes(x, cells(x, "uniform", 5, spikes=False, weight=weight)), theirs)


def squares(x, weight, bounds):
    """The weighted sum of squared distances from the means of cells."""
    code = codes(x, bounds)
    means = np.bincount(code, weight * x) / np.bincount(code, weight)
    return weight @ (x - means[code]) ** 2


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_sum_of_squares_of_means_is_the_least(seed, n):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice(100, n + rng.integers(1, 5), replace=False)) ** rng.integers(1, 4).astype(float)
    weight = rng.integers(1, 1000, len(values)).astype(float)
    ways = (np.array([-np.inf, *values[list(at)]]) for at in combinations(range(1, len(values)), n - 1))
    least = min(squares(values, weight, bounds) for bounds in ways)
    found = np.append(-np.inf, values[_least(values, weight, n)])
    assert len(found) == n
    assert_allclose(squares(values, weight, found), least)
    if n > 1:
        chosen = cells(values, "kmeans", n, spikes=False, identifiers=False, weight=weight)
        assert_array_equal(codes(values, chosen), codes(values, found))


def _least(values, weight, n):
    return kmeans(ColumnHistogram(ordered(values), 0, weight[None]), n)


def kmeans_edges(x, n, weight=None):
    """The bounds of scikit-learn's cells."""
    found = KBinsDiscretizer(n, strategy="kmeans", subsample=None).fit(x[:, None], sample_weight=weight)
    return np.append(-np.inf, found.bin_edges_[0][1:-1])


@pytest.mark.parametrize("n", [2, 5, 12])
@pytest.mark.parametrize("shape", ["normal", "log-normal", "cauchy", "offset"])
def test_no_sum_of_squares_is_above_scikit_learns(rng, shape, n):
    x = SHAPES[shape](rng, 3000)
    for weight in (np.ones(3000), rng.integers(1, 5, 3000).astype(float)):
        found = squares(x, weight, cells(x, "kmeans", n, spikes=False, weight=weight))
        assert found <= squares(x, weight, kmeans_edges(x, n, weight)) * (1 + 1e-9)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_far_value_does_not_cost_the_others_their_digits(rng, way):
    x = np.sort(way * np.append(rng.normal(size=1000), 1e7))
    ends = np.append(0, np.append(_least(x, np.ones(len(x)), 5), len(x)))
    sizes = np.diff(ends)[:: int(way)]
    assert sizes[-1] == 1
    assert sizes[:-1].min() > 50  # four cells for the others
    least = _least(x[x * way < 1e6], np.ones(1000), 4)
    assert_array_equal(least, ends[1:-2] if way > 0 else ends[2:-1] - 1)


@pytest.mark.data
@pytest.mark.parametrize("n", [5, 32])
def test_means_of_real_columns_are_no_worse_than_any_other_cells(load, n):
    for x in (x for x in load("svmguide3")[0].to_numpy(dtype=float).T if len(np.unique(x)) > n):
        one = np.ones(len(x))
        cut = partial(cells, x, n_bins=n, spikes=False, identifiers=False)
        found, *others = (squares(x, one, cut(strategy=way)) for way in ("kmeans", "quantile", "uniform"))
        assert found <= min(*others, squares(x, one, kmeans_edges(x, n))) * (1 + 1e-9)


def fayyad_irani(x, y):
    """The recursion as it is written, over rows."""

    def entropy(labels):
        p = np.unique(labels, return_counts=True)[1] / len(labels)
        return -(p * np.log2(p)).sum()

    if len(np.unique(x)) < 2:
        return []
    n, found = len(x), []
    for low, high in zip(np.unique(x)[:-1], np.unique(x)[1:], strict=True):
        one, two = y[x <= low], y[x > low]
        found.append(((len(one) * entropy(one) + len(two) * entropy(two)) / n, low, high))
    least, low, high = min(found, key=lambda cut: (round(cut[0], 9), cut[1]))
    one, two = y[x <= low], y[x > low]
    k, k1, k2 = (len(np.unique(part)) for part in (y, one, two))
    delta = np.log2(3**k - 2) - (k * entropy(y) - k1 * entropy(one) - k2 * entropy(two))
    if entropy(y) - least <= (np.log2(n - 1) + delta) / n:
        return []
    return [*fayyad_irani(x[x <= low], one), (low + high) / 2, *fayyad_irani(x[x > low], two)]


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_mdl_is_the_recursion_over_rows(seed, k):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200).round(rng.integers(1, 4))
    y = (np.digitize(x, [-0.5, 0.6, 1.1][: k - 1]) + (rng.random(200) < 0.1)) % k
    assert_allclose(cells(x, "mdl", spikes=False, y=y)[1:], fayyad_irani(x, y))


def test_mdl_makes_the_best_cuts_first_and_none_in_noise(rng):
    x = rng.normal(size=2000)
    y = np.digitize(x, [-1, 0, 0.2])
    assert_allclose(cells(x, "mdl", y=y)[1:], [-1, 0, 0.2], atol=0.01)
    assert_allclose(cells(x, "mdl", 2, y=y)[1:], [-1.0], atol=1.01)
    assert_array_equal(cells(x, "mdl", y=rng.integers(2, size=2000)), EVERY)
    assert_array_equal(cells(np.arange(5).repeat(9), "mdl", y=np.tile([0, 1, 1], 15)), EVERY)
    light = ColumnHistogram(np.arange(4), 0, np.array([[0.1, 0.1, 0, 0], [0, 0, 0.1, 0.1]]))
    assert len(mdl(light, 4)) == 0  # less than one row


# Spikes, few values, and columns that say nothing


def test_a_spike_has_its_own_cell_without_its_neighbours(rng):
    x = np.concatenate([np.zeros(9200), np.exp(rng.normal(7, 1, 800)), [-30.0, -20.0, -10.0]])
    for strategy in ("quantile", "kmeans", "uniform"):
        bounds = cells(x, strategy)
        zero = codes(0.0, bounds)
        assert bounds[zero] == 0
        assert bounds[zero + 1] == 5e-324
        assert codes(1e-3, bounds) == codes(x[x > 0].min(), bounds) == zero + 1
        assert codes(-1e-3, bounds) == codes(-10.0, bounds) == zero - 1
    share = np.bincount(codes(x, cells(x)))
    assert share[:3].tolist() == [3, 9200, 23]  # zero parts the first 26 of the others
    assert len(share) == 33
    assert set(share[3:]) == {25, 26}
    assert len(cells(x, spikes=False)) == 5  # the quantiles of a column that is zero in nearly all rows
    assert_array_equal(cells(x, "mdl", y=x > 0)[1:], [5e-324])


def test_only_more_than_its_share_is_a_spike():
    x = np.repeat(np.arange(8.0), [10, 2, 2, 2, 2, 2, 10, 10])
    assert_array_equal(cells(x, n_bins=4)[1:], [0.5, 5.5, 6.5])  # 10 of 40 rows are a quarter
    assert_array_equal(cells(x[:-1], n_bins=4)[1:], [5e-324, 6.0, np.nextafter(6, 7)])


def test_each_of_few_values_is_a_cell():
    assert_array_equal(cells([1, 2, 5], n_bins=3)[1:], [1.5, 3.5])
    assert_array_equal(cells([1, 1, 2, 5, 5, 5, 5, 9], n_bins=4)[1:], [1.5, 5.0, np.nextafter(5, 6)])
    assert_array_equal(cells([1, 1, 1, 1, 5, 5, 5, 5, 9], n_bins=4)[1:], [3.0, np.nextafter(5, 6)])
    for strategy in ("kmeans", "uniform"):
        assert len(cells([0, 1, 100], strategy, 3)) == 3


@each_strategy
def test_one_value_or_none_has_one_cell(strategy):
    for x in ([3.0] * 30, [np.nan] * 30, [1.0, np.nan]):
        assert_array_equal(cells(x, strategy, y=np.arange(len(x)) % 2), EVERY)


@pytest.mark.parametrize("n", [20, 4000, 100_000])
@pytest.mark.parametrize("first", [0, 1, 10**7])
def test_row_numbers_are_left_out(rng, n, first):
    x = rng.permutation(n) + first
    assert_array_equal(cells(x), EVERY)
    assert_array_equal(cells(rng.permutation(int(1.08 * n))[:n] + first), EVERY)
    assert len(cells(x, identifiers=False)) == min(n, 32)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(19),
        np.arange(100) * 11,
        np.arange(100) + 0.5,
        np.append(np.arange(100), 50),
        np.random.default_rng(0).uniform(0, 100_000, 100_000),
        np.random.default_rng(0).integers(0, 100_000, 100_000),
        np.array([-1.7e308, 1.7e308] * 10),
    ],
    ids=["few", "gaps", "halves", "twice", "uniform", "drawn", "ends"],
)
def test_other_numbers_are_not_taken_for_an_identifier(x):
    assert len(cells(x)) > 1


def test_descriptions_of_columns(rng):
    n = 1000
    X = np.column_stack(
        [
            np.arange(n),
            np.full(n, 3.0),
            np.full(n, np.nan),
            np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n)),
            rng.normal(size=n),
        ]
    )
    s = statistics(X, OneHot.of(rng.integers(2, size=n)))
    for strategy in ("quantile", "mdl"):
        binning = Binning(strategy)
        told = describe(s, binning.features(s), binning)
        assert [one.left_out for one in told] == ["numbers the rows", "constant", "missing", None, None]
        assert [one.cells for one in told[:3]] == [1, 1, 1]
        if strategy == "quantile":
            assert [one.spikes for one in told] == [(), (), (), (0.0,), ()]
            assert [one.cells for one in told[3:]] == [33, 32]
    assert told[3].name == "column 3"


# Cells and the grid


@each_strategy
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pieces", [7, 100])
def test_pieces_have_the_cells_of_all_rows(strategy, shape, pieces):
    rng = np.random.default_rng(pieces)
    x = SHAPES[shape](rng, 6000)[:, None]
    y = (x[:, 0] > np.median(x)) ^ (rng.random(6000) < 0.2)
    binning = Binning(strategy, 12)
    for weight in (np.ones(6000), rng.uniform(0.1, 3, 6000), np.full(6000, 0.1)):
        Y = OneHot.of(y, weight)
        whole = binning.features(statistics(x, Y))
        parts = [statistics(x[rows], Y[rows]) for rows in np.array_split(rng.permutation(6000), pieces)]
        assert_array_equal(binning.features(sum(parts)).categories[0], whole.categories[0])


@each_strategy
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_over_cells_are_the_histogram_added_up(rng, strategy, shape):
    X, y = SHAPES[shape](rng, 9000)[:, None], rng.integers(3, size=9000)
    model = Binned(strategy=strategy)
    whole = model.statistics(model.encoder(X), OneHot.of(y))
    resolved = model.resolve(whole)
    assert resolved.resolve(resolved.restrict(whole)).domain.features.same(resolved.domain.features)
    other = SHAPES[shape](np.random.default_rng(9), 4000)[:, None]  # rows that the cells were not chosen from
    for rows, W in ((X, OneHot.of(y)), (other, rng.normal(size=(4000, 3)))):
        direct = resolved.statistics(model.encoder(rows), W)
        added = resolved.restrict(model.statistics(model.encoder(rows), W))
        assert_allclose(direct.sums.table, added.sums.table, rtol=1e-11, atol=1e-11)


def test_a_coarser_histogram_is_not_divided_among_finer_cells(rng):
    model = Binned(n_bins=200)
    few, many = (model.statistics(model.encoder(rng.normal(size=(n, 1))), np.ones((n, 1))) for n in (300, 300_000))
    with pytest.raises(ValueError, match="column 0 was summed on a coarser grid than its cells were chosen on"):
        model.resolve(few).restrict(many)


def test_equal_cells_unite_and_others_do_not():
    a, b = (BinFeatures(1, categories=(np.array([-np.inf, cut]),)) for cut in (0.0, 1.0))
    again = BinFeatures(1, np.array(["u"]), (np.array([-np.inf, 0.0]),))
    assert (a | again).names.tolist() == ["u"]
    assert a.same(again)
    assert not a.same(b)
    assert not a.same(Features(1))
    for other in (b, Features(1)):
        with pytest.raises(ValueError, match="different cells, whose sums do not add up"):
            a | other
    with pytest.raises(ValueError, match="different cells"):
        a.read(Encoded(b, np.zeros((1, 1), np.int32)))
    assert a.read(Encoded(again, np.ones((1, 1), np.int32))).tolist() == [[1]]


def test_cells_without_rows_stay(rng):
    X, y = rng.normal(size=(100, 1)), np.arange(100) % 2
    model = Binned(n_bins=4)
    resolved = model.resolve(model.statistics(model.encoder(X), OneHot.of(y)))
    low = X[:, 0] < resolved.domain.features.categories[0][1]
    s, gone = (resolved.statistics(model.encoder(X[rows]), OneHot.of(y[rows])) for rows in (slice(None), low))
    assert s.without(gone).sums.table.shape == (2, 4)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"strategy": "equal"}, r"strategy must be one of \('quantile', 'kmeans', 'uniform', 'mdl'\), got 'equal'"),
        ({"n_bins": 1}, "n_bins must be a whole number of at least 2, got 1"),
        ({"spikes": 3}, "spikes must be True or False, got 3"),
        ({"identifiers": None}, "identifiers must be True or False, got None"),
    ],
)
def test_wrong_settings_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        ModelClassifier(Binned(**settings)).fit([[0.0], [1.0]], [0, 1])


# Classifiers


@each_strategy
def test_fits_in_pieces_and_merged_fits_equal_the_fit_beyond_full_precision(rng, strategy):
    X = np.column_stack([SHAPES[shape](rng, 6000) for shape in ("normal", "cauchy", "offset", "few")])
    y = (X[:, 0] + rng.normal(size=6000) > 0).astype(int)
    weight = rng.uniform(0.1, 3, 6000)
    new = ModelClassifier(Binned(Dirichlet(), strategy))
    whole = ModelClassifier(Binned(Dirichlet(), strategy)).fit(X, y, weight)
    merged = None
    for rows in np.array_split(rng.permutation(6000), 7):
        new.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
        part = ModelClassifier(Binned(Dirichlet(), strategy)).fit(X[rows], y[rows], weight[rows])
        merged = part if merged is None else merged + part
    for other in (new, merged):
        assert_allclose(other.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)


def test_forgetting_equals_not_having_learned_except_for_the_grid(rng):
    X, y = rng.normal(size=(6000, 2)), np.arange(6000) % 2
    X[:, 1] = X[:, 1].round(2) + y
    model = ModelClassifier(Binned(Dirichlet())).fit(X, y).forget(X[1000:], y[1000:])
    few = ModelClassifier(Binned(Dirichlet())).fit(X[:1000], y[:1000])
    ours, theirs = (m.parameters_.domain.features.categories for m in (model, few))
    assert_array_equal(ours[1], theirs[1])
    rank = np.searchsorted(np.sort(X[:1000, 0]), ours[0]) - np.searchsorted(np.sort(X[:1000, 0]), theirs[0])
    assert 0 < abs(rank).max() < 10
    s, grid = few.statistics_, model.statistics_.sums
    coarse = ClosedForm().solve(few.model, replace(s, sums=s.sums.on(grid.keys, grid.shift)))
    log_p = log_posterior(coarse.model.log_joint(coarse.model.encoder(X), coarse.parameters))
    assert_allclose(model.predict_log_proba(X), log_p, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        RiskCalibration(validation_fraction=0.3, random_state=0),
        RiskCalibration(batch_size=100, init="bootstrap", random_state=0),
        GradientDescent(max_iter=200),
        DiscriminativeFrequency(),
    ],
    ids=["held-out", "batches", "gradient", "frequency"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learners_work_on_cells(rng, learner):
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=600) > 0.7).astype(int)
    fit = ModelClassifier(Binned(Dirichlet(), n_bins=12), learner).fit(X, y)
    assert fit.score(X, y) > 0.85
    assert type(fit.statistics_.sums).__name__ == "Histogram"
    assert type(fit._fit_result().model.restrict(fit.statistics_).sums).__name__ == "Counts"
