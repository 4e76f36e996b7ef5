"""What a model has learned of its columns: how they hang together, or how much each tells of the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import rel_entr

from suffice._core.features import CategoricalFeatures
from suffice._core.kinds import Block
from suffice._core.labels import show, show_all
from suffice._core.vector import Array
from suffice.encoders.pairs import PairFeatures
from suffice.encoders.trees.partitions import LeafFeatures
from suffice.models.tables.categorical import Tables
from suffice.plotting._canvas import INK
from suffice.plotting.displays._base import (
    NARROW,
    SHOWN,
    WIDTH,
    Display,
    check_terms,
    class_word,
    fitted,
    label,
    last_step,
    narrow,
    ranked,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.32  # inches
WRITTEN = 10  # columns, up to which correlations are written into their squares


@dataclass(eq=False)
class StructureDisplay(Display):
    """Of covariances the correlations within the classes; of tables, how much each column tells of the class.

        I(x_j; y) = sum_y p(y) sum_v p(v | y) log p(v | y) / p(v),     as a share of H(y)

    Both are of the parameters learned, priors and calibration included, and need no rows. Mutual information is of one
    column at a time: shares of columns that say the same do not add up. `GaussianNB`, linear scores and others have
    neither covariances nor tables, and are refused.

    Parameters
    ----------
    kind : {"correlation", "information"}
    names : list
        Of the columns.
    values : array of shape (d, d) or (d,)
        Correlations within the classes, or mutual information in nats, the greatest first.
    entropy : float or None
        H(y), in nats.
    label : class or None
        Whose correlations they are; None: of all classes, each by its probability.
    name : str
        Of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes().fit(*load_iris(return_X_y=True, as_frame=True))
    >>> StructureDisplay.from_estimator(model).names[0]
    'petal width (cm)'

    References
    ----------
    Cover, Thomas: Elements of information theory, 2.3.
    """

    kind: str
    names: list[Any]
    values: Array
    entropy: float | None
    label: Any
    name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,  # noqa: ARG003 - scikit-learn's displays have it
        y: Any = None,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Of a fitted classifier of this library, or a pipeline that ends with one.

        Parameters
        ----------
        estimator : fitted classifier
        X : ignored
        y : label, default=None
            The class whose correlations to show; None: those within all classes.
        ax : matplotlib axes, default=None
        **kwargs : as in `plot`
        """
        model, who = last_step(fitted(estimator, cls.__name__))[0], cls.__name__
        theta: Any = getattr(model, "parameters_", None)
        name, covariance = type(model).__name__, np.asarray(getattr(theta, "covariance", 0.0))
        if covariance.ndim == 3:
            c = _place(y, model.classes_, who)
            p = np.exp(theta.class_log_prob) if c is None else np.eye(len(model.classes_))[c]
            shared = covariance[0] if len(covariance) == 1 else np.tensordot(p, covariance, axes=1)
            keys = list(theta.domain.features.keys)
            return cls("correlation", keys, correlation(shared), None, y, name).plot(ax, **kwargs)
        found = dict(_tables(theta))
        if not found:
            raise ValueError(
                f"{who}: {name} has neither whole covariances nor tables, so that there is no structure to show: "
                "ContributionsDisplay and ShapesDisplay show what its columns add"
            )
        if y is not None:
            raise ValueError(f"{who}: y is for correlations, and {name} has tables: leave it out")
        prior = np.exp(theta.class_log_prob)
        told = {key: information(np.exp(table), prior) for key, table in found.items()}
        order = sorted(told, key=lambda key: -told[key])
        entropy = -float(prior[prior > 0] @ np.log(prior[prior > 0]))
        values = np.array([told[key] for key in order])
        return cls("information", order, values, entropy, None, name).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_terms: int | None = None, width: float = WIDTH) -> Self:
        """Draw at most `max_terms` columns; None: 10 bars, or 16 columns of correlations, 8 on a phone."""
        if max_terms is not None:
            check_terms(max_terms, type(self).__name__)
        return self._bars(ax, max_terms, width) if self.kind == "information" else self._map(ax, max_terms, width)

    def _bars(self, ax: Axes | None, max_terms: int | None, width: float) -> Self:
        most = max_terms or SHOWN
        shown = self.values[:most] / max(self.entropy or 0.0, 1e-300) * 100
        axes = self._begin(ax, width, 1.3 + BAR * len(shown) * (1.35 if width < NARROW else 1.0))
        ranked(axes, self.names[:most], shown, [f"{value:.1f} %" for value in shown])
        n = len(self.values) - most
        title = f"{self.name}: what each column alone tells of the class" + f"; {n} lesser ones not shown" * (n > 0)
        return self._dress(title, "mutual information, % of the entropy of the class", "")

    def _map(self, ax: Axes | None, max_terms: int | None, width: float) -> Self:
        small = width < NARROW
        most, d = max_terms or (8 if small else 16), len(self.names)
        strength = (self.values**2).sum(axis=1)
        chosen = np.sort(np.argsort(-strength, kind="stable")[:most])
        values, names = self.values[np.ix_(chosen, chosen)], [self.names[j] for j in chosen]
        axes = self._begin(ax, width, min(width - (1.3 if small else 2.4), 0.4 * max(4, len(chosen))) + 1.1)
        drawn = axes.imshow(values, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
        if len(chosen) <= WRITTEN:
            for i, j in np.ndindex(values.shape):
                dark = abs(values[i, j]) > 0.7
                size = 6 if narrow(axes) else 7.5
                digits = f"{values[i, j]:.2f}".replace("0.", ".").replace("1.00", "1")
                axes.text(j, i, digits, ha="center", va="center", fontsize=size, color="white" if dark else INK)
        at, numbers = np.arange(len(names)), [str(i + 1) for i in range(len(names))]
        axes.set_xticks(at, numbers, fontsize="small")
        said = [label(f"{number} {name}", axes, lines=2) for name, number in zip(names, numbers, strict=True)]
        axes.set_yticks(at, said, fontsize="small")
        if len(chosen) > WRITTEN:
            self.figure_.colorbar(drawn, ax=axes, shrink=0.7).ax.tick_params(labelsize="small")
        within = "the classes" if self.label is None else class_word(self.label)
        title = f"{self.name}: correlations within {within}" + f"; {most} of {d} columns, the most correlated" * (
            d > most
        )
        return self._dress(title, "", "")


def correlation(covariance: Array) -> Array:
    """Correlations (d, d) of a covariance; 0 where a column does not vary.

    >>> correlation(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    spread = np.sqrt(np.diag(covariance))
    scale = np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)
    out = covariance * np.outer(scale, scale)
    np.fill_diagonal(out, 1.0)
    return np.asarray(out)


def information(table: Array, prior: Array) -> float:
    """I(x; y) in nats, of p(v | y) (cells, k) and p(y) (k,).

    >>> information(np.eye(2), np.array([0.5, 0.5]))  # log 2
    0.6931471805599453
    """
    return max(0.0, float(rel_entr(table, (table @ prior)[:, None]).sum(axis=0) @ prior))


def _tables(theta: Any) -> Iterator[tuple[Any, Array]]:
    """log p(v | y) (cells, k) of every column that has a table of its own, by its name or number."""
    for block, part in getattr(theta, "parts", {"": theta}).items():
        features = part.domain.features if isinstance(part, Tables) else None
        if not isinstance(features, CategoricalFeatures) or isinstance(features, PairFeatures | LeafFeatures):
            continue
        for j, key in enumerate(features.keys):
            cells = slice(*features.starts[j : j + 2].tolist())
            if cells.stop - cells.start > 1:
                yield f"{key} (missing)" if block == Block.MISSING else key, part.log_probability[cells]


def _place(y: Any, classes: Array, who: str) -> int | None:
    if y is None:
        return None
    found = [c for c, one in enumerate(classes.tolist()) if one == y]
    if not found:
        raise ValueError(f"{who}: y must be one of {show_all(classes)}, got {show(y)}")
    return found[0]
