"""A plane of a tangent discriminant, and the names and moments of the two classes that it separates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from papers import Array
from papers.figures.canvas import literal
from suffice.encoders import Numbers
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


def by_name(models: Models) -> dict[str, TangentDiscriminant]:
    """Return discriminants by their name in the legend: the key of a dict, else the kind, numbered if it recurs."""
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
            raise ValueError(f"the figures show tangent discriminants, such as FisherDiscriminant(), got {what}")
    return found


def _sequence(models: Any) -> Sequence[Any]:
    return models if isinstance(models, Sequence) and not isinstance(models, str) else [models]


@dataclass(frozen=True, eq=False)
class View:
    """A plane of a fitted discriminant, and the two sides that it separates."""

    name: str
    model: TangentDiscriminant
    plane: Any  # one of `model.parameters_`
    pencil: Any  # of `model.pencil`
    group: Array  # (k,) the side of each class, -1 for neither
    classes: Array  # (k,)

    @property
    def labels(self) -> tuple[str, str]:
        """The class of each side, or "rest" for several."""
        sides = (self.classes[self.group == side] for side in (0, 1))
        first, second = (literal(str(side[0])) if len(side) == 1 else "rest" for side in sides)
        return first, second

    @property
    def origin(self) -> Array:
        """The point (d,) that coordinates are relative to."""
        return np.asarray(self.plane.origin)

    @property
    def prior(self) -> Array:
        """P1 and P2."""
        return np.asarray(np.exp(self.pencil.class_log_prob))

    @property
    def means(self) -> Array:
        """The mean of each side (2, d)."""
        return np.asarray(self.pencil.mean + self.pencil.origin)

    @property
    def covariances(self) -> Array:
        """The covariance of each side (2, d, d), with the ridge."""
        return np.asarray(self.pencil.covariance)

    @property
    def constant(self) -> bool:
        """True if there is no plane: all rows get the same class."""
        return not self.plane.coef.any()

    def log_odds(self, X: Array) -> Array:
        """Log-odds (n,) of the second side for rows (n, d): coef'x + intercept."""
        return np.asarray((X - self.origin) @ self.plane.coef + self.plane.intercept)

    def projected(self) -> tuple[Array, Array]:
        """Means and standard deviations of the sides' log-odds (2,), (2,)."""
        return self.log_odds(self.means), deviations(self.plane.coef, self.covariances)

    def rows(self, X: Any, y: Any) -> tuple[Array, Array]:
        """The rows of each side."""
        if y is None:
            raise ValueError("rows need labels: give y with X")
        X, y = Numbers(who="the figure")(X).values, np.asarray(y)
        if X.shape[1] != len(self.origin) or y.shape != (len(X),):
            raise ValueError(
                f"X must have {len(self.origin)} features and y a label for each row, got X {X.shape} and y {y.shape}"
            )
        first, second = (X[np.isin(y, self.classes[self.group == side])] for side in (0, 1))
        return first, second


def deviations(coef: Array, covariances: Array) -> Array:
    """sqrt(w'S_j w): the standard deviation of each class (2,) along a direction (d,)."""
    return np.asarray(np.sqrt(np.einsum("i,kij,j->k", coef, covariances, coef)))


def views(models: Models, pair: Any = None, alike: bool = True) -> list[View]:
    """Return the plane of each discriminant for a pair of classes.

    With `alike`, all must have been learned from the same means and covariances.
    """
    found = [_view(name, model, pair) for name, model in by_name(models).items()]
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
    """Return the index of the plane that separates a pair, and the side of each class."""
    classes = model.classes_.tolist()
    against_rest = model.multi_class == "ovr" and len(classes) > 2
    if pair is None and len(classes) == 2:
        return 0, np.array([0, 1])
    how = "pair=label for that class against the rest" if against_rest else "pair=(one, other)"
    if pair is None:
        raise ValueError(f"the figure shows two classes, and {classes} were learned: give {how}")
    several = isinstance(pair, tuple | list | np.ndarray) and not against_rest
    wanted = list(pair) if several else [pair]
    if len(wanted) != (1 if against_rest else 2) or len(set(wanted)) != len(wanted) or not set(wanted) <= set(classes):
        raise ValueError(f"the classes learned are {classes}: give {how}, got pair={pair!r}")
    if len(classes) == 2:
        return 0, np.array([0, 1])
    group = np.zeros(len(classes), dtype=int) if against_rest else np.full(len(classes), -1)
    if against_rest:
        which = classes.index(wanted[0])
        group[which] = 1
        return which, group
    first, second = sorted(classes.index(label) for label in wanted)
    group[first], group[second] = 0, 1
    # The planes of pairs are in the order (0, 1), (0, 2), ..., as those of `coef_`.
    return list(combinations(range(len(classes)), 2)).index((first, second)), group


def _check_alike(a: View, b: View) -> None:
    if a.means.shape != b.means.shape or a.labels != b.labels:
        raise ValueError(f"{a.name} and {b.name} separate different classes or features: draw them one by one")
    size = np.sqrt(np.einsum("kii->ki", a.covariances).max(axis=0))
    moved = abs(a.means - b.means).max(axis=0) > 1e-3 * size
    if moved.any() or (abs(a.covariances - b.covariances) > 1e-3 * np.outer(size, size)).any():
        raise ValueError(
            f"{a.name} and {b.name} were learned from different means or covariances: draw them one by one; "
            "with ax= they can still be side by side"
        )
