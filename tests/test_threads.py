"""Threads change the time, not the result: batches over several, beside other threads and in other processes."""

import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from suffice import CategoricalNB, Dirichlet, GaussianNB, LinearDiscriminantAnalysis, NaiveBayes, _threads
from suffice._labels import OneHot
from suffice._threads import spread, spread_in_order, workers
from suffice.data import memory
from suffice.data._base import Batch
from suffice.data._partitioned import Partial
from suffice.learners import RiskCalibration

PATIENCE = 120  # seconds, after which something hangs
RNG = np.random.default_rng(0)
Y = np.arange(3000) % 3
X = RNG.normal(size=(3000, 4)) + Y[:, None]
CODES = np.rint(X).astype(int)
MODELS = {
    "gaussian": (GaussianNB(), X),
    "lda": (LinearDiscriminantAnalysis(), X),
    "categorical": (CategoricalNB(), CODES),
    "binned": (NaiveBayes(), X),
    "calibrated": (CategoricalNB(learner=RiskCalibration(max_iter=4, tol=0.0, stop=None)), CODES),
}


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(_threads, "cpu_count", lambda: 2)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def answers(name, threads=None, entries=None):
    """The probabilities of all rows after a fit, with so many threads and entries in a batch."""
    model, rows = MODELS[name]
    before = memory.ENTRIES
    memory.ENTRIES = entries or before
    try:
        with parallel_config(n_jobs=threads):
            return model.fit(rows, Y).predict_proba(rows)
    finally:
        memory.ENTRIES = before


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("two_cores")
def test_neither_threads_nor_blocks_change_anything(name):
    whole = answers(name, 1)
    for entries in (100, 1 << 10, 1 << 12):
        one = answers(name, 1, entries)
        assert_allclose(one, whole, atol=1e-10)
        assert (answers(name, 2, entries) == one).all()


@pytest.mark.usefixtures("two_cores")
def test_as_many_threads_as_asked_for_and_cores_there_are(monkeypatch):
    assert workers() == 2
    for asked, count in ((1, 1), (2, 2), (8, 2), (-1, 2), (-2, 1)):
        with parallel_config(n_jobs=asked):
            assert workers() == count
    assert spread(lambda _: workers(), range(2)) == [1, 1]
    assert Parallel(2, backend="threading")(delayed(workers)() for _ in range(2)) == [1, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert workers() == 1


@pytest.mark.usefixtures("two_cores")
def test_results_come_in_order_and_few_of_them_wait():
    begun = []
    found = spread_in_order(lambda i: begun.append(i) or i, range(50))
    assert next(found) == 0
    assert len(begun) <= 4
    assert list(found) == list(range(1, 50))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("two_cores")
def test_items_are_taken_as_they_are_needed(threads):
    taken = []
    with parallel_config(n_jobs=threads):
        found = spread_in_order(abs, (taken.append(i) or i for i in range(50)))
        assert next(found) == 0
        assert len(taken) <= 2 * threads
        assert list(found) == list(range(1, 50))


@pytest.mark.usefixtures("two_cores")
def test_a_task_of_an_engine_is_not_divided_again():
    rows = Batch(np.zeros((1, 1)), OneHot.of(np.zeros(1, dtype=int)))
    assert Partial(lambda _: workers())(0, rows) == 1
    assert workers() == 2


@pytest.mark.usefixtures("two_cores")
def test_errors_and_error_states_cross_threads():
    with pytest.raises(ZeroDivisionError):
        spread(lambda i: 1 // i, [2, 1, 0, 1])
    with warnings.catch_warnings(), np.errstate(divide="ignore"):
        warnings.simplefilter("error")
        assert spread(lambda x: np.ones(1) / x, [0.0, 0.0])[0] == np.inf


def fits(name):
    """The probabilities of all rows after a fit of its own, as bytes."""
    model, rows = MODELS[name]
    return clone(model).fit(rows, Y).predict_proba(rows).tobytes()


@pytest.mark.usefixtures("two_cores")
def test_fits_in_threads_and_processes_at_once_neither_hang_nor_differ():
    memory_before = memory.ENTRIES
    memory.ENTRIES = 1 << 10
    try:
        expected = {name: fits(name) for name in MODELS}
        names = [name for name in MODELS for _ in range(3)]
        forked = multiprocessing.get_context("fork")
        with ThreadPoolExecutor(4) as threads:
            first = [threads.submit(fits, name) for name in names]
            with ProcessPoolExecutor(2, mp_context=forked) as processes:
                second = [processes.submit(fits, name) for name in names]
                for name, a, b in zip(names, first, second, strict=True):
                    assert a.result(PATIENCE) == expected[name]
                    assert b.result(PATIENCE) == expected[name]
    finally:
        memory.ENTRIES = memory_before


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_search_in_workers_finds_what_one_alone_does(backend):
    grid = {"prior": [Dirichlet(0.1), Dirichlet(10.0)]}
    alone = GridSearchCV(CategoricalNB(), grid, cv=2).fit(CODES, Y)
    with parallel_config(backend, n_jobs=2):
        beside = GridSearchCV(CategoricalNB(), grid, cv=2, n_jobs=2).fit(CODES, Y)
    assert (beside.cv_results_["mean_test_score"] == alone.cv_results_["mean_test_score"]).all()


def test_no_more_threads_than_cores():
    assert 1 <= workers() <= cpu_count()
