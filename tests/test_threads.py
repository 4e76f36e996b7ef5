"""Threads change the time, not the result: batches over several, beside other threads and in other processes."""

import gc
import multiprocessing
import os
import signal
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals import loky
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from threadpoolctl import ThreadpoolController

from suffice import (
    CategoricalNB,
    Dirichlet,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice._core.labels import OneHot
from suffice._runtime import threads as _threads
from suffice._runtime.lazy import Compiled, cached_property
from suffice._runtime.threads import few_threads, spread, spread_in_order, workers
from suffice.data import memory
from suffice.data.base import Batch
from suffice.data.partitioned import Partial
from suffice.learners import RiskCalibration

PATIENCE = 120  # seconds, after which something hangs
RNG = np.random.default_rng(0)
Y = np.arange(3000) % 3
X = RNG.normal(size=(3000, 4)) + Y[:, None]
CODES = np.rint(X).astype(int)
SHORT = RiskCalibration(max_iter=4, tol=0.0, stop=None)
MODELS = {
    "gaussian": (GaussianNB(), X),
    "lda": (LinearDiscriminantAnalysis(), X),
    "categorical": (CategoricalNB(), CODES),
    "binned": (NaiveBayes(), X),
    "calibrated": (CategoricalNB(learner=SHORT), CODES),
    "quadratic": (QuadraticDiscriminantAnalysis(learner=SHORT), X),
    "logistic": (LogisticRegression(), X),
    "strings": (NaiveBayes(), CODES.astype(str).astype(object)),
}
BLAS = ThreadpoolController().select(user_api="blas").lib_controllers
GRID = {"prior": [Dirichlet(0.1), Dirichlet(10.0)]}


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(_threads, "cpu_count", lambda: 2)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def answers(name, threads=None, entries=None):
    """The probabilities of all rows after a fit, with so many threads and entries in a batch."""
    model, rows = MODELS[name]
    with blocks(entries or memory.ENTRIES), parallel_config(n_jobs=threads):
        return model.fit(rows, Y).predict_proba(rows)


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
    assert Partial(lambda _: workers())(0, rows).value == 1
    assert workers() == 2


@pytest.mark.usefixtures("two_cores")
def test_errors_and_error_states_cross_threads():
    with pytest.raises(ZeroDivisionError):
        spread(lambda i: 1 // i, [2, 1, 0, 1])
    with warnings.catch_warnings(), np.errstate(divide="ignore"):
        warnings.simplefilter("error")
        assert spread(lambda x: np.ones(1) / x, [0.0, 0.0])[0] == np.inf


@pytest.mark.usefixtures("two_cores")
def test_threads_are_kept_and_nothing_goes_on_after_an_error():
    begun, ended = [], []

    def slow(i):
        begun.append(i)
        if i == 1:
            raise ValueError
        time.sleep(0.05)
        ended.append(i)

    for _ in range(3):
        with pytest.raises(ValueError):
            spread(slow, range(50))
        assert len(begun) - len(ended) == 1
        assert len(begun) < 10
        begun.clear()
        ended.clear()
    names = [thread.name for thread in threading.enumerate()]
    assert sum(name.startswith("suffice-2_") for name in names) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("two_cores")
def test_a_child_has_threads_of_its_own():
    assert spread(abs, [-1, -2, -3]) == [1, 2, 3]
    child = os.fork()
    if not child:
        with parallel_config(n_jobs=2):
            os._exit(int(spread(abs, [-1, -2, -3]) != [1, 2, 3]))
    assert os.waitpid(child, 0)[1] == 0


def fits(name):
    """The probabilities of all rows after a fit of its own, as bytes."""
    model, rows = MODELS[name]
    return clone(model).fit(rows, Y).predict_proba(rows).tobytes()


def searched(jobs):
    """The scores of a search."""
    return GridSearchCV(CategoricalNB(), GRID, cv=2, n_jobs=jobs).fit(CODES, Y).cv_results_["mean_test_score"].tobytes()


@contextmanager
def blocks(entries):
    """Batches of so many entries."""
    before, memory.ENTRIES = memory.ENTRIES, entries
    try:
        yield
    finally:
        memory.ENTRIES = before


def fits_in_blocks(entries, names):
    """`fits` in another process, which shares nothing with this one."""
    with blocks(entries):
        return [fits(name) for name in names]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("two_cores")
def test_fits_in_threads_processes_and_a_search_at_once_neither_hang_nor_differ():
    names = list(MODELS)
    with ExitStack() as stack:
        stack.enter_context(blocks(1 << 10))
        expected, best = [fits(name) for name in names], searched(1)
        threads = stack.enter_context(ThreadPoolExecutor(4))
        processes = [
            stack.enter_context(ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(start)))
            for start in ("spawn", "fork")
        ]
        processes.append(stack.enter_context(loky.ProcessPoolExecutor(1)))
        elsewhere = [pool.submit(fits_in_blocks, 1 << 10, names) for pool in processes]
        search = threads.submit(searched, 2)
        here = [threads.submit(fits, name) for _ in range(2) for name in names]
        assert [each.result(PATIENCE) for each in here] == 2 * expected
        assert search.result(PATIENCE) == best
        for each in elsewhere:
            assert each.result(PATIENCE) == expected


@pytest.mark.usefixtures("two_cores")
def test_blocks_of_any_size_and_wide_rows_give_the_same():
    few, wide = slice(120), np.random.default_rng(1).normal(size=(600, 140)) + Y[:600, None]
    for name, sizes in (("gaussian", (1, 7)), ("quadratic", (1, 13)), ("logistic", (1, 400)), ("strings", (1, 50))):
        model, rows = MODELS[name]
        whole = clone(model).fit(rows[few], Y[few]).predict_proba(rows[few])
        for entries in sizes:
            with blocks(entries):
                assert_allclose(clone(model).fit(rows[few], Y[few]).predict_proba(rows[few]), whole, atol=1e-10)
    quadratic = QuadraticDiscriminantAnalysis()  # wide enough for several threads of linear algebra
    whole = quadratic.fit(wide, Y[:600]).predict_proba(wide)
    for threads in (1, 2):
        for entries in (5000, 33_333):
            with blocks(entries), parallel_config(n_jobs=threads):
                assert_allclose(quadratic.fit(wide, Y[:600]).predict_proba(wide), whole, atol=1e-10)


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_search_in_workers_finds_what_one_alone_does(backend):
    alone = searched(1)
    with parallel_config(backend, n_jobs=2):
        assert searched(2) == alone


def test_no_more_threads_than_cores():
    assert 1 <= workers() <= cpu_count()


def test_what_is_worked_out_once_holds_up_nobody_else():
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, waits):
            self.waits, self.times = waits, 0

        @cached_property
        def value(self):
            self.times += 1
            if self.waits:
                begun.set()
                go_on.wait(20)
            return 7

    slow, quick = Slow(True), Slow(False)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert begun.wait(20)
    assert quick.value == quick.value == 7
    assert thread.is_alive()
    go_on.set()
    thread.join()
    assert (slow.value, slow.times, quick.times) == (7, 1, 1)


