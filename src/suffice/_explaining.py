"""Why a fitted classifier says what it says of rows."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from suffice._contributions import Contributions
from suffice._memory import free_memory
from suffice._predicting import Predicting
from suffice.data import is_source
from suffice.data.memory import by_rows
from suffice.models import Drawn, Explained, Nomogram, UndrawableError

NO_SUM = (
    "what several contests of two classes say together is no sum of terms by column: use LinearDiscriminantAnalysis or "
    "LogisticRegression(), whose classes are all told at once, or two classes"
)
COPIES = 4  # of the terms that are held at once
SHARE = 0.5  # of the free memory that these may take


def _draws(estimator: Explaining) -> bool:
    """Whether the model may be a sum of terms of known forms; else AttributeError."""
    model = estimator._model()
    if not isinstance(model.unit, Drawn):
        raise AttributeError(f"{model.called} has no nomogram: its model would have to be `Drawn` (suffice.models)")
    return True


def _explains(estimator: Explaining) -> bool:
    """Whether the model is a sum of terms by column; else AttributeError."""
    model = estimator._model()
    if not isinstance(model.unit, Explained):
        raise AttributeError(
            f"{model.called} does not say what each column adds: its model would have to be `Explained` "
            "(suffice.models), as naive Bayes, discriminants and tables are"
        )
    return True


class Explaining(Predicting):
    """What each column adds to the answers."""

    n_features_in_: int

    @available_if(_explains)
    def contributions(self, X: Any) -> Contributions:
        """What each column, or pair of columns, adds to the log-probability of each class.

            log p(y | x_i) = base_y + sum_t terms_iyt + a number that all classes of row i share

        exactly. Naive Bayes and tables have the term log p(x_j | y), linear scores coef_yj (x_j - mean_j), covariances
        -1/2 (x - mean_y)_j [cov_y^-1 (x - mean_y)]_j, trees the changes of log p(node | y) at the splits on a column.
        Each is what is added beyond the mean over the classes. These are what the model adds up, not causes: columns
        that say the same share it in some way.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Rows in memory; the result is dense, (n, k, terms).
        """
        fit = self._fit_result()
        if is_source(X):
            raise TypeError("contributions takes rows in memory, as it gives a number for each column: give some rows")
        self._check_rows(X)
        self._check_size(_num_samples(X))
        model, theta = fit.model.as_one(fit.parameters)
        if not isinstance(model, Explained):
            raise UndrawableError(f"{type(self).__name__}: {NO_SUM}")
        rows = self._features(by_rows(X), reset=False)
        return Contributions.of(model.terms(rows, theta), self.classes_)

    def _check_size(self, n: int) -> None:
        """MemoryError, with a way out, if the terms of n rows would not fit."""
        k, d = len(self.classes_), self.n_features_in_
        need, free = 8.0 * COPIES * n * k * d, SHARE * free_memory()
        if need > free:
            raise MemoryError(
                f"what {d} columns add to {k} classes in {n} rows takes about {need / 1e9:.1f} GB, and "
                f"{free / 1e9:.1f} GB are to be had: ask for fewer rows at a time, at most {int(n * free / need)}"
            )

    @available_if(_explains)
    def importances(self, X: Any) -> dict[Any, float]:
        """The mean size of what each column adds, over rows and classes: by name, the greatest first.

        It is infinite where a value of the column rules a class out that others leave possible (`prior=None`).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Rows in memory, as in `contributions`.
        """
        found: Contributions = self.contributions(X)
        return found.importances

    @available_if(_draws)
    def nomogram(self) -> Nomogram:
        """The classifier as a sum of terms that hold numbers only, to be drawn or evaluated anywhere.

            score_c(x) = base_c + sum_t term_t(x, c),     p(c | x) = exp(score_c) / sum_b exp(score_b)

        `suffice.report.explain` makes a page of it. UndrawableError, a ValueError, where there is none: trees, and
        more than two classes told apart in pairs.
        """
        fit = self._fit_result()
        model, theta = fit.model.as_one(fit.parameters)
        if not isinstance(model, Drawn):
            raise UndrawableError(NO_SUM)
        return model.drawn(theta)
