"""Shapes changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from suffice._labels import show, show_all
from suffice._vector import Array
from suffice.additive._shapes import Shape, Shapes, weights_by_block
from suffice.models.experts import Experts


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
