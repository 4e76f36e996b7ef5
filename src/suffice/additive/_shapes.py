"""What additive tables have learned, column by column: shapes and maps that add up to the log-odds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from suffice._contributions import Contributions, name_of
from suffice._domain import CategoricalFeatures
from suffice._labels import show
from suffice._vector import Array
from suffice.additive._names import Names
from suffice.encoders.blocks import BlockFeatures
from suffice.encoders.pairs import PairFeatures, Pairs
from suffice.encoders.table import ABSENT
from suffice.models import AnyStatistics, BinFeatures
from suffice.models._blocks import part
from suffice.models._explained import HALVES
from suffice.models.experts import Experts

PAIRS = "pairs"  # the block of pairs of columns


class Place(NamedTuple):
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
    place: Place
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
            key = columns if len(columns) > 1 else f"{columns[0]} (missing)" if name == ABSENT else columns[0]
            while key in found:  # a column may be called so, too
                key = f"{key} (missing)"
            place, dates = Place(name, j, at), tuple(map(names.dates, both))
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
