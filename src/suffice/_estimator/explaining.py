"""Explanations: what each column adds to an answer, and the summary that a notebook shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from suffice._core.labels import show
from suffice._core.vector import Array
from suffice._runtime.messages import MAX_LISTED, join_words
from suffice.learners import Fit
from suffice.models import AnyStatistics, Terms

IMPOSSIBLE = -1e6  # a term below this rules its class out, and is no part of means over classes
SHOWN = 10  # terms of a row that are printed


@dataclass(frozen=True, eq=False)
class Contributions:
    """What every column, or pair of columns, adds to the log-probability of each class, row by row.

        log p(y | x_i) = base_y + sum_t terms_iyt + a number that all classes of row i share

    Terms are what is added beyond the mean over the classes, and so is the base, since what all classes share says
    nothing of them: with two classes terms_i1t - terms_i0t is what term t adds to the log-odds. A column that a row
    lacks adds nothing where the model leaves it out; trees, and tables of what is missing, take that for a value.

    Parameters
    ----------
    names : list
        Of the terms (m,): names of columns, or their numbers where they have none; "a & b" for a pair.
    classes : array of shape (k,)
    base : array of shape (k,), or (n, k) where it differs by row
        What does not depend on single columns: class probabilities, determinants, normalisers.
    terms : array of shape (n, k, m)
    """

    names: list[Any]
    classes: Array
    base: Array
    terms: Array

    @classmethod
    def of(cls, found: Terms, classes: Array) -> Contributions:
        """From the terms of a model."""
        return cls(
            [name_of(key) for key in found.keys], classes, beyond_mean(found.base, -1), beyond_mean(found.values, 1)
        )

    @property
    def log_joint(self) -> Array:
        """base + the sum of the terms (n, k): log p(x, y), up to a number a row."""
        return np.asarray(self.base + self.terms.sum(axis=2))

    @property
    def importances(self) -> dict[Any, float]:
        """The mean size of each term, over rows and classes, the greatest first; infinite if it rules a class out."""
        possible = self.terms > IMPOSSIBLE
        size = np.where(possible, abs(self.terms), 0.0).sum(axis=(0, 1)) / np.maximum(1, possible.sum(axis=(0, 1)))
        others = np.atleast_2d(self.base)[:, :, None] > IMPOSSIBLE  # classes that are not ruled out anyway
        size[(~possible & others & possible.any(axis=1, keepdims=True)).any(axis=(0, 1))] = np.inf
        return {self.names[at]: float(size[at]) for at in np.argsort(-size, kind="stable")}

    def row(self, i: int, y: Any = None) -> dict[Any, float]:
        """What each term of row i says for a class against the mean of the others, the greatest first.

        With two classes these are terms of the log-odds of that class. `y`: a class; None is the most probable one.
        """
        c = int(np.argmax(self.log_joint[i])) if y is None else self._place(y)
        against = _against(self.terms[[i]], np.array([c]))[0]
        return {self.names[at]: float(against[at]) for at in np.argsort(-abs(against), kind="stable")}

    def against_others(self, y: Array) -> Array:
        """What each term says for one class of each row, of labels y (n,), against the mean of the others (n, m)."""
        labels, at = np.unique(y, return_inverse=True)
        return _against(self.terms, np.array([self._place(one) for one in labels], dtype=int)[at])

    def _place(self, y: Any) -> int:
        found = np.flatnonzero(self.classes == y)
        if not len(found):
            raise ValueError(f"there is no class {y!r}: the classes are {self.classes.tolist()}")
        return int(found[0])

    def called(self, names: Mapping[Any, Any]) -> Contributions:
        """The same with other names of some columns."""
        return replace(self, names=[names.get(name, name) for name in self.names])

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        n, k, m = self.terms.shape
        lines = [f"Contributions of {m} terms to {k} classes, for {n} row{'s' * (n != 1)}" + "; row 0:" * bool(n)]
        if n:
            c = int(np.argmax(self.log_joint[0]))
            lines.append(f"  class {self.classes[c]} against the others")
            lines += [f"  {value:+9.3f}  {name}" for name, value in list(self.row(0).items())[:SHOWN]]
            lines += [f"  {'...':>9}"] * (m > SHOWN)
            base = _against(np.atleast_2d(self.base)[:1, :, None], np.array([c]))[0, 0]
            lines.append(f"  {base:+9.3f}  (base)")
        return "\n".join(lines)


def name_of(key: Any) -> Any:
    """What a term is called: by its column, or "a & b" for a pair."""
    return " & ".join(map(str, key)) if isinstance(key, tuple) else key


def beyond_mean(values: Array, axis: int) -> Array:
    """Values less their mean over the classes along an axis; classes that are ruled out have no part in the mean."""
    possible = values > IMPOSSIBLE
    total = np.where(possible, values, 0.0).sum(axis=axis, keepdims=True)
    return np.asarray(values - total / np.maximum(1, possible.sum(axis=axis, keepdims=True)))


def _against(values: Array, c: Array) -> Array:
    """Values (n, k, m) of a class of each row (n,) less the mean of the other classes (n, m)."""
    rows = np.arange(len(c))
    own, others = values[rows, c], values.copy()
    others[rows, c] = -np.inf
    possible = others > IMPOSSIBLE
    mean = np.where(possible, others, 0.0).sum(axis=1) / np.maximum(1, possible.sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(possible.any(axis=1), own - mean, np.inf if values.shape[1] > 1 else 0.0))


STYLE = "margin: .4em 0; font-size: smaller; border-collapse: collapse; text-align: left"
CELL = "padding: .1em .8em .1em 0; text-align: left; vertical-align: top"


LATER = "taken from the sums when they are first asked for"


class HTMLSummary:
    """Rows of a name and words, as a table in HTML; what scikit-learn puts below the settings of an estimator."""

    def __init__(self, rows: Mapping[str, str]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_html_inner(self) -> str:
        lines = "".join(_line(name, words) for name, words in self.rows.items())
        table = f'<table style="{STYLE}"><tbody>{lines}</tbody></table>'
        return f'<div class="estimator-table"><details open><summary>Learned</summary>{table}</details></div>'


def _line(name: str, words: str) -> str:
    head = f'<th scope="row" style="{CELL}; white-space: nowrap">{escape(name)}</th>'
    return f'<tr>{head}<td style="{CELL}">{escape(words)}</td></tr>'


def learned_summary(estimator: Any, s: AnyStatistics, fit: Fit | None) -> dict[str, str]:
    """What was learned, in words; nothing is computed for it, and nothing is warned of."""
    mass, classes = s.mass, s.domain.classes
    names = getattr(estimator, "feature_names_in_", None)
    rows = {
        "rows": f"{mass.sum():,.6g}",
        "classes": f"{len(classes)}: {_listed(classes, mass)}",
        "columns": str(estimator.n_features_in_) + ("" if names is None else f": {join_words(map(str, names))}"),
    }
    if fit is None:
        return {**rows, "parameters": LATER}
    rows["learner"] = ", ".join(filter(None, [type(estimator._learner()).__name__, _course(fit)]))
    weights = getattr(fit.model, "weights", None)
    if isinstance(weights, Mapping) and weights:
        rows["weights"] = _weights({str(name): float(w) for name, w in weights.items()})
    if fit.warnings:
        rows["warnings"] = " ".join(dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in fit.warnings))
    return rows


def _listed(classes: Array, mass: Array) -> str:
    """Classes with the weight of their rows, of many the heaviest."""
    order = np.argsort(-mass, kind="stable") if len(classes) > MAX_LISTED else np.arange(len(classes))
    return join_words(f"{show(classes[c])} ({mass[c]:,.6g})" for c in order)


def _course(fit: Fit) -> str:
    """How learning went; nothing of the closed form, which goes nowhere."""
    if not fit.history:
        return ""
    end = "converged" if fit.converged else "not converged"
    losses = fit.history.get("log_loss", [])
    went = f": log loss {losses[0]:.4f} to {losses[-1]:.4f}" if len(losses) > 1 else ""
    return f"{fit.n_iter} pass{'es' * (fit.n_iter != 1)}, {end}{went}"


def _weights(weights: Mapping[str, float]) -> str:
    order = sorted(weights, key=lambda name: -weights[name])
    return join_words(f"{name} {weights[name]:.2f}" for name in order)
