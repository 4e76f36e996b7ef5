"""Learners: ways from data to parameters, each for every model that offers what it asks for."""

from suffice.learners._base import Fit, Learner, Observed
from suffice.learners.calibration import TM, RiskCalibration
from suffice.learners.closed_form import ClosedForm
from suffice.learners.frequency import DiscriminativeFrequency
from suffice.learners.gradient import GradientDescent
from suffice.learners.newton import Newton

__all__ = [
    "TM",
    "ClosedForm",
    "DiscriminativeFrequency",
    "Fit",
    "GradientDescent",
    "Learner",
    "Newton",
    "Observed",
    "RiskCalibration",
]
