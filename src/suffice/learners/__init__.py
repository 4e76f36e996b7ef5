"""Learners: ways from data to parameters, each for every model that offers what it asks for."""

from suffice.learners._protocol import Fit, Learner, Observed
from suffice.learners.closed_form import ClosedForm

__all__ = ["ClosedForm", "Fit", "Learner", "Observed"]
