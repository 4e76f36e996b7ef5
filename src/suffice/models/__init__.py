"""Model families: what estimators are built from, each with its statistics and its closed form."""

from suffice.models.base import (
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
    Penalised,
    Removable,
    Samplable,
    SqlSummable,
    Subproblem,
    Tabular,
    summed,
)
from suffice.models.compose.contests import Contests
from suffice.models.counts import Bernoulli, Multinomial, Poisson, Presences, Totals, Words
from suffice.models.gaussian.base import ConstantColumnWarning
from suffice.models.gaussian.diagonal import DiagonalGaussian, TiedDiagonalGaussian
from suffice.models.gaussian.full import Canonical, FullGaussian, TiedFullGaussian
from suffice.models.gaussian.moments import Moments
from suffice.models.gaussian.patterns import Patterns
from suffice.models.gaussian.regularised import RegularisedGaussian, ShrunkTiedGaussian
from suffice.models.linear import Softmax
from suffice.models.natural import LogTables, Quadratic, Slopes, project_log
from suffice.models.planes.planes import TangentPlane
from suffice.models.statistics import Statistics, Sums
from suffice.models.tables.binned import BinFeatures, Binned, Binning
from suffice.models.tables.categorical import Categorical, Counts
from suffice.models.tables.histogram import Histogram
from suffice.models.tables.nested import Nested
from suffice.models.terms import (
    Additive,
    HasFormula,
    HasNomogram,
    Nomogram,
    NomogramDensity,
    NoNomogramError,
    Terms,
)

__all__ = [
    "Ability",
    "Additive",
    "AnyModel",
    "AnyStatistics",
    "Attempt",
    "Bernoulli",
    "BinFeatures",
    "Binned",
    "Binning",
    "Canonical",
    "Categorical",
    "ConstantColumnWarning",
    "Contests",
    "Counts",
    "Curved",
    "DegenerateError",
    "Density",
    "DiagonalGaussian",
    "FullGaussian",
    "HasFormula",
    "HasNomogram",
    "Histogram",
    "Joint",
    "LogTables",
    "Model",
    "Moments",
    "Multinomial",
    "Natural",
    "Nested",
    "NoNomogramError",
    "Nomogram",
    "NomogramDensity",
    "Patterns",
    "Penalised",
    "Poisson",
    "Presences",
    "Quadratic",
    "RegularisedGaussian",
    "Removable",
    "Samplable",
    "ShrunkTiedGaussian",
    "Slopes",
    "Softmax",
    "SqlSummable",
    "Statistics",
    "Subproblem",
    "Sums",
    "Tabular",
    "TangentPlane",
    "Terms",
    "TiedDiagonalGaussian",
    "TiedFullGaussian",
    "Totals",
    "Words",
    "project_log",
    "summed",
]
