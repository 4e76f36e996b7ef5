"""Models: pure families of classifiers, each with its statistics and its closed form."""

from suffice.models._base import (
    Ability,
    AnyModel,
    AnyStatistics,
    Attempt,
    Curved,
    DegenerateError,
    Density,
    Joint,
    Model,
    Natural,
    Share,
    Tabular,
)
from suffice.models._statistics import Statistics, Sums
from suffice.models.categorical import Categorical, Counts
from suffice.models.contests import Contests
from suffice.models.diagonal import DiagonalGaussian, TiedDiagonalGaussian
from suffice.models.full import FullGaussian, TiedFullGaussian
from suffice.models.gaussian import ConstantColumnWarning
from suffice.models.moments import Moments
from suffice.models.natural import LogTables, Quadratic, Slopes, project_log
from suffice.models.patterns import Patterns
from suffice.models.planes import TangentPlane
from suffice.models.softmax import Softmax

__all__ = [
    "Ability",
    "AnyModel",
    "AnyStatistics",
    "Attempt",
    "Categorical",
    "ConstantColumnWarning",
    "Contests",
    "Counts",
    "Curved",
    "DegenerateError",
    "Density",
    "DiagonalGaussian",
    "FullGaussian",
    "Joint",
    "LogTables",
    "Model",
    "Moments",
    "Natural",
    "Patterns",
    "Quadratic",
    "Share",
    "Slopes",
    "Softmax",
    "Statistics",
    "Sums",
    "Tabular",
    "TangentPlane",
    "TiedDiagonalGaussian",
    "TiedFullGaussian",
    "project_log",
]
