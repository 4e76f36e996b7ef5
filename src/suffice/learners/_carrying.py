"""What was learned from rows, carried to the sums of other rows: some have come since, or gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

import numpy as np

from suffice._labels import positions, show_all
from suffice._notice import Notice, StaleWarning
from suffice._vector import select
from suffice.learners._fit import Fit, closed
from suffice.learners._level import level_for
from suffice.models import AnyModel, AnyStatistics
from suffice.models._base import Natural, NaturalModel, Share
from suffice.models._statistics import grouped

HALVINGS = 5  # of a shift, before it is dropped
Shifts: TypeAlias = dict[tuple[object, ...], AnyStatistics]  # by the classes of a contest; () where there is none
Known: TypeAlias = tuple[Fit | None, AnyStatistics]  # what was learned from rows, and the sums of those that count now


def carried(who: str, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:
    """What was learned before, for the sums s of the rows that count now; it says that it is stale.

        S + (mass now / mass then) D,     D = moved - S then

    class by class, where statistics were moved. A new class has no shift; that of a block (a table, a covariance) is
    halved while it leaves no parameters, and then dropped; cells of numbers and pooled categories are those of then.
    Where parameters were learned without moving statistics, these stay; if they know of other classes than there are
    now, the closed form stands in.
    """
    if before is None:
        return _closed(who, model, s, "no rows came that it could learn from")
    late = np.setdiff1d(s.domain.classes[s.mass > 0], before.statistics.domain.classes[before.statistics.mass > 0])
    if before.moved is not None:
        try:
            fit = _shifted(model, s, before, [_shifts(before, s)])
        except ValueError:  # sums on a grid that has become coarser than the cells
            return _closed(who, model, s, "the cells of its numbers can no longer be told apart")
        known = f", and the classes {show_all(late)} have come" if len(late) else ""
        return _stale(who, fit, f"rows have come or gone since it was learned{known}")
    if len(late) or not np.array_equal(s.domain.classes, before.statistics.domain.classes):
        those = f"the classes {show_all(late)} have come" if len(late) else "a class has come or gone"
        return _closed(who, model, s, f"{those} since it was learned")
    kept = replace(before, statistics=s, warnings=())
    return _stale(who, kept, "rows have come or gone since its parameters were learned")


def merged(model: AnyModel, ours: Known, theirs: Known) -> Fit | None:
    """What two fits have learned together, which `carried` goes on from.

    Shifts add up. Parameters that come without are averaged by mass, in natural parameters. Where neither can be done,
    because cells, categories or classes differ, it is what the fit of more rows has learned.
    """
    if ours[0] is None or theirs[0] is None:
        return ours[0] or theirs[0]
    (a, s), (b, t) = sorted((ours, theirs), key=_size, reverse=True)
    if a is None or b is None or (a.moved is None) != (b.moved is None):
        return a
    if a.moved is None:
        return _mean(model, a, s, b, t)
    try:
        return _shifted(model, s + t, a, [_shifts(a, s), _shifts(b, t)])
    except ValueError:  # cells that differ
        return a


def _size(known: Known) -> tuple[float, bytes]:
    """The mass of the rows that count, and their sums as bytes, so that a + b and b + a are the same."""
    return float(known[1].mass.sum()), b"".join(np.asarray(leaf).tobytes() for leaf in known[1].leaves())


def _mean(model: AnyModel, a: Fit, s: AnyStatistics, b: Fit, t: AnyStatistics) -> Fit:
    """A fit whose natural parameters are the mean of those of two, by mass; the first if they are of other things."""
    whole = s + t
    alike = all(_same(one.statistics, whole) for one in (a, b))
    if not alike or not isinstance(model.unit, Natural):
        return a
    resolved, share, each = model.resolve(whole), float(s.mass.sum() / whole.mass.sum()), []
    for part, one, other in zip(resolved.shares(whole), _each(a.parameters), _each(b.parameters), strict=True):
        natural = cast(NaturalModel[Any, Any, Any], part.model)
        first, second = natural.natural(one), natural.natural(other)
        each.append(natural.from_natural(natural.feasible(share * first + (1.0 - share) * second, first)))
    level = None if a.level is None or b.level is None else share * a.level + (1.0 - share) * b.level
    return replace(a, model=resolved, parameters=resolved.joined(each), statistics=whole, level=level)


def _same(a: AnyStatistics, b: AnyStatistics) -> bool:
    """Whether rows of the same classes and features are summed in both."""
    classes = np.array_equal(a.domain.classes, b.domain.classes) and np.array_equal(a.mass > 0, b.mass > 0)
    return classes and a.domain.features.same(b.domain.features)


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _stale(who: str, fit: Fit, why: str) -> Fit:
    do = "recalibrate(X, y) learns it anew, of rows that count now"
    return replace(fit, warnings=(*fit.warnings, Notice(f"{who}: {why}; {do}", StaleWarning)))


def _closed(who: str, model: AnyModel, s: AnyStatistics, why: str) -> Fit:
    return _stale(who, closed(model, s), f"{why}, so that the closed form stands in")


def _shifts(before: Fit, s: AnyStatistics) -> Shifts:
    """What the statistics of each share were moved by, in proportion to the mass that its classes have in s."""
    then = before.statistics.domain.classes
    mass = grouped(s.mass, positions(s.domain.classes, then), len(then))
    found: Shifts = {}
    for share, at in zip(before.model.shares(before.statistics), _each(before.moved), strict=True):
        now = mass if share.group is None else grouped(mass, share.group, len(share.whole.mass))
        scale = np.divide(now, share.whole.mass, out=np.zeros(len(now)), where=share.whole.mass > 0)
        found[_key(share)] = (at - share.whole).by_class(scale)
    return found


def _shifted(model: AnyModel, s: AnyStatistics, held: Fit, shifts: Sequence[Shifts]) -> Fit:
    """A fit whose statistics are s and some shifts, in the cells that another works on."""
    worked = held.model.restrict(s)
    resolved = model.resolve(worked)
    places = [
        _shift(share, [each[key] for each in shifts if (key := _key(share)) in each])
        for share in resolved.shares(worked)
    ]
    moved, thetas = zip(*places, strict=True)
    return replace(
        held,
        model=resolved,
        parameters=resolved.joined(thetas),
        statistics=s,
        moved=moved if len(moved) > 1 else moved[0],
        warnings=resolved.remarks(),
        level=level_for(held, resolved, s),
    )


def _shift(share: Share, by: Sequence[AnyStatistics]) -> tuple[AnyStatistics, object]:
    """Statistics with shifts, halved block by block until there are parameters, and these."""
    here = share.whole
    for one in by:
        here.domain.features | one.domain.features  # ValueError if their cells differ
    here, shift = here.align(sum((one.onto(here.domain) for one in by), 0.0 * here))
    for factor in (*[0.5] * HALVINGS, 0.0):
        new = here + shift
        got = share.model.attempt(new)
        if all(np.all(leaf) for leaf in got.valid.leaves()):
            return new, got.parameters
        shift = select(got.valid, shift, factor * shift)
    return here, share.model.parameters(here)


def _key(share: Share) -> tuple[object, ...]:
    return () if share.group is None else tuple(share.whole.domain.classes.tolist())
