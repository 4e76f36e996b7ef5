"""Naive Bayes classifiers."""

from suffice.naive_bayes._categorical import CategoricalNB
from suffice.naive_bayes._gaussian import GaussianNB

__all__ = ["CategoricalNB", "GaussianNB"]
