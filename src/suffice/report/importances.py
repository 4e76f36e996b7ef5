"""What each column and pair of a nomogram counts for, over rows that the sums stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice._contributions import beyond_mean
from suffice._vector import Array
from suffice.models import Nomogram
from suffice.models._drawn import Form, Term
from suffice.models._overview import Overview, Summary
from suffice.report.controls import called, quantiles

MANY = 64  # values of a column that an importance is taken from, at most
DRAWS = 1000  # rows of a normal class
CUT = 1e3  # of what rules a class out


def importances(
    nomogram: Nomogram, known: Overview, rows: float, given: Mapping[Any, float] | None = None
) -> dict[Any, float]:
    """The mean size of what each term adds over rows and classes, by key, the greatest first.

    They are those given, or those over values that stand for the rows learned, columns taken as independent; rows
    without a value have their part. Of a form every column has its own, over rows drawn from its normal classes.

    Parameters
    ----------
    nomogram : Nomogram
    known : Overview
        What the sums know of the columns.
    rows : float
        How many rows were learned.
    given : mapping, default=None
        Importances that were measured on rows.
    """
    sizes: dict[Any, float] = {}
    for key in dict.fromkeys(term.key for term in nomogram.terms):
        terms = [term for term in nomogram.terms if term.key == key]
        form = next((term for term in terms if isinstance(term, Form)), None)
        sizes |= {key: _size_of(terms, known, rows)} if form is None else _of_form(form, known, rows)
    if given is not None:
        names = {called(key): key for key in sizes}
        sizes |= {names[called(key)]: size for key, size in given.items() if called(key) in names}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _size_of(terms: list[Term], known: Overview, rows: float) -> float:
    """Of terms of one column or of a pair."""
    points = [_points(known.get(column), rows) for column in terms[0].columns]
    grids = np.meshgrid(*(np.arange(len(values)) for values, _ in points), indexing="ij")
    entries = [values[grid.ravel()] for (values, _), grid in zip(points, grids, strict=True)]
    weight = np.prod([w[grid.ravel()] for (_, w), grid in zip(points, grids, strict=True)], axis=0)
    return float(_sizes(np.asarray(sum(term.value(*entries) for term in terms)), weight))


def _of_form(form: Form, known: Overview, rows: float) -> dict[Any, float]:
    """Of every column of a form."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((DRAWS, len(form.columns)))
    drawn = [o + m + noise @ _root(p).T for o, m, p in zip(form.origin, form.mean, form.precision, strict=True)]
    counts = [_count(known.get(column), rows, len(drawn)) for column in form.columns]
    weight = np.repeat(np.mean(counts, axis=0) / DRAWS, DRAWS)
    sizes = _sizes(form.parts(np.concatenate(drawn)), weight)  # (d,)
    filled = [count.sum() / rows for count in counts]
    return {column: float(size * share) for column, size, share in zip(form.columns, sizes, filled, strict=True)}


def _root(precision: Array) -> Array:
    """A matrix R (d, d) with R R' the covariance of columns that count; others stay at their mean."""
    used = np.diag(precision) > 0
    root = np.zeros_like(precision)
    unit = np.sqrt(np.diag(precision)[used])
    correlation = precision[np.ix_(used, used)] / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(correlation)
    root[np.ix_(used, used)] = vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny)) / unit[:, None]
    return root


def _count(known: Summary | None, rows: float, k: int) -> Array:
    """How many rows have a value, by class (k,)."""
    return np.full(k, rows / k) if known is None else np.maximum(known.count, 0.0)


def _sizes(values: Array, weight: Array) -> Array:
    """The mean size of what is added beyond the mean of the classes: values (n, k, ...), weights (n,)."""
    added = np.clip(np.nan_to_num(beyond_mean(values, 1)), -CUT, CUT)  # a slope of what is missing adds nothing
    return np.asarray(np.tensordot(weight, abs(added).mean(axis=1), 1) / (weight.sum() or 1.0))


def _points(known: Summary | None, rows: float) -> tuple[Array, Array]:
    """Some values of a column and their weights, those of the greatest if there are many; the last is a missing one."""
    if known is None or not len(known.values):
        return np.zeros(1), np.ones(1)
    present = float(known.weight.sum())
    if known.mean is not None and len(known.values) > MANY:
        shares = (np.arange(MANY) + 0.5) / MANY
        values, weight = np.array(quantiles(known.values, known.weight, shares.tolist())), np.ones(MANY)
    else:
        most = np.argsort(-known.weight, kind="stable")[:MANY]
        values, weight = known.values[most], known.weight[most]
    gone = np.array([np.nan]) if known.mean is not None else np.array([None], dtype=object)
    weight = weight * (present / (weight.sum() or 1.0))
    return np.append(values, gone), np.append(weight, max(0.0, rows - present))
