"""The same fit where the data is: every engine that holds tables learns and answers what a data frame does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from suffice import AdditiveTables, NaiveBayes, TabularClassifier
from suffice.learners import ClosedForm, RiskCalibration
from tests.data.engines import every_engine
from tests.zoo import ZOO, every

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning"),
    pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning"),
]
PASSES = 4  # of learners that read the rows again and again
TARGET = "label"


def few_passes(entry):
    """Its estimator, with four passes over the rows where these are many."""
    estimator = entry.estimator()
    learner = estimator._learner()
    return estimator.set_params(learner=learner.set_params(max_iter=PASSES)) if iterates(entry) else estimator


def iterates(entry):
    return not isinstance(entry.prototype._learner(), ClosedForm) and hasattr(entry.prototype._learner(), "max_iter")


def tolerance(entry):
    return max(1e-8 if iterates(entry) else 1e-10, entry.tolerance)


def tabled(X, y):
    """Rows of a zoo entry as a data frame with the types that its columns have."""
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).infer_objects()
    return frame.assign(**{TARGET: y})


def mixed(n=90, seed=0):
    """A table as people have them: numbers, whole numbers, truth values, dates and words, with missing entries."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40 + 10 * y, 8).round(1),
            "visits": pd.array(rng.poisson(2 + y), dtype="Int64"),
            "since": pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(400, size=n) + 90 * y, unit="D"),
            "member": pd.array(rng.random(n) < 0.2 + 0.3 * y, dtype="boolean"),
            "colour": np.array(["red", "green", "blue"], dtype=object)[(y + rng.integers(2, size=n)) % 3],
        }
    )
    gone = rng.random(frame.shape) < 0.1
    gone[0] = True
    return frame.mask(gone).assign(**{TARGET: np.array(["one", "three", "two"])[y]})


def same_answers(estimator, engine, frame, atol):
    """Learned where the data is and in memory, asked where the data is and in memory: the same answers."""
    rows = frame.drop(columns=TARGET)
    data, collect = engine(frame, TARGET)
    theirs = estimator.fit(data)
    answer, labels = collect(theirs.predict_proba(data)), collect(theirs.predict(data))
    ours = estimator.fit(rows, frame[TARGET])
    expected = ours.predict_proba(rows)
    assert_allclose(answer, expected, rtol=0, atol=atol)
    first, second = np.sort(expected, axis=1)[:, :-3:-1].T
    clear = first - second > 10 * atol
    assert clear.any()
    assert (labels == ours.predict(rows))[clear].all()


CLUSTERS = ("dask", "spark")  # where a fit takes a second or two


CALIBRATED = ("categorical-rc", "gaussian-nb-rc", "qda-rc")


def firsts():
    """The first entry of every kind of estimator and model in closed form, and some that are calibrated."""
    kinds = {}
    for entry in ZOO:
        if not iterates(entry) or entry.name in CALIBRATED:
            kinds.setdefault((type(entry.prototype), type(entry.model().base_model), iterates(entry)), entry)
    return list(kinds.values())


FIRSTS = firsts()


@every(lambda entry: not entry.out_of_sample)
@every_engine(lambda name: name not in ("memory", *CLUSTERS))
def test_every_engine_learns_the_same(engine, entry):
    learns_the_same(engine, entry)


@every(lambda entry: not entry.out_of_sample and entry in FIRSTS)
@every_engine(lambda name: name in CLUSTERS)
def test_every_cluster_learns_the_same(engine, entry):
    learns_the_same(engine, entry)


def learns_the_same(engine, entry):
    frame = tabled(*entry.draw(3))
    if not engine.can(entry):
        with pytest.raises(TypeError):
            few_passes(entry).fit(engine(frame, TARGET)[0])
        return
    same_answers(few_passes(entry), engine, frame, tolerance(entry))


@every(lambda entry: entry.missing)
@every_engine(lambda name: name not in ("memory", *CLUSTERS))  # where mixed tables, below, have to do
def test_every_engine_learns_the_same_of_rows_with_missing_entries(engine, entry):
    X, y = entry.draw(4)
    if engine.can(entry):
        same_answers(few_passes(entry), engine, tabled(entry.holed(X, 4), y), tolerance(entry))


@every_engine()
@pytest.mark.parametrize(
    ("estimator", "atol"),
    [
        (NaiveBayes(), 1e-10),
        (NaiveBayes(numeric="gaussian"), 1e-10),
        (NaiveBayes(learner=RiskCalibration(0.1, max_iter=PASSES, stop=None)), 1e-8),
        (AdditiveTables(pairs=None, learner=ClosedForm()), 1e-10),
        (TabularClassifier(n_trees=8, random_state=0), 1e-8),
    ],
    ids=["naive-bayes", "naive-bayes-normal", "naive-bayes-rc", "additive", "tabular"],
)
def test_every_engine_learns_the_same_of_mixed_tables(engine, estimator, atol):
    same_answers(estimator, engine, mixed(), atol)
