"""What to do about rows, at costs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from suffice._answers import Abstaining, Answer, LeastCost, MostProbable
from suffice._check import FRACTION, check_value, or_else
from suffice._labels import as_keys, key, missing, moment, show_all
from suffice._predicting import Predicting
from suffice._vector import Array
from suffice.losses import decision_costs


class Deciding(Predicting):
    """Decisions of least expected cost, or none where the classes are not told apart."""

    def decide(self, X: Any, costs: Any = None, reject_below: float | None = None, reject_label: Any = None) -> Any:
        """The decision of least expected cost for each row (n,), or `reject_label` where no class is probable enough.

            argmin_c sum_y p(y | x) costs[y, c],     unless max_y p(y | x) < reject_below

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), or a data set of `suffice.data`
        costs : array of shape (k, k), or dict of (true class, decision): cost, default=None
            Taking true class y for class c costs costs[y, c]; right decisions, on the diagonal, may have a cost (or a
            gain, below 0) as well. Pairs that a dict leaves out cost 1, or 0 if right. None: as `predict`.
        reject_below : float, default=None
            The least probability of the most probable class at which to decide at all; None always decides.
        reject_label : label, default=None
            What stands where there is no decision.

        Examples
        --------
        >>> from suffice import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["well", "well", "ill", "ill"])
        >>> model.decide([[-3.0], [4.0]]), model.decide([[-3.0], [4.0]], costs={("ill", "well"): 9})
        (array(['well', 'well'], dtype='<U4'), array(['well', 'ill'], dtype='<U4'))
        >>> model.decide([[-3.0], [4.0]], reject_below=0.9, reject_label="ask")
        array(['well', 'ask'], dtype='<U4')
        """
        check_value(reject_below, "decide: reject_below", or_else(None, FRACTION))
        given, classes = getattr(self, "costs", None) if costs is None else costs, self.classes_
        taken = classes if reject_below is None else np.arange(len(classes))
        rule: Answer = MostProbable(taken)
        if given is not None:
            rule = LeastCost(taken, decision_costs(given, classes, f"{type(self).__name__}.decide"))
        if reject_below is not None:
            rule = Abstaining(rule, float(reject_below), with_label(classes, reject_label))
        return self._map(X, self._asked(rule), ["decision"])


def with_label(classes: Array, label: Any) -> Array:
    """Class labels (k,) and one more, of the type of the classes where it can be; else as objects.

    >>> with_label(np.array([0, 1]), -1), with_label(np.array([0, 1]), None)
    (array([ 0,  1, -1]), array([0, 1, None], dtype=object))
    """
    if np.ndim(label) or not isinstance(label, Hashable):
        raise ValueError(f"reject_label must be a single label, got {label!r}")
    if not missing(label) and key(label) in map(key, as_keys(classes)):
        raise ValueError(f"reject_label must not be a class, got {label!r}: the classes are {show_all(classes)}")
    day = moment(label)
    one = np.asarray(label if day is None else day)
    if one.dtype.kind == classes.dtype.kind and classes.dtype.kind != "O":
        return np.append(classes, one)
    out = np.empty(len(classes) + 1, dtype=object)
    out[:-1], out[-1] = as_keys(classes), label
    return out
