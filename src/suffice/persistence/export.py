"""Export to scikit-learn: fitted estimators with the same probabilities.

An exported estimator only predicts: it has no sums, so that it cannot be merged or made to forget. Rows far from 0 lose
digits, about 1e-16 of probability for every standard deviation, because scikit-learn has no origin near them.
Scikit-learn refuses missing entries, except in categories. Its modules are imported when they are needed, because
importing them takes longer than importing the rest of this library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from suffice._core.vector import Array


def gaussian_nb(own: Any) -> Any:
    """scikit-learn's `GaussianNB` with the same probabilities, without missing values."""
    made = _sklearn("naive_bayes", "GaussianNB", var_smoothing=0.0)
    if not (own.var_ > 0).all():
        raise _refusal(own, "a variance of 0: a column that does not vary")
    return _with(made, own, theta_=own.theta_, var_=own.var_, epsilon_=0.0, class_prior_=own.class_prior_)


def multinomial_nb(own: Any) -> Any:
    """scikit-learn's `MultinomialNB` with the same probabilities."""
    return _with(_sklearn("naive_bayes", "MultinomialNB"), own, **_counted(own))


def bernoulli_nb(own: Any) -> Any:
    """scikit-learn's `BernoulliNB` with the same probabilities, without missing values."""
    found = _counted(own)
    if (found["feature_log_prob_"] == 0).any():
        raise _refusal(own, "a feature that every row of a class has, which scikit-learn cannot hold")
    return _with(_sklearn("naive_bayes", "BernoulliNB", binarize=own.binarize), own, **found)


def categorical_nb(own: Any) -> Pipeline:
    """scikit-learn's `CategoricalNB` behind an `OrdinalEncoder`, with the same probabilities.

    Its tables have one more category, of log-probability 0, for all others.
    """
    categories, tables = own.categories_, own.feature_log_prob_
    if not all(np.isfinite(table).all() for table in tables):
        raise _refusal(own, "probabilities of 0, which scikit-learn cannot hold: use a prior")
    if any(table.shape[1] == 0 for table in tables):
        raise _refusal(own, "a column without categories")
    if any(c.dtype.kind in "Mm" for c in categories):
        raise _refusal(own, "dates or times as categories, which an OrdinalEncoder supports in one type only: use text")
    unknown = max(table.shape[1] for table in tables)
    wide = [np.pad(table, ((0, 0), (0, unknown + 1 - table.shape[1]))) for table in tables]
    lists = [list(c) if c.dtype.kind == "O" else c for c in categories]
    code = {"handle_unknown": "use_encoded_value", "unknown_value": unknown}
    encoder = OrdinalEncoder(categories=lists, dtype=np.int64, **code).fit(_rows(categories))
    encoder.categories_ = list(categories)  # each of its own type, as in a data frame; arrays have one type
    learned = {
        "feature_log_prob_": wide,
        "category_count_": own.category_count_,
        "n_categories_": np.full(len(wide), unknown + 1),
        "class_log_prior_": own.class_log_prior_,
        "class_count_": own.class_count_,
    }
    nb = _with(_sklearn("naive_bayes", "CategoricalNB"), own, **learned)
    if hasattr(own, "feature_names_in_"):
        encoder.feature_names_in_ = own.feature_names_in_
        del nb.feature_names_in_
    return make_pipeline(encoder, nb)


def linear_discriminant_analysis(own: Any) -> Any:
    """scikit-learn's `LinearDiscriminantAnalysis` with the same probabilities, without missing values."""
    made = _sklearn("discriminant_analysis", "LinearDiscriminantAnalysis", solver="lsqr")
    learned = {"means_": own.means_, "covariance_": own.covariance_, "priors_": own.class_prior_}
    return _with(made, own, coef_=own.coef_, intercept_=own.intercept_, **learned)


def quadratic_discriminant_analysis(own: Any) -> Any:
    """scikit-learn's `QuadraticDiscriminantAnalysis` with the same probabilities, without missing values."""
    made = _sklearn("discriminant_analysis", "QuadraticDiscriminantAnalysis")
    axes = {"rotations_": list(own.rotations_), "scalings_": list(own.scalings_)}
    if not all((scalings > 0).all() for scalings in axes["scalings_"]):
        raise _refusal(own, "a covariance that is not regular: a column that does not vary")
    return _with(made, own, means_=own.means_, priors_=own.class_prior_, covariance_=list(own.covariance_), **axes)


def logistic_regression(own: Any) -> Any:
    """scikit-learn's `LogisticRegression` with the same probabilities: softmax or two classes, no missing values."""
    if len(own.classes_) > 2 and own.multi_class != "softmax":
        raise _refusal(own, f"more than two classes under multi_class={own.multi_class!r}, which are coupled otherwise")
    if getattr(own, "costs", None) is not None:
        raise _refusal(own, "costs, which scikit-learn does not know")
    made = _sklearn("linear_model", "LogisticRegression")
    return _with(made, own, coef_=own.coef_, intercept_=own.intercept_, n_iter_=np.array([own.n_iter_]))


def _sklearn(module: str, name: str, **settings: Any) -> Any:
    """Return an estimator of scikit-learn that is not fitted."""
    return getattr(import_module(f"sklearn.{module}"), name)(**settings)


def _counted(own: Any) -> dict[str, Array]:
    """Return the attributes that all classifiers of counts have."""
    found = own.feature_log_prob_
    if not np.isfinite(found).all():
        raise _refusal(own, "probabilities of 0, which scikit-learn cannot hold: use a prior")
    names = ("feature_count_", "class_count_", "class_log_prior_")
    return {"feature_log_prob_": found, **{name: getattr(own, name) for name in names}}


def _with(made: Any, own: Any, **learned: Any) -> Any:
    """Set the learned attributes of an estimator of scikit-learn."""
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        if hasattr(own, name):
            setattr(made, name, getattr(own, name))
    for name, value in learned.items():
        setattr(made, name, value)
    return made


def _rows(categories: list[Array]) -> Array:
    """Return rows that have every category of every column."""
    longest = max(map(len, categories))
    columns = [np.resize(c, longest) for c in categories]
    if all(c.dtype.kind in "iufb" for c in categories):
        return np.column_stack(columns)
    out = np.empty((longest, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        out[:, j] = column.tolist()
    return out


def _refusal(own: Any, why: str) -> ValueError:
    return ValueError(f"this {type(own).__name__} has no counterpart in scikit-learn: it has {why}")
