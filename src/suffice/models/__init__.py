"""Models: pure families of classifiers, each with its statistics and its closed form."""

from suffice.models._protocol import DegenerateError, Model
from suffice.models._statistics import Statistics
from suffice.models.categorical import Categorical, Counts
from suffice.models.gaussian import ConstantColumnWarning, DiagonalGaussian, FullGaussian
from suffice.models.moments import Moments
from suffice.models.softmax import Softmax

__all__ = [
    "Categorical",
    "ConstantColumnWarning",
    "Counts",
    "DegenerateError",
    "DiagonalGaussian",
    "FullGaussian",
    "Model",
    "Moments",
    "Softmax",
    "Statistics",
]
