"""Classifiers learned from sufficient statistics.

A data set is read as a sum, a model is a function of that sum, and learning is arithmetic on it. So a fitted model can
be updated with `partial_fit`, added to another with `+`, and made to `forget` rows, exactly.
"""

from suffice._runtime import startup_signal as startup_signal  # before the slow imports

# isort: split

from suffice._estimator.classifier import ModelClassifier
from suffice._estimator.explaining import Contributions
from suffice._runtime.messages import PoorFitWarning
from suffice._runtime.version import __version__
from suffice.additive import AdditiveTables
from suffice.bayesian_networks import AODE, BayesNetClassifier, KDependenceNB, TreeAugmentedNB
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.kernel import KernelMPM
from suffice.linear_model import LogisticRegression
from suffice.models import ConstantColumnWarning, DegenerateError
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB
from suffice.persistence import CheckpointError, ModelFileError, load, save
from suffice.priors import Dirichlet, GammaPrior, GaussianPrior
from suffice.tabular import TabularClassifier
from suffice.tangent import (
    DesignedDiscriminant,
    FisherDiscriminant,
    LinearBayes,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    NoTangentPlaneWarning,
    QuasiBayes,
    ScatterDiscriminant,
)

__all__ = [
    "AODE",
    "AdditiveTables",
    "BayesNetClassifier",
    "BernoulliNB",
    "CategoricalNB",
    "CheckpointError",
    "ConstantColumnWarning",
    "Contributions",
    "DegenerateError",
    "DesignedDiscriminant",
    "Dirichlet",
    "FisherDiscriminant",
    "GammaPrior",
    "GaussianNB",
    "GaussianPrior",
    "KDependenceNB",
    "KernelMPM",
    "LinearBayes",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MinimaxProbabilityMachine",
    "MinimumErrorMPM",
    "ModelClassifier",
    "ModelFileError",
    "MultinomialNB",
    "NaiveBayes",
    "NoTangentPlaneWarning",
    "PoissonNB",
    "PoorFitWarning",
    "QuadraticDiscriminantAnalysis",
    "QuasiBayes",
    "ScatterDiscriminant",
    "TabularClassifier",
    "TreeAugmentedNB",
    "__version__",
    "load",
    "save",
]
