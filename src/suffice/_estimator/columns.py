"""What became of the columns of a table, as something to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from suffice._core.kinds import ColumnContent, LeftOut, ReadAs
from suffice.encoders.table import Role
from suffice.models.base import ColumnSummary

TITLES = ("column", "holds", "read as", "what became of it")
LONG = 60  # rows of a table that is shown


class TakesTables(BaseEstimator):
    """An estimator that takes columns of every kind, with missing entries, and tells scikit-learn so."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags


class ColumnNote(NamedTuple):
    """One column: its name or number, what it holds, what it is read as, what became of it, and why it is left out."""

    name: Any
    holds: str
    kind: str
    note: str
    left_out: LeftOut | None = None

    @property
    def silent(self) -> bool:
        """Whether it takes no part in the answers."""
        return self.left_out is not None


def noted(role: Role, summary: ColumnSummary) -> ColumnNote:
    """The note of a column, from its role and the summary that its model gives."""
    content, kind = role.content, role.kind
    holds = role.holds if content is ColumnContent.MIXED else content
    if kind is ReadAs.DROP and summary.left_out is None:
        summary = ColumnSummary(left_out=LeftOut.GIVEN if role.given else LeftOut.ENCODER)
    said = summary.sentence(content is ColumnContent.DATES)
    said += "; as `columns` says" * (role.given and kind is not ReadAs.DROP)
    return ColumnNote(role.name, holds, kind, said, summary.left_out)


class Columns(Mapping[Any, ColumnNote]):
    """What became of every column, by its name or number; it prints as a table.

    >>> Columns([ColumnNote("age", "whole numbers", "bins", "32 cells")])
    column  holds          read as  what became of it
    age     whole numbers  bins     32 cells
    """

    def __init__(self, notes: Sequence[ColumnNote]) -> None:
        self._notes = {note.name: note for note in notes}

    def __getitem__(self, name: Any) -> ColumnNote:
        return self._notes[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)

    def _rows(self) -> list[tuple[str, ...]]:
        rows = [tuple(str(cell) for cell in note[: len(TITLES)]) for note in self._notes.values()]
        more = len(rows) - LONG
        return rows if more <= 0 else [*rows[:LONG], (f"and {more} more", "", "", "")]

    def __repr__(self) -> str:
        rows = [TITLES, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(TITLES))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in TITLES)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self._rows())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
