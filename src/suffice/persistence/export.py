"""Fitted classifiers as those of scikit-learn: the same probabilities from a library that may be there already.

What is exported predicts: sums stay behind, so that it cannot be merged or made to forget. Rows far from 0 lose digits,
as scikit-learn has no origin near them: about 1e-16 of probability for every standard deviation. Where rows have
missing entries, scikit-learn refuses what this library leaves out; categories alone are treated alike. Its modules are
imported when they are asked for: they take longer than the rest of this library.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from suffice._core.vector import Array


def gaussian_nb(own: Any) -> Any:
    """Means and variances by class and column."""
    from sklearn import naive_bayes

    made = naive_bayes.GaussianNB(var_smoothing=0.0)
    variance = _regular(own, own.var_, "a variance of 0: a column that does not vary")
    return _with(made, own, theta_=own.theta_, var_=variance, epsilon_=0.0, class_prior_=own.class_prior_)


def multinomial_nb(own: Any) -> Any:
    """Log-probabilities of words by class."""
    from sklearn import naive_bayes

    return _with(naive_bayes.MultinomialNB(), own, **_counted(own))


def bernoulli_nb(own: Any) -> Any:
    """Log-probabilities of features by class."""
    from sklearn import naive_bayes

    found = _counted(own)
    if (found["feature_log_prob_"] == 0).any():
        raise _refusal(own, "a feature that every row of a class has, which scikit-learn cannot hold")
    return _with(naive_bayes.BernoulliNB(binarize=own.binarize), own, **found)


def categorical_nb(own: Any) -> Pipeline:
    """An `OrdinalEncoder`, and tables of log-probabilities with one more category, of 0, for what was never learned."""
    from sklearn import naive_bayes

    categories, tables = own.categories_, own.feature_log_prob_
    if not all(np.isfinite(table).all() for table in tables):
        raise _refusal(own, "probabilities of 0, which scikit-learn cannot hold: use a prior")
    if any(table.shape[1] == 0 for table in tables):
        raise _refusal(own, "a column without categories")
    if any(c.dtype.kind in "Mm" for c in categories):
        raise _refusal(own, "dates or times as categories, which an OrdinalEncoder finds in one type only: use text")
    unknown = max(table.shape[1] for table in tables)
    wide = [np.pad(table, ((0, 0), (0, unknown + 1 - table.shape[1]))) for table in tables]
    encoder = OrdinalEncoder(
        categories=[list(c) if c.dtype.kind == "O" else c for c in categories],
        dtype=np.int64,
        handle_unknown="use_encoded_value",
        unknown_value=unknown,
    ).fit(_rows(categories))
    encoder.categories_ = list(categories)  # each of its own type, as in a data frame, where rows have one for all
    learned = {
        "feature_log_prob_": wide,
        "category_count_": own.category_count_,
        "n_categories_": np.full(len(wide), unknown + 1),
        "class_log_prior_": own.class_log_prior_,
        "class_count_": own.class_count_,
    }
    nb = _with(naive_bayes.CategoricalNB(), own, **learned)
    if hasattr(own, "feature_names_in_"):
        encoder.feature_names_in_ = own.feature_names_in_
        del nb.feature_names_in_
    return make_pipeline(encoder, nb)


def linear_discriminant_analysis(own: Any) -> Any:
    """Weights of the log-odds, or of the scores of more than two classes."""
    from sklearn import discriminant_analysis

    made = discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr")
    learned = {"means_": own.means_, "covariance_": own.covariance_, "priors_": own.class_prior_}
    return _with(made, own, coef_=own.coef_, intercept_=own.intercept_, **learned)


def quadratic_discriminant_analysis(own: Any) -> Any:
    """Principal axes of each class."""
    from sklearn import discriminant_analysis

    made = discriminant_analysis.QuadraticDiscriminantAnalysis()
    scalings = _regular(own, own.scalings_, "a covariance that is not regular: a column that does not vary")
    axes = {"rotations_": list(own.rotations_), "scalings_": list(scalings)}
    return _with(made, own, means_=own.means_, priors_=own.class_prior_, covariance_=list(own.covariance_), **axes)


def logistic_regression(own: Any) -> Any:
    """Weights of the log-odds, or of the scores of more than two classes."""
    from sklearn import linear_model

    if len(own.classes_) > 2 and own.multi_class != "softmax":
        raise _refusal(own, f"more than two classes under multi_class={own.multi_class!r}, which are coupled otherwise")
    if getattr(own, "costs", None) is not None:
        raise _refusal(own, "costs, which scikit-learn does not know")
    made = linear_model.LogisticRegression()
    return _with(made, own, coef_=own.coef_, intercept_=own.intercept_, n_iter_=np.array([own.n_iter_]))


def _counted(own: Any) -> dict[str, Array]:
    """What classifiers of counts share."""
    found = own.feature_log_prob_
    if not np.isfinite(found).all():
        raise _refusal(own, "probabilities of 0, which scikit-learn cannot hold: use a prior")
    names = ("feature_count_", "class_count_", "class_log_prior_")
    return {"feature_log_prob_": found, **{name: getattr(own, name) for name in names}}


def _with(made: Any, own: Any, **learned: Any) -> Any:
    """An estimator of scikit-learn as if it had learned this."""
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        if hasattr(own, name):
            setattr(made, name, getattr(own, name))
    for name, value in learned.items():
        setattr(made, name, value)
    return made


def _rows(categories: list[Array]) -> Array:
    """Rows that have every category of every column."""
    longest = max(map(len, categories))
    columns = [np.resize(c, longest) for c in categories]
    if all(c.dtype.kind in "iufb" for c in categories):
        return np.column_stack(columns)
    out = np.empty((longest, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        out[:, j] = column.tolist()
    return out


def _regular(own: Any, variances: Array, otherwise: str) -> Array:
    if not (variances > 0).all():
        raise _refusal(own, otherwise)
    return variances


def _refusal(own: Any, why: str) -> ValueError:
    return ValueError(f"this {type(own).__name__} has no equal in scikit-learn: it has {why}")
