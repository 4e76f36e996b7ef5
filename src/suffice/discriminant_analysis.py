"""Discriminant analysis: Gaussian classes with full covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags

from suffice._core.features import Features
from suffice._core.vector import Array
from suffice._estimator.classifier import Classifier
from suffice._runtime.messages import COUNT, FRACTION, SettingRule, all_or_nothing, check, or_else
from suffice.encoders import Encoder, Numbers
from suffice.models import (
    Canonical,
    FullGaussian,
    RegularisedGaussian,
    ShrunkTiedGaussian,
    Statistics,
    TiedFullGaussian,
)
from suffice.models.gaussian.regularised import Shrunk
from suffice.models.linear import Linear
from suffice.persistence import export
from suffice.priors.settings import gaussian_prior

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]

SHRINKAGE = SettingRule(
    or_else(None, or_else("oas", or_else("evidence", FRACTION))).test,
    "None, a number from 0 to 1, 'oas' or 'evidence' (Ledoit and Wolf's, 'auto', is not a function of the sums)",
)


class _DiscriminantAnalysis(Classifier):
    """The base of quadratic and linear discriminant analysis."""

    _accepts: ClassVar = ("allow_nan",)
    prior: Any
    class_prior: Any
    shrinkage: Any

    def _settings(self) -> dict[str, Any]:
        """The settings that all models of the family take."""
        check(self, shrinkage=SHRINKAGE)
        encoder = Numbers(missing=True, who=type(self).__name__)
        return {"prior": gaussian_prior(self.prior), "class_prior": self.class_prior, "encoder": encoder}

    def _amounts(self) -> Array:
        """The shrinkage of each covariance (k or 1,)."""
        model = self._fit_result().model
        if isinstance(model, Shrunk):
            return model.amounts(self.moved_statistics_)
        return np.zeros(len(self.parameters_.covariance))

    @property
    def means_(self) -> Array:
        """The mean of each class (k, d)."""
        theta = self.parameters_
        return np.asarray(theta.mean + theta.origin)

    @property
    def priors_(self) -> Array:
        """The probability of each class (k,)."""
        return self.class_prior_


@dataclass(eq=False, repr=False)
class QuadraticDiscriminantAnalysis(_DiscriminantAnalysis):
    """Quadratic discriminant analysis: every class is normal with a covariance of its own.

        p(y | x) ~ p(y) |cov_y|^(-1/2) exp(-1/2 (x - mean_y)' cov_y^-1 (x - mean_y))

    The default prior keeps every covariance regular, also that of a class with fewer rows than features. `tying` and
    `shrinkage` make it regularised discriminant analysis [2]_:

        cov_c = ((1 - tying) scatter_c + tying scatter) / ((1 - tying) n_c + tying n),    (1 - g) cov_c + g diag(cov_c)

    with the prior's pseudo-rows added to scatter and count first. All are functions of the same sums. Missing values
    (NaN) are integrated out: learning uses EM, and prediction the entries that a row has.

    Parameters
    ----------
    prior : "default", GaussianPrior or None, default="default"
        The default does not move the means, and adds 30 pseudo-rows of independent features to the covariances: they
        vary about the class means as new rows do, plus 3/10 of the variance of all rows. None is maximum likelihood,
        which refuses a class with a singular covariance.
    learner, class_prior, class_weight
        As in every `Classifier`.
    shrinkage : None, float, "oas" or "evidence", default=None
        g, from 0 to 1: shrinks the correlations within the classes towards zero. Variances stay, so that units do not
        matter; scikit-learn shrinks towards a multiple of the identity. "oas": the oracle approximating shrinkage of
        the correlations [3]_. "evidence": maximises the marginal likelihood under an inverse-Wishart prior.
    tying : float, default=0.0
        How much the classes share their covariances, from 0 (quadratic) to 1 (linear discriminant analysis).

    Attributes
    ----------
    classes_ : array of shape (k,)
    means_ : array of shape (k, d)
    covariance_ : array of shape (k, d, d)
    scalings_, rotations_ : array of shape (k, d) and (k, d, d)
        The variances of each class along its principal axes, and these axes as columns.
    shrinkage_ : array of shape (k,)
        g of each class.
    priors_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Moments, or Patterns where values are missing
    moved_statistics_ : Moments
        Moments with the expected values of missing entries.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 2.0], [6.0, 5.0]])
    array([0, 1])

    References
    ----------
    .. [1] Perez, Echegoyen, Santafe: Risk-based calibration for probabilistic classifiers, II-C.
    .. [2] Friedman: Regularized discriminant analysis, 1989, doi:10.1080/01621459.1989.10478752.
    .. [3] Chen, Wiesel, Eldar, Hero: Shrinkage algorithms for MMSE covariance estimation, 2010,
       doi:10.1109/TSP.2010.2053029.
    """

    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None
    shrinkage: Any = None
    tying: float = 0.0

    def _model(self) -> FullGaussian | RegularisedGaussian:
        settings = self._settings()
        check(self, tying=FRACTION)
        if self.shrinkage is None and self.tying == 0:
            return FullGaussian(**settings)
        return RegularisedGaussian(**settings, shrinkage=self.shrinkage, tying=float(self.tying))

    to_sklearn = export.quadratic_discriminant_analysis

    @property
    def shrinkage_(self) -> Array:
        """The shrinkage of the covariance of each class (k,)."""
        return self._amounts()

    @property
    def covariance_(self) -> Array:
        """The covariance of each class (k, d, d)."""
        return np.asarray(self.parameters_.covariance)

    @property
    def scalings_(self) -> Array:
        """The variances of each class along its principal axes (k, d), the greatest first."""
        return np.linalg.eigvalsh(self.covariance_)[:, ::-1]

    @property
    def rotations_(self) -> Array:
        """The principal axes of each class, as columns (k, d, d)."""
        return np.linalg.eigh(self.covariance_)[1][:, :, ::-1]


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _DiscriminantAnalysis):
    """Linear discriminant analysis: the classes are normal with one covariance, pooled within them.

        p(y | x) = softmax_y(coef_y'x + intercept_y),   coef_y = cov^-1 mean_y, up to a constant for all classes

    `transform` gives the coordinates in which the classes differ most (Fisher's canonical variates;
    `suffice.models.Canonical` has the formula). Up to sign they are those of scikit-learn's solver "eigen"; its "svd"
    also subtracts `xbar_ @ scalings_`. The last class lies on the positive side of the centre.

    Missing values (NaN) are integrated out: learning uses EM, and prediction the entries that a row has. `transform` of
    such a row is NaN.

    Parameters
    ----------
    prior, shrinkage
        As in `QuadraticDiscriminantAnalysis`, for the one covariance.
    learner, class_prior, class_weight
        As in every `Classifier`.
    n_components : int, default=None
        The number of columns of `transform`; None is the greatest, min(k - 1, d).

    Attributes
    ----------
    classes_ : array of shape (k,)
    means_ : array of shape (k, d)
    covariance_ : array of shape (d, d)
    shrinkage_ : float
        g.
    xbar_ : array of shape (d,)
        The mean of all classes, weighted by their probabilities.
    scalings_ : array of shape (d, min(k - 1, d))
        The directions of `transform`: transform(X) = X @ scalings_[:, :n_components].
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each direction in the variance between the classes, in units of that within them.
    coef_ : array of shape (1, d) if there are two classes, else (k, d)
    intercept_ : array of shape (1,) or (k,)
    priors_, class_prior_, class_count_ : array of shape (k,)
    statistics_ : Moments, or Patterns where values are missing
    moved_statistics_ : Moments
        Moments with the expected values of missing entries.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 7.0], [7.0, 5.0], [8.0, 8.0]]
    >>> LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 2.0], [6.0, 5.0]])
    array([0, 1])
    >>> LinearDiscriminantAnalysis(prior=None).fit_transform(X, [0, 0, 0, 1, 1, 1]).ravel().round(1)
    array([ 0.7,  0.7,  1.5,  8.7,  8.7, 11.6])

    References
    ----------
    Hastie, Tibshirani, Friedman: The Elements of Statistical Learning, 4.3.
    """

    prior: Any = "default"
    learner: Any = None
    class_prior: Any = None
    class_weight: Any = None
    shrinkage: Any = None
    n_components: int | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _model(self) -> TiedFullGaussian | ShrunkTiedGaussian:
        settings = self._settings()
        check(self, n_components=or_else(None, COUNT))
        if self.shrinkage is None:
            return TiedFullGaussian(**settings)
        return ShrunkTiedGaussian(**settings, shrinkage=self.shrinkage)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> Self:
        """Learn from all rows at once, as every classifier; refused if min(k - 1, d) is less than `n_components`."""
        with all_or_nothing(self):
            super().fit(X, y, sample_weight, checkpoint)
            _ = self._n_features_out
            return self

    def _fit_sums(self, s: Statistics[Any], reader: Self) -> Self:
        super()._fit_sums(s, reader)
        _ = self._n_features_out
        return self

    @property
    def _n_features_out(self) -> int:
        most = min(self.statistics_.domain.width, len(self.classes_) - 1)
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}, got {self.n_components}"
            )
        return most if self.n_components is None else self.n_components

    def _canonical(self) -> Canonical:
        return Canonical.of(self.parameters_)

    def transform(self, X: Any) -> Any:
        """The canonical coordinates (n, n_components) of rows: X @ scalings_."""
        encoder, features = self._fit_result().model.encoder, self.statistics_.domain.features
        coordinates = CanonicalScores(encoder, features, self._canonical(), self._n_features_out)
        return self._measure(X, coordinates, self.get_feature_names_out())

    to_sklearn = export.linear_discriminant_analysis

    @property
    def shrinkage_(self) -> float:
        """The shrinkage of the covariance."""
        return float(self._amounts()[0])

    @property
    def xbar_(self) -> Array:
        """The mean of all classes, weighted by their probabilities (d,)."""
        found = self._canonical()
        return np.asarray(found.centre + found.origin)

    @property
    def scalings_(self) -> Array:
        """The directions in which the classes differ most, each with unit variance within them (d, min(k - 1, d))."""
        return self._canonical().scalings

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of each direction in the variance between the classes (n_components,)."""
        return self._canonical().explained[: self._n_features_out]

    @property
    def covariance_(self) -> Array:
        """The covariance within the classes (d, d)."""
        return np.asarray(self.parameters_.covariance[0])

    @property
    def coef_(self) -> Array:
        """The weight of each feature in the log-odds (two classes) or the score of each class."""
        return Linear.of(self.parameters_).log_odds()[0]

    @property
    def intercept_(self) -> Array:
        """The constant of the log-odds, or of the score of each class."""
        return Linear.of(self.parameters_).log_odds()[1]


@dataclass(frozen=True)
class CanonicalScores:
    """Canonical scores of rows, encoded or not, as a value that travels to where the rows are."""

    encoder: Encoder
    features: Features
    canonical: Canonical
    m: int

    def __call__(self, X: Any) -> Array:
        return self.canonical.scores(self.features.read(self.encoder(X)), self.m)
