"""Shapes changed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from suffice._core.features import CategoricalFeatures
from suffice._core.kinds import BINNED, Block, ColumnContent
from suffice._core.labels import DATE_UNITS, date, show, show_all
from suffice._core.vector import Array
from suffice._estimator.explaining import Contributions, name_of
from suffice.encoders.pairs import PairFeatures, Pairs
from suffice.encoders.table import BlockFeatures, Role
from suffice.models import AnyStatistics, BinFeatures
from suffice.models.compose.blocks import part
from suffice.models.compose.experts import Experts
from suffice.models.tables.histogram import ColumnHistogram, Histogram
from suffice.models.terms import HALVES

DIGITS = range(4, 18)  # as many as it takes to tell cells apart

Known: TypeAlias = Mapping[int, float]  # by the numbers of cells
Say: TypeAlias = Callable[[float], str]


@dataclass(frozen=True, eq=False)
class Names:
    """Names for the cells of a table's columns: what these hold, and the values learned of those with numbers."""

    roles: tuple[Role, ...] = ()
    learned: Mapping[int, ColumnHistogram] = field(default_factory=dict)

    @classmethod
    def of(cls, roles: tuple[Role, ...], s: AnyStatistics) -> Names:
        """From the sums of all columns."""
        blocks = cast(BlockFeatures, s.domain.features)
        found: dict[int, ColumnHistogram] = {}
        for name in BINNED:
            sums = part(s, name).sums if name in blocks.parts else None
            if isinstance(sums, Histogram):
                held = (column.taking(column.weight > 0) for column in sums.columns())
                found.update(zip(blocks.at[name].tolist(), held, strict=True))
        return cls(roles, found)

    def dates(self, column: int) -> bool:
        """Whether a column holds dates."""
        return bool(self.roles) and self.roles[column].content is ColumnContent.DATES

    def cells(self, column: int, bounds: Array) -> list[str]:
        """What cells with lower bounds (r,), the first -inf, are called."""
        learned, dates = self.learned.get(column), self.dates(column)
        none: Known = {}
        values, after = (none, none) if learned is None else _single(bounds, learned)
        if dates and learned is not None and not (learned.low % 1.0).any():
            bounds = np.ceil(bounds)  # of whole days these are the same cells
        return called(bounds, values, after, dates)


def called(bounds: Array, values: Known, after: Known, dates: bool = False) -> list[str]:
    """Names of cells with lower bounds (r,), the first -inf.

    A cell of a single value is called by it; `after` has the value that a cell begins just above.

    >>> called(np.array([-np.inf, 5e-324, 2.5, 2.50001]), {0: 0.0}, {1: 0.0})
    ['0', 'above 0 to 2.5', '2.5 to 2.50001', '2.50001 and above']
    """
    says: list[Say] = [partial(date, unit=unit) for unit in DATE_UNITS]
    says = says if dates else [partial(number, digits=digits) for digits in DIGITS]
    names: list[str] = []
    for say in says:
        names = _called(bounds.tolist(), values, after, say)
        ends = [say(bound) for i, bound in enumerate(bounds.tolist()) if i and i not in after]
        if len(set(names)) == len(names) and len(set(ends)) == len(ends):
            break
    return names


def _called(bounds: list[float], values: Known, after: Known, say: Say) -> list[str]:
    names, last = [], len(bounds) - 1
    for i, bound in enumerate(bounds):
        start = f"above {say(after[i])}" if i in after else say(bound) if i else ""
        if i in values:
            names.append(say(values[i]))
        elif i == last:
            names.append(start if i in after else f"{start} and above")
        else:
            end = say(after.get(i + 1, bounds[i + 1]))
            names.append(f"{start} to {end}" if i else f"below {end}")
    return names


def _single(bounds: Array, learned: ColumnHistogram) -> tuple[Known, Known]:
    """The values of cells that hold nothing else and end beside it, and those that cells begin just above."""
    at = np.searchsorted(bounds, learned.low, side="right") - 1
    alone = np.bincount(at, minlength=len(bounds))[at] == 1
    begins, ends = bounds[at] == learned.low, np.append(bounds[1:], np.inf)[at] == learned.above
    values: dict[int, float] = {}
    after: dict[int, float] = {}
    for i in np.flatnonzero(alone & (begins | ends)).tolist():
        cell, value = int(at[i]), _shortest(float(learned.low[i]), float(learned.above[i]))
        values[cell] = value
        if ends[i]:
            after[cell + 1] = value
    return values, after


def _shortest(low: float, above: float) -> float:
    """A number of few digits from low to above: a coarse grid knows its values no better."""
    short = (float(number(low, digits)) for digits in range(1, 18))
    return next((value for value in short if low <= value < above), low)


def number(value: float, digits: int) -> str:
    """A number with so many digits."""
    return f"{value:.{digits}g}"


PAIRS = "pairs"  # the block of pairs of columns


class ShapePlace(NamedTuple):
    """Where a shape stands: a column of a block, and its cells there."""

    block: str
    column: int
    cells: slice


