"""Bayesian networks: columns with parents among the other columns."""
