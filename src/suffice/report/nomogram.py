"""A nomogram as plain numbers and text, for a page to evaluate: columns to set, and terms to add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from suffice._contributions import beyond_mean
from suffice._labels import show
from suffice._reading import Choices, Intervals, Reading
from suffice._vector import Array
from suffice.models import Nomogram
from suffice.models._drawn import Form, Term
from suffice.models._overview import Overview, Summary

EMPTY = "(empty text)"
FAR = 5.0  # times the range of nearly all values, beyond which a slider does not reach
NEARLY = (0.005, 0.995)
WIDE = 3.0  # standard deviations of normal classes that a slider reaches
TINY = 1e-300  # a weight that only counts at the ends
STEPS = 200  # of a slider, at least
MANY = 64  # values of a column that an importance is taken from, at most

Plain = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Control:
    """A column as a page sets it: a number, or one of some options; where it begins, and whether it may be missing."""

    key: Any
    name: str
    optional: bool
    start: float  # the number, or the place of the option
    options: tuple[str, ...] = ()
    values: Array | None = None  # those of the options (v,)
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    dates: bool = False

    @property
    def numeric(self) -> bool:
        """Whether it is a number."""
        return self.values is None


def named(value: Any) -> str:
    """How a page calls a column, a class or a category."""
    return (str(value) or EMPTY) if isinstance(value, str) else show(value)


def called(key: Any) -> str:
    """How a page calls what a term is of: a column, or several.

    >>> called(("age", 3))
    'age & 3'
    """
    return " & ".join(map(named, key)) if isinstance(key, tuple) else named(key)


def controls(nomogram: Nomogram, known: Overview, dates: frozenset[Any] = frozenset()) -> list[Control]:
    """A control for every column that counts, in the order of the terms."""
    readings: dict[Any, list[Reading | None]] = {}
    optional = dict.fromkeys(nomogram.columns, True)
    for term in nomogram.terms:
        for column, reading in term.readings().items():
            readings.setdefault(column, []).append(reading)
            optional[column] &= term.optional
    return [_control(key, optional[key], readings.get(key, []), known.get(key), key in dates) for key in optional]


def _control(key: Any, optional: bool, readings: list[Reading | None], known: Summary | None, dates: bool) -> Control:
    choices = [reading for reading in readings if isinstance(reading, Choices)]
    if choices:
        values = dict.fromkeys(value for reading in choices for value in reading.values)
        start = _most_frequent(list(values), known)
        kept = np.empty(len(values), dtype=object)
        kept[:] = list(values)
        return Control(key, named(key), optional, start, tuple(map(named, values)), kept)
    bounds = [reading.bounds[1:] for reading in readings if isinstance(reading, Intervals)]
    low, high, middle, whole = _range(known, np.concatenate([*bounds, np.zeros(0)]))
    step = _step(high - low, whole)
    digits = max(0, -floor(log10(step) + 1e-9))
    ends = (round(floor(low / step) * step, digits), round(-floor(-high / step) * step, digits))
    return Control(key, named(key), optional, round(round(middle / step) * step, digits), (), None, *ends, step, dates)


def _most_frequent(values: Sequence[Any], known: Summary | None) -> int:
    weight = {} if known is None else dict(zip(known.values, known.weight.tolist(), strict=True))
    return max(range(len(values)), key=lambda i: weight.get(values[i], 0.0), default=0)


def _range(known: Summary | None, bounds: Array) -> tuple[float, float, float, bool]:
    """From where to where a slider goes, where it begins, and whether all numbers are whole."""
    if known is None or known.mean is None or not known.weight.any():
        numbers, weight, counted = np.append(bounds, 0.0), np.ones(len(bounds) + 1), False
    else:
        held = known.weight > 0
        numbers, weight, counted = known.values[held].astype(float), known.weight[held], known.counted
        numbers, weight = (
            np.append(numbers, known.reach(WIDE)),
            np.append(weight, np.full(len(known.reach(WIDE)), TINY)),
        )
    low, most_low, middle, most_high, high = _quantiles(numbers, weight, (0.0, NEARLY[0], 0.5, NEARLY[1], 1.0))
    if high - low > FAR * (most_high - most_low) > 0:
        low, high = most_low, most_high
    if low == high:
        low, high = low - 0.5 * abs(low or 1.0), high + 0.5 * abs(high or 1.0)
    return low, high, middle, bool(counted and (numbers == np.rint(numbers)).all())


def _quantiles(values: Array, weight: Array, shares: Sequence[float]) -> list[float]:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order]) / weight.sum()
    at = np.minimum(np.searchsorted(below, np.array(shares) - 1e-12), len(order) - 1)
    found: list[float] = np.asarray(values[order][at], dtype=float).tolist()
    return found


def _step(width: float, whole: bool) -> float:
    """A power of ten, of which there are enough in a range; 1 for whole numbers.

    >>> _step(80.0, True), _step(3.7, False)
    (1.0, 0.01)
    """
    fine = float(10.0 ** floor(log10(width / STEPS)))
    return max(1.0, fine) if whole else fine


@dataclass(frozen=True, eq=False)
class Weighed:
    """What each term of a nomogram counts for: the mean size of what it adds, over rows and classes."""

    importances: dict[Any, float]  # by key, the greatest first

    def of(self, key: Any) -> float:
        """That of a column: with the pairs and forms that it is in."""
        return sum(size for one, size in self.importances.items() if one == key or (key in _parts(one)))


def _parts(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else ()


def weighed(nomogram: Nomogram, known: Overview, given: Mapping[Any, float] | None = None) -> Weighed:
    """Importances that are given, or those over values that stand for the rows learned, columns taken as independent.

    Of a form of several columns every column has its own.
    """
    sizes: dict[Any, float] = {}
    for key in dict.fromkeys(term.key for term in nomogram.terms):
        terms = [term for term in nomogram.terms if term.key == key]
        sizes |= _sizes(key, terms, known)
    if given is not None:
        names = {called(key): key for key in sizes}
        sizes |= {names[called(key)]: size for key, size in given.items() if called(key) in names}
    return Weighed(dict(sorted(sizes.items(), key=lambda item: -item[1])))


def _sizes(key: Any, terms: list[Term], known: Overview) -> dict[Any, float]:
    columns = terms[0].columns
    points = [_points(known.get(column)) for column in columns]
    if len(columns) <= 2:
        grids = np.meshgrid(*(np.arange(len(values)) for values, _ in points), indexing="ij")
        entries = [values[grid.ravel()] for (values, _), grid in zip(points, grids, strict=True)]
        weight = np.prod([w[grid.ravel()] for (_, w), grid in zip(points, grids, strict=True)], axis=0)
        return {key: _size(sum(term.value(*entries) for term in terms), weight)}
    form = terms[0]
    middle = [np.average(values, weights=w) for values, w in points]
    found = {}
    for j, (column, (values, weight)) in enumerate(zip(columns, points, strict=True)):
        rows = [np.full(len(values), one) for one in middle]
        rows[j] = values.astype(float)
        found[column] = _size(form.value(*rows), weight)
    return found


def _size(values: Any, weight: Array) -> float:
    added = np.clip(beyond_mean(np.asarray(values), 1), -1e3, 1e3)
    return float(weight @ abs(added).mean(axis=1) / (weight.sum() or 1.0))


def _points(known: Summary | None) -> tuple[Array, Array]:
    """Some values of a column and their weights, those of the greatest if there are many."""
    if known is None or not len(known.values):
        return np.zeros(1), np.ones(1)
    if known.mean is not None and len(known.values) > MANY:
        shares = (np.arange(MANY) + 0.5) / MANY
        return np.array(_quantiles(known.values, known.weight, shares.tolist())), np.ones(MANY)
    weight = known.weight
    most = np.argsort(-weight, kind="stable")[:MANY]
    return known.values[most], weight[most]


# Export


def exported(nomogram: Nomogram, classes: Array, shown: Sequence[Control]) -> Plain:
    """What a page needs to evaluate a nomogram: names, controls and terms, as lists of numbers and text.

    Numbers are those of the model to the last digit. Of every term, `keys` are the places in `names` of what it adds
    to, and `columns` those of the columns that it reads.
    """
    at = {control.key: i for i, control in enumerate(shown)}
    names: dict[Any, int] = {}
    terms = []
    for term in nomogram.terms:
        keys = list(term.columns) if isinstance(term, Form) else [term.key]
        places = [names.setdefault(key, len(names)) for key in keys]
        columns = [at[column] for column in term.columns]
        terms.append({**_plain(term, shown), "keys": places, "columns": columns})
    return {
        "classes": [named(label) for label in classes],
        "base": _numbers(nomogram.base),
        "names": [called(key) for key in names],
        "columns": [_column(control) for control in shown],
        "terms": terms,
    }


def _column(control: Control) -> Plain:
    found: Plain = {"name": control.name, "optional": control.optional, "start": control.start}
    return {**found, "dates": control.dates} if control.numeric else {**found, "options": list(control.options)}


def _numbers(values: Any) -> Any:
    """Nested lists of numbers; those that are not finite as text, which JSON has no other word for."""
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    if isinstance(values, float | int):
        return values if isfinite(values) else {np.inf: "Infinity", -np.inf: "-Infinity"}.get(values, "NaN")
    return _numbers(np.asarray(values, dtype=float).tolist())


def _read(reading: Reading, control: Control) -> Plain:
    """The bounds of intervals but for the first, or the cell of each option, -1 for none."""
    if isinstance(reading, Intervals):
        return {"bounds": _numbers(reading.bounds[1:])}
    return {"cells": reading.cells(np.zeros(0) if control.values is None else control.values).tolist()}


def _plain(term: Term, shown: Sequence[Control]) -> Plain:
    """The kind of a term, how it reads its columns where they are in cells, and its numbers."""
    controls = {control.key: control for control in shown}
    reads = [_read(reading, controls[key]) for key, reading in term.readings().items() if reading is not None]
    return {"kind": term.kind, "reads": reads, **{name: _numbers(getattr(term, name)) for name in term.numbers}}
