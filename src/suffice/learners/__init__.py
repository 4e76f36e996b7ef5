"""Learners: ways from data to parameters, each for every model that offers what it asks for."""

from suffice._notice import StaleWarning
from suffice.learners._base import (
    Ask,
    Course,
    Evaluate,
    Iterative,
    Learner,
    Observed,
    Outcome,
    Views,
    begin,
    require,
)
from suffice.learners._descent import Place, Problem, Rate, descend
from suffice.learners._fit import Fit
from suffice.learners._stopping import Iterate, Watch
from suffice.learners.calibration import TM, RiskCalibration
from suffice.learners.closed_form import ClosedForm
from suffice.learners.frequency import DiscriminativeFrequency
from suffice.learners.gradient import GradientDescent
from suffice.learners.newton import Newton
from suffice.learners.weights import ExpertWeights

__all__ = [
    "TM",
    "Ask",
    "ClosedForm",
    "Course",
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
    "Views",
    "Watch",
    "begin",
    "descend",
    "require",
]
