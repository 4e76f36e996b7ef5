"""A nomogram as plain numbers and text, for a page to evaluate: columns to set, and terms to add up."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from suffice._reading import Intervals, Reading
from suffice._vector import Array
from suffice.models import Nomogram
from suffice.models._drawn import Form, Term
from suffice.report.controls import Control, called, named

Plain = dict[str, Any]


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
    if not control.numeric:
        return {**found, "options": list(control.options)}
    more: Plain = {"unit": control.unit} if control.unit else {}
    more |= {"stops": list(control.stops)} if control.stops else {}
    return {**found, **more, "dates": control.dates, "width": control.high - control.low}


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
