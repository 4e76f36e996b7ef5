"""The laws of a learner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from suffice._core.features import Domain, Encoded
from suffice._core.labels import OneHot
from suffice._core.probability import log_posterior
from suffice._core.vector import Array
from suffice.data import Memory
from suffice.learners import Fit, Learner
from suffice.models import (
    Attempt,
    Binned,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    Model,
    Moments,
    Softmax,
    Statistics,
    TiedFullGaussian,
)
from suffice.models.gaussian.moments import moments
from suffice.priors import Dirichlet
from suffice.testing._trial import LawTrial, copied, draw, numbers
from suffice.testing.engines import PickledPartitions, cuts

MODELS: tuple[Model[Any, Any], ...] = (
    Categorical(Dirichlet(1.0)),
    Binned(Dirichlet(1.0), n_bins=5),  # works on other sums than it is resolved from
    DiagonalGaussian(),
    FullGaussian(),
    TiedFullGaussian(),
    Softmax(),
)
KEYS = {"log_loss", "soft_error", "error", "objective"}


@dataclass(frozen=True, eq=False)
class Bare(Model[Moments, Array]):
    """Nearest means: a model without a single ability."""

    def sums(self, X: Encoded, W: OneHot | Array, domain: Domain) -> Moments:
        return moments(domain.features.read(X), W)

    def attempt(self, s: Statistics[Moments]) -> Attempt[Moments, Array]:
        valid = s.map(lambda leaf: np.ones(leaf.shape, dtype=bool))
        return Attempt(s.sums.mean() + s.sums.origin, valid)

    def log_joint(self, X: Encoded, theta: Array) -> Array:
        gap: Array = X.values[:, None, :] - theta
        return np.asarray(-0.5 * (gap**2).sum(axis=2))


def check_learner(
    learner: Learner,
    model: Model[Any, Any] | None = None,
    X: Any = None,
    y: Any = None,
    seeds: Iterable[int] = (0,),
    tolerance: float = 1e-6,
    draws: bool = False,
    in_memory: bool = False,
) -> None:
    """Check the laws of a learner, on every model that has the abilities it needs.

    Parameters
    ----------
    learner : Learner
        If it is random, with a seed.
    model : Model, default=None
        Unresolved; by default all models of this library with the abilities that the learner needs.
    X, y : rows and labels, default=None
        By default random.
    seeds : numbers
        One trial each.
    tolerance : float
        Of probabilities that should not depend on batches.
    draws : bool
        Whether it draws rows at random: partitions then have other rows, and learning only has to work.
    in_memory : bool
        Whether it learns from rows in memory only, and refuses any others in words.

    Examples
    --------
    >>> from suffice.learners import ClosedForm
    >>> check_learner(ClosedForm())
    """
    refuses_what_lacks(learner)
    able = [one for one in MODELS if all(isinstance(one, need) for need in learner.needed())]
    models = able if model is None else [model]
    if not models:
        raise ValueError(f"no model of this library has all abilities that {learner!r} needs: pass a model")
    for seed in seeds:
        for one in models:
            again = f"suffice.testing.check_learner(learner, {type(one).__name__}(), seeds=[{seed}])"
            trial = LawTrial(f"{learner!r} on {type(one).__name__}", again)
            rows, labels = draw(one.encoder, seed) if X is None else (X, np.asarray(y))
            _check(trial, learner, one, rows, labels, tolerance)
            parts = cuts(rows, labels, 5, seed)[:2] if isinstance(rows, np.ndarray) else []
            if in_memory and parts:
                refuses_partitions(trial, learner, one, parts[0])
            elif parts:
                does_not_depend_on_partitions(trial, learner, one, rows, labels, parts, None if draws else tolerance)


def _check(trial: LawTrial, learner: Learner, model: Model[Any, Any], X: Any, y: Array, close: float) -> None:
    fit = clone(learner).learn(model, Memory(X, y))
    is_whole(trial, fit, Memory(X, y), model)
    again = copied(learner)
    same = repr(again) == repr(clone(learner)) == repr(learner)
    trial.holds(same, "a learner pickles and clones to its own settings")
    answer = _log_p(fit, X)
    trial.same(_log_p(copied(fit), X), answer, "a fit that comes back from a pickle answers the same, to the bit", 0.0)
    trial.same(_log_p(again.learn(model, Memory(X, y)), X), answer, "learning twice is the same", 0.0)
    batched = clone(learner).learn(model, Memory(X, y, batch_size=7))
    trial.same(np.exp(_log_p(batched, X)), np.exp(answer), "what is learned does not depend on batches", close)
    has_a_history(trial, fit)
    is_not_above_its_start(trial, fit, _log_loss(answer, y))


def does_not_depend_on_partitions(
    trial: LawTrial,
    learner: Learner,
    model: Model[Any, Any],
    X: Any,
    y: Array,
    each: Iterable[Any],
    close: float | None,
) -> None:
    """Learning from partitions is the same as in memory; if `close` is None, it only has to work."""
    answer = np.exp(_log_p(clone(learner).learn(model, Memory(X, y)), X))
    for parts in each:
        sent = clone(learner).learn(model, PickledPartitions(parts))  # fails if something does not pickle
        if close is not None:
            trial.same(np.exp(_log_p(sent, X)), answer, "what is learned does not depend on partitions", close)


def refuses_partitions(trial: LawTrial, learner: Learner, model: Model[Any, Any], parts: Any) -> None:
    """A learner of rows in memory refuses others with a sentence that says so."""
    said = "nothing"
    try:
        clone(learner).learn(model, PickledPartitions(parts))
    except TypeError as error:
        said = str(error)
    named = all(word in said for word in ("rows", "memory"))
    trial.holds(named, f"TypeError says that it needs rows in memory, but it says {said!r}")


def _log_p(fit: Fit, X: Any) -> Array:
    return log_posterior(fit.model.log_joint(fit.model.encoder(X), fit.parameters))


def _log_loss(log_p: Array, y: Array) -> float:
    return -float(log_p[np.arange(len(y)), np.unique(y, return_inverse=True)[1]].mean())


def refuses_what_lacks(learner: Learner) -> None:
    """A model that lacks abilities is refused with one sentence that names them all."""
    trial = LawTrial(repr(learner), "learner.learn(a model without abilities, data)")
    if not learner.needed():
        return
    X, y = draw(Bare().encoder, 0)
    said = "nothing"
    try:
        clone(learner).learn(Bare(), Memory(X, y))
    except TypeError as error:
        said = str(error)
    named = all(need.words in said for need in learner.needed()) and "\n" not in said
    trial.holds(named, f"TypeError names all that a model lacks in one sentence, but it says {said!r}")


def is_whole(trial: LawTrial, fit: Fit, data: Memory, model: Model[Any, Any]) -> None:
    """A fit has a resolved model, finite parameters, and S(X, Y) as its statistics."""
    trial.holds(fit.model.domain is not None, "the model of a fit is resolved")
    trial.holds(np.isfinite(numbers(fit.parameters)).all(), "parameters are finite")
    s = model.statistics(fit.model.encoder(data.X), data._labels())
    trial.same_sums(fit.statistics, s, "the statistics of a fit are S(X, Y)", 1e-9)


def has_a_history(trial: LawTrial, fit: Fit) -> None:
    """A history, if there is one, has a number of each loss for every accepted step."""
    if not fit.history:
        return
    trial.holds(fit.history.keys() >= KEYS, f"a history has {sorted(KEYS)}, got {sorted(fit.history)}")
    lengths = {len(values) for values in fit.history.values()}
    few = len(lengths) == 1 and max(lengths) <= fit.n_iter
    trial.holds(few, f"a history has at most n_iter = {fit.n_iter} numbers of each, as many of all, got {lengths}")
    trial.holds(np.isfinite(numbers(fit.history)).all(), "a history is of finite numbers")


def is_not_above_its_start(trial: LawTrial, fit: Fit, log_loss: float) -> None:
    """The objective of the result is not above the first, or there is a warning."""
    if not fit.history or fit.warnings:
        return
    kept = np.flatnonzero(np.isclose(fit.history["log_loss"], log_loss, rtol=1e-7, atol=1e-9))
    if not len(kept):  # measured on other rows, or by other costs
        return
    first, last = fit.history["objective"][0], min(fit.history["objective"][i] for i in kept)
    law = f"a fit does not end above its start without a warning: objective {first:.6g} -> {last:.6g}"
    trial.holds(last <= first + 1e-9, law)
