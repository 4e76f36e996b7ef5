"""Explanations: contributions of columns, notes on columns, and the summary that a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np

from suffice._core.kinds import ColumnContent, LeftOut, ReadAs
from suffice._core.labels import show
from suffice._core.vector import Array
from suffice._runtime.messages import MAX_LISTED, join_words
from suffice.encoders.table import Role
from suffice.learners import Fit
from suffice.models import AnyStatistics, Terms
from suffice.models.base import ColumnSummary

IMPOSSIBLE = -1e6  # a smaller term rules its class out, and is left out of means over classes
MAX_TERMS_PRINTED = 10
MAX_COLUMNS_PRINTED = 60
COLUMN_TITLES = ("column", "holds", "read as", "what became of it")

TABLE_STYLE = "margin: .4em 0; font-size: smaller; border-collapse: collapse; text-align: left"
CELL_STYLE = "padding: .1em .8em .1em 0; text-align: left; vertical-align: top"


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contribution of every column, or pair of columns, to the log-probability of each class, row by row.

        log p(y | x_i) = base_y + sum_t terms_iyt + a constant for row i

    Terms and base have mean 0 over the classes: with two classes, terms_i1t - terms_i0t is the contribution of term t
    to the log-odds. A missing value contributes nothing if the model ignores it; trees, and tables of missing entries,
    treat it as a value.

    Parameters
    ----------
    names : list
        Names of the terms (m,): columns, or their numbers if they have no names; "a & b" for a pair.
    classes : array of shape (k,)
    base : array of shape (k,), or (n, k) where it differs by row
        The part that does not depend on single columns: class probabilities, determinants, normalisers.
    terms : array of shape (n, k, m)
    """

    names: list[Any]
    classes: Array
    base: Array
    terms: Array

    @classmethod
    def of(cls, found: Terms, classes: Array) -> Contributions:
        """The contributions for the terms of a model."""
        return cls(
            [name_of(key) for key in found.keys], classes, beyond_mean(found.base, -1), beyond_mean(found.values, 1)
        )

    @property
    def log_joint(self) -> Array:
        """base + the sum of the terms (n, k): log p(x, y), up to a constant for each row."""
        return np.asarray(self.base + self.terms.sum(axis=2))

    @property
    def importances(self) -> dict[Any, float]:
        """The mean absolute value of each term, the greatest first; infinite if it alone rules a class out."""
        possible = self.terms > IMPOSSIBLE
        size = np.where(possible, abs(self.terms), 0.0).sum(axis=(0, 1)) / np.maximum(1, possible.sum(axis=(0, 1)))
        in_base = np.atleast_2d(self.base)[:, :, None] > IMPOSSIBLE
        size[(~possible & in_base & possible.any(axis=1, keepdims=True)).any(axis=(0, 1))] = np.inf
        return {self.names[at]: float(size[at]) for at in np.argsort(-size, kind="stable")}

    def row(self, i: int, y: Any = None) -> dict[Any, float]:
        """The terms of row i for a class minus their mean over the other classes, the greatest first.

        With two classes these are terms of the log-odds of that class. `y`: a class; None is the most probable one.
        """
        c = int(np.argmax(self.log_joint[i])) if y is None else self._index(y)
        against = _minus_others(self.terms[[i]], np.array([c]))[0]
        return {self.names[at]: float(against[at]) for at in np.argsort(-abs(against), kind="stable")}

    def against_others(self, y: Array) -> Array:
        """Terms (n, m) for the class y (n,) of each row minus their mean over the other classes."""
        labels, at = np.unique(y, return_inverse=True)
        return _minus_others(self.terms, np.array([self._index(one) for one in labels], dtype=int)[at])

    def _index(self, y: Any) -> int:
        found = np.flatnonzero(self.classes == y)
        if not len(found):
            raise ValueError(f"there is no class {y!r}: the classes are {self.classes.tolist()}")
        return int(found[0])

    def called(self, names: Mapping[Any, Any]) -> Contributions:
        """These contributions with some columns renamed."""
        return replace(self, names=[names.get(name, name) for name in self.names])

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        n, k, m = self.terms.shape
        lines = [f"Contributions of {m} terms to {k} classes, for {n} row{'s' * (n != 1)}" + "; row 0:" * bool(n)]
        if n:
            c = int(np.argmax(self.log_joint[0]))
            lines.append(f"  class {self.classes[c]} against the others")
            lines += [f"  {value:+9.3f}  {name}" for name, value in list(self.row(0).items())[:MAX_TERMS_PRINTED]]
            lines += [f"  {'...':>9}"] * (m > MAX_TERMS_PRINTED)
            base = _minus_others(np.atleast_2d(self.base)[:1, :, None], np.array([c]))[0, 0]
            lines.append(f"  {base:+9.3f}  (base)")
        return "\n".join(lines)


def name_of(key: Any) -> Any:
    """The name of a term: its column, or "a & b" for a pair."""
    return " & ".join(map(str, key)) if isinstance(key, tuple) else key


