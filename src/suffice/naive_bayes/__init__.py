"""Naive Bayes classifiers."""

from suffice.naive_bayes._categorical import CategoricalNB
from suffice.naive_bayes._counts import BernoulliNB, MultinomialNB, PoissonNB
from suffice.naive_bayes._gaussian import GaussianNB
from suffice.naive_bayes._mixed import NaiveBayes

__all__ = ["BernoulliNB", "CategoricalNB", "GaussianNB", "MultinomialNB", "NaiveBayes", "PoissonNB"]