@pytest.mark.usefixtures("two_cores")
def test_what_other_threads_have_begun_ends_before_ctrl_c_is_answered():
    begun, ended = [], []

    def slow(i):
        elsewhere = threading.current_thread() is not threading.main_thread()
        if elsewhere:
            begun.append(i)
            if len(begun) == 1:
                time.sleep(0.05)  # until all are begun
                os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        if elsewhere:
            ended.append(i)

    gc.collect()  # in a `__del__` of what other tests left, Ctrl-C would be lost
    for over in (spread, lambda *args: list(spread_in_order(*args))):
        with pytest.raises(KeyboardInterrupt):
            over(slow, range(20))
        assert begun == ended
        assert 0 < len(begun) < 4
        time.sleep(0.3)
        assert begun == ended
        begun.clear()
        ended.clear()


@pytest.mark.usefixtures("two_cores")
def test_this_thread_works_beside_one_other_and_is_divided_again_afterwards():
    both = threading.Barrier(2, timeout=20)

    def name(_):
        both.wait()  # neither is done before both are under way
        return threading.current_thread().name

    for found in (spread(name, range(2)), list(spread_in_order(name, range(2)))):
        assert threading.current_thread().name in found
        assert len(set(found)) == 2
        assert workers() == 2


@pytest.mark.usefixtures("two_cores")
def test_an_error_here_ends_all_and_leaves_nothing_behind():
    here = threading.current_thread()

    def fails(i):
        if threading.current_thread() is here:
            raise ValueError(i)
        time.sleep(0.05)

    for over in (spread, lambda *args: list(spread_in_order(*args))):
        with pytest.raises(ValueError):
            over(fails, range(50))
        assert workers() == 2
        _threads.check_wanted()  # no CancelledError: this thread is wanted


@pytest.mark.parametrize("here", [False, True])
@pytest.mark.usefixtures("two_cores")
def test_what_stops_because_of_an_error_elsewhere_does_not_hide_it(here):
    main = threading.current_thread()

    def fails(_):
        if (threading.current_thread() is main) == here:
            time.sleep(0.1)
            raise ValueError("the true error")
        for _ in range(100):
            time.sleep(0.01)
            _threads.check_wanted()

    for over in (spread, lambda *args: list(spread_in_order(*args))):
        for _ in range(3):
            with pytest.raises(ValueError, match="the true error"):
                over(fails, range(6))


def test_linear_algebra_has_its_threads_back_whoever_leaves_last():
    entered, leave = threading.Event(), threading.Event()

    def stays_longer():
        with few_threads(0):
            entered.set()
            leave.wait(20)

    before = [library.get_num_threads() for library in BLAS]
    thread = threading.Thread(target=stays_longer)
    with few_threads(0):
        thread.start()
        assert entered.wait(20)
    assert [library.get_num_threads() for library in BLAS] == [1] * len(BLAS)
    leave.set()
    thread.join()
    assert [library.get_num_threads() for library in BLAS] == before


@pytest.mark.usefixtures("two_cores")
def test_what_a_task_does_to_its_context_stays_there():
    def careless(x):
        np.seterr(divide="raise")
        return x

    with np.errstate(divide="ignore"):
        assert spread(careless, range(6)) == list(spread_in_order(careless, range(6))) == list(range(6))
        assert np.geterr()["divide"] == "ignore"


def test_ctrl_c_in_machine_code_stays_what_it_is():
    def interrupted(*_):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    loop = Compiled(interrupted)
    loop._code = interrupted
    with pytest.raises(KeyboardInterrupt):
        loop()


@pytest.mark.usefixtures("two_cores")
def test_fits_go_on_when_threads_can_no_longer_be_begun(monkeypatch):
    monkeypatch.setattr("suffice._runtime.threads.ThreadPoolExecutor.submit", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError), parallel_config(n_jobs=2):
        spread(abs, [-1, -2])

    def ending(*_):
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr("suffice._runtime.threads.ThreadPoolExecutor.submit", ending)
    with parallel_config(n_jobs=2):
        assert spread(abs, [-1, -2]) == [1, 2]