@dataclass(frozen=True, eq=False)
class Shape:
    """What a column, or a pair of columns, adds to the log-odds of the second class, cell by cell.

    Parameters
    ----------
    columns : tuple
        The name or number of the column, or of both.
    cells : tuple of list of str
        What the cells of each of the columns are, in words.
    edges : tuple of (array or None)
        The lower bounds of the cells, the first -inf, for numbers; None for categories.
    values : array of shape (cells,), (cells, k), or for a pair (cells, cells) or (cells, cells, k)
        What each cell adds to the log-odds, of mean 0 over the rows learned; if there are more than two classes, to
        each class's score, beyond what it adds to all of them on average.
    absent : float or array of shape (k,)
        The same for a row without an entry.
    rows : array of shape (cells,), or for a pair (cells, cells)
        The weight of the rows learned.
    weight : float
        How much the column counts: 1 is naive Bayes, 0 nothing.
    place : Place
        Where it stands in the model.
    dates : tuple of bool
        Of which columns the bounds are dates, in days since 1970.
    """

    columns: tuple[Any, ...]
    cells: tuple[list[str], ...]
    edges: tuple[Array | None, ...]
    values: Array
    absent: Any
    rows: Array
    weight: float
    place: ShapePlace
    dates: tuple[bool, ...] = (False, False)

    @property
    def importance(self) -> float:
        """The mean distance from 0 of what it adds, over the rows that have an entry."""
        total = float(self.rows.sum())
        size = abs(self.values) if self.values.ndim == self.rows.ndim else abs(self.values).max(axis=-1)
        return float((self.rows * size).sum() / total) if total else 0.0

    def __repr__(self) -> str:
        least, most = self.values.min(), self.values.max()
        cells = " x ".join(str(len(names)) for names in self.cells)
        return f"Shape of {' x '.join(map(str, self.columns))}: {cells} cells, {least:+.2f} to {most:+.2f}"


class Shapes(Mapping[Any, Shape]):
    """The shapes of all columns by name, and of pairs by both names, those that count most first; `base` is the rest.

    base + the values of a row's cells are its log-odds; or its scores by class if there are more than two, of which
    the softmax is `predict_proba`. What a cell adds to all classes alike says nothing of them and is left out.
    """

    def __init__(self, base: Any, shapes: Mapping[Any, Shape], classes: Array) -> None:
        self.base, self._shapes, self.classes = base, shapes, classes

    def __getitem__(self, key: Any) -> Shape:
        return self._shapes[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)

    def __repr__(self) -> str:
        return "\n".join([f"Shapes of {len(self)} terms, base {np.round(self.base, 2)}", *map(repr, self.values())])


def weights_by_block(model: Experts) -> tuple[float, dict[str, Array]]:
    """The weight of log p(y), and those of the columns of every block."""
    first, each = model._weights()
    return first, {name: weight for (name, _), weight in zip(model._present(), each, strict=True)}


def odds(terms: Array, axis: int) -> Array:
    """Terms by class as log-odds if there are two, else without their mean over the classes, no news of any."""
    if terms.shape[axis] != 2:
        return np.asarray(terms - terms.mean(axis=axis, keepdims=True))
    return np.asarray(np.take(terms, 1, axis) - np.take(terms, 0, axis))


def shapes_of(model: Experts, theta: Any, s: AnyStatistics, pairs: Pairs | None, names: Names) -> Shapes:
    """The shapes of a model of tables with parameters theta, from its restricted statistics."""
    blocks = cast(BlockFeatures, cast(Any, theta.domain).features)
    first, weights = weights_by_block(model)
    mass, base = float(s.mass.sum()), first * theta.class_log_prob
    base = odds(base, 0) if len(base) == 2 else base  # a class may have probability 0
    found: dict[Any, Shape] = {}
    for name, weight in weights.items():
        features = cast(CategoricalFeatures, theta.parts[name].domain.features)
        terms = theta.parts[name].tempered(weight).log_probability
        rows = part(s, name).sums.table.sum(axis=0)
        for j in range(features.width):
            at = slice(*features.starts[j : j + 2].tolist())
            if at.stop - at.start < 2:
                continue
            value, seen = odds(terms[at], 1), rows[at]
            mean = seen @ value / mass
            base = base + mean
            both = cast(Pairs, pairs).chosen[j] if name == PAIRS else (int(blocks.at[name][j]),)
            columns, cells, edges = _described(features, j, pairs, names, both)
            wide = tuple(len(c) for c in cells)
            values = (value - mean).reshape(*wide, *value.shape[1:])
            key = columns if len(columns) > 1 else f"{columns[0]} (missing)" if name == Block.MISSING else columns[0]
            while key in found:  # a column may be called so, too
                key = f"{key} (missing)"
            place, dates = ShapePlace(name, j, at), tuple(map(names.dates, both))
            seen = seen.reshape(wide)
            found[key] = Shape(columns, cells, edges, values, -mean, seen, float(weight[j]), place, dates)
    order = sorted(found, key=lambda key: -found[key].importance)
    return Shapes(base, {key: found[key] for key in order}, s.domain.classes)


