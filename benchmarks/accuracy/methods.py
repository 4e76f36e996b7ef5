"""The methods that are measured, ours and others', and the sets that each can take."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from sklearn.base import BaseEstimator

import suffice
from benchmarks import peers
from benchmarks.sets import Set
from suffice.learners import RiskCalibration

BOOSTING, LIGHT, EBM = "HistGradientBoosting", "LightGBM", "EBM"
SMALL_BINARY = (  # two classes, at most 1,500 rows: all of the reporting half, and the first three of the other by name
    "blood_transfusion",
    "breast_cancer_wisconsin",
    "climate_model",
    "diabetes",
    "fertility",
    "heart_statlog",
    "ionosphere",
    "splice",
    "svmguide3",
    "vote",
)


def _all(_: Set) -> bool:
    return True


def _small_binary(data: Set) -> bool:
    return data.name in SMALL_BINARY


def _complete_numbers(data: Set) -> bool:
    return data.complete_numbers


@dataclass(frozen=True)
class Method:
    """A classifier by its name: how to make one for a set, where it comes from, and which sets it takes."""

    name: str
    make: Callable[[Set], BaseEstimator]
    package: str = "suffice"
    takes: Callable[[Set], bool] = _all
    slow: bool = False  # measured after all others

    @property
    def ours(self) -> bool:
        """True for a method of this library."""
        return self.package == "suffice"

    @property
    def version(self) -> str:
        """The package and its version."""
        return f"{self.package} {suffice.__version__ if self.ours else version(self.package)}"

    def settings(self, data: Set) -> str:
        """Eight digits that change with the settings or the version of the package."""
        said = " ".join(self.make(data).__repr__(N_CHAR_MAX=10**6).split())
        said = re.sub(r" at 0x[0-9a-f]+", "", said)  # the address of a function is not a setting
        return hashlib.sha256(f"{self.version} {said}".encode()).hexdigest()[:8]


def _ours():
    """Estimators of this library; those that this version does not have are left out."""
    for name in ("TabularClassifier", "AdditiveTables"):
        if hasattr(suffice, name):
            yield Method(name, partial(_default, name))
    qda = suffice.QuadraticDiscriminantAnalysis
    yield Method("NaiveBayes", lambda _: suffice.NaiveBayes())
    yield Method("NaiveBayes + RC", lambda _: suffice.NaiveBayes(learner=RiskCalibration()))
    yield Method("QDA + RC", lambda _: qda(learner=RiskCalibration()), takes=_complete_numbers)


def _default(name, _):
    return getattr(suffice, name)()


def _theirs(threads):
    """Peers that are installed."""
    yield Method(BOOSTING, lambda _: peers.boosting(), "scikit-learn")
    if peers.there("lightgbm"):
        yield Method(LIGHT, lambda _: peers.light(threads), "lightgbm")
    yield Method("ExtraTrees", lambda _: peers.extra_trees(threads), "scikit-learn")
    yield Method("LogisticRegression", lambda _: peers.logistic(), "scikit-learn")
    if peers.there("skbn"):
        yield Method("scikit-bayes", lambda data: peers.scikit_bayes(data.X), "scikit-bayes")
    if peers.there("interpret"):
        yield Method(EBM, partial(_explainable, threads), "interpret-core", _small_binary, slow=True)


def _explainable(threads, _):
    return peers.explainable(threads)


def methods(threads=1):
    """Every method that can run here, by name."""
    return {method.name: method for method in (*_ours(), *_theirs(threads))}


ALL = (
    "TabularClassifier",
    "AdditiveTables",
    "NaiveBayes",
    "NaiveBayes + RC",
    "QDA + RC",
    BOOSTING,
    LIGHT,
    "ExtraTrees",
    "LogisticRegression",
    "scikit-bayes",
    EBM,
)
