"""What the figures ask of tangent discriminants: a plane, the two classes behind it, and what to call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice._core.vector import Array
from suffice.encoders import Numbers
from suffice.models.compose.contests import MULTI_CLASS, SCHEMES, Contest
from suffice.models.planes.pencil import Pencil, Plane
from suffice.plotting._canvas import literal
from suffice.tangent import TangentDiscriminant

NAMES = {
    "FisherDiscriminant": "Fisher",
    "ScatterDiscriminant": "Scatter",
    "MinimaxProbabilityMachine": "Minimax (MPM)",
    "MinimumErrorMPM": "Minimum error MPM",
    "QuasiBayes": "Quasi-Bayes",
    "LinearBayes": "Linear Bayes",
    "DesignedDiscriminant": "Designed",
}

Models = TangentDiscriminant | Sequence[TangentDiscriminant] | Mapping[str, TangentDiscriminant]


def named(models: Models) -> dict[str, TangentDiscriminant]:
    """Discriminants by what the legend calls them: the keys of a dict, else by their kind, numbered if it recurs."""
    if isinstance(models, Mapping):
        found = {str(name): model for name, model in models.items()}
    else:
        listed = [models] if isinstance(models, TangentDiscriminant) else list(_sequence(models))
        kinds = [NAMES.get(type(model).__name__, type(model).__name__) for model in listed]
        often, seen = Counter(kinds), Counter[str]()
        found = {}
        for kind, model in zip(kinds, listed, strict=True):
            seen[kind] += 1
            found[f"{kind} {seen[kind]}" if often[kind] > 1 else kind] = model
    if not found:
        raise ValueError("give at least one tangent discriminant, got none")
    for model in found.values():
        if not isinstance(model, TangentDiscriminant):
            what = model.__name__ if isinstance(model, type) else f"a {type(model).__name__}"
            raise ValueError(f"the figures are those of tangent discriminants, FisherDiscriminant() say, got {what}")
    return found


def _sequence(models: Any) -> Sequence[Any]:
    return models if isinstance(models, Sequence) and not isinstance(models, str) else [models]


@dataclass(frozen=True, eq=False)
class View:
    """A plane of a fitted discriminant, and the two sides that it tells apart."""

    name: str
    model: TangentDiscriminant
    plane: Plane
    pencil: Pencil
    group: Array  # (k,) the side of each class, -1 if on none
    classes: Array  # (k,)

    @property
    def labels(self) -> tuple[str, str]:
        """What to call the sides."""
        first, second = Contest(self.group).sides
        called = [literal(str(self.classes[side[0]])) if len(side) == 1 else "rest" for side in (first, second)]
        return called[0], called[1]

    @property
    def origin(self) -> Array:
        """What means and points are about (d,)."""
        return self.plane.origin

    @property
    def prior(self) -> Array:
        """P1 and P2."""
        return np.exp(self.pencil.class_log_prob)

    @property
    def means(self) -> Array:
        """The mean of each side (2, d)."""
        return self.pencil.mean + self.pencil.origin

    @property
    def covariances(self) -> Array:
        """The covariance of each side (2, d, d), with the ridge."""
        return self.pencil.covariance

    @property
    def constant(self) -> bool:
        """Whether there is no plane at all."""
        return not self.plane.coef.any()

    def log_odds(self, X: Array) -> Array:
        """How far rows (n, d) are on the second side: coef'x + intercept."""
        return np.asarray((X - self.origin) @ self.plane.coef + self.plane.intercept)

    def projected(self) -> tuple[Array, Array]:
        """Means and standard deviations of the sides' log-odds (2,), (2,)."""
        return self.log_odds(self.means), deviations(self.plane.coef, self.covariances)

    def rows(self, X: Any, y: Any) -> tuple[Array, Array]:
        """The rows of each side, for drawing."""
        if y is None:
            raise ValueError("rows need their labels: give y beside X")
        X, y = Numbers(who="the figure")(X).values, np.asarray(y)
        if X.shape[1] != len(self.origin) or y.shape != (len(X),):
            raise ValueError(
                f"X must have {len(self.origin)} features and y a label a row, got X {X.shape} and y {y.shape}"
            )
        first, second = (X[np.isin(y, self.classes[self.group == side])] for side in (0, 1))
        return first, second


def deviations(coef: Array, covariances: Array) -> Array:
    """sqrt(w'S_j w): the standard deviation of each class (2,) along a direction (d,)."""
    return np.asarray(np.sqrt(np.einsum("i,kij,j->k", coef, covariances, coef)))


def views(models: Models, pair: Any = None, alike: bool = True) -> list[View]:
    """Each discriminant's plane between the two sides asked for.

    `alike` says that all must have been learned from the same means and covariances.
    """
    found = [_view(name, model, pair) for name, model in named(models).items()]
    for other in found[1:] if alike else ():
        _check_alike(found[0], other)
    return found


def _view(name: str, model: TangentDiscriminant, pair: Any) -> View:
    check_is_fitted(model)
    which, group = _contest(model, pair)
    planes = model.parameters_
    if not np.isfinite(planes[which].coef).all():
        raise ValueError(f"{name} has no finite plane, as the covariance of a class is singular: fit it with ridge > 0")
    return View(literal(name), model, planes[which], model.pencil(which), group, model.classes_)


def _contest(model: TangentDiscriminant, pair: Any) -> tuple[int, Array]:
    """Which of a model's planes tells a pair apart, and the side of each class."""
    classes, one = model.classes_.tolist(), model.multi_class == "ovr" and len(model.classes_) > 2
    if pair is None and len(classes) == 2:
        return 0, np.array([0, 1])
    how = "pair=label for that class against the rest" if one else "pair=(one, other)"
    if pair is None:
        raise ValueError(f"the figure shows two classes, and {classes} were learned: give {how}")
    wanted = [pair] if one else list(pair) if isinstance(pair, tuple | list | np.ndarray) else [pair]
    if len(wanted) != 2 - one or len(set(wanted)) != len(wanted) or not set(wanted) <= set(classes):
        raise ValueError(f"the classes learned are {classes}: give {how}, got pair={pair!r}")
    if len(classes) == 2:
        return 0, np.array([0, 1])
    contests = SCHEMES[MULTI_CLASS[model.multi_class]].contests(len(classes))
    for which, contest in enumerate(contests):
        sides = contest.sides[1] if one else np.concatenate(contest.sides)
        if {classes[c] for c in sides} == set(wanted):
            return which, contest.group
    raise AssertionError(pair)  # every pair has its contest


def _check_alike(a: View, b: View) -> None:
    if a.means.shape != b.means.shape or a.labels != b.labels:
        raise ValueError(f"{a.name} and {b.name} tell different classes or features apart: draw them one by one")
    size = np.sqrt(np.einsum("kii->ki", a.covariances).max(axis=0))
    moved = abs(a.means - b.means).max(axis=0) > 1e-3 * size
    if moved.any() or (abs(a.covariances - b.covariances) > 1e-3 * np.outer(size, size)).any():
        raise ValueError(
            f"{a.name} and {b.name} were learned from different means or covariances: draw them one by one; "
            "with ax= they can still be side by side"
        )
