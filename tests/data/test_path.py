"""The way of a classifier from rows in tables that are elsewhere: whatever it does there, it does as in memory."""

import operator
import pickle
import warnings
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from suffice import (
    FisherDiscriminant,
    GaussianNB,
    KernelMPM,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    TabularClassifier,
)
from suffice.data import Data, Layout, Memory
from suffice.learners import RiskCalibration
from suffice.model_selection import GridSearch, cross_validate
from suffice.testing import PickledPartitions
from tests.strangers.lazy import Lazy

RNG = np.random.default_rng(0)
Y = np.where(RNG.random(600) < 0.4, "no", "yes")
TABLE = pd.DataFrame(
    {
        "id": np.arange(600),
        "a": RNG.normal(size=600) + (Y == "no"),
        "b": RNG.normal(size=600),
        "c": np.where(RNG.random(600) < 0.1, None, RNG.choice(["u", "v"], 600)),
        "w": RNG.random(600) + 0.5,
        "label": Y,
    }
)
MIXED, NUMBERS = ["a", "b", "c"], ["a", "b"]
RC = RiskCalibration(0.1, max_iter=4, stop=None)


class Tables(Data):
    """Data frames, and what their columns are."""

    def __init__(self, table, columns=None, count=4):
        self.parts = [table.iloc[rows] for rows in np.array_split(np.arange(len(table)), count)]
        self.layout = Layout("label", "w", None if columns is None else tuple(columns), ("id",))
        self.sums = 0

    def sum(self, f):
        self.sums += 1
        return reduce(operator.add, (pickle.loads(pickle.dumps(f))(self.layout.batch(part)) for part in self.parts))  # noqa: S301

    def transform(self, f):
        return pd.concat([pd.DataFrame(self.layout.answers(part, f)) for part in self.parts], ignore_index=True)


def memory(table, columns):
    return table[columns], table["label"], table["w"]


def same(ours, theirs, columns, tolerance=1e-10):
    X = TABLE[columns]
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=tolerance)
    assert ours.feature_names_in_.tolist() == theirs.feature_names_in_.tolist() == columns
    assert ours.n_features_in_ == len(columns)


@pytest.mark.parametrize(
    ("model", "columns", "tolerance"),
    [
        (GaussianNB(class_weight="balanced"), NUMBERS, 1e-10),
        (GaussianNB(class_weight={"no": 2.0}, learner=RC), NUMBERS, 1e-8),
        (LogisticRegression(class_weight="balanced"), NUMBERS, 1e-6),  # where Newton's method stops
        (NaiveBayes(class_weight="balanced", learner=RC), MIXED, 1e-8),
        (TabularClassifier(n_trees=6, random_state=0, class_weight="balanced"), MIXED, 1e-8),
    ],
)
def test_weights_of_classes(model, columns, tolerance):
    theirs = model.fit(*memory(TABLE, columns)).predict_proba(TABLE[columns])
    assert_allclose(model.fit(Tables(TABLE, columns)).predict_proba(TABLE[columns]), theirs, rtol=0, atol=tolerance)


def test_rows_come_and_go():
    first, rest = TABLE[:200], TABLE[200:]
    ours = NaiveBayes().partial_fit(Tables(first, MIXED)).partial_fit(Tables(rest, MIXED))
    same(ours, NaiveBayes().fit(*memory(TABLE, MIXED)), MIXED)
    ours.forget(Tables(rest, MIXED))
    same(ours, NaiveBayes().fit(*memory(first, MIXED)), MIXED)
    same(
        NaiveBayes().fit(Tables(first, MIXED)) + NaiveBayes().fit(Tables(rest, MIXED)),
        NaiveBayes().fit(*memory(TABLE, MIXED)),
        MIXED,
    )


def test_calibration_is_learned_anew():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = GaussianNB(learner=RC).fit(Tables(TABLE[:200], NUMBERS)).partial_fit(Tables(TABLE[200:], NUMBERS))
        assert ours.stale_
    ours.recalibrate(Tables(TABLE, NUMBERS))
    assert not ours.stale_
    same(ours, GaussianNB(learner=RC).fit(*memory(TABLE, NUMBERS)), NUMBERS, 1e-8)


