"""Priors: what a model believes before it has seen a row, as pseudo-rows added to its statistics."""

from suffice.priors._classes import log_class_prior
from suffice.priors._dirichlet import Dirichlet
from suffice.priors._evidence import TABLE_WEIGHTS, greatest, table_evidence, wishart_evidence
from suffice.priors._gamma import GammaPrior
from suffice.priors._gaussian import FLAT, GaussianPrior
from suffice.priors._strength import Seen
from suffice.priors._use import (
    check_classes,
    dirichlet_prior,
    gamma_prior,
    gaussian_prior,
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
    "Seen",
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
