"""Whether probabilities are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_consistent_length

from suffice._core.labels import check_labels, positions, show, show_all
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, SHARE, check_value, one_of
from suffice.plotting._canvas import FAINT, INK, literal
from suffice.plotting.displays._base import COLOURS, WIDTH, Display, called, class_word, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 10  # rows of a bin, below which its point is drawn hollow
LOW = 0.18  # of the height, for the counts
ROUNDING = 0.02  # of the sum of a row's probabilities, which may have been rounded to two digits


@dataclass(eq=False)
class CalibrationDisplay(Display):
    """How often a class is right where the classifier says it is so probable: on the diagonal, if it is calibrated.

    Each point is a bin of probabilities, with Wilson's interval for the share of its rows; a bin of fewer than 10 rows
    is hollow. The bars below are the numbers of rows, of the first curve. Two classes: the probability of one of them.
    More: that of the most probable class, and how often it is right, unless `pos_label` names a class against all
    others.

    Parameters
    ----------
    prob_true, prob_pred : array of shape (bins,)
        The share of rows that are right, and the mean probability, of the bins that have rows.
    counts : array of shape (bins,)
        Rows of each bin.
    lower, upper : array of shape (bins,)
        The interval of `prob_true`.
    of : str
        Whose probability it is, in words.
    name : str
        Of the estimator.
    confidence : float
        Of the intervals.

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
        """Of any fitted classifier with `predict_proba`, on rows that it has not learned.

        Parameters
        ----------
        estimator : fitted classifier
        X, y : rows and their labels
        pos_label : label, default=None
            The class whose probability it is; None: the second of two, the most probable one of more.
        ax, **kwargs
            As in `from_predictions`.
        """
        model = fitted(estimator, cls.__name__)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{cls.__name__} takes a classifier with predict_proba, got a {type(model).__name__}")
        kwargs.setdefault("name", called(model))
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
        """Of labels and probabilities.

        Parameters
        ----------
        y_true : array of shape (n,)
        y_prob : array of shape (n,) or (n, k)
            The probability of the second of two classes, or of every class.
        classes : array of shape (k,), default=None
            What the columns of `y_prob` are; None: the labels of `y_true`, sorted.
        pos_label : label, default=None
            The class whose probability it is; None: the second of two, the most probable one of more.
        n_bins : int, default=10
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of the same width, or of about as many rows each.
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
        """Draw; `counts`: whether bars say how many rows a bin has; other settings are those of `errorbar`."""
        axes = self._begin(ax, width, 4.8)
        first = not axes.lines
        if first:
            axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle="--", zorder=1)
        look: dict[str, Any] = {"color": COLOURS[len(axes.containers) % len(COLOURS)]}
        reach = np.abs([self.lower - self.prob_true, self.upper - self.prob_true])
        look |= {
            "linewidth": 1.6,
            "elinewidth": 1.0,
            "capsize": 2.5,
            "zorder": 3,
            "label": literal(self.name),
            **kwargs,
        }
        drawn = axes.errorbar(self.prob_pred, self.prob_true, yerr=reach, **look)
        few = self.counts < FEW
        for which, face in ((~few, drawn[0].get_color()), (few, "white")):
            at = self.prob_pred[which], self.prob_true[which]
            axes.scatter(*at, s=30, facecolor=face, edgecolor=drawn[0].get_color(), zorder=4)
        if counts and first:
            self._count(axes)
        axes.set_xlim(-0.06, 1.06)
        axes.set_ylim(-LOW - 0.06 if counts else -0.02, 1.03)
        axes.set_yticks(np.linspace(0, 1, 6))
        if not first:
            axes.legend(fontsize="small", edgecolor="none", loc="upper left")
        hollow = f"; hollow: fewer than {FEW} rows" * bool(few.any())
        title = f"{self.name}: points on the line are right, bars are {100 * self.confidence:g} % intervals{hollow}"
        return self._dress(title if first else "Are the probabilities right?", self.of, "share of rows of that class")

    def _count(self, axes: Axes) -> None:
        """Rows of each bin, as bars with their numbers, below the curve."""
        wide = 0.8 * min([0.1, *np.diff(self.prob_pred)])
        tall = 0.62 * LOW * self.counts / self.counts.max()
        axes.bar(self.prob_pred, tall, max(wide, 0.012), bottom=-LOW - 0.05, color=FAINT, alpha=0.5, linewidth=0)
        last = -1.0
        for at, height, n in zip(self.prob_pred, tall, self.counts.tolist(), strict=True):
            if at - last > 0.06:  # numbers that would run into each other are left out
                said = f"{n}" if n < 10_000 else f"{n / 1000:.0f}k"
                axes.text(at, -LOW - 0.045 + height, said, ha="center", va="bottom", fontsize=6.5, color=INK)
                last = at


def wilson(share: Array, n: Array, confidence: float) -> tuple[Array, Array]:
    """Wilson's interval for the probability behind shares of n rows.

        (share + z^2 / 2n  -/+  z sqrt(share (1 - share) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    >>> lower, upper = wilson(np.array([0.5]), np.array([10]), 0.95)
    >>> lower.round(3), upper.round(3)
    (array([0.237]), array([0.763]))
    """
    z = float(ndtri(0.5 + confidence / 2))
    middle, reach = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4.0 * n**2))
    return (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n)


def _events(y: Array, p: Array, classes: Array, pos_label: Any, who: str) -> tuple[Array, Array, str]:
    """What happened or not (n,), how probable it was said to be (n,), and what it is, in words."""
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
    place = 1 if pos_label is None else _place(pos_label, classes, who)
    if k == 1:
        return (at == 0).astype(float), p[:, 0], f"probability of {class_word(classes[0])}"
    own = p[:, place] if p.ndim == 2 else p if place == 1 else 1 - p
    return (at == place).astype(float), own, f"probability of {class_word(classes[place])}"


def _place(wanted: Any, classes: Array, who: str) -> int:
    found = [i for i, one in enumerate(classes.tolist()) if one == wanted]
    if not found:
        raise ValueError(f"{who}: pos_label must be one of {show_all(classes)}, got {show(wanted)}")
    return found[0]
