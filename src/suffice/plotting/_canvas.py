"""What all figures share: where they are drawn, how they are written, and colours that every eye tells apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice._runtime.atomic_file import check_local
from suffice._runtime.system import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#222222", "#8a8a8a"
CLASSES = ("#0072b2", "#d55e00")  # the palette of Okabe and Ito, here and below
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
    """The figure and the axes to draw in: those given, or new ones of a size in inches, apart from pyplot."""
    if ax is not None:
        if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise ValueError(f"ax must be matplotlib axes or None, got a {type(ax).__name__}")
        return ax.figure.figure, ax  # a part of a figure knows the whole
    figure: Figure = optional("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def finished(figure: Figure, path: str | Path | None) -> Figure:
    """The figure, written to a file if there is a path."""
    if path is not None:
        check_local(path)
        figure.savefig(path, dpi=150)
    return figure


def literal(text: str) -> str:
    """A text to be drawn as it is: a dollar is no mathematics."""
    return text.replace("$", r"\$")


def style(i: int) -> dict[str, Any]:
    """Colour and dashes of line i."""
    color, dashes = LINES[i % len(LINES)]
    return {"color": color, "linestyle": dashes}


def dress(axes: Axes, title: str, x: str, y: str, legend: str | None = None) -> None:
    """Title, labels and the legend, in a place of its name or else right of the axes, where it hides nothing."""
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    place: dict[str, Any] = {"loc": legend} if legend else {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    axes.legend(fontsize="small", edgecolor="none", **place)
