"""Priors: pseudo-rows that are added to the statistics of a model."""

from suffice.priors.dirichlet import Dirichlet, GammaPrior
from suffice.priors.gaussian import GaussianPrior

__all__ = ["Dirichlet", "GammaPrior", "GaussianPrior"]
