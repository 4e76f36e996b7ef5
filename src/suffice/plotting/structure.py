"""Correlations of columns within classes, or the mutual information of each column with the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import rel_entr

from suffice._core.features import CategoricalFeatures
from suffice._core.kinds import Block
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, check_value
from suffice.encoders.pairs import PairFeatures
from suffice.encoders.trees.partitions import LeafFeatures
from suffice.models.networks.families import FamilyFeatures
from suffice.models.tables.categorical import Tables
from suffice.plotting._base import (
    INK,
    MAX_BARS,
    NARROW,
    WIDTH,
    Display,
    class_index,
    class_name,
    fitted,
    is_narrow,
    label,
    last_step,
    ranked_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT = 0.32  # inches
MAX_COLUMNS_WRITTEN = 10  # correlations of more columns are shown by colour only


@dataclass(eq=False)
class StructureDisplay(Display):
    """Correlations within the classes for covariances; mutual information with the class for tables.

        I(x_j; y) = sum_y p(y) sum_v p(v | y) log p(v | y) / p(v),     as a share of H(y)

    Both follow from the parameters, including priors and calibration, and need no rows. Mutual information takes one
    column at a time: shares of redundant columns do not add up. `GaussianNB`, linear scores and others have neither
    full covariances nor tables, and are refused.

    Parameters
    ----------
    kind : {"correlation", "information"}
    names : list
        The names of the columns.
    values : array of shape (d, d) or (d,)
        Correlations within the classes, or mutual information in nats, the largest first.
    entropy : float or None
        H(y), in nats.
    label : class or None
        The class of the correlations; None: all classes, weighted by their probabilities.
    name : str
        The name of the estimator.

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
        """Draw the structure of a fitted classifier of this library, or of a pipeline that ends with one.

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
            p = np.exp(theta.class_log_prob)
            if y is not None:
                p = np.eye(len(model.classes_))[class_index(y, model.classes_, f"{who}: y")]
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
        shared_with_class = {key: information(np.exp(table), prior) for key, table in found.items()}
        order = sorted(shared_with_class, key=lambda key: -shared_with_class[key])
        entropy = -float(prior[prior > 0] @ np.log(prior[prior > 0]))
        values = np.array([shared_with_class[key] for key in order])
        return cls("information", order, values, entropy, None, name).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_terms: int | None = None, width: float = WIDTH) -> Self:
        """Draw at most `max_terms` columns; None: 10 bars, or 16 columns of correlations, 8 on a phone."""
        if max_terms is not None:
            check_value(max_terms, f"{type(self).__name__}: max_terms", COUNT)
        return self._bars(ax, max_terms, width) if self.kind == "information" else self._map(ax, max_terms, width)

    def _bars(self, ax: Axes | None, max_terms: int | None, width: float) -> Self:
        most = max_terms or MAX_BARS
        shown = self.values[:most] / max(self.entropy or 0.0, 1e-300) * 100
        axes = self._begin(ax, width, 1.3 + BAR_HEIGHT * len(shown) * (1.35 if width < NARROW else 1.0))
        ranked_bars(axes, self.names[:most], shown, [f"{value:.1f} %" for value in shown])
        n = len(self.values) - most
        rest = f"; {n} smaller ones not shown" * (n > 0)
        title = f"{self.name}: mutual information of each column with the class{rest}"
        return self._label(title, "% of the entropy of the class", "")

    def _map(self, ax: Axes | None, max_terms: int | None, width: float) -> Self:
        small = width < NARROW
        most, d = max_terms or (8 if small else 16), len(self.names)
        strength = (self.values**2).sum(axis=1)
        chosen = np.sort(np.argsort(-strength, kind="stable")[:most])
        values, names = self.values[np.ix_(chosen, chosen)], [self.names[j] for j in chosen]
        axes = self._begin(ax, width, min(width - (1.3 if small else 2.4), 0.4 * max(4, len(chosen))) + 1.1)
        drawn = axes.imshow(values, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
        if len(chosen) <= MAX_COLUMNS_WRITTEN:
            for i, j in np.ndindex(values.shape):
                digits = f"{values[i, j]:.2f}".replace("0.", ".").replace("1.00", "1")
                ink, size = "white" if abs(values[i, j]) > 0.7 else INK, 6 if is_narrow(axes) else 7.5
                axes.text(j, i, digits, ha="center", va="center", fontsize=size, color=ink)
        at, numbers = np.arange(len(names)), [str(i + 1) for i in range(len(names))]
        axes.set_xticks(at, numbers, fontsize="small")
        names = [label(f"{number} {name}", axes, lines=2) for name, number in zip(names, numbers, strict=True)]
        axes.set_yticks(at, names, fontsize="small")
        if len(chosen) > MAX_COLUMNS_WRITTEN:
            self.figure_.colorbar(drawn, ax=axes, shrink=0.7).ax.tick_params(labelsize="small")
        within = "the classes" if self.label is None else class_name(self.label)
        rest = f"; {most} of {d} columns, the most correlated" * (d > most)
        return self._label(f"{self.name}: correlations within {within}{rest}", "", "")


def correlation(covariance: Array) -> Array:
    """Return the correlations (d, d) of a covariance; 0 where a column is constant.

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
    """Return I(x; y) in nats from p(v | y) (cells, k) and p(y) (k,).

    >>> information(np.eye(2), np.array([0.5, 0.5]))  # log 2
    0.6931471805599453
    """
    return max(0.0, float(rel_entr(table, (table @ prior)[:, None]).sum(axis=0) @ prior))


def _tables(theta: Any) -> Iterator[tuple[Any, Array]]:
    """Yield the name or number of every column with a table of its own, and log p(v | y) (cells, k)."""
    for block, part in getattr(theta, "parts", {"": theta}).items():
        features = part.domain.features if isinstance(part, Tables) else None
        if not isinstance(features, CategoricalFeatures) or isinstance(features, PairFeatures | LeafFeatures):
            continue
        for j, key in enumerate(features.keys):
            cells = slice(*features.starts[j : j + 2].tolist())
            if isinstance(features, FamilyFeatures):  # of its tables, the one without any parent
                cells = slice(cells.start, cells.start + int(features.lengths[j]))
            if cells.stop - cells.start > 1:
                yield f"{key} (missing)" if block == Block.MISSING else key, part.log_probability[cells]
