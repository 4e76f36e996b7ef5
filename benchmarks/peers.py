"""Classifiers of other libraries, each with what it needs to take a mixed table with missing values.

Boosting and EBM get text as pandas categories and take missing values themselves; logistic regression and ExtraTrees an
imputer and one-hot columns; MixedNB of scikit-bayes an imputer and ordinal codes.
"""

from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

TEXT = make_column_selector(dtype_include=["object", "string", "category", "bool"])


def there(package):
    """True if a package is installed."""
    return find_spec(package) is not None


class Categories(TransformerMixin, BaseEstimator):
    """Text as pandas categories, at most 250 a column (others as missing), under names that every library takes."""

    def fit(self, X, y=None):  # noqa: ARG002 - what pipelines give
        """Learn the most frequent texts of every column."""
        self.frequent_ = {name: sorted(X[name].value_counts().index[:250]) for name in TEXT(X)}
        return self

    def transform(self, X):
        """Return the table with categories in place of text."""
        out = X.copy()
        for name, known in self.frequent_.items():
            out[name] = out[name].where(out[name].isin(known)).astype(pd.CategoricalDtype(known))
        return out.set_axis([f"c{j}" for j in range(out.shape[1])], axis=1)


def boosting():
    """HistGradientBoosting with its own handling of categories and missing values."""
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    return make_pipeline(Categories(), model)


def light(threads=1):
    """LightGBM with its own handling of categories and missing values."""
    from lightgbm import LGBMClassifier

    return make_pipeline(Categories(), LGBMClassifier(verbose=-1, n_jobs=threads, random_state=0))


def explainable(threads=1):
    """The explainable boosting machine of interpret-core, with its own handling of both."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return make_pipeline(Categories(), ExplainableBoostingClassifier(n_jobs=threads, random_state=0))


def _one_hot():
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    return make_column_transformer((words, TEXT), remainder=numbers)


def logistic():
    """The pipeline that scikit-learn's guide builds for such tables."""
    return make_pipeline(_one_hot(), LogisticRegression(max_iter=2000))


def extra_trees(threads=1):
    """300 extremely randomised trees on the same columns."""
    return make_pipeline(_one_hot(), ExtraTreesClassifier(300, n_jobs=threads, random_state=0))


def _first_for_new(codes):
    """The first code for a category that is new, for which MixedNB has no place."""
    return np.maximum(codes, 0)


def scikit_bayes(X):
    """MixedNB of scikit-bayes, normal densities and tables, on imputed columns and ordinal codes."""
    from skbn import MixedNB

    text = TEXT(X)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), codes, FunctionTransformer(_first_for_new))
    columns = make_column_transformer((words, text), remainder=SimpleImputer(keep_empty_features=True))
    return make_pipeline(columns, MixedNB(categorical_features=list(range(len(text))), bernoulli_features=[]))
