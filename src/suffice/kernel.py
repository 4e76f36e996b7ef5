"""The minimax probability machine with a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from suffice._core.labels import show_all
from suffice._core.vector import Array
from suffice._runtime.messages import COUNT, NUMBER, POSITIVE, all_or_nothing, check, one_of, or_else
from suffice._runtime.system import free_memory
from suffice.data import is_source
from suffice.encoders.base import check_finite_for
from suffice.persistence import Savable
from suffice.tangent import MinimaxProbabilityMachine

__all__ = ["KernelMPM"]

KERNELS = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": (), "sigmoid": ("gamma", "coef0")}
MATRICES, MATRICES_PER_CLASS = 14, 4  # of n x n numbers that learning has in memory at once
ROWS_PER_BLOCK = 4096  # in prediction


@dataclass(eq=False, repr=False)
class KernelMPM(Savable, ClassifierMixin, BaseEstimator):
    """The minimax probability machine in the feature space of a kernel, with a curved border.

        w = sum_i alpha_i phi(x_i),   w'phi(x) = alpha'k(x),   k(x) = (k(x_1, x), ..., k(x_n, x))

    The machine works on the coordinates K^(-1/2) k(x), in which distances are those of the feature space. Its cost is
    O(n^3) and its memory O(n^2) in the number of rows; its fits do not add up. For more rows, use
    `make_pipeline(Nystroem(n_components=300), MinimaxProbabilityMachine(ridge=0.1))`; with the same gamma and as many
    components as rows it is this classifier.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "sigmoid"}, default="rbf"
        exp(-gamma |x - x'|^2), (gamma x'x + coef0)^degree, x'x, or tanh(gamma x'x + coef0). The last one is not
        positive definite: the positive part of its matrix is used.
    gamma : "scale" or float, default="scale"
        "scale" is 1 / (d var(X)). The thesis' standard deviation is sigma with gamma = 1 / (2 sigma^2).
    degree : int, default=3
    coef0 : float, default=1.0
    ridge : float, default=0.1
        As in `MinimaxProbabilityMachine`, but larger, as there are as many coordinates as rows; worth tuning.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How to treat more than two classes: every pair, with coupled probabilities; each against the rest.
    max_memory : float, default=None
        Bytes that learning may use, None is the free memory; rows that need more are refused.

    Attributes
    ----------
    classes_ : array of shape (k,)
    machine_ : MinimaxProbabilityMachine
        The machine on the coordinates, with its distances and accuracies.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int)
    >>> KernelMPM().fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.9
    True

    References
    ----------
    Lanckriet, El Ghaoui, Bhattacharyya, Jordan: A robust minimax approach to classification (2002), section 3.
    """

    kernel: str = "rbf"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 1.0
    ridge: float = 0.1
    multi_class: str = "ovo"
    max_memory: float | None = None

    machine_: MinimaxProbabilityMachine = field(init=False)
    _rows: Annotated[Array, "n d"] = field(init=False)  # distinct
    _gamma: float = field(init=False)
    _root: Annotated[Array, "n n"] = field(init=False)  # K^(-1/2)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d), labels y (n,) and weights (n,)."""
        if is_source(X):
            raise TypeError("KernelMPM takes rows in memory, as it compares all pairs of them: give arrays X and y")
        check(self, kernel=one_of(*KERNELS), gamma=or_else("scale", POSITIVE), degree=COUNT, coef0=NUMBER)
        check(self, max_memory=or_else(None, POSITIVE))
        with all_or_nothing(self):
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
            check_finite_for(self, X)
            weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
            classes = np.unique(y)
            if len(classes) < 2:
                raise ValueError(f"KernelMPM needs rows of at least two classes, got one class: {show_all(classes)}")
            rows = np.unique(X, axis=0)  # so that weight 2 is the row twice
            self._check_memory(len(rows), len(classes))
            gamma = self._resolved_gamma(X, weight)
            values, vectors = np.linalg.eigh(self._kernel(rows, rows, gamma))
            kept = values > len(values) * np.finfo(float).eps * max(abs(values).max(), np.finfo(float).tiny)
            vectors = vectors[:, kept]
            root = (vectors / np.sqrt(values[kept])) @ vectors.T  # K^(-1/2)
            machine = MinimaxProbabilityMachine(ridge=self.ridge, multi_class=self.multi_class)
            self.machine_ = machine.fit(self._kernel(X, rows, gamma) @ root, y, weight)
            self._rows, self._gamma, self._root = rows, gamma, root
            return self

    def _check_memory(self, n: int, classes: int) -> None:
        limit = free_memory() if self.max_memory is None else self.max_memory
        need = 8 * (MATRICES + MATRICES_PER_CLASS * classes) * n**2
        if need > limit:
            raise MemoryError(
                f"KernelMPM needs about {need / 1e9:.2g} GB for all pairs of {n} rows, of {limit / 1e9:.2g} GB. For "
                "this many rows use sklearn.pipeline.make_pipeline(sklearn.kernel_approximation."
                "Nystroem(n_components=300), suffice.MinimaxProbabilityMachine(ridge=0.1)), or fit on a sample"
            )

    def _resolved_gamma(self, X: Array, weight: Array) -> float:
        if isinstance(self.gamma, str) and self.gamma == "scale":
            mean = np.average(X.mean(axis=1), weights=weight)
            variance = np.average(((X - mean) ** 2).mean(axis=1), weights=weight)
            return float(1.0 / (X.shape[1] * (variance or 1.0)))
        return float(self.gamma)

    def _kernel(self, X: Array, rows: Array, gamma: float) -> Array:
        if self.kernel == "rbf":  # it depends on differences only, which squares of large numbers would lose
            X, rows = X - rows.mean(axis=0), rows - rows.mean(axis=0)
        settings = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0}
        used = {name: settings[name] for name in KERNELS[self.kernel]}
        K = np.asarray(pairwise_kernels(X, rows, metric=self.kernel, **used))
        if not np.isfinite(K).all():
            raise ValueError(f"the {self.kernel} kernel overflows on these features: scale them")
        return K

    def _by_block(self, method: str, X: Any, **arguments: Any) -> Array:
        """A method of the machine, applied to the coordinates of one block of rows after the other."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite=False)
        check_finite_for(self, X)
        blocks = (X[at : at + ROWS_PER_BLOCK] for at in range(0, len(X), ROWS_PER_BLOCK))
        predict = getattr(self.machine_, method)
        return np.concatenate([predict(self._coordinates(block), **arguments) for block in blocks])

    def _coordinates(self, X: Array) -> Array:
        return np.asarray(self._kernel(X, self._rows, self._gamma) @ self._root)

    def predict(self, X: Any) -> Array:
        """The class of each row (n,)."""
        return self._by_block("predict", X)

    def decide(self, X: Any, costs: Any = None, reject_below: float | None = None, reject_label: Any = None) -> Array:
        """The decision of least expected cost for each row (n,), as in `MinimaxProbabilityMachine.decide`."""
        return self._by_block("decide", X, costs=costs, reject_below=reject_below, reject_label=reject_label)

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, k), in the order of `classes_`."""
        return self._by_block("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities (n, k)."""
        return self._by_block("predict_log_proba", X)

    def decision_function(self, X: Any) -> Array:
        """The log-odds of the second class (n,) if there are two, else log-probabilities (n, k)."""
        return self._by_block("decision_function", X)

    @property
    def classes_(self) -> Array:
        """Class labels (k,), sorted."""
        return self.machine_.classes_
