"""The graph of a Bayesian network, with the strength of each edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, check_value
from suffice.models.networks.families import Families, Parents, ordered
from suffice.plotting._base import COLOURS, FAINT, NARROW, WIDTH, Display, fitted, label, last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_COLUMNS, MAX_COLUMNS_NARROW = 24, 10  # drawn, unless asked for more
LAYER_HEIGHT = 0.85  # inches
THINNEST, THICKEST = 0.6, 5.0  # points


@dataclass(eq=False)
class NetworkDisplay(Display):
    """The columns of a network below their parents; edges are as thick as they are strong.

    The strength of an edge is I(x_j; x_parent | y), the information that the two columns share within the classes, and
    that of a column is I(x_j; y). Both were measured when the structure was chosen; a given graph has none.

    Parameters
    ----------
    names : list
        The names of the columns (m,).
    parents : tuple of tuples
        The places of the parents of each.
    relevance : array of shape (m,)
        What each column tells about the class, in nats.
    strength : array of shape (edges,)
        Of the edges to each column, in the order of `parents`, in nats.
    name : str
        The name of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import TreeAugmentedNB
    >>> model = TreeAugmentedNB(n_bins=4).fit(*load_iris(return_X_y=True, as_frame=True))
    >>> NetworkDisplay.from_estimator(model).edges[0]
    ('petal length (cm)', 'sepal length (cm)')
    """

    names: list[Any]
    parents: Parents
    relevance: Array
    strength: Array
    name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,  # noqa: ARG003 - scikit-learn's displays have it
        y: Any = None,  # noqa: ARG003
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the network of a fitted classifier, or of a pipeline that ends with one.

        Parameters
        ----------
        estimator : fitted TreeAugmentedNB, KDependenceNB or BayesNetClassifier
        X, y : ignored
        ax : matplotlib axes, default=None
        **kwargs : as in `plot`
        """
        model, name = last_step(fitted(estimator, cls.__name__))[0], type(estimator).__name__
        families = getattr(model, "structure_", None)
        if not isinstance(families, Families):
            raise ValueError(
                f"{cls.__name__}: {name} has no graph of columns; TreeAugmentedNB, KDependenceNB and "
                "BayesNetClassifier have one"
            )
        graph, roles = families.graph, families.inner.roles or ()
        names = [roles[j].name for j in graph.columns]
        return cls(names, graph.parents, graph.relevance, graph.strength, type(model).__name__).plot(ax, **kwargs)

    @property
    def edges(self) -> list[tuple[Any, Any]]:
        """The edges, as pairs of a parent and its child, in the order of `strength`."""
        return [(self.names[i], self.names[j]) for j, up in enumerate(self.parents) for i in up]

    def plot(self, ax: Axes | None = None, *, max_columns: int | None = None, width: float = WIDTH) -> Self:
        """Draw at most `max_columns` columns, those that tell most about the class; None: 24, or 10 on a phone."""
        if max_columns is not None:
            check_value(max_columns, f"{type(self).__name__}: max_columns", COUNT)
        most = max_columns or (MAX_COLUMNS_NARROW if width < NARROW else MAX_COLUMNS)
        shown = set(np.argsort(-self.relevance, kind="stable")[:most].tolist())
        x, depth = self._places(shown)
        lowest = max(depth.values(), default=0)
        axes = self._begin(ax, width, 1.0 + LAYER_HEIGHT * (1 + lowest))
        top = max(float(self.strength.max(initial=0.0)), 1e-300)
        edges = [(i, j) for j, up in enumerate(self.parents) for i in up]
        for (i, j), strong in zip(edges, self.strength.tolist(), strict=True):
            if i in shown and j in shown:
                thick = THINNEST + (THICKEST - THINNEST) * strong / top
                arrow = {
                    "arrowstyle": "-|>",
                    "lw": thick,
                    "color": COLOURS[0],
                    "alpha": 0.55,
                    "shrinkA": 9,
                    "shrinkB": 9,
                }
                axes.annotate("", (x[j], -depth[j]), (x[i], -depth[i]), arrowprops=arrow)
        size = self.relevance / max(float(self.relevance.max(initial=0.0)), 1e-300)
        for j in sorted(shown):
            axes.plot(x[j], -depth[j], "o", ms=5 + 9 * float(np.sqrt(size[j])), color=COLOURS[1], zorder=3)
            text = label(str(self.names[j]), axes, lines=2)
            axes.annotate(
                text, (x[j], -depth[j]), (0, 9), textcoords="offset points", ha="center", fontsize="x-small", zorder=4
            )
        axes.set_xlim(-0.6, 0.6)
        axes.set_ylim(-lowest - 0.4, 0.7)
        axes.set_xticks([])
        axes.set_yticks([])
        hidden = len(self.names) - len(shown)
        axes.spines[["left", "bottom"]].set_color(FAINT)
        title = f"{self.name}: each column below its parents" + f"; {hidden} other columns not shown" * bool(hidden)
        return self._label(title, "thick: much information in common; large: much about the class", "")

    def _places(self, shown: set[int]) -> tuple[dict[int, float], dict[int, int]]:
        """The place of each column from left to right, between -1/2 and 1/2, and its depth below the roots."""
        depth: dict[int, int] = {}
        for j in (j for j in ordered(self.parents) if j in shown):
            depth[j] = 1 + max((depth[i] for i in self.parents[j] if i in shown), default=-1)
        x: dict[int, float] = {}
        for level in range(max(depth.values(), default=0) + 1):
            layer = sorted(j for j in shown if depth[j] == level)
            layer.sort(key=lambda j: float(np.mean([x[i] for i in self.parents[j] if i in x] or [0.0])))
            x |= {j: (at + 0.5) / len(layer) - 0.5 for at, j in enumerate(layer)}
        return x, depth
