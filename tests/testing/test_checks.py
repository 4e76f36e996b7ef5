"""The checks hold for the library's own parts, and tell of parts that break a law."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from suffice._core.labels import OneHot
from suffice.data import Batch, Memory
from suffice.learners import TM, ClosedForm, DiscriminativeFrequency, GradientDescent, Newton, RiskCalibration
from suffice.models import (
    Attempt,
    Categorical,
    Curved,
    DiagonalGaussian,
    Natural,
    Softmax,
    Tabular,
    TiedDiagonalGaussian,
)
from suffice.testing import PickledPartitions, check_engine, check_learner, check_model
from tests.strangers.averaged import AveragedCalibration
from tests.zoo import STEPS

LEARNERS = [
    ClosedForm(),
    RiskCalibration(max_iter=STEPS),
    RiskCalibration(0.1, STEPS, stop=None, anchor=0),
    RiskCalibration(max_iter=STEPS, init="random", random_state=0),
    TM(),
    GradientDescent(max_iter=STEPS),
    Newton(),
    DiscriminativeFrequency(),
]
DRAWING = [
    RiskCalibration(max_iter=STEPS, init="bootstrap", random_state=0),
    RiskCalibration(max_iter=STEPS, batch_size=20, random_state=0),
    RiskCalibration(max_iter=STEPS, validation_fraction=0.2, random_state=0),
]


@pytest.mark.parametrize("learner", [*LEARNERS, *DRAWING], ids=repr)
def test_every_learner_keeps_the_laws(learner):
    check_learner(learner, draws=learner in DRAWING)


def test_a_learner_without_a_model_is_not_passed():
    class Needy(GradientDescent):
        needs = (Curved, Tabular)

    with pytest.raises(ValueError, match="no model of this library has all abilities that"):
        check_learner(Needy())


def test_partitions_keep_the_laws():
    check_engine(PickledPartitions, counts=[5])


@dataclass(frozen=True, eq=False)
class Means(DiagonalGaussian):
    def sums(self, X, W, domain):
        s = super().sums(X, W, domain)
        return replace(s, first=s.mean())


@dataclass(frozen=True, eq=False)
class Unnormalised(TiedDiagonalGaussian):
    def log_density(self, X, theta):
        return super().log_density(X, theta) + 1.0

    def log_density_without(self, X, Y, theta, s):
        return super().log_density_without(X, Y, theta, s) + 1.0


@dataclass(frozen=True, eq=False)
class Remembering(Categorical):
    def log_density_without(self, X, Y, theta, s):
        return self.log_density(X, theta)


@dataclass(frozen=True, eq=False)
class OfLabels(Categorical):
    def log_density_without(self, X, Y, theta, s):
        return super().log_density_without(X, Y if isinstance(Y, OneHot) else Y.clip(min=0.0), theta, s)


@dataclass(frozen=True, eq=False)
class Uphill(Softmax):
    def gradient(self, s, eta):
        return -1.0 * super().gradient(s, eta)


@dataclass(frozen=True, eq=False)
class Forgetful(Categorical):
    def natural(self, theta):
        return 0.5 * super().natural(theta)


@dataclass(frozen=True, eq=False)
class Doubtful(DiagonalGaussian):
    def attempt(self, s):
        got = super().attempt(s)
        return Attempt(got.parameters, got.valid.map(np.zeros_like), got.problem)


@dataclass(frozen=True, eq=False)
class Elsewhere(DiagonalGaussian):
    def log_likelihood(self, target, best, theta):
        return 2.0 * super().log_likelihood(target, best, theta)


@pytest.mark.parametrize(
    ("model", "law"),
    [
        (Means(), "add up to those of all"),
        (Unnormalised(), "integrates to one"),
        (Remembering(), "under the parameters of all other rows"),
        (OfLabels(), "with weights in all classes"),
        (Uphill(), "finite differences"),
        (Forgetful(), r"from_natural\(natural\(theta\)\) answers as theta"),
        (Doubtful(), "valid is true"),
        (Elsewhere(), "sum of log p"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_model_that_breaks_a_law_is_told(model, law):
    with pytest.raises(AssertionError, match=rf"{type(model).__name__} breaks a law: .*{law}.* To see it again"):
        check_model(model, seeds=[0])


class Hasty(PickledPartitions):
    """Leaves the last partition out."""

    def sum(self, f):
        return PickledPartitions.sum(self if len(self.parts) < 2 else self._but_last(), f)

    def _but_last(self):
        other = PickledPartitions([])
        other.parts = self.parts[:-1]
        return other


class Backwards(PickledPartitions):
    def transform(self, f):
        return super().transform(f)[::-1]


class Sticky(PickledPartitions):
    """Labels with the classes of the first partition only."""

    def sum(self, f):
        first = self.parts[0].Y.classes
        return sum(f(Batch(part.X, part.Y.onto(first))) for part in self.parts)


@pytest.mark.parametrize(
    ("engine", "law"), [(Hasty, "in memory"), (Backwards, "in memory"), (Sticky, "in memory")], ids=lambda value: value
)
def test_an_engine_that_breaks_a_law_is_told(engine, law):
    with pytest.raises(AssertionError, match=rf"The engine breaks a law: .*{law}.*check_engine"):
        check_engine(engine, counts=[7])


class OneBatch(AveragedCalibration):
    """Learns from the first batch that it sees."""

    def learn(self, model, data):
        if isinstance(data, Memory) and data.batch_size:
            data = Memory(data.X[: data.batch_size * 4], data.Y[: data.batch_size * 4])
        return super().learn(model, data)


class Silent(AveragedCalibration):
    """Ends far above its start."""

    def learn(self, model, data):
        fit = super().learn(model, data)
        if fit.history:
            fit.history["objective"] = [float(i) for i in range(fit.n_iter)]
        return fit


class Short(AveragedCalibration):
    def learn(self, model, data):
        return replace(super().learn(model, data), n_iter=2)


class Rude(GradientDescent):
    def learn(self, model, data):
        if not isinstance(model, Natural):
            raise TypeError("no")
        return super().learn(model, data)


@pytest.mark.parametrize(
    ("learner", "law"),
    [
        (OneBatch(), "does not depend on batches"),
        (Silent(), "above its start"),
        (Short(), "n_iter = 2"),
        (Rude(), "names all that a model lacks"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_learner_that_breaks_a_law_is_told(learner, law):
    with pytest.raises(AssertionError, match=rf"{type(learner).__name__}.* breaks a law: .*{law}"):
        check_learner(learner)
