"""Calibration of probabilities, and Wilson's interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_consistent_length

from suffice._core.labels import check_labels, positions, show_all
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, SHARE, check_value, one_of
from suffice.plotting._base import (
    COLOURS,
    FAINT,
    INK,
    WIDTH,
    Display,
    class_index,
    class_name,
    estimator_name,
    fitted,
    literal,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_ROWS_FILLED = 10  # bins of fewer rows are drawn hollow
COUNTS_HEIGHT = 0.18  # share of the height for the counts below the curve
ROUNDING = 0.02  # probabilities of a row may be rounded to two digits, and then need not sum to 1


@dataclass(eq=False)
class CalibrationDisplay(Display):
    """The share of rows of a class against its predicted probability: the diagonal if the classifier is calibrated.

    Each point is a bin of probabilities, with Wilson's interval for its share; a bin of fewer than 10 rows is hollow.
    The bars below count the rows of the first curve. With two classes it is the probability of one of them; with more,
    that of the most probable class and how often it is right, unless `pos_label` names a class against all others.

    Parameters
    ----------
    prob_true, prob_pred : array of shape (bins,)
        The share of rows of the class, and their mean probability, in each bin that has rows.
    counts : array of shape (bins,)
        Rows in each bin.
    lower, upper : array of shape (bins,)
        The interval of `prob_true`.
    of : str
        The event whose probability it is, in words.
    name : str
        The name of the estimator.
    confidence : float
        The level of the intervals.

    Examples
    --------
    >>> shown = CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.2, 0.3, 0.6, 0.9], n_bins=2)
    >>> shown.prob_true, shown.counts
    (array([0., 1.]), array([2, 2]))

    References
    ----------
    Wilson: Probable inference, the law of succession, and statistical inference (1927),
    doi:10.1080/01621459.1927.10502953.
    """

    prob_true: Array
    prob_pred: Array
    counts: Array
    lower: Array
    upper: Array
    of: str
    name: str = "classifier"
    confidence: float = 0.95

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, pos_label: Any = None, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the calibration of any fitted classifier with `predict_proba`, on rows that it has not seen.

        Parameters
        ----------
        estimator : fitted classifier
        X, y : rows and their labels
        pos_label : label, default=None
            The class to show; None: the second of two, the most probable one of more.
        ax, **kwargs
            As in `from_predictions`.
        """
        model = fitted(estimator, cls.__name__)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{cls.__name__} takes a classifier with predict_proba, got a {type(model).__name__}")
        kwargs.setdefault("name", estimator_name(model))
        y_prob = np.asarray(model.predict_proba(X))
        return cls.from_predictions(y, y_prob, classes=model.classes_, pos_label=pos_label, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        classes: Any = None,
        pos_label: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        confidence: float = 0.95,
        name: str = "classifier",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the calibration of given probabilities.

        Parameters
        ----------
        y_true : array of shape (n,)
        y_prob : array of shape (n,) or (n, k)
            The probability of the second of two classes, or of every class.
        classes : array of shape (k,), default=None
            The classes of the columns of `y_prob`; None: the labels of `y_true`, sorted.
        pos_label : label, default=None
            The class to show; None: the second of two, the most probable one of more.
        n_bins : int, default=10
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or of about equally many rows.
        confidence : float, default=0.95
        name : str, default="classifier"
        ax : matplotlib axes, default=None
        **kwargs : as in `plot`
        """
        who = cls.__name__
        check_value(n_bins, f"{who}: n_bins", COUNT)
        check_value(strategy, f"{who}: strategy", one_of("uniform", "quantile"))
        check_value(confidence, f"{who}: confidence", SHARE)
        y, p = check_labels(y_true), np.asarray(y_prob, dtype=float)
        check_consistent_length(y, p)
        if not len(y):
            raise ValueError(f"{who} needs at least one row, got none")
        if not ((p >= 0) & (p <= 1 + 1e-9)).all():
            raise ValueError(f"{who}: probabilities must be from 0 to 1, got {p.min():.3g} to {p.max():.3g}")
        if p.ndim == 2 and np.abs(p.sum(axis=1) - 1.0).max() > ROUNDING:
            at = int(np.abs(p.sum(axis=1) - 1.0).argmax())
            raise ValueError(
                f"{who}: the probabilities of a row must sum to 1, those of row {at} sum to {p[at].sum():.3g}: give "
                "those of every class, or of one class alone as an array (n,)"
            )
        right, p, of = _events(y, p, np.unique(y) if classes is None else np.asarray(classes), pos_label, who)
        edges = (
            np.quantile(p, np.linspace(0, 1, n_bins + 1)) if strategy == "quantile" else np.linspace(0, 1, n_bins + 1)
        )
        bins = np.searchsorted(edges[1:-1], p)
        counts = np.bincount(bins, minlength=n_bins)
        some = counts > 0
        counts = counts[some]
        share = np.bincount(bins, right, n_bins)[some] / counts
        mean = np.bincount(bins, p, n_bins)[some] / counts
        lower, upper = wilson(share, counts, confidence)
        return cls(share, mean, counts, lower, upper, of, name, confidence).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, width: float = WIDTH, counts: bool = True, **kwargs: Any) -> Self:
        """Draw; `counts` adds bars with the rows of each bin; other settings are those of `errorbar`."""
        axes = self._begin(ax, width, 4.8)
        first = not axes.lines
        if first:
            axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle="--", zorder=1)
        look: dict[str, Any] = {"color": COLOURS[len(axes.containers) % len(COLOURS)], "label": literal(self.name)}
        look |= {"linewidth": 1.6, "elinewidth": 1.0, "capsize": 2.5, "zorder": 3, **kwargs}
        reach = np.abs([self.lower - self.prob_true, self.upper - self.prob_true])
        drawn = axes.errorbar(self.prob_pred, self.prob_true, yerr=reach, **look)
        few = self.counts < MIN_ROWS_FILLED
        for which, face in ((~few, drawn[0].get_color()), (few, "white")):
            at = self.prob_pred[which], self.prob_true[which]
            axes.scatter(*at, s=30, facecolor=face, edgecolor=drawn[0].get_color(), zorder=4)
        if counts and first:
            self._count(axes)
        axes.set_xlim(-0.06, 1.06)
        axes.set_ylim(-COUNTS_HEIGHT - 0.06 if counts else -0.02, 1.03)
        axes.set_yticks(np.linspace(0, 1, 6))
        if not first:
            axes.legend(fontsize="small", edgecolor="none", loc="upper left")
        hollow = f"; hollow: fewer than {MIN_ROWS_FILLED} rows" * bool(few.any())
        title = f"{self.name}: points on the line are right, bars are {100 * self.confidence:g} % intervals{hollow}"
        return self._label(title if first else "Are the probabilities right?", self.of, "share of rows of that class")

    def _count(self, axes: Axes) -> None:
        """Draw the rows of each bin as bars with their numbers, below the curve."""
        wide = 0.8 * min([0.1, *np.diff(self.prob_pred)])
        tall = 0.62 * COUNTS_HEIGHT * self.counts / self.counts.max()
        axes.bar(
            self.prob_pred, tall, max(wide, 0.012), bottom=-COUNTS_HEIGHT - 0.05, color=FAINT, alpha=0.5, linewidth=0
        )
        last = -1.0
        for at, height, n in zip(self.prob_pred, tall, self.counts.tolist(), strict=True):
            if at - last > 0.06:  # leave out numbers that would overlap
                text = f"{n}" if n < 10_000 else f"{n / 1000:.0f}k"
                axes.text(at, -COUNTS_HEIGHT - 0.045 + height, text, ha="center", va="bottom", fontsize=6.5, color=INK)
                last = at


def wilson(share: Array, n: Array, confidence: float = 0.95) -> tuple[Array, Array]:
    """Return Wilson's interval for the probability behind shares of n rows: the lower and the upper ends.

        (share + z^2 / 2n  -/+  z sqrt(share (1 - share) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    >>> lower, upper = wilson(np.array([0.5]), np.array([10]))
    >>> lower.round(3), upper.round(3)
    (array([0.237]), array([0.763]))
    """
    z = float(ndtri(0.5 + confidence / 2))
    middle, reach = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4.0 * n**2))
    lower, upper = (np.clip((middle + side * reach) / (1 + z**2 / n), 0.0, 1.0) for side in (-1, 1))
    return lower, upper


def _events(y: Array, p: Array, classes: Array, pos_label: Any, who: str) -> tuple[Array, Array, str]:
    """Return whether the event happened (n,), its predicted probability (n,), and the event in words."""
    k = 2 if p.ndim == 1 else p.shape[1]
    if p.ndim == 1 and len(classes) == 1:
        classes = np.unique(np.append(classes, [0, 1])) if classes.dtype.kind in "bif" else classes
    if p.ndim > 2 or len(classes) != k:
        raise ValueError(
            f"{who}: there are {len(classes)} classes, {show_all(classes)}, but probabilities of shape {p.shape}: "
            "give those of the second of two classes, or a column for each of `classes`"
        )
    at = positions(y.astype(classes.dtype) if y.dtype.kind in "OU" else y, classes, "labels")
    if pos_label is None and k > 2:
        top = p.argmax(axis=1)
        return (top == at).astype(float), p.max(axis=1), "probability of the most probable class"
    place = 1 if pos_label is None else class_index(pos_label, classes, f"{who}: pos_label")
    if k == 1:
        return (at == 0).astype(float), p[:, 0], f"probability of {class_name(classes[0])}"
    own = p[:, place] if p.ndim == 2 else p if place == 1 else 1 - p
    return (at == place).astype(float), own, f"probability of {class_name(classes[place])}"
