"""Centres by competition."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from suffice.features import FSCL, RBF
from suffice.features.centers import learning_rate
from tests.samples import IRIS

SETS = ["ionosphere", "breast_cancer_wisconsin", "liver_disorders"]
DECAYS = ["exponential", "linear"]


@parametrize_with_checks([FSCL()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# The rate


@pytest.mark.parametrize("decay", DECAYS)
def test_the_rate_falls_from_its_first_value_to_zero(decay):
    rate = learning_rate(np.arange(1, 10_001), 10_000, 0.3, decay)
    assert_allclose(rate[[0, -1]], [0.3, 0], atol=2e-4)
    assert (np.diff(rate) < 0).all()
    assert_allclose(2 * rate, learning_rate(np.arange(1, 10_001), 10_000, 0.6, decay))


def test_the_rate_is_the_corrected_formula_of_the_thesis():
    k, N = np.array([1, 7, 400, 799, 800]), 800
    tau = 2 / N
    expected = 0.3 * (np.exp(-tau * k) - np.exp(-tau * N)) / (np.exp(-tau) - np.exp(-tau * N))
    assert_allclose(learning_rate(k, N), expected)
    assert_allclose(learning_rate([100, 400, 800], N, decay="linear"), [0.15, 0.05, 0])
    assert learning_rate(1, 1) == 0.3
    with pytest.raises(ValueError, match=r"decay must be one of .*, got 'none'"):
        learning_rate(1, 10, decay="none")


# FSCL


def plain_fscl(X, m, epochs, decay, seed):
    """The algorithm as it is written, with distances instead of their squares."""
    rng, n = np.random.RandomState(seed), len(X)
    centers, wins, k = X[rng.permutation(n)[:m]].copy(), np.ones(m), 0
    for _ in range(epochs):
        for i in rng.permutation(n):
            k += 1
            j = np.argmin(wins * np.linalg.norm(X[i] - centers, axis=1))
            centers[j] += learning_rate(k, n * epochs, 0.3, decay) * (X[i] - centers[j])
            wins[j] += 1
    return centers, wins - 1


@pytest.mark.parametrize("decay", DECAYS)
def test_the_compiled_loop_is_the_plain_algorithm(rng, decay):
    X = rng.normal(size=(60, 3))
    fscl = FSCL(7, epochs=9, decay=decay, random_state=3).fit(X)
    centers, wins = plain_fscl(X, 7, 9, decay, seed=3)
    assert_allclose(fscl.cluster_centers_, centers, rtol=1e-10)
    assert_array_equal(fscl.counts_, wins)


def test_fitted_attributes_agree(rng):
    X = rng.normal(size=(200, 4))
    fscl = FSCL(10, epochs=20, random_state=0).fit(X)
    distance = np.linalg.norm(X[:, None] - fscl.cluster_centers_, axis=2)
    assert_allclose(fscl.transform(X), distance)
    assert_array_equal(fscl.labels_, distance.argmin(axis=1))
    assert_array_equal(fscl.predict(X), fscl.labels_)
    assert_array_equal(FSCL(10, epochs=20, random_state=0).fit_predict(X), fscl.labels_)
    assert_allclose(fscl.inertia_, (distance.min(axis=1) ** 2).sum())
    assert fscl.counts_.sum() == 200 * 20
    assert (fscl.n_iter_, fscl.n_features_in_) == (20, 4)
    assert fscl.get_feature_names_out()[-1] == "fscl9"


def test_a_seed_repeats_the_result_and_another_does_not(rng):
    X = rng.normal(size=(100, 3))
    once, again, other = (FSCL(5, epochs=5, random_state=seed).fit(X).cluster_centers_ for seed in (1, 1, 2))
    assert_array_equal(once, again)
    assert not np.allclose(once, other)


def test_threads_do_not_matter(rng):
    X = rng.normal(size=(2000, 5))

    def centers(_=None):
        return RBF(20, centers=FSCL(20, epochs=5, random_state=0)).fit_transform(X)

    with threadpool_limits(1):
        alone = centers()
    with ThreadPoolExecutor(2) as pool:
        for each in [centers(), *pool.map(centers, range(4))]:
            assert_array_equal(each, alone)


@pytest.mark.parametrize("shift", [-3.0, 1e6])
def test_centres_move_and_grow_with_the_rows(rng, shift):
    X = rng.normal(size=(150, 3))
    here = FSCL(8, random_state=0).fit(X)
    there = FSCL(8, random_state=0).fit(8 * X + shift)
    assert_allclose(there.cluster_centers_, 8 * here.cluster_centers_ + shift, rtol=1e-9)
    assert_array_equal(there.counts_, here.counts_)


def test_features_in_another_order_or_turned(rng):
    X = rng.normal(size=(150, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    here = FSCL(8, random_state=0).fit(X).cluster_centers_
    assert_allclose(FSCL(8, random_state=0).fit(X[:, ::-1]).cluster_centers_, here[:, ::-1])
    assert_allclose(FSCL(8, random_state=0).fit(X @ turn).cluster_centers_, here @ turn, atol=1e-9)


def test_the_handicap_evens_out_the_wins(rng):
    X = rng.exponential(size=(500, 2)) ** 2
    for seed in range(10):
        wins = FSCL(10, random_state=seed).fit(X).counts_
        sizes = np.bincount(KMeans(10, random_state=seed).fit(X).labels_)
        assert wins.min() / wins.max() > 5 * sizes.min() / sizes.max()


def test_verbose_shows_progress(capsys):
    FSCL(3, epochs=5, verbose=1).fit(IRIS[0])
    shown = capsys.readouterr()
    assert "FSCL" in shown.err
    assert "5/5" in shown.err
    FSCL(3, epochs=5).fit(IRIS[0])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 0}, "FSCL: n_clusters must be a whole number of at least 1, got 0"),
        ({"epochs": 2.5}, "FSCL: epochs must be a whole number of at least 1, got 2.5"),
        ({"decay": "sudden"}, "FSCL: decay must be one of .*, got 'sudden'"),
        ({"rate": 1.5}, "FSCL: rate must be a number above 0 and at most 1, got 1.5"),
        ({"rate": 0}, "FSCL: rate must be a number above 0 and at most 1, got 0"),
        ({"n_clusters": 7}, "n_clusters=7 .* n_samples=6 rows hold 3 different ones: ask for at most 3"),
        ({"n_clusters": 4}, "n_clusters=4 .* n_samples=6 rows hold 3 different ones: ask for at most 3"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    X = [[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0], [2.0, 1.0], [3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(ValueError, match=words):
        FSCL(**settings).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        FSCL(2).fit([[0.0], [np.nan], [1.0]])
    assert set(FSCL(3, random_state=0).fit(X).counts_) == {200}


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("decay", DECAYS)
def test_all_centres_live_within_the_data_and_near_k_means(load, name, decay):
    X = MinMaxScaler((-1, 1)).fit_transform(load(name)[0])
    ours, theirs = 0.0, 0.0
    for seed in range(5):
        fscl = FSCL(40, decay=decay, random_state=seed).fit(X)
        assert (np.bincount(fscl.labels_, minlength=40) > 0).all()
        assert (fscl.counts_ > 0).all()
        assert (fscl.cluster_centers_ >= X.min(axis=0)).all()
        assert (fscl.cluster_centers_ <= X.max(axis=0)).all()
        ours, theirs = ours + fscl.inertia_, theirs + KMeans(40, random_state=seed).fit(X).inertia_
    assert ours < 1.25 * theirs


def test_a_million_visits_take_seconds(rng):
    X = rng.normal(size=(10_000, 10))
    FSCL(2, epochs=1).fit(X[:10])  # compiles what is not compiled yet
    start = time.perf_counter()
    FSCL(50, epochs=100, random_state=0).fit(X)
    assert time.perf_counter() - start < 10
