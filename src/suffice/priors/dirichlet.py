"""Priors of counts: pseudo-counts for tables, and pseudo-rows for rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from suffice._core.features import CategoricalFeatures, Features
from suffice._core.labels import by_label, show, show_all
from suffice._core.vector import Array
from suffice._runtime.messages import NOT_NEGATIVE, check, check_value, one_of, or_else
from suffice.priors.evidence import TABLE_WEIGHTS, greatest, table_evidence

UNSEEN = 0.5  # pseudo-rows of every cell in the marginal, so that none is zero


@dataclass(eq=False, repr=False)
class Dirichlet(BaseEstimator):
    """Pseudo-counts for tables, added to the counts of their cells.

        p(x = v | y) = (n(v, y) + a(v, y)) / (n(y) + sum_v a(v, y)),     a(v, y) = A b(v)

    A is the weight of a table of r cells, in rows: `weight` (per="table") or r times that (per="cell"). b is 1 / r,
    or the share of the rows of all classes together that have v, (n(v) + 1/2) / (n + r/2). Single columns, also of
    single classes, can be given pseudo-counts of their own.

    Parameters
    ----------
    weight : float or "evidence", default=1.0
        How much the prior counts, in rows. 1 per cell is Laplace's rule; 1 per table is an equivalent sample size of
        one row, the MAP estimate of [1]_ (appendix B, with m0 = 1). "evidence" takes for each column the A in
        1, 2, 4, ..., 256 under which its tables of all classes are most probable (Dirichlet-multinomial likelihood).
    per : {"cell", "table"}, default="cell"
        Whether `weight` is that of each cell or is shared by the cells of a table; "evidence" is by table.
    base : {"uniform", "marginal"}, default="uniform"
        Where the pseudo-counts pull: to equal shares b, or to those of all classes together.
    columns : None or dict of column: pseudo-counts, default=None
        Pseudo-counts a(v) of a column, given by its name or number, in place of the above: a number for each cell, an
        array of them in the order of the sorted categories, or a dict of category: number (categories that it leaves
        out keep the above). A category that no row has needs to be declared: `CategoricalNB(categories=...)`.
    classes : None or dict of class label: dict of column: pseudo-counts, default=None
        The same for one class.

    Examples
    --------
    >>> Dirichlet(1.0, per="table").cell(np.array([2, 4]))
    array([0.5 , 0.25])
    >>> colours = CategoricalFeatures(1, categories=(np.array(["blue", "red"]),))
    >>> ripe = {"ripe": {0: {"red": 8}}}
    >>> Dirichlet(classes=ripe).resolve(colours, np.array(["raw", "ripe"]), np.zeros((2, 2)))
    array([[1., 1.],
           [1., 8.]])

    References
    ----------
    .. [1] Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers.
    """

    weight: Any = 1.0
    per: str = "cell"
    base: str = "uniform"
    columns: Any = None
    classes: Any = None

    @property
    def by_class(self) -> dict[str, Any]:
        """The settings whose keys are class labels, by name."""
        return {"Dirichlet: classes": self.classes}

    def cell(self, size: Array) -> Array:
        """Return the pseudo-count of a cell in tables of `size` cells, if it is the same for all of them."""
        self._check()
        check_value(self.weight, "Dirichlet: weight", NOT_NEGATIVE)
        weight = float(self.weight)
        return np.full(np.shape(size), weight) if self.per == "cell" else weight / np.maximum(size, 1)

    def resolve(self, features: CategoricalFeatures, classes: Array, table: Array) -> Array:
        """Return the pseudo-counts (1 or k, cells) for tables with counts (k, cells)."""
        self._check()
        pseudo = self._common(features, table)
        pseudo = _with_columns(pseudo, self.columns, features, "Dirichlet: columns")
        own = [] if self.classes is None else by_label(self.classes, classes)[0]
        if all(given is None for given in own):
            return pseudo[None]
        called = [f"Dirichlet: classes[{show(label)}]" for label in classes]
        return np.stack([_with_columns(pseudo, given, features, name) for given, name in zip(own, called, strict=True)])

    def within(self, features: Features, at: Array, names: Array) -> Dirichlet:
        """Return the prior of some columns (m,) of a table, with their names as keys."""
        columns = _within(self.columns, features, at, names, "Dirichlet: columns")
        if not isinstance(self.classes, Mapping):
            return Dirichlet(self.weight, self.per, self.base, columns, self.classes)
        each = {
            c: _within(given, features, at, names, f"Dirichlet: classes[{show(c)}]")
            for c, given in self.classes.items()
        }
        return Dirichlet(self.weight, self.per, self.base, columns, each)

    def _check(self) -> None:
        check(self, weight=or_else("evidence", NOT_NEGATIVE), per=one_of("cell", "table"))
        check(self, base=one_of("uniform", "marginal"))
        for called, given in (("columns", self.columns), ("classes", self.classes)):
            if given is not None and not isinstance(given, Mapping):
                keys = "a column" if called == "columns" else "a class"
                raise ValueError(f"Dirichlet: {called} must be None or a dict with {keys} as key, got {given!r}")

    def _common(self, features: CategoricalFeatures, table: Array) -> Array:
        """Return A b (cells,), before single columns are replaced."""
        sizes = features.sizes
        owner = np.repeat(np.arange(len(sizes)), sizes)
        base = (1.0 / np.maximum(sizes, 1))[owner]
        if self.base == "marginal":
            seen = np.maximum(table, 0.0).sum(axis=0) + UNSEEN
            base = seen / np.bincount(owner, seen, len(sizes))[owner]
        if self.weight != "evidence":
            return np.asarray((self.cell(sizes) * sizes)[owner] * base)
        if not len(owner):
            return base
        each = table_evidence(np.maximum(table, 0.0), base, owner, TABLE_WEIGHTS)
        return np.asarray(TABLE_WEIGHTS[greatest(each)][owner] * base)


def _within(given: Any, features: Features, at: Array, names: Array, called: str) -> Any:
    """Select the entries of some columns (m,) of a table from a dict, and use their names as keys."""
    if not isinstance(given, Mapping):
        return given
    name = dict(zip(at.tolist(), names.tolist(), strict=True))
    found = {features.index(column, called): counts for column, counts in given.items()}
    return {name[j]: counts for j, counts in found.items() if j in name}


def _with_columns(pseudo: Array, given: Mapping[Any, Any] | None, features: CategoricalFeatures, called: str) -> Array:
    """Return pseudo-counts (cells,) with those of some columns replaced."""
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"{called} must be a dict of column: pseudo-counts, got {given!r}")
    pseudo = pseudo.copy()
    for column, counts in (given or {}).items():
        j = features.index(column, called)
        at = slice(*features.starts[j : j + 2])
        pseudo[at] = _of_column(counts, features, j, pseudo[at], f"{called}[{show(column)}]")
    return pseudo


def _of_column(counts: Any, features: CategoricalFeatures, j: int, usual: Array, called: str) -> Array:
    categories, where = features.categories[j], features.name(j)
    if isinstance(counts, Mapping):
        found, strange = by_label(counts, categories)
        if strange:
            raise ValueError(
                f"{called} has {show_all(strange)}, but the categories of {where} are {show_all(categories)}: "
                "declare others by CategoricalNB(categories=...), or correct or leave out these keys"
            )
        counts = [a if a is not None else b for a, b in zip(found, usual.tolist(), strict=True)]
    given = np.asarray(counts, dtype=float)
    if given.ndim and given.shape != usual.shape:
        raise ValueError(
            f"{called} has shape {given.shape}, but {where} has {len(categories)} categories, {show_all(categories)}: "
            f"give a number, an array of shape {usual.shape} or a dict of category: number"
        )
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"{called} must be finite numbers of at least 0, got {given.tolist()}")
    return given


@dataclass(eq=False, repr=False)
class GammaPrior(BaseEstimator):
    """Pseudo-rows for rates of counts: m rows at the prior rate, which is that of all rows if it is None.

        rate' = (m rate0 + total) / (m + count)

    It is the mode under a Gamma prior with the shape m rate0 + 1 and the inverse scale m.

    Parameters
    ----------
    weight : float, default=1.0
        m, in rows.
    rate : None, float or array of shape (d,), default=None
        The prior rate.

    Examples
    --------
    >>> GammaPrior(2.0).rows(np.array([0.5, 3.0]))
    (2.0, array([0.5, 3. ]))
    """

    weight: float = 1.0
    rate: Any = None

    def rows(self, overall: Array) -> tuple[float, Array]:
        """Return the number of pseudo-rows and their rates (d,), given the rates of all rows."""
        check(self, weight=NOT_NEGATIVE)
        if self.rate is None:
            return float(self.weight), overall
        rate = np.asarray(self.rate, dtype=float)
        if rate.ndim and rate.shape != overall.shape:
            raise ValueError(f"GammaPrior: rate has shape {rate.shape}, but there are {len(overall)} features")
        if not np.isfinite(rate).all() or (rate < 0).any():
            raise ValueError(f"GammaPrior: rate must be finite numbers of at least 0, got {self.rate!r}")
        return float(self.weight), np.broadcast_to(rate, overall.shape)
