"""Shapes: the contributions of columns and pairs by cell, names of the cells, and editing."""

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
from suffice.models.compose.blocks import statistics_of
from suffice.models.compose.experts import Experts
from suffice.models.tables.histogram import ColumnHistogram, Histogram
from suffice.models.terms import HALVES

DIGITS = range(4, 18)  # the fewest digits are used that give cells different names
PAIRS = "pairs"  # the block of pairs of columns

ByCell: TypeAlias = Mapping[int, float]  # a number for some cells
Format: TypeAlias = Callable[[float], str]


@dataclass(frozen=True, eq=False)
class Names:
    """Names the cells of a table's columns, by what the columns hold and the learned values of numeric ones."""

    roles: tuple[Role, ...] = ()
    learned: Mapping[int, ColumnHistogram] = field(default_factory=dict)

    @classmethod
    def of(cls, roles: tuple[Role, ...], s: AnyStatistics) -> Names:
        """The names for the sums of all columns."""
        blocks = cast(BlockFeatures, s.domain.features)
        found: dict[int, ColumnHistogram] = {}
        for name in BINNED:
            sums = statistics_of(s, name).sums if name in blocks.parts else None
            if isinstance(sums, Histogram):
                held = (column.taking(column.weight > 0) for column in sums.columns())
                found.update(zip(blocks.at[name].tolist(), held, strict=True))
        return cls(roles, found)

    def dates(self, column: int) -> bool:
        """True if a column holds dates."""
        return bool(self.roles) and self.roles[column].content is ColumnContent.DATES

    def cells(self, column: int, bounds: Array) -> list[str]:
        """Names of the cells with lower bounds (r,), the first -inf."""
        learned, dates = self.learned.get(column), self.dates(column)
        values, after = ({}, {}) if learned is None else _single_values(bounds, learned)
        if dates and learned is not None and not (learned.low % 1.0).any():
            bounds = np.ceil(bounds)  # the same cells of whole days
        return cell_names(bounds, values, after, dates)


def cell_names(bounds: Array, values: ByCell, after: ByCell, dates: bool = False) -> list[str]:
    """Names of cells with lower bounds (r,), the first -inf.

    `values` has the value of a cell with a single one; `after` has the value that a cell begins just above.

    >>> cell_names(np.array([-np.inf, 5e-324, 2.5, 2.50001]), {0: 0.0}, {1: 0.0})
    ['0', 'above 0 to 2.5', '2.5 to 2.50001', '2.50001 and above']
    """
    formats: list[Format] = [partial(date, unit=unit) for unit in DATE_UNITS]
    formats = formats if dates else [partial(number, digits=digits) for digits in DIGITS]
    names: list[str] = []
    for write in formats:
        names = _names_in(write, bounds.tolist(), values, after)
        ends = [write(bound) for i, bound in enumerate(bounds.tolist()) if i and i not in after]
        if len(set(names)) == len(names) and len(set(ends)) == len(ends):
            break
    return names


def _names_in(write: Format, bounds: list[float], values: ByCell, after: ByCell) -> list[str]:
    names, last = [], len(bounds) - 1
    for i, bound in enumerate(bounds):
        start = f"above {write(after[i])}" if i in after else write(bound) if i else ""
        if i in values:
            names.append(write(values[i]))
        elif i == last:
            names.append(start if i in after else f"{start} and above")
        else:
            end = write(after.get(i + 1, bounds[i + 1]))
            names.append(f"{start} to {end}" if i else f"below {end}")
    return names


def _single_values(bounds: Array, learned: ColumnHistogram) -> tuple[ByCell, ByCell]:
    """The values of cells that have a single one at their bound, and the values that cells begin just above."""
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
    """The number with the fewest digits from low to above, as a coarse grid does not know its values exactly."""
    short = (float(number(low, digits)) for digits in range(1, 18))
    return next((value for value in short if low <= value < above), low)


def number(value: float, digits: int) -> str:
    """A number with the given significant digits."""
    return f"{value:.{digits}g}"


class ShapePlace(NamedTuple):
    """The place of a shape in the model: a column of a block, and its cells there."""

    block: str
    column: int
    cells: slice


