"""`fit --model auto` within a time: slow models are ended, and the one that is taken can learn all rows in time."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import load
from suffice.cli import choose as _choose
from suffice.cli.choose import NO_TIME, Score, Trial, _ChoiceRace
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


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Crew:
    """A process in which learning and asking take times that are known."""

    def __init__(self, clock, costs, starting=0.25):
        self.clock, self.costs, self.starting = clock, costs, starting

    def start(self, task, seconds):
        self.task, self.seconds = task, seconds

    def wait(self, _):
        cost = 0.0 if self.task.fold is None else self.costs[self.task.name]
        if isinstance(cost, str):
            return [(self.task, {FAILED: cost})]
        if cost > self.seconds:
            self.clock.now += self.seconds + self.starting
            return [(self.task, None)]
        self.clock.now += cost
        loss = 1 / (1 + cost)  # the longer it takes, the better it is
        return [(self.task, {"score": Score(0.5, loss, cost, cost), "gains": np.zeros((1, 2))})]


@pytest.fixture
def race(monkeypatch):
    """A function that runs a race of models with known costs, and says when all rows would be learned."""

    def run(costs, seconds, times):
        clock = Clock()
        monkeypatch.setattr(_choose, "time", clock)
        trials = [Trial(name) for name in costs]
        made = _ChoiceRace(trials, 5, times, clock.now + seconds, lambda _: None)
        made.run(Crew(clock, costs))
        best = None if made.best is None else made.best.name
        return made, best, clock.now - 100.0 + (0.0 if best is None else times * costs[best])

    return run


@pytest.mark.parametrize("times", [1.25, 12.5])
@pytest.mark.parametrize("seed", range(20))
def test_all_is_done_in_time_if_the_first_model_is_quick(race, seed, times):
    rng = np.random.default_rng(seed)
    costs = {"first": 0.1, **{f"m{i}": float(10 ** rng.uniform(-2, 3)) for i in range(7)}}
    for seconds in (5.0, 20.0, 60.0):
        made, best, done = race(costs, seconds, times)
        assert best is not None
        assert done <= seconds
        assert all(bool(trial.scores) != bool(trial.why) for trial in made.trials)


def test_without_need_everything_is_tried_and_the_best_is_taken(race):
    made, best, _ = race({"a": 0.1, "b": 0.3, "c": "it cannot", "d": 0.2}, 20.0, 1.25)
    assert best == "b"
    assert made.folds == 5
    assert {trial.name: trial.why for trial in made.trials if trial.why} == {"c": "it cannot"}


def test_a_better_model_that_cannot_learn_all_rows_in_time_is_not_taken(race):
    made, best, done = race({"a": 0.1, "b": 1.0, "c": 0.2}, 10.0, 12.5)
    assert best == "c"
    assert done <= 10
    assert not made.trials[1].why  # but it was compared


def test_if_nothing_was_measured_in_time_there_is_no_choice(race, tmp_path, call, monkeypatch):
    made, best, done = race({"a": 40.0, "b": 30.0}, 20.0, 1.25)
    assert best is None
    assert done <= 20
    assert all(trial.late for trial in made.trials)
    made, best, _ = race({"a": 1.0, "b": 1.0}, 0.0, 1.25)  # the first one has a little time in any case
    assert best == "a"
    assert made.trials[1].why == NO_TIME
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_choose, "FIRST_SECONDS", 0.0)
    pq.write_table(pa.table({"x": np.arange(60.0), "y": np.arange(60) % 2}), "t.parquet")
    words = ("fit", "t.parquet", "--target", "y", "--model", "auto", "--max-time", 0, "--out", "m.suffice")
    assert "no model could be compared within --max-time: give more seconds, or choose one by --model" in call(
        *words, code=2
    )
    assert not (tmp_path / "m.suffice").exists()
