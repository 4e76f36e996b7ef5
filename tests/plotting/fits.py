"""What the displays are drawn of: data, and classifiers that are fitted when a test first asks for one."""

from functools import cache

from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import AdditiveTables, LogisticRegression, NaiveBayes, QuadraticDiscriminantAnalysis, TreeAugmentedNB

CANCER, WINE, IRIS = (load(as_frame=True) for load in (load_breast_cancer, load_wine, load_iris))
X, Y = CANCER.data, CANCER.target_names[CANCER.target]


@cache
def bayes():
    return NaiveBayes().fit(X[::2], Y[::2])


@cache
def quadratic():
    return QuadraticDiscriminantAnalysis().fit(WINE.data, WINE.target)


@cache
def additive():
    return AdditiveTables(pairs=1).fit(X[::2], Y[::2])


@cache
def newton():
    return LogisticRegression().fit(X, Y)


@cache
def tree():
    return TreeAugmentedNB().fit(X, Y)