def beyond_mean(values: Array, axis: int) -> Array:
    """Values minus their mean over the classes along an axis, from which classes that are ruled out are left out."""
    possible = values > IMPOSSIBLE
    total = np.where(possible, values, 0.0).sum(axis=axis, keepdims=True)
    return np.asarray(values - total / np.maximum(1, possible.sum(axis=axis, keepdims=True)))


def _minus_others(values: Array, c: Array) -> Array:
    """Values (n, k, m) of one class of each row (n,) minus the mean of the other classes (n, m)."""
    rows = np.arange(len(c))
    own, others = values[rows, c], values.copy()
    others[rows, c] = -np.inf
    possible = others > IMPOSSIBLE
    mean = np.where(possible, others, 0.0).sum(axis=1) / np.maximum(1, possible.sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(possible.any(axis=1), own - mean, np.inf if values.shape[1] > 1 else 0.0))


class ColumnNote(NamedTuple):
    """One column: name or number, content, kind it is read as, a sentence about it, and why it is left out, if so."""

    name: Any
    holds: str
    kind: str
    note: str
    left_out: LeftOut | None = None

    @property
    def silent(self) -> bool:
        """True if the column takes no part in predictions."""
        return self.left_out is not None


def column_note(role: Role, summary: ColumnSummary) -> ColumnNote:
    """The note of a column, from its role and the summary by its model."""
    content, kind = role.content, role.kind
    holds = role.holds if content is ColumnContent.MIXED else content
    if kind is ReadAs.DROP and summary.left_out is None:
        summary = ColumnSummary(left_out=LeftOut.GIVEN if role.given else LeftOut.ENCODER)
    sentence = summary.sentence(content is ColumnContent.DATES)
    sentence += "; as `columns` says" * (role.given and kind is not ReadAs.DROP)
    sentence += f"; written as {role.notation}" * (role.notation is not None and summary.left_out is None)
    return ColumnNote(role.name, holds, kind, sentence, summary.left_out)


class Columns(Mapping[Any, ColumnNote]):
    """A note on every column, by its name or number; it prints as a table.

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
        rows = [tuple(str(cell) for cell in note[: len(COLUMN_TITLES)]) for note in self._notes.values()]
        more = len(rows) - MAX_COLUMNS_PRINTED
        return rows if more <= 0 else [*rows[:MAX_COLUMNS_PRINTED], (f"and {more} more", "", "", "")]

    def __repr__(self) -> str:
        rows = [COLUMN_TITLES, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMN_TITLES))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in COLUMN_TITLES)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self._rows())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class HTMLSummary:
    """Names with sentences as a table in HTML, which scikit-learn shows below the settings of an estimator."""

    def __init__(self, rows: Mapping[str, str]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_html_inner(self) -> str:
        lines = "".join(
            f'<tr><th scope="row" style="{CELL_STYLE}; white-space: nowrap">{escape(name)}</th>'
            f'<td style="{CELL_STYLE}">{escape(words)}</td></tr>'
            for name, words in self.rows.items()
        )
        table = f'<table style="{TABLE_STYLE}"><tbody>{lines}</tbody></table>'
        return f'<div class="estimator-table"><details open><summary>Learned</summary>{table}</details></div>'


def learned_summary(estimator: Any, s: AnyStatistics, fit: Fit | None) -> dict[str, str]:
    """A summary in words of what was learned. It computes no parameters and emits no warnings."""
    mass, classes = s.mass, s.domain.classes
    order = np.argsort(-mass, kind="stable") if len(classes) > MAX_LISTED else np.arange(len(classes))
    names = getattr(estimator, "feature_names_in_", None)
    rows = {
        "rows": f"{mass.sum():,.6g}",
        "classes": f"{len(classes)}: " + join_words(f"{show(classes[c])} ({mass[c]:,.6g})" for c in order),
        "columns": str(estimator.n_features_in_) + ("" if names is None else f": {join_words(map(str, names))}"),
    }
    if fit is None:
        return {**rows, "parameters": "computed from the sums when they are first used"}
    rows["learner"] = ", ".join(filter(None, [type(estimator._learner()).__name__, _iterations(fit)]))
    weights = getattr(fit.model, "weights", None)
    if isinstance(weights, Mapping) and weights:
        by_weight = sorted(weights.items(), key=lambda item: -float(item[1]))
        rows["weights"] = join_words(f"{name} {float(weight):.2f}" for name, weight in by_weight)
    if fit.warnings:
        rows["warnings"] = " ".join(dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in fit.warnings))
    return rows


def _iterations(fit: Fit) -> str:
    """How learning went; an empty text for the closed form, which does not iterate."""
    if not fit.history:
        return ""
    end = "converged" if fit.converged else "not converged"
    losses = fit.history.get("log_loss", [])
    loss = f": log loss {losses[0]:.4f} to {losses[-1]:.4f}" if len(losses) > 1 else ""
    return f"{fit.n_iter} pass{'es' * (fit.n_iter != 1)}, {end}{loss}"
