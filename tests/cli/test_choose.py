"""`fit --model auto` within a time: slow models are ended, and the chosen one can learn all rows in time."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import load
from suffice.compare.race import schedule
from suffice.compare.race.run import work
from suffice.compare.race.schedule import NO_TIME, ChoiceRounds, Clock, Findings
from suffice.compare.race.workers import FAILED


@pytest.mark.thorough
def test_a_wide_table_is_done_in_its_time(tmp_path, call):
    """One of the models alone would take far longer, and nothing stops a fit from within."""
    rng, seconds = np.random.default_rng(0), 12
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3000)) + 0.5 * y[:, None]
    pq.write_table(pa.table({**{f"c{j}": X[:, j] for j in range(3000)}, "y": y}), tmp_path / "t.parquet")
    begun = time.monotonic()
    said = call("fit", "t.parquet", "--target", "y", "--model", "auto", "--max-time", seconds, "--out", "m.suffice")
    assert time.monotonic() - begun < 1.2 * seconds
    assert "additive was not compared: it was ended after" in said
    assert load("m.suffice").n_features_in_ == 3000


class Time:
    """Time that passes only while somebody waits."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Crew:
    """A process in which fits and predictions take known times."""

    count = free = 1
    busy = 0

    def __init__(self, time, costs, starting=0.25):
        self.time, self.costs, self.starting = time, costs, starting

    def start(self, task, seconds):
        self.task, self.seconds, self.busy, self.free = task, seconds, 1, 0

    def wait(self, _):
        if not self.busy:
            return []
        self.busy, self.free, cost = 0, 1, self.costs[self.task.method]
        if isinstance(cost, str):
            return [(self.task, {FAILED: cost})]
        if cost > self.seconds:
            self.time.now += self.seconds + self.starting
            return [(self.task, None)]
        self.time.now += cost
        loss = 1 / (1 + cost)  # the longer it takes, the better it is
        return [(self.task, {"error": 0.5, "log_loss": loss, "wall": cost, "seconds": {"fit": cost}})]

    def drop(self):
        return []


@pytest.fixture
def race(monkeypatch):
    """A function that races models of known costs, and says when all rows would be learned."""

    def run(costs, seconds, times):
        time = Time()
        monkeypatch.setattr(schedule, "time", time)
        found = Findings(tuple(costs), 5, 1000)
        rounds = ChoiceRounds(found, times, Clock(time.now + seconds, seconds))
        work(rounds, Clock(float("inf"), seconds), Crew(time, costs), found, lambda *_: None)
        best = rounds.best
        return rounds, best, time.now - 100.0 + (0.0 if best is None else times * costs[best])

    return run


@pytest.mark.parametrize("times", [1.25, 12.5])
@pytest.mark.parametrize("seed", range(20))
def test_all_is_done_in_time_if_the_first_model_is_quick(race, seed, times):
    rng = np.random.default_rng(seed)
    costs = {"first": 0.1, **{f"m{i}": float(10 ** rng.uniform(-2, 3)) for i in range(7)}}
    for seconds in (5.0, 20.0, 60.0):
        rounds, best, done = race(costs, seconds, times)
        assert best is not None
        assert done <= seconds
        assert all(bool(rounds.found.done(name)) != (name in rounds.found.skipped) for name in costs)


def test_without_need_everything_is_tried_and_the_best_is_taken(race):
    rounds, best, _ = race({"a": 0.1, "b": 0.3, "c": "it cannot", "d": 0.2}, 20.0, 1.25)
    assert best == "b"
    assert rounds.folds == 5
    assert rounds.found.failures | rounds.found.skipped == {"c": "it cannot"}


def test_a_better_model_that_cannot_learn_all_rows_in_time_is_not_taken(race):
    rounds, best, done = race({"a": 0.1, "b": 1.0, "c": 0.2}, 10.0, 12.5)
    assert best == "c"
    assert done <= 10
    assert "b" in rounds.measured  # but it was compared


def test_if_nothing_was_measured_in_time_there_is_no_choice(race, tmp_path, call, monkeypatch):
    rounds, best, done = race({"a": 40.0, "b": 30.0}, 20.0, 1.25)
    assert best is None
    assert done <= 20
    assert set(rounds.found.skipped) == {"a", "b"}
    rounds, best, _ = race({"a": 1.0, "b": 1.0}, 0.0, 1.25)  # the first one has a little time in any case
    assert best == "a"
    assert rounds.found.skipped["b"] == NO_TIME
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(schedule, "FIRST_SECONDS", 0.0)
    pq.write_table(pa.table({"x": np.arange(60.0), "y": np.arange(60) % 2}), "t.parquet")
    words = ("fit", "t.parquet", "--target", "y", "--model", "auto", "--max-time", 0, "--out", "m.suffice")
    assert "no model could be compared within --max-time: give more seconds, or choose a model with --model" in call(
        *words, code=2
    )
    assert not (tmp_path / "m.suffice").exists()
