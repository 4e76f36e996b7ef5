"""Axes, colours and legends that all figures share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, FAINT = "#222222", "#8a8a8a"
# The palette of Okabe and Ito, which colour-blind readers can tell apart.
CLASSES = ("#0072b2", "#d55e00")
MARKERS = ("o", "^")
LINES = (
    ("#222222", "-"),
    ("#009e73", "--"),
    ("#cc79a7", "-."),
    ("#e69f00", (0, (1, 1))),
    ("#56b4e9", (0, (5, 1))),
    ("#8c6d1f", (0, (3, 1, 1, 1, 1, 1))),
)


def canvas(ax: Axes | None, width: float = 7.4, height: float = 4.4) -> tuple[Figure, Axes]:
    """Return the given axes with their figure, or new ones of a size in inches that pyplot does not know."""
    if ax is not None:
        if not isinstance(ax, Axes):
            raise ValueError(f"ax must be matplotlib axes or None, got a {type(ax).__name__}")
        return ax.figure.figure, ax  # the figure of a subfigure is the whole
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def finished(figure: Figure, path: str | Path | None) -> Figure:
    """Write the figure to `path`, if there is one, and return it."""
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def literal(text: str) -> str:
    """Escape dollars, which matplotlib takes for mathematics."""
    return text.replace("$", r"\$")


def style(i: int) -> dict[str, Any]:
    """Colour and dashes of line i."""
    color, dashes = LINES[i % len(LINES)]
    return {"color": color, "linestyle": dashes}


def dress(axes: Axes, title: str, x: str, y: str, legend: str | None = None) -> None:
    """Add title, labels and a legend at the location `legend`, or right of the axes, where it hides nothing."""
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    place: dict[str, Any] = {"loc": legend} if legend else {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    axes.legend(fontsize="small", edgecolor="none", **place)
