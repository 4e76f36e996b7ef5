"""What a notebook shows of a fitted classifier, besides its settings: a small table of what was learned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

from suffice._labels import LISTED, listed, show
from suffice._predicting import Predicting
from suffice._vector import Array
from suffice.learners import Fit
from suffice.models import AnyStatistics

STYLE = "margin: .4em 0; font-size: smaller; border-collapse: collapse; text-align: left"
CELL = "padding: .1em .8em .1em 0; text-align: left; vertical-align: top"
LATER = "taken from the sums when they are first asked for"


class Summary:
    """Rows of a name and words, as a table in HTML; what scikit-learn puts below the settings of an estimator."""

    def __init__(self, rows: Mapping[str, str]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_html_inner(self) -> str:
        lines = "".join(_line(name, words) for name, words in self.rows.items())
        table = f'<table style="{STYLE}"><tbody>{lines}</tbody></table>'
        return f'<div class="estimator-table"><details open><summary>Learned</summary>{table}</details></div>'


class Showing(Predicting):
    """The HTML form: scikit-learn's diagram, and what was learned."""

    statistics_: AnyStatistics
    n_features_in_: int
    _learned: Fit | None

    @abstractmethod
    def _learner(self) -> Any: ...

    def _get_fitted_attr_html(self, doc_link: str = "") -> Summary:  # noqa: ARG002 - scikit-learn gives it
        """In the place of all attributes, most of which are computed when they are asked for, some at length."""
        return Summary(self._summary())

    def _html_repr(self) -> str:
        """The diagram; below it what was learned, where scikit-learn (before 1.9) has no place for it inside."""
        diagram = str(estimator_html_repr(self))
        if hasattr(BaseEstimator, "_get_fitted_attr_html") or not hasattr(self, "statistics_"):
            return diagram
        return diagram + self._get_fitted_attr_html()._repr_html_inner()

    def _summary(self) -> dict[str, str]:
        """What was learned, in words; nothing is computed for it, and nothing is warned of."""
        mass, classes = self.statistics_.mass, self.statistics_.domain.classes
        names = getattr(self, "feature_names_in_", None)
        rows = {
            "rows": f"{mass.sum():,.6g}",
            "classes": f"{len(classes)}: {_listed(classes, mass)}",
            "columns": str(self.n_features_in_) + ("" if names is None else f": {listed(map(str, names))}"),
        }
        fit = self._learned
        if fit is None:
            return {**rows, "parameters": LATER}
        rows["learner"] = ", ".join(filter(None, [type(self._learner()).__name__, _course(fit)]))
        weights = getattr(fit.model, "weights", None)
        if isinstance(weights, Mapping) and weights:
            rows["weights"] = _weights({str(name): float(w) for name, w in weights.items()})
        if fit.warnings:
            rows["warnings"] = " ".join(
                dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in fit.warnings)
            )
        return rows


def _line(name: str, words: str) -> str:
    head = f'<th scope="row" style="{CELL}; white-space: nowrap">{escape(name)}</th>'
    return f'<tr>{head}<td style="{CELL}">{escape(words)}</td></tr>'


def _listed(classes: Array, mass: Array) -> str:
    """Classes with the weight of their rows, of many the heaviest."""
    order = np.argsort(-mass, kind="stable") if len(classes) > LISTED else np.arange(len(classes))
    return listed(f"{show(classes[c])} ({mass[c]:,.6g})" for c in order)


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
    return listed(f"{name} {weights[name]:.2f}" for name in order)
