"""Independent answers: p(y | x) of new rows, written out or by another library."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import multivariate_normal, poisson
from sklearn import linear_model
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder, StandardScaler


def posterior(log_joint):
    joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return joint / joint.sum(axis=1, keepdims=True)


def normal_classes(X, y, new):
    parts = [X[y == c] for c in np.unique(y)]
    log = [multivariate_normal(p.mean(0), np.cov(p.T, bias=True)).logpdf(new) + np.log(len(p) / len(y)) for p in parts]
    return posterior(np.column_stack(log))


def shrunk_classes(X, y, new):
    """QDA under the default prior, written out: 30 rows of new rows' spread, and 3/10 of the variance of all rows."""
    classes, codes = np.unique(y, return_inverse=True)
    N, k = len(y), len(classes)
    means = np.stack([X[y == c].mean(0) for c in classes])
    within = ((X - means[codes]) ** 2).sum(0) / (N - k) * (1 + k / N)
    prior = np.diag(within + 0.3 * X.var(0))
    scores = []
    for c, mean in zip(classes, means, strict=True):
        n = (y == c).sum()
        cov = (30 * prior + n * np.cov(X[y == c].T, bias=True)) / (30 + n)
        scores.append(multivariate_normal(mean, cov).logpdf(new) + np.log(n / N))
    return posterior(np.column_stack(scores))


def pulled_classes(X, y, new):
    """QDA under rc1's prior about all rows, weights of 4 and 6, with the shift of the means (NIW), written out."""
    scores = []
    for c in np.unique(y):
        part, n = X[y == c], (y == c).sum()
        gap = part.mean(0) - X.mean(0)
        mean = (4 * X.mean(0) + n * part.mean(0)) / (4 + n)
        shift = 4 * n / (4 + n) * np.outer(gap, gap)
        cov = (6 * np.diag(X.var(0)) + n * np.cov(part.T, bias=True) + shift) / (6 + n)
        scores.append(multivariate_normal(mean, cov).logpdf(new) + np.log(n / len(y)))
    return posterior(np.column_stack(scores))


def regularised_classes(tying, shrinkage):
    """RDA row by row: every row counts for its own class, and `tying` times for all others, about its own mean."""

    def proba(X, y, new):
        classes, codes = np.unique(y, return_inverse=True)
        means = np.stack([X[y == c].mean(0) for c in classes])
        scores = []
        for c, mean in enumerate(means):
            cov = np.cov((X - means[codes]).T, aweights=np.where(codes == c, 1.0, tying), bias=True).reshape(
                X.shape[1], -1
            )
            cov = (1 - shrinkage) * cov + shrinkage * np.diag(np.diag(cov))
            scores.append(multivariate_normal(mean, cov).logpdf(new) + np.log((codes == c).mean()))
        return posterior(np.column_stack(scores))

    return proba


def nearest_means(X, y, new):
    parts = [X[y == c] for c in np.unique(y)]
    identity = np.eye(X.shape[1])
    log = [multivariate_normal(p.mean(0), identity).logpdf(new) + np.log(len(p) / len(y)) for p in parts]
    return posterior(np.column_stack(log))


def pooled_variances(X, y, new):
    """Tied naive Bayes as LDA on a covariance whose off-diagonal entries are dropped."""
    classes, codes = np.unique(y, return_inverse=True)
    means = np.stack([X[y == c].mean(0) for c in classes])
    cov = np.diag(((X - means[codes]) ** 2).mean(0))
    log = [
        multivariate_normal(m, cov).logpdf(new) + np.log((y == c).mean()) for m, c in zip(means, classes, strict=True)
    ]
    return posterior(np.column_stack(log))


def newton(X, y, new):
    """scikit-learn's logistic regression on standardised features."""
    scale = StandardScaler().fit(X)
    theirs = linear_model.LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000)
    return theirs.fit(scale.transform(X), y).predict_proba(scale.transform(new))


@dataclass(frozen=True)
class Ratio:
    """A separability of two projected classes, which leaves the cut open; its best s is factor / (factor + 1)."""

    factor: float = 2.0

    def __call__(self, mu1, mu2, var1, var2):
        return (mu2 - mu1) ** 2 / (self.factor * var1 + var2)


def planes(weight):
    """Pairs of classes by w = [s S1 + (1 - s) S2]^-1 (m2 - m1), s = weight(P1); coupled by a general optimiser."""

    def proba(X, y, new):
        labels = np.unique(y)
        odds = {}
        for a, b in itertools.combinations(range(len(labels)), 2):
            one, two = X[y == labels[a]], X[y == labels[b]]
            p = len(one) / (len(one) + len(two))
            s = weight(p)
            S1, S2 = (np.cov(part.T, bias=True).reshape(X.shape[1], -1) for part in (one, two))
            gap = two.mean(0) - one.mean(0)
            w = np.linalg.solve(s * S1 + (1 - s) * S2, gap)
            cut = w @ one.mean(0) + s * w @ S1 @ w
            odds[a, b] = (new @ w - cut) * (w @ gap) / (p * w @ S1 @ w + (1 - p) * w @ S2 @ w)
        if len(labels) == 2:
            return np.column_stack([expit(-odds[0, 1]), expit(odds[0, 1])])
        return np.stack(
            [couple({pair: expit(-o[i]) for pair, o in odds.items()}, len(labels)) for i in range(len(new))]
        )

    return proba


def couple(r, k):
    """Least squares of r_ba p_a - r_ab p_b over the simplex, as a stacked system."""
    rows = []
    for (a, b), p in r.items():
        p = np.clip(p, 1e-7, 1 - 1e-7)
        row = np.zeros(k)
        row[a], row[b] = 1 - p, -p
        rows.append(row)
    A = np.array(rows)
    Z = np.vstack([np.eye(k - 1), -np.ones(k - 1)])  # p = 1/k + Z q sums to 1
    q = np.linalg.lstsq(A @ Z, -A @ np.full(k, 1 / k), rcond=None)[0]
    return np.full(k, 1 / k) + Z @ q


def poisson_classes(X, y, new):
    """Poisson naive Bayes under the default prior, one row at the mean of all, written out."""
    classes = np.unique(y)
    rates = np.stack([(X[y == c].sum(0) + X.mean(0)) / ((y == c).sum() + 1) for c in classes])
    log = poisson.logpmf(new[:, None, :], rates).sum(axis=2) + np.log([(y == c).mean() for c in classes])
    return posterior(log)


def fitted(theirs):
    return lambda X, y, new: clone(theirs).fit(X, y).predict_proba(new)


def ordinal(theirs):
    """scikit-learn's CategoricalNB on ordinal codes."""

    def proba(X, y, new):
        encoder = OrdinalEncoder().fit(X)
        return clone(theirs).fit(encoder.transform(X), y).predict_proba(encoder.transform(new))

    return proba
