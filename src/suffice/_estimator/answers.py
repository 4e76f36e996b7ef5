"""Answers of a fitted model for rows, as values that travel to where the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.special import logsumexp

from suffice._core.features import Domain, Encoded
from suffice._core.formula import Arithmetic, E
from suffice._core.labels import check_family
from suffice._core.probability import log_posterior, log_posterior_formula, most_probable, posterior, posterior_formula
from suffice._core.vector import Array, Vector
from suffice.data import Batch
from suffice.data.queries import DatabaseRows
from suffice.models import Density, HasFormula, Model, NoNomogramError

TIE = 1e-9  # densities that differ by less, as a share, are equal except for rounding
Answer = Callable[[Array], Array]  # of log p(x, y) (n, k), up to a term that is the same for all classes


@dataclass(frozen=True)
class Asked:
    """An answer of a resolved model with parameters, for features as they come."""

    model: Model[Any, Any]
    parameters: Any
    answer: Answer

    def __call__(self, X: Any) -> Array:
        likely = self.answer is posterior or isinstance(self.answer, MostProbable)  # which tiny ones do not change
        scores = self.model.log_joint_likely if likely else self.model.log_joint
        return self.answer(scores(self.model.encoder(X), self.parameters))

    def formulas(self, ops: Arithmetic[E], columns: Sequence[str]) -> list[E]:  # noqa: ARG002 - named when learned
        """The same as formulas of the columns."""
        return formula(self.answer, ops, score_formulas(self.model, self.parameters, ops))


@dataclass(frozen=True)
class JointDensity:
    """log p(x, y) (n, k) of a resolved density with parameters, for features as they come."""

    model: Density[Any, Any]
    parameters: Any

    def __call__(self, X: Any) -> Array:
        return self.model.log_joint_density(self.model.encoder(X), self.parameters)


@dataclass(frozen=True)
class LogDensity:
    """log p(x) (n,) of a resolved density with parameters, for features as they come."""

    joint: JointDensity

    def __call__(self, X: Any) -> Array:
        return np.asarray(logsumexp(self.joint(X), axis=1))


@dataclass(frozen=True)
class Denser:
    """The share of some rows that are denser than each of others, (n,); of each only the entries that those have.

    Entries that are missing, or categories never learned, are left out of both, so that densities are of the same
    columns.
    """

    joint: JointDensity
    rows: Encoded

    def __call__(self, X: Any) -> Array:
        model = self.joint.model
        X, features = model.encoder(X), cast(Domain, model.domain).features
        absent = features.absent(X)
        out, holed = np.empty(len(X)), absent.any(axis=1)
        groups = [(np.zeros(absent.shape[1], dtype=bool), np.flatnonzero(~holed))] * bool((~holed).any())
        patterns, of = np.unique(absent[holed], axis=0, return_inverse=True)
        groups += [(one, np.flatnonzero(holed)[of.ravel() == at]) for at, one in enumerate(patterns)]
        for pattern, rows in groups:
            out[rows] = self._share(X[rows], pattern)
        return out

    def _share(self, X: Encoded, lacking: Array) -> Array:
        """Of rows that all lack the same columns (d,)."""
        features, values = self.rows.features, self.rows.values
        rows = Encoded(features, features.blank(values, lacking)) if lacking.any() else self.rows
        others, own = np.sort(self._log_dense(rows)), self._log_dense(X)
        size = np.where(np.isfinite(own), np.maximum(1.0, abs(own)), 1.0)
        above = np.searchsorted(others, own + TIE * size, side="right")
        return np.asarray(1.0 - above / len(others))

    def _log_dense(self, X: Encoded) -> Array:
        """log p(x) over the room that it is the probability of (n,)."""
        return LogDensity(self.joint)(X) - self.joint.model.log_volume(X)


@dataclass(frozen=True)
class Single:
    """Another function of rows, whose numbers are given in single precision."""

    f: Callable[[Any], Array]

    def __call__(self, X: Any) -> Array:
        with np.errstate(over="ignore"):
            return self.f(X).astype(np.float32)


@dataclass(frozen=True)
class MostProbable:
    """The most probable class of each row."""

    classes: Array

    def __call__(self, log_joint: Array) -> Array:
        return np.asarray(self.classes[most_probable(log_joint)])

    def formula(self, ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
        """The same as a formula of the scores (k,)."""
        return [ops.choose(scores, self.classes)]


def single_log_posterior(log_joint: Array) -> Array:
    """`log_posterior` in single precision: 0 for a probability that rounds to 1."""
    log_p = log_posterior(log_joint)
    return np.where(log_p > -(2.0**-25), 0.0, log_p)


def log_odds(log_joint: Array) -> Array:
    """The log-odds of the second class (n,) if there are two, else the log-probability of each class (n, k)."""
    log_p = log_posterior(log_joint)
    return np.asarray(log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p)


@dataclass(frozen=True)
class OddsAtCosts:
    """`log_odds` that are positive where the second of two classes costs less."""

    costs: Array  # (k, k), rows the true class

    def __call__(self, log_joint: Array) -> Array:
        odds = log_odds(log_joint)
        if odds.ndim == 2:
            return odds
        with np.errstate(divide="ignore", invalid="ignore"):  # certain, and free of cost: neither costs less
            return np.asarray(odds + np.log(self.costs[1, 0]) - np.log(self.costs[0, 1]))


@dataclass(frozen=True)
class LeastCost:
    """The class of least expected cost of each row."""

    classes: Array
    costs: Array  # (k, k), rows the true class; 0 for a right decision

    def __call__(self, log_joint: Array) -> Array:
        if self._of_odds:
            return np.asarray(self.classes[(OddsAtCosts(self.costs)(log_joint) > 0).astype(int)])
        return np.asarray(self.classes[np.argmin(posterior(log_joint) @ self.costs, axis=1)])

    @property
    def _of_odds(self) -> bool:
        """Whether log-odds tell it: they still do where probabilities round."""
        return bool(len(self.classes) == 2 and (self.costs >= 0).all() and self.costs.any())

    def formula(self, ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
        """The same as a formula of the scores (k,)."""
        if self._of_odds:
            with np.errstate(divide="ignore"):
                price = np.log([self.costs[0, 1], self.costs[1, 0]]).tolist()
            return [ops.choose([ops.plus(s, ops.number(p)) for s, p in zip(scores, price, strict=True)], self.classes)]
        p = ops.keep(posterior_formula(ops, scores))
        saved = [
            ops.add(*(ops.times(ops.number(-c), q) for c, q in zip(cost, p, strict=True))) for cost in self.costs.T
        ]
        return [ops.choose(saved, self.classes)]


@dataclass(frozen=True)
class Abstaining:
    """What another rule takes, or the last of the labels (k + 1,) where the greatest probability is below the least."""

    rule: Answer  # gives numbers of classes
    least: float
    labels: Array

    def __call__(self, log_joint: Array) -> Array:
        unsure = posterior(log_joint).max(axis=1) < self.least
        return np.asarray(self.labels[np.where(unsure, -1, self.rule(log_joint))])


# functions, which have no methods of their own
FORMULAS = ((posterior, posterior_formula), (log_posterior, log_posterior_formula))


def score_formulas(model: Model[Any, Any], parameters: Any, ops: Arithmetic[E]) -> list[E]:
    """The scores (k,) of a resolved model as formulas of the columns; NoNomogramError where they have none."""
    one, theta = model.collapse(parameters)
    try:
        if not isinstance(one, HasFormula):
            raise NoNomogramError(f"it lacks {HasFormula.words}")
        return ops.keep(one.formula(ops, theta))
    except NoNomogramError as error:
        raise NoNomogramError(f"{model.display_name} cannot be written in SQL: {error}") from error


def formula(answer: Answer, ops: Arithmetic[E], scores: Sequence[E]) -> list[E]:
    """An answer as formulas of the scores (k,): one for every column of what it gives; TypeError if it has none."""
    found: Any = next((formula for known, formula in FORMULAS if known is answer), getattr(answer, "formula", None))
    if found is None:
        raise TypeError(
            f"{getattr(answer, '__name__', type(answer).__name__)} cannot be written in SQL: ask for predict, "
            "predict_proba or predict_log_proba, or take the rows into memory"
        )
    formulas: list[E] = found(ops, scores)
    return formulas


@dataclass(frozen=True, eq=False, repr=False)
class RightShare(Vector):
    """The weight of some rows, and of those among them that are right."""

    mass: float
    right: float


@dataclass(frozen=True)
class Hits:
    """Which rows of a batch get their own label."""

    f: Callable[[Any], Array]  # labels of rows
    classes: Array  # that were learned

    def __call__(self, batch: Batch) -> RightShare:
        Y = batch.Y
        check_family(Y.classes, self.classes, "class labels")
        right = self.f(batch.X) == Y.classes[Y.codes]
        return RightShare(float(Y.weight.sum()), float(Y.weight @ right))

    def query(self, rows: DatabaseRows) -> RightShare:
        """The same of the rows of a database."""
        check_family(rows.classes, self.classes, "class labels")
        return RightShare(*rows.agreeing(self.formula, self.classes))

    def formula(self, ops: Arithmetic[E]) -> E:
        """The number of the class that a row gets, as a formula of the columns."""
        f: Any = self.f
        numbers = replace(f, answer=replace(f.answer, classes=np.arange(len(self.classes))))
        found: list[E] = numbers.formulas(ops, ())
        return found[0]
