"""Confusions: what classes were taken for."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.report.page._html import Html, tag
from suffice.report.page._table import Heading, Value, data_table

WIDE = 12  # classes up to which the whole matrix is shown
PAIRS = 15  # that are shown instead


def confusion(counts: Sequence[Sequence[int]], classes: Sequence[str], caption: str) -> Html:
    """Rows by true and predicted class: the matrix, or for many classes the pairs that are confused most.

    >>> "of 5" in confusion([[4, 1], [0, 3]], ["a", "b"], "Confusions")
    True
    """
    sizes = [sum(row) for row in counts]
    if len(classes) > WIDE:
        return _pairs(counts, classes, sizes, caption)
    head = tag("tr", tag("th", "true class", scope="col"), *(tag("th", name, scope="col") for name in classes))
    rows = [
        tag("tr", tag("th", name, scope="row"), *(_cell(n, sizes[i], i == j) for j, n in enumerate(counts[i])))
        for i, name in enumerate(classes)
    ]
    over = tag("tr", tag("td"), tag("th", "predicted class", colspan=len(classes), scope="colgroup"))
    table = tag("table", tag("caption", caption, class_="spoken"), tag("thead", over, head), tag("tbody", *rows))
    return tag("div", table, class_="frame confusion", tabindex=0, role="region", aria_label=caption)


def _cell(n: int, size: int, right: bool) -> Html:
    share = n / size if size else 0.0
    kind = "right" if right else "wrong"
    told = f"{100 * share:.1f} % of {size}"
    small = tag("small", f"{100 * share:.1f} %") if n else None
    return tag("td", tag("b", f"{n:,}"), small, class_=f"number {kind}", style=f"--share:{share:.3f}", title=told)


def _pairs(counts: Sequence[Sequence[int]], classes: Sequence[str], sizes: Sequence[int], caption: str) -> Html:
    found = [(n, i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n]
    rows: list[list[object]] = [
        [classes[i], classes[j], Value(n, 0), Value(100 * n / sizes[i], 1)]
        for n, i, j in sorted(found, key=lambda pair: (-pair[0], pair[1:]))[:PAIRS]
    ]
    heads: list[Heading | str] = ["true class", Heading("taken for", words=True), "rows", "% of the class"]
    return data_table(heads, rows, f"{caption}: the pairs of classes that are confused most", filtered=False)
