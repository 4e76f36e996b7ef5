"""Priors: pseudo-rows that are added to the statistics of a model."""

from suffice.priors.dirichlet import Dirichlet, GammaPrior
from suffice.priors.evidence import TABLE_WEIGHTS, greatest, table_evidence, wishart_evidence
from suffice.priors.gaussian import FLAT, GaussianPrior, PriorSums
from suffice.priors.settings import (
    check_classes,
    dirichlet_prior,
    gamma_prior,
    gaussian_prior,
    log_class_prior,
    outweighed,
    plain_prior,
    table_prior,
)

__all__ = [
    "FLAT",
    "TABLE_WEIGHTS",
    "Dirichlet",
    "GammaPrior",
    "GaussianPrior",
    "PriorSums",
    "check_classes",
    "dirichlet_prior",
    "gamma_prior",
    "gaussian_prior",
    "greatest",
    "log_class_prior",
    "outweighed",
    "plain_prior",
    "table_evidence",
    "table_prior",
    "wishart_evidence",
]