@pytest.mark.parametrize("costs", [None, [[0, 9], [1, 0]]])
def test_the_score_takes_one_read(costs):
    data = Tables(TABLE, NUMBERS)
    model = FisherDiscriminant(costs=costs).fit(data)
    read = data.sums
    X, y, weight = memory(TABLE, NUMBERS)
    assert model.score(data) == pytest.approx(model.score(X, y, weight), abs=1e-12)
    assert data.sums == read + 1
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert model.score(Memory(X, y)) == pytest.approx(model.score(X, y), abs=1e-12)
    with pytest.raises(ValueError, match="a data set brings its own labels and weights"):
        model.score(data, y)
    with pytest.raises(ValueError, match="class labels are numbers here and strings in what was learned"):
        model.score(Memory(X, np.zeros(len(X))))


def test_weights_that_are_nothing_beside_the_prior():
    light = TABLE.assign(w=1e-5)
    with pytest.warns(UserWarning, match=r"^weight sums to 0\.006, but the prior counts for 30 rows.* 600, or"):
        GaussianNB().fit(Tables(light, NUMBERS))
    data = Tables(TABLE, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianNB().fit(data)
    assert data.sums == 1  # no read for that


@pytest.mark.parametrize("change", [{"a": "z"}, {"a": "b", "b": "a"}])
@pytest.mark.parametrize("model", [GaussianNB(), NaiveBayes()])
def test_other_columns_are_refused(model, change):
    model.fit(Tables(TABLE, NUMBERS))
    other = Tables(TABLE.rename(columns=change).drop(columns="c"))
    for ask in (model.predict, model.partial_fit, model.forget, model.score):
        with pytest.raises(ValueError, match="feature names"):
            ask(other)


def test_answers_stay_where_the_rows_are():
    data = Tables(TABLE, NUMBERS)
    model = LinearDiscriminantAnalysis().fit(data)
    answers = {
        "predict": ["prediction"],
        "predict_proba": ["p(no)", "p(yes)"],
        "predict_log_proba": ["log p(no)", "log p(yes)"],
        "predict_joint_log_proba": ["log p(x, no)", "log p(x, yes)"],
        "decision_function": ["log odds"],
        "transform": ["lineardiscriminantanalysis0"],
        "anomaly_score": ["anomaly score"],
    }
    for name, columns in answers.items():
        found = getattr(model, name)(data)
        assert list(found.columns) == ["id", *columns]
        expected = np.asarray(getattr(model, name)(TABLE[NUMBERS])).reshape(len(TABLE), -1)
        assert (found["id"] == TABLE["id"]).all()
        if name == "predict":
            assert (found[columns].to_numpy() == expected).all()
        else:
            assert_allclose(found[columns].to_numpy(), expected, rtol=1e-10)


@pytest.mark.parametrize("make", [lambda: Tables(TABLE, NUMBERS), lambda: PickledPartitions([(TABLE[NUMBERS], Y)])])
def test_what_needs_rows_in_memory_says_so(make):
    data, model = make(), GaussianNB().fit(*memory(TABLE, NUMBERS))
    for ask in (
        lambda: model.loo_log_proba(data),
        lambda: cross_validate(GaussianNB(), data),
        lambda: GridSearch(GaussianNB(), {"tied": [True, False]}).fit(data),
        lambda: model.contributions(data),
        lambda: KernelMPM().fit(data),
        lambda: GaussianNB(learner=RiskCalibration(out_of_sample=True)).fit(data),
    ):
        with pytest.raises(TypeError, match="rows in memory"):
            ask()


def test_labels_have_to_be_given():
    model = GaussianNB().fit(*memory(TABLE, NUMBERS))
    with pytest.raises(ValueError, match="loo_log_proba needs the labels y"):
        model.loo_log_proba(TABLE[NUMBERS])
    with pytest.raises(ValueError, match="cross_validate needs the labels y"):
        cross_validate(model, TABLE[NUMBERS])


def test_a_lazy_engine_goes_the_same_way():
    X, y = TABLE[NUMBERS].to_numpy(), Y
    data = Lazy([(X[:250], y[:250]), (X[250:], y[250:])])
    model = GaussianNB(learner=RC).fit(data)
    assert model.score(data) == pytest.approx(model.score(X, y), abs=1e-12)
    left = GaussianNB().fit(data).forget(Lazy([(X[250:], y[250:])]))
    assert_allclose(left.predict_proba(X), GaussianNB().fit(X[:250], y[:250]).predict_proba(X), atol=1e-10)
