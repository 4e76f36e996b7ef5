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
    Penalised,
    Removable,
    Share,
    Tabular,
)
from suffice.models._drawn import Drawn, DrawnDensity, Nomogram, Spoken, UndrawableError
from suffice.models._explained import Additive, Explained, ExplainedDensity, Terms
from suffice.models._queried import Queryable, summed
from suffice.models._sampled import Samplable
from suffice.models._statistics import Statistics, Sums
from suffice.models.bernoulli import Bernoulli, Presences
from suffice.models.binned import Binned
from suffice.models.canonical import Canonical
from suffice.models.categorical import Categorical, Counts
from suffice.models.cells import BinFeatures, Binning
from suffice.models.contests import Contests
from suffice.models.diagonal import DiagonalGaussian, TiedDiagonalGaussian
from suffice.models.full import FullGaussian, TiedFullGaussian
from suffice.models.gaussian import ConstantColumnWarning
from suffice.models.histogram import Histogram
from suffice.models.moments import Moments
from suffice.models.multinomial import Multinomial, Words
from suffice.models.natural import LogTables, Quadratic, Slopes, project_log
from suffice.models.nested import Nested
from suffice.models.patterns import Patterns
from suffice.models.planes import TangentPlane
from suffice.models.poisson import Poisson
from suffice.models.regularised import RegularisedGaussian, ShrunkTiedGaussian
from suffice.models.softmax import Softmax
from suffice.models.totals import Totals

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
    "Drawn",
    "DrawnDensity",
    "Explained",
    "ExplainedDensity",
    "FullGaussian",
    "Histogram",
    "Joint",
    "LogTables",
    "Model",
    "Moments",
    "Multinomial",
    "Natural",
    "Nested",
    "Nomogram",
    "Patterns",
    "Penalised",
    "Poisson",
    "Presences",
    "Quadratic",
    "Queryable",
    "RegularisedGaussian",
    "Removable",
    "Samplable",
    "Share",
    "ShrunkTiedGaussian",
    "Slopes",
    "Softmax",
    "Spoken",
    "Statistics",
    "Sums",
    "Tabular",
    "TangentPlane",
    "Terms",
    "TiedDiagonalGaussian",
    "TiedFullGaussian",
    "Totals",
    "UndrawableError",
    "Words",
    "project_log",
    "summed",
]