def _described(
    features: CategoricalFeatures, j: int, pairs: Pairs | None, called: Names, both: tuple[int, ...]
) -> tuple[Any, ...]:
    """The names of the columns `both`, the cells in words, and the bounds where they are numbers."""
    if not isinstance(features, PairFeatures):
        name = j if features.names is None else features.names[j]
        cells, edges = _words(features.categories[j], isinstance(features, BinFeatures), called, both[0])
        return (name,), (cells,), (edges,)
    coarse = cast(Pairs, pairs).coarse
    place = {column: at for at, column in enumerate(coarse.columns.tolist())}
    numeric = [isinstance(one, BinFeatures) for one in coarse.parts.values() for _ in range(one.width)]
    sides = [_words(coarse.categories[place[i]], numeric[place[i]], called, i) for i in both]
    return cast(Array, features.names)[j], tuple(cells for cells, _ in sides), tuple(edges for _, edges in sides)


def _words(categories: Array, numbers: bool, called: Names, column: int) -> tuple[list[str], Array | None]:
    if not numbers:
        return [value if isinstance(value, str) else show(value) for value in categories.tolist()], None
    return called.cells(column, categories), categories


def means_taken(shapes: Shapes) -> dict[Any, Array]:
    """What is added to the terms of each column or pair (k,), so that they have the mean 0 over the rows learned."""
    halves = HALVES if len(shapes.classes) == 2 else 1.0
    found: dict[Any, Array] = {}
    for shape in shapes.values():
        key = shape.columns if len(shape.columns) > 1 else shape.columns[0]
        found[key] = found.get(key, 0.0) + np.asarray(shape.absent) * halves
    return found


def about_the_mean(found: Contributions, shapes: Shapes) -> Contributions:
    """Contributions of which every term has the mean 0 over the rows learned, as shapes have; the base takes it up."""
    place = {name: at for at, name in enumerate(found.names)}
    shift = np.zeros((len(found.classes), len(found.names)))
    for key, mean in means_taken(shapes).items():
        shift[:, place[name_of(key)]] += mean
    return replace(found, base=found.base - shift.sum(axis=1), terms=found.terms + shift)


def edited_terms(model: Experts, theta: Any, shapes: Shapes, changes: Mapping[Any, Any]) -> tuple[Experts, Any]:
    """The model and parameters with shapes changed: the weights are in the tables, and are 1."""
    if not isinstance(changes, Mapping):
        raise ValueError(f"edited takes a dict of column: values, got {changes!r}")
    first, weights = weights_by_block(model)
    parts = {name: theta.parts[name].tempered(weight) for name, weight in weights.items()}
    for key, given in changes.items():
        if key not in shapes:
            raise ValueError(f"there is no shape of {show(key)}: the shapes are those of {show_all(list(shapes))}")
        shape = shapes[key]
        block, at = shape.place.block, shape.place.cells
        terms = parts[block].log_probability.copy()
        terms[at] = _by_class(_values(shape, given, key) - np.asarray(shape.absent), terms.shape[1])
        parts[block] = replace(parts[block], log_probability=terms)
    ones = dict.fromkeys(model.experts(), 1.0)
    ones[model.experts()[0]] = first
    return model.weighed(ones), replace(theta, parts=parts)


def _by_class(values: Array, k: int) -> Array:
    """Terms of every class (cells, k) whose log-odds are the values, or the values themselves of more than two."""
    if k != 2:
        return values.reshape(-1, k)
    half = 0.5 * values.reshape(-1)
    return np.column_stack([-half, half])


def _values(shape: Shape, given: Any, key: Any) -> Array:
    """The values of a shape with those that are given in their place."""
    values = shape.values.copy()
    places = [_cell(shape, cell, key) for cell in given] if isinstance(given, Mapping) else [()]
    try:
        for at, value in zip(places, given.values() if isinstance(given, Mapping) else [given], strict=True):
            whole = at or np.shape(value) == values.shape
            values[at] = np.asarray(value, dtype=float) if whole else np.nan
    except (TypeError, ValueError):  # no numbers, or of another shape
        values[...] = np.nan
    if not np.isfinite(values).all():
        raise ValueError(
            f"edited[{show(key)}] must be finite numbers of shape {values.shape}, one for each cell, or a dict of "
            f"cell: value, got {given!r}"
        )
    return values


def _cell(shape: Shape, cell: Any, key: Any) -> tuple[int, ...]:
    """Where a cell stands that is given by its number or by what it is called; for a pair, by two of these."""
    parts = cell if isinstance(cell, tuple) and len(shape.cells) > 1 else (cell,)
    if len(parts) == len(shape.cells):
        found = [_one(names, one) for names, one in zip(shape.cells, parts, strict=True)]
        if all(at is not None for at in found):
            return tuple(at for at in found if at is not None)
    cells = " and ".join(f"0 to {len(names) - 1} or {show_all(names)}" for names in shape.cells)
    raise ValueError(f"edited[{show(key)}] has {show(cell)}, which is no cell: the cells are {cells}")


def _one(names: list[str], cell: Any) -> int | None:
    if isinstance(cell, str):
        return names.index(cell) if cell in names else None
    return int(cell) if isinstance(cell, int | np.integer) and 0 <= cell < len(names) else None
