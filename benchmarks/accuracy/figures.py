"""Two kinds of figures: every set beside boosting, and the average ranks; narrow enough for a telephone."""

import numpy as np

from benchmarks.accuracy.methods import BOOSTING
from suffice.compare import critical_difference_figure

SHOWN = {  # method: colour, marker, size; in a line from top to bottom
    "TabularClassifier": ("#1f6feb", "o", 6.0),
    "AdditiveTables": ("#2a9d6f", "o", 5.0),
    "LightGBM": ("#d9822b", "D", 3.6),
    "ExtraTrees": ("#8b949e", "^", 4.2),
    "LogisticRegression": ("#a371b7", "s", 3.6),
}
PANELS = {"error": "error", "log_loss": "log loss"}
WIDTH, LINE, TOP, BOTTOM, LEFT, GAP = 5.2, 0.27, 0.95, 0.55, 1.5, 0.2  # inches
SHARE = 0.93  # of the differences are on the scale


def by_set(summary, path):
    """Every set a line: what is left of zero is better than boosting; what is off the scale stands at its edge."""
    from matplotlib.figure import Figure

    names = _order(summary)
    height = LINE * len(names) + TOP + BOTTOM
    figure = Figure(figsize=(WIDTH, height))
    width = (WIDTH - LEFT - 2 * GAP) / 2
    for i, (measure, title) in enumerate(PANELS.items()):
        place = (LEFT + i * (width + GAP)) / WIDTH, BOTTOM / height, width / WIDTH, 1 - (TOP + BOTTOM) / height
        ax = figure.add_axes(place)
        _panel(ax, _gaps(summary, measure).loc[names], title)
        ax.set_yticks(range(len(names)), names if i == 0 else [], fontsize=10)
    marks = figure.axes[0].get_legend_handles_labels()
    figure.legend(*marks, loc="upper center", ncols=2, frameon=False, fontsize=10, handletextpad=0.2, borderaxespad=0.1)
    figure.savefig(path, facecolor="white")
    return path.name


def _gaps(summary, measure):
    table = summary.wide(measure).loc[summary.names]
    return table[[name for name in SHOWN if name in table]].sub(table[BOOSTING], axis=0)


def _order(summary):
    """Sets by the log loss of the first method shown, the greatest gain first."""
    gaps = _gaps(summary, "log_loss")
    return list(gaps.sort_values(gaps.columns[0]).index if gaps.shape[1] else gaps.index)


def _panel(ax, gaps, title):
    known = np.abs(gaps.to_numpy(dtype=float))
    reach = 1.1 * np.nanquantile(known, SHARE) if np.isfinite(known).any() else 1.0
    reach = reach or 1.0
    for y in range(0, len(gaps), 2):
        ax.axhspan(y - 0.5, y + 0.5, color="#f3f4f6", lw=0, zorder=0)
    ax.axvline(0, color="#222222", lw=0.9, zorder=1)
    for offset, method in zip(np.linspace(-0.28, 0.28, max(gaps.shape[1], 2)), gaps, strict=False):
        colour, marker, size = SHOWN[method]
        x, y = gaps[method].to_numpy(dtype=float), np.arange(len(gaps)) + offset
        on = np.abs(x) <= reach
        style = {"color": colour, "ls": "none", "zorder": 3}
        ax.plot(x[on], y[on], marker, label=method, ms=size, **style)
        for arrow, off in ((">", x > reach), ("<", x < -reach)):
            ax.plot(np.sign(x[off]) * reach * 1.06, y[off], arrow, ms=4.2, **style)
    ax.set(xlim=(-1.12 * reach, 1.12 * reach), ylim=(len(gaps) - 0.5, -0.5))
    ax.set_title(f"{title} - boosting's", fontsize=10)
    ax.set_xlabel("better ← 0 → worse", fontsize=9.5)
    ax.tick_params(axis="x", labelsize=9)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=4, symmetric=True)
    ax.spines[["top", "right", "left"]].set_visible(False)


def ranks(result, measure, path):
    """The critical-difference figure of a measure."""
    figure = critical_difference_figure(result, width=6.4)
    title = f"Average rank by {measure} (1 is best); Nemenyi, level {result.alpha:g}"
    figure.axes[0].set_title(title, fontsize="medium")
    figure.savefig(path, facecolor="white", bbox_inches="tight")