@dataclass(frozen=True, eq=False)
class Shape:
    """The contribution of a column, or a pair of columns, to the log-odds of the second class, cell by cell.

    Parameters
    ----------
    columns : tuple
        The name or number of the column, or of both.
    cells : tuple of list of str
        The names of the cells of each column.
    edges : tuple of (array or None)
        The lower bounds of the cells, the first -inf, for numbers; None for categories.
    values : array of shape (cells,), (cells, k), or for a pair (cells, cells) or (cells, cells, k)
        The contribution of each cell to the log-odds, with mean 0 over the learned rows; with more than two classes, to
        the score of each class, with mean 0 over the classes.
    absent : float or array of shape (k,)
        The contribution of a missing entry.
    rows : array of shape (cells,), or for a pair (cells, cells)
        The weight of the learned rows.
    weight : float
        The weight of the column: 1 as in naive Bayes, 0 if it is ignored.
    place : ShapePlace
        The place in the model.
    dates : tuple of bool
        True for columns whose bounds are dates, in days since 1970.
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
        """The mean absolute contribution over the rows that have an entry."""
        total = float(self.rows.sum())
        size = abs(self.values) if self.values.ndim == self.rows.ndim else abs(self.values).max(axis=-1)
        return float((self.rows * size).sum() / total) if total else 0.0

    def __repr__(self) -> str:
        least, most = self.values.min(), self.values.max()
        cells = " x ".join(str(len(names)) for names in self.cells)
        return f"Shape of {' x '.join(map(str, self.columns))}: {cells} cells, {least:+.2f} to {most:+.2f}"


class Shapes(Mapping[Any, Shape]):
    """The shapes of all columns by name, and of pairs by both names, the most important first; `base` is the constant.

    base + the values of a row's cells are its log-odds; with more than two classes its scores, of which the softmax is
    `predict_proba`. Contributions that are equal for all classes cancel, and are left out.
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
    """The weight of log p(y), and the weights of the columns of every block."""
    first, each = model._weights()
    return first, {name: weight for (name, _), weight in zip(model._present(), each, strict=True)}


def odds(terms: Array, axis: int) -> Array:
    """Terms by class as log-odds if there are two, else centred to mean 0 over the classes."""
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
        rows = statistics_of(s, name).sums.table.sum(axis=0)
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
            while key in found:  # a column may have this name as well
                key = f"{key} (missing)"
            place, dates = ShapePlace(name, j, at), tuple(map(names.dates, both))
            seen = seen.reshape(wide)
            found[key] = Shape(columns, cells, edges, values, -mean, seen, float(weight[j]), place, dates)
    order = sorted(found, key=lambda key: -found[key].importance)
    return Shapes(base, {key: found[key] for key in order}, s.domain.classes)


def _described(
    features: CategoricalFeatures, j: int, pairs: Pairs | None, called: Names, both: tuple[int, ...]
) -> tuple[Any, ...]:
    """The names of the columns `both`, of their cells, and the bounds of numeric ones."""
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


def shifts_to_mean_zero(shapes: Shapes) -> dict[Any, Array]:
    """Constants (k,) to add to the terms of each column or pair, for a mean of 0 over the learned rows."""
    halves = HALVES if len(shapes.classes) == 2 else 1.0
    found: dict[Any, Array] = {}
    for shape in shapes.values():
        key = shape.columns if len(shape.columns) > 1 else shape.columns[0]
        found[key] = found.get(key, 0.0) + np.asarray(shape.absent) * halves
    return found


def about_the_mean(found: Contributions, shapes: Shapes) -> Contributions:
    """Contributions whose terms have mean 0 over the learned rows, as shapes have; the base changes accordingly."""
    place = {name: at for at, name in enumerate(found.names)}
    shift = np.zeros((len(found.classes), len(found.names)))
    for key, mean in shifts_to_mean_zero(shapes).items():
        shift[:, place[name_of(key)]] += mean
    return replace(found, base=found.base - shift.sum(axis=1), terms=found.terms + shift)


def edited_terms(model: Experts, theta: Any, shapes: Shapes, changes: Mapping[Any, Any]) -> tuple[Experts, Any]:
    """The model and parameters with edited shapes: tables include the weights, which are then 1."""
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
    """Terms of every class (cells, k) with the values as log-odds; with more than two classes, the values."""
    if k != 2:
        return values.reshape(-1, k)
    half = 0.5 * values.reshape(-1)
    return np.column_stack([-half, half])


def _values(shape: Shape, given: Any, key: Any) -> Array:
    """The values of a shape with the given ones inserted."""
    values = shape.values.copy()
    places = [_cell(shape, cell, key) for cell in given] if isinstance(given, Mapping) else [()]
    try:
        for at, value in zip(places, given.values() if isinstance(given, Mapping) else [given], strict=True):
            whole = at or np.shape(value) == values.shape
            values[at] = np.asarray(value, dtype=float) if whole else np.nan
    except (TypeError, ValueError):  # not numbers, or of another shape
        values[...] = np.nan
    if not np.isfinite(values).all():
        raise ValueError(
            f"edited[{show(key)}] must be finite numbers of shape {values.shape}, one for each cell, or a dict of "
            f"cell: value, got {given!r}"
        )
    return values


def _cell(shape: Shape, cell: Any, key: Any) -> tuple[int, ...]:
    """The index of a cell by its number or name; for a pair, by two of these."""
    parts = cell if isinstance(cell, tuple) and len(shape.cells) > 1 else (cell,)
    if len(parts) == len(shape.cells):
        found = [_cell_number(names, one) for names, one in zip(shape.cells, parts, strict=True)]
        if all(at is not None for at in found):
            return tuple(at for at in found if at is not None)
    cells = " and ".join(f"0 to {len(names) - 1} or {show_all(names)}" for names in shape.cells)
    raise ValueError(f"edited[{show(key)}] has {show(cell)}, which is not a cell: the cells are {cells}")


def _cell_number(names: list[str], cell: Any) -> int | None:
    if isinstance(cell, str):
        return names.index(cell) if cell in names else None
    return int(cell) if isinstance(cell, int | np.integer) and 0 <= cell < len(names) else None
