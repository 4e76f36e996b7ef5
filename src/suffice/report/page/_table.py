"""The data table: numbers in columns that can be sorted, filtered and coloured by state."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from suffice.report.page._html import Html, join, number, tag

MARKS = {"equal": "=", "near": "\u2248", "off": "\u2260"}  # so that a state is not told by its colour alone


class Heading(NamedTuple):
    """A column: its name, the group above it, if any, a tooltip, and whether it holds words instead of numbers."""

    name: str
    group: str = ""
    title: str = ""
    words: bool = False


class Value(NamedTuple):
    """A number in a table: None is a dash. `state` (equal, near, off, missing) colours it, `title` is its tooltip.

    `least` is what a smaller number is shown as being below.
    """

    value: float | None
    digits: int = 3
    state: str = ""
    title: str = ""
    least: float = 0.0


def data_table(
    headings: Sequence[Heading | str], rows: Sequence[Sequence[object]], caption: str, filtered: bool = True
) -> Html:
    """A table whose first column names the rows.

    Columns are sorted by a click on their heading; the filter of the page works on the names of the rows, and "only
    cells that are off" on the states of the values. Wide tables scroll within their own frame.

    Parameters
    ----------
    headings : sequence of Heading or str
        Neighbours of the same group share a heading above theirs.
    rows : sequences of str, Html, number or Value
        Numbers are shown with three decimals, values as they say.
    caption : str
        What the table is, for those who hear it.
    filtered : bool, default=True
        Whether the filter of the page applies to the rows.
    """
    heads = [head if isinstance(head, Heading) else Heading(head) for head in headings]
    edges = [i > 0 and head.group != heads[i - 1].group for i, head in enumerate(heads)]
    body = [_row(row, edges) for row in rows]
    if not body:
        body = [tag("tr", tag("td", "nothing measured yet", colspan=len(heads), class_="empty"), class_="none")]
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", _groups(heads), tag("tr", *map(_head, heads, edges, range(len(heads))))),
        tag("tbody", *body),
        class_="data",
        data_filtered=filtered or None,
    )
    # a frame that scrolls must be within reach of the keyboard
    frame = tag("div", table, class_="frame", tabindex=0, role="region", aria_label=caption)
    return frame + tag("p", "No row matches the filter.", class_="no-match quiet", hidden=True)


def _groups(heads: Sequence[Heading]) -> Html | None:
    if not any(head.group for head in heads):
        return None
    spans = [(group, len(list(members))) for group, members in groupby(heads, key=lambda head: head.group)]
    return tag(
        "tr",
        *(tag("th", g, colspan=n, scope="colgroup") if g else tag("td", colspan=n) for g, n in spans),
        class_="groups",
    )


def _head(head: Heading, edge: bool, at: int) -> Html:
    label = f"{head.group}, {head.name}" if head.group else None
    button = tag("button", head.name, type="button", aria_label=label, title=head.title or None)
    sort = {"aria_sort": "none"} if head.name else {}  # a column without a name is not for sorting
    kind = "edge" if edge else "name" if at == 0 else "words" if head.words else None
    return tag("th", button if head.name else "", scope="col", **sort, class_=kind)


def _row(row: Sequence[object], edges: Sequence[bool]) -> Html:
    name, *cells = row
    states = {cell.state for cell in cells if isinstance(cell, Value)}
    first = tag("th", name, scope="row", class_="name")
    return tag("tr", first, *map(_cell, cells, edges[1:]), data_off="off" in states)


def _cell(cell: object, edge: bool) -> Html:
    if isinstance(cell, float | int):
        cell = Value(float(cell))
    if not isinstance(cell, Value):
        return tag("td", cell, class_="edge" if edge else None)
    shown = "\u2013" if cell.value is None else number(max(cell.value, cell.least), cell.digits)
    if cell.value is not None and cell.value < cell.least:
        shown = f"<{shown}"
    mark = tag("span", MARKS[cell.state], class_="mark", aria_hidden="true") if cell.state in MARKS else None
    spoken = tag("span", cell.state, class_="spoken") if cell.state in MARKS else None
    return tag(
        "td",
        join([mark, shown, spoken]),
        class_=" ".join(filter(None, ("number", cell.state, "edge" * edge))),
        data_value=None if cell.value is None else f"{cell.value:.10g}",
        title=cell.title or None,
    )
