"""Learners: ways from data to parameters, each for every model that has the abilities it needs."""

from suffice._runtime.messages import StaleWarning
from suffice.learners.base import (
    Ask,
    ClosedForm,
    Course,
    DataViews,
    Evaluate,
    Fit,
    Iterative,
    Learner,
    Observed,
    Outcome,
    begin,
    require,
)
from suffice.learners.calibration import TM, Calibration, DiscriminativeFrequency, RiskCalibration
from suffice.learners.descent import Iterate, Place, Problem, Rate, StoppingRule, Watch, calm, descend, no_pass, settled
from suffice.learners.expert_weights import ExpertWeights
from suffice.learners.gradient import GradientDescent
from suffice.learners.newton import Newton

__all__ = [
    "TM",
    "Ask",
    "Calibration",
    "ClosedForm",
    "Course",
    "DataViews",
    "DiscriminativeFrequency",
    "Evaluate",
    "ExpertWeights",
    "Fit",
    "GradientDescent",
    "Iterate",
    "Iterative",
    "Learner",
    "Newton",
    "Observed",
    "Outcome",
    "Place",
    "Problem",
    "Rate",
    "RiskCalibration",
    "StaleWarning",
    "StoppingRule",
    "Watch",
    "begin",
    "calm",
    "descend",
    "no_pass",
    "require",
    "settled",
]
