"""The history of learning, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.messages import check_value, one_of
from suffice._runtime.system import optional
from suffice.plotting._base import COLOURS, FAINT, WIDTH, Display, fitted, last_step, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class HistoryDisplay(Display):
    """Log loss, objective or another measure after every accepted step of learning.

    The first point is the model before the first step. Rejected steps are counted in the title and not drawn. The
    measure is taken on the training rows, so a curve shows how learning went, not how good the model is on new rows.

    Parameters
    ----------
    values : array of shape (steps + 1,)
    measure : str
        The name of the measure in `history_`.
    taken_back : int
        Passes whose step was rejected.
    converged : bool
        True if learning stopped by itself.
    name : str
        The name of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LogisticRegression
    >>> model = LogisticRegression().fit(*load_iris(return_X_y=True))
    >>> HistoryDisplay.from_estimator(model).values[0].round(3)  # log 3
    np.float64(1.099)
    """

    values: Array
    measure: str
    taken_back: int
    converged: bool
    name: str

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, measure: str | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the history of a fitted classifier whose learner is iterative.

        Parameters
        ----------
        estimator : fitted classifier of this library, or a pipeline that ends with one
        measure : {"log_loss", "objective", "soft_error", "error", "rate"}, default=None
            None: the log loss, or else the first one in `history_`.
        ax : matplotlib axes, default=None
            Where to draw; `other.ax_` of another display puts both curves together.
        **kwargs : as in `plot`
        """
        model = last_step(fitted(estimator, cls.__name__))[0]
        history = getattr(model, "history_", None)
        if not history or not any(len(values) for values in history.values()):
            do = "fit it with learner=RiskCalibration(), say"
            if not hasattr(model, "learner"):
                do = "take a classifier of suffice, such as GaussianNB(learner=RiskCalibration())"
            raise ValueError(
                f"{cls.__name__}: this {type(model).__name__} has no history, as it did not learn step by step: {do}"
            )
        if measure is None:
            measure = "log_loss" if "log_loss" in history else next(iter(history))
        check_value(measure, f"{cls.__name__}: measure", one_of(*history))
        back = len(getattr(model, "passes_", {}).get(measure, history[measure])) - len(history[measure])
        values = np.asarray(history[measure], dtype=float)
        return cls(values, measure, back, bool(model.converged_), type(model).__name__).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, width: float = WIDTH, **kwargs: Any) -> Self:
        """Draw; `width` in inches is for a new figure, other settings are those of matplotlib's `plot`."""
        axes = self._begin(ax, width, 3.8)
        first = not axes.lines
        look = {"color": COLOURS[len(axes.lines) % len(COLOURS)], "linewidth": 1.8}
        steps = np.arange(len(self.values))
        marker = {"marker": "o", "markersize": 3.5} if len(steps) <= 40 else {}
        axes.plot(steps, self.values, **{**look, **marker, "label": literal(self.name), **kwargs})
        axes.xaxis.set_major_locator(optional("matplotlib.ticker", "plot").MaxNLocator(integer=True, min_n_ticks=1))
        if len(steps) == 1:
            axes.set_xlim(-0.5, 1.5)
        axes.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
        if not first:
            axes.legend(fontsize="small", edgecolor="none", loc="upper right")
        word = self.measure.replace("_", " ")
        end = "converged" if self.converged else "stopped before it converged"
        n = len(self.values) - 1
        went = f"{n} step{'s' * (n != 1)} kept" + f", {self.taken_back} taken back" * bool(self.taken_back)
        title = f"{self.name}: {went}, {end}" if first else f"{word[0].upper()}{word[1:]} of the rows learned"
        return self._label(title, "steps kept", word)
