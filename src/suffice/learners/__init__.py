"""Learners: ways from data to parameters, each for every model that offers what it asks for."""

from suffice._runtime.messages import StaleWarning
from suffice.learners.base import (
    Ask,
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
from suffice.learners.calibration import TM, RiskCalibration
from suffice.learners.closed_form import ClosedForm
from suffice.learners.descent import Place, Problem, Rate, descend
from suffice.learners.expert_weights import ExpertWeights
from suffice.learners.frequency import DiscriminativeFrequency
from suffice.learners.gradient import GradientDescent
from suffice.learners.newton import Newton
from suffice.learners.stopping import Iterate, Watch

__all__ = [
    "TM",
    "Ask",
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
    "Watch",
    "begin",
    "descend",
    "require",
]
