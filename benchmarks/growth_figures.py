"""Time against rows, columns and classes on logarithmic scales, a panel an estimator; narrow enough for a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from benchmarks.growth import CALLS, Line

OURS, THEIRS = "#0072b2", "#d55e00"  # told apart by all kinds of colour vision, and by brightness
STYLES = {"fit": "-", "predict_proba": "--"}
LONG = {"n": "rows", "d": "columns", "k": "classes"}
SHORT = {"LinearDiscriminantAnalysis": "LDA", "QuadraticDiscriminantAnalysis": "QDA"}
WIDTH, PANEL, ACROSS = 5.0, 2.05, 2  # inches, and panels beside each other


def draw(found: list[Line], folder: Path) -> list[str]:
    """One figure an axis; their names."""
    names = []
    for axis in dict.fromkeys(line.axis for line in found):
        names.append(f"growth-{axis}.svg")
        one = picture([line for line in found if line.axis == axis])
        with rc_context({"svg.hashsalt": "growth"}):  # the same file from the same figures
            one.savefig(folder / names[-1], facecolor="white", metadata={"Date": None})
    return names


def picture(found: list[Line]) -> Figure:
    """A panel an estimator; the slopes of both calls stand in it, ours before the peer's."""
    estimators = list(dict.fromkeys(line.estimator for line in found))
    down = -(-len(estimators) // ACROSS)
    figure = Figure(figsize=(WIDTH, PANEL * down + 0.7), layout="constrained")
    axes = figure.subplots(down, ACROSS, sharex=True, sharey=True, squeeze=False)
    for ax, estimator in zip(axes.flat, estimators, strict=False):
        _panel(ax, [line for line in found if line.estimator == estimator], SHORT.get(estimator, estimator))
    for ax in axes.flat[len(estimators) :]:
        ax.set_visible(False)
    bottom, top = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(bottom, top * (top / bottom) ** 0.4)  # room for the slopes; all panels share it
    for ax in axes.flat[max(0, len(estimators) - ACROSS) : len(estimators)]:  # those with none below
        ax.set_xlabel(LONG[found[0].axis], fontsize=10)
        ax.tick_params(labelbottom=True)
    for ax in axes[:, 0]:
        ax.set_ylabel("seconds", fontsize=10)
    marks = [Line2D([], [], color=colour, lw=3) for colour in (OURS, THEIRS)]
    marks += [Line2D([], [], color="#444444", ls=STYLES[call]) for call in CALLS]
    named = ["suffice", "scikit-learn", *CALLS]
    figure.legend(marks, named, loc="outside upper center", ncols=2, frameon=False, fontsize=10)
    return figure


def _panel(ax: Any, found: list[Line], title: str) -> None:
    said = ["slope, ours | peer's"]
    for line in found:
        for colour, marker, times in ((OURS, "o", line.ours), (THEIRS, "s", line.theirs)):
            ax.loglog(line.sizes, times, STYLES[line.call], color=colour, marker=marker, ms=3.5, lw=1.6)
        ours, theirs = line.slopes
        said.append(f"{line.call.removesuffix('_proba')} {ours:.2f} | {theirs:.2f}")
    ax.set_title(title, fontsize=10.5, loc="left")
    ax.text(0.04, 0.97, "\n".join(said), transform=ax.transAxes, va="top", fontsize=8.5, linespacing=1.25)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.tick_params(labelsize=9)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
