"""Learning in closed form."""

from __future__ import annotations

from suffice.data import Data
from suffice.learners.base import Fit, Learner, Observed, begin, closed
from suffice.models import AnyModel, AnyStatistics


class ClosedForm(Learner):
    """Parameters are theta(S(X, Y)): maximum likelihood, or MAP under the model's prior, in one read of the data.

    Because the statistics add up, a model learned so can be fitted in pieces, merged, and made to forget rows, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.data import Memory
    >>> from suffice.models import DiagonalGaussian
    >>> data = Memory(np.array([[0.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 1]))
    >>> ClosedForm().learn(DiagonalGaussian(), data).parameters.variance
    array([[1.],
           [4.]])
    """

    exact = True
    once = True

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Sum the statistics and take the parameters from them."""
        model, data = begin(model, data)
        return self.solve(model, data.sum(Observed(model)), data)

    def solve(self, model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
        """The parameters that statistics S(X, Y) lead to; their rows, if given, may be read again."""
        return closed(model, s, data)
