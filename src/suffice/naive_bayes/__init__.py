"""Naive Bayes classifiers."""

from suffice.naive_bayes._categorical import CategoricalNB
from suffice.naive_bayes._gaussian import GaussianNB
from suffice.naive_bayes._mixed import NaiveBayes

__all__ = ["CategoricalNB", "GaussianNB", "NaiveBayes"]
