"""Estimators of suffice with the names and settings of scikit-learn's; a setting is mapped to the nearest one here."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import suffice
from suffice import Dirichlet, GaussianPrior


class Adapter(ClassifierMixin, BaseEstimator):
    """Take the settings of scikit-learn's estimator; fit and predict with one of suffice."""

    def ours(self):
        raise NotImplementedError

    def fit(self, X, y, sample_weight=None):
        self.__dict__.pop("_fitted", None)
        self._fitted = self.ours().fit(X, y, sample_weight)
        return self

    def __getattr__(self, name):
        if name.startswith("__") or "_fitted" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._fitted, name)

    def __sklearn_tags__(self):
        return self.ours().__sklearn_tags__()


class InPieces(Adapter):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if "_fitted" not in self.__dict__:
            self._fitted = self.ours()
        self._fitted.partial_fit(X, y, classes, sample_weight)
        return self


class GaussianNB(InPieces):
    def __init__(self, *, priors=None, var_smoothing=1e-9):
        self.priors = priors
        self.var_smoothing = var_smoothing

    def ours(self):
        return suffice.GaussianNB(GaussianPrior(0, self.var_smoothing), class_prior=self.priors)


class Discrete(InPieces):
    def settings(self):
        given = self.class_prior is not None
        class_prior = self.class_prior if given else None if self.fit_prior else "uniform"
        return {"prior": Dirichlet(self.alpha) if np.any(self.alpha) else None, "class_prior": class_prior}


class CategoricalNB(Discrete):
    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, min_categories=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def ours(self):
        if self.min_categories is not None:
            raise NotImplementedError("min_categories")
        return suffice.CategoricalNB(**self.settings())


class MultinomialNB(Discrete):
    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def ours(self):
        return suffice.MultinomialNB(**self.settings())


class BernoulliNB(Discrete):
    def __init__(self, *, alpha=1.0, force_alpha=True, binarize=0.0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def ours(self):
        return suffice.BernoulliNB(binarize=self.binarize, **self.settings())


class ComplementNB(Discrete):
    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, norm=False):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def ours(self):
        return suffice.ComplementNB(**self.settings())


class DiscriminantAnalysis(Adapter):
    def settings(self):
        if self.covariance_estimator is not None:
            raise NotImplementedError("covariance_estimator")
        auto = isinstance(self.shrinkage, str) and self.shrinkage == "auto"
        return {"prior": None, "class_prior": self.priors, "shrinkage": "oas" if auto else self.shrinkage}


class LinearDiscriminantAnalysis(DiscriminantAnalysis):
    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def ours(self):
        return suffice.LinearDiscriminantAnalysis(**self.settings(), n_components=self.n_components)


class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    def __init__(
        self,
        *,
        solver="svd",
        shrinkage=None,
        priors=None,
        reg_param=0.0,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def ours(self):
        if self.reg_param:
            raise NotImplementedError("reg_param")
        return suffice.QuadraticDiscriminantAnalysis(**self.settings())
