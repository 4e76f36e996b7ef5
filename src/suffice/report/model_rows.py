"""What a model says of rows that were given: answers with their reasons, and what each column adds along its values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from suffice._contributions import Contributions
from suffice._labels import missing
from suffice._posterior import posterior
from suffice._vector import Array
from suffice.encoders.columns import DATES, Column
from suffice.report import page
from suffice.report.controls import UNITS, called, named
from suffice.report.page import Html, Value
from suffice.report.page._shapes import COLOURS, Axis, Cloud, clouds, diverging_bars, heat_map, signed
from suffice.report.subject import Rows

SHOWN = 20  # rows whose answers are shown
TERMS = 5  # of each of them
POINTS = 400  # rows that are drawn as points
CLASSES = 3  # of more than two, whose points are drawn
FIRST, MOST = 12, 40  # charts that are not folded away, and at all
GONE = "(missing)"
ROWS = 14  # values of a chart of categories


def answers(found: Contributions) -> Html:
    """The first rows, with what counted most for the class that is most probable."""
    scores = np.asarray(found.log_joint)
    top, p = scores.argmax(axis=1), posterior(scores)
    rows: list[list[object]] = []
    for i in range(min(len(found), SHOWN)):
        most = list(found.row(i).items())[:TERMS]
        said = "; ".join(f"{called(name)} {signed(value)}" for name, value in most)
        rows.append([f"row {i + 1}", named(found.classes[top[i]]), Value(100 * float(p[i, top[i]]), 1), said])
    two = len(found.classes) == 2
    note = "What counted most for the most probable class" + ", against the mean of the others." * (not two) + "." * two
    what = "its log-odds" if two else "log p of it less the mean of the others"
    heads = ["row", "most probable", "%", f"what columns add to {what}"]
    return page.block("Answers", page.data_table(heads, rows, "Rows that were given", filtered=False), note=note)


def along(found: Contributions, rows: Rows, known: Collection[Any], counts: Array) -> Html:
    """What each column that is known added to the answers for rows, along its own values: a point for each row."""
    which = [1] if len(found.classes) == 2 else sorted(np.argsort(-counts, kind="stable")[:CLASSES].tolist())
    each = [
        _along(found, found.names.index(key), rows.column(key), which)
        for key in list(found.importances)[:MOST]
        if key in known
    ]
    if not each:
        return Html()
    of = [named(found.classes[c]) for c in which]
    two = f"the log-odds of {of[0]} against {named(found.classes[0])}"
    many = f"the score of a class ({', '.join(of)}), beyond the mean of all classes"
    note = page.paragraph(
        f"A point is a row that was given: what the column added to {two if len(found.classes) == 2 else many}. Other "
        "columns of the row have a part in it, so that equal values may add different things.",
        quiet=True,
    )
    keys = [page.tag("span", page.tag("i", class_=f"s{i}"), name, class_="key-of") for i, name in enumerate(of)]
    legend = page.tag("p", *keys, class_="colours") if len(of) > 1 else None
    more = each[FIRST:]
    rest = page.fold(f"{len(more)} more", page.tag("div", *more, class_="shapes")) if more else None
    return page.join([note, legend, page.tag("div", *each[:FIRST], class_="shapes"), rest])


def _along(found: Contributions, at: int, column: Column, which: Sequence[int]) -> Html:
    name = named(found.names[at])
    terms = found.terms[:, :, at]
    added = (terms[:, 1:] - terms[:, :1]) if terms.shape[1] == 2 else terms[:, list(which)]  # (n, classes drawn)
    if column.kind()[0] == "number":
        x = column.numbers()[: len(added)]
        some = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
        gone = int((~np.isfinite(x)).sum())
        some = some[np.isfinite(x[some])]
        drawn = [Cloud(i % COLOURS, list(zip(x[some], added[some, i], strict=True))) for i in range(added.shape[1])]
        unit = f"in {UNITS[kind]}" if (kind := column.kind()[1]) in UNITS else ""
        lack = f"{gone:,} of {len(x):,} rows have no value and no point" if gone else ""
        return clouds(name, "; ".join(filter(None, [unit, lack])), drawn, Axis(kind == DATES))
    values = [GONE if missing(value) else named(value) for value in column.categories()[: len(added)]]
    kinds, codes, count = np.unique(values, return_inverse=True, return_counts=True)
    most = np.sort(np.argsort(-count, kind="stable")[:ROWS])
    mean = np.stack([np.bincount(codes, added[:, i]) for i in range(added.shape[1])], axis=1) / count[:, None]
    note = "means by value"
    if added.shape[1] == 1:
        bars = list(zip(kinds[most], mean[most, 0].tolist(), count[most].tolist(), strict=True))
        return diverging_bars(name, note, bars)
    heads = [named(found.classes[c]) for c in which]
    return heat_map(name, note, kinds[most].tolist(), heads, mean[most].tolist())
