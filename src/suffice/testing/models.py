"""The laws of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from suffice._core.features import Encoded
from suffice._core.labels import OneHot
from suffice._core.probability import log_posterior, posterior
from suffice._core.vector import Array, inner
from suffice._runtime.lazy import cached_property
from suffice.data import Memory
from suffice.models import (
    Additive,
    Curved,
    Density,
    HasNomogram,
    Joint,
    Model,
    Natural,
    Penalised,
    Removable,
    Samplable,
    Statistics,
    Tabular,
)
from suffice.testing._trial import LawTrial, copied, counted, draw

MANY = 1e9  # factor of the rows that makes a prior negligible
MAX_LEFT_OUT = 12  # rows, one at a time
SAMPLE_ROWS = 10_000
MAX_DEVIATION = 5.0  # standard deviations of the gain by chance
MAX_LOSS_PER_SUM = 3.0  # of log-likelihood, because of a prior


def check_model(model: Model[Any, Any], X: Any = None, y: Any = None, seeds: Iterable[int] = range(3)) -> None:
    """Test that a model does what its base classes promise; AssertionError says which law is broken.

    Parameters
    ----------
    model : Model
        One that has seen no data yet, with its encoder.
    X, y : rows as the encoder takes them, and their labels, default=None
        Non-degenerate ones; by default random numbers, or categories or counts if the encoder takes these.
    seeds : numbers
        One trial each.

    Examples
    --------
    >>> from suffice.models import DiagonalGaussian
    >>> check_model(DiagonalGaussian())
    """
    if not isinstance(model, Model):
        raise TypeError(f"check_model takes an instance of suffice.models.Model, got {model!r}")
    if (X is None) != (y is None):
        raise ValueError("give both X and y, or neither")
    for seed in seeds:
        given = "" if X is None else ", X, y"
        trial = LawTrial(type(model).__name__, f"suffice.testing.check_model(model{given}, seeds=[{seed}])")
        rows, labels = draw(model.encoder, seed) if X is None else (X, np.asarray(y))
        case = Case(trial, model, rows, labels, seed)
        for ability, law in LAWS:
            if isinstance(model, ability):
                law(case)
        if X is None and isinstance(model, Density) and not counted(model.encoder):  # those are not on a grid
            integral_is_one(trial, model, seed)


@dataclass(frozen=True, eq=False)
class Case:
    """A model, and rows to try it on."""

    trial: LawTrial
    given: Model[Any, Any]
    rows: Any
    y: Array
    seed: int

    @cached_property
    def model(self) -> Any:
        """The model with its encoder prepared."""
        return replace(self.given, encoder=self.given.encoder.prepare(Memory(self.rows, self.y)))

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random numbers of this case."""
        return np.random.default_rng(self.seed)

    def some(self, rows: Any) -> tuple[Encoded, OneHot]:
        """Some rows as a batch brings them: encoded on their own, with the classes that they have."""
        return self.model.encoder(_safe_indexing(self.rows, rows)), OneHot.of(self.y[rows])

    def sums(self, rows: Any) -> Statistics[Any]:
        """S(X, Y) of some rows."""
        s: Statistics[Any] = self.model.statistics(*self.some(rows))
        return s

    @cached_property
    def all(self) -> Encoded:
        """All rows."""
        return self.some(np.arange(len(self.y)))[0]

    @cached_property
    def labels(self) -> OneHot:
        """All labels."""
        return OneHot.of(self.y)

    @cached_property
    def whole(self) -> Statistics[Any]:
        """S(X, Y) of all rows."""
        s: Statistics[Any] = self.model.statistics(self.all, self.labels)
        return s

    @cached_property
    def resolved(self) -> Any:
        """The model, resolved on all rows."""
        return self.model.resolve(self.whole)

    @cached_property
    def worked(self) -> Statistics[Any]:
        """The sums of all rows that the resolved model works on."""
        s: Statistics[Any] = self.resolved.restrict(self.whole)
        return s

    @cached_property
    def theta(self) -> Any:
        """The closed form."""
        return self.resolved.parameters(self.worked)

    def log_p(self, theta: Any) -> Array:
        """log p(y | x) of all rows."""
        return log_posterior(self.resolved.log_joint(self.all, theta))


def parts_add_up(case: Case) -> None:
    """Rows split anywhere and in any order have the same sums; the sums of no rows are zero."""
    order = case.rng.permutation(len(case.y))
    for cut in (0, 1, len(order) // 3, len(order)):
        a, b = case.sums(order[:cut]), case.sums(order[cut:])
        law = f"the statistics of rows in two parts, cut at {cut} of {len(order)}, add up to those of all"
        case.trial.same_sums(a + b, case.whole, law)
        case.trial.same_sums(b + a, case.whole, law)
    nothing = case.model.statistics(case.all[:0], case.labels[:0])
    case.trial.holds(not any(np.any(leaf) for leaf in nothing.leaves()), "the statistics of no rows are zero")


def linear_in_weights(case: Case) -> None:
    """S is linear in signed weights, also if those of a class sum to zero."""
    V, W = case.rng.normal(size=(2, len(case.y), len(case.labels.classes)))
    W[:, 0] -= W[:, 0].mean()
    s = [case.model.statistics(case.all, weights) for weights in (V, W, 2.0 * V - 3.0 * W)]
    law = "the statistics are linear in the signed class weights W: S(X, 2 V - 3 W) = 2 S(X, V) - 3 S(X, W)"
    case.trial.same_sums(s[2], 2.0 * s[0] - 3.0 * s[1], law)


def labels_are_a_matrix(case: Case) -> None:
    """Labels and the matrix that they stand for are the same weights."""
    Y = OneHot.of(case.y, case.rng.uniform(0.5, 2.0, len(case.y)))
    sparse, dense = (case.model.statistics(case.all, W) for W in (Y, Y.matrix().toarray()))
    case.trial.same(sparse.mass, dense.mass, "labels (a OneHot) and their matrix give the same mass")
    law = "labels (a OneHot) and their matrix (n, k) give the same sums"
    dense = replace(dense, domain=replace(dense.domain, classes=sparse.domain.classes))  # which were 0..k-1
    case.trial.same_sums(sparse, dense, law)


def weights_are_repetitions(case: Case) -> None:
    """Weight 2 counts a row twice, weight 0 leaves it out."""
    times = case.rng.integers(0, 3, len(case.y))
    rows = np.repeat(np.arange(len(times)), times)
    weighted = case.model.statistics(case.all, OneHot.of(case.y, times))
    law = "a row of weight 2 counts as the row twice, one of weight 0 as no row"
    case.trial.same_sums(weighted, case.sums(rows), law)


def good_rows_have_parameters(case: Case) -> None:
    """`attempt` is valid on good rows, and `parameters` is what it found."""
    got = case.resolved.attempt(case.worked)
    case.trial.holds(got.problem is None, f"good rows have parameters, but attempt(s).problem says: {got.problem}")
    valid = all(np.all(leaf) for leaf in got.valid.leaves())
    case.trial.holds(valid, "on good rows all of attempt(s).valid is true")
    case.trial.same(got.parameters, case.theta, "parameters(s) are those of attempt(s)", 0.0)
    case.trial.holds(np.isfinite(case.log_p(case.theta)).any(), "rows have finite probabilities")


def resolved_models_keep_their_domain(case: Case) -> None:
    """A resolved model sums a batch that lacks classes or categories on the domain of all."""
    rows = np.flatnonzero(case.labels.codes == 0)
    X, Y = case.some(rows)
    s = case.resolved.statistics(X, Y)
    law = "a resolved model sums rows of one class on the classes that it was resolved on"
    case.trial.holds(np.array_equal(s.domain.classes, case.whole.domain.classes), law)
    case.trial.same_sums(s, case.resolved.restrict(case.sums(rows)), f"{law}, to the same sums")


def rows_are_on_their_own(case: Case) -> None:
    """log_joint of a row does not depend on the rows beside it."""
    whole = case.resolved.log_joint(case.all, case.theta)
    case.trial.holds(whole.shape == (len(case.y), len(case.labels.classes)), "log_joint is (n, k)")
    cut = len(case.y) // 3
    pieces = [case.some(rows)[0] for rows in (np.arange(cut), np.arange(cut, cut), np.arange(cut, len(case.y)))]
    split = np.concatenate([case.resolved.log_joint(piece, case.theta) for piece in pieces])
    case.trial.same(split, whole, "log_joint of rows in parts, one of them empty, is that of all rows at once", 1e-9)


def everything_pickles(case: Case) -> None:
    """Model, statistics and parameters travel."""
    try:
        again, theta, s = copied((case.resolved, case.theta, case.whole))
    except Exception as error:  # whatever a part of a stranger's raises
        case.trial.holds(False, f"model, parameters and statistics pickle, but {error!r}")
    law = "what comes back from a pickle answers the same, to the bit"
    case.trial.same(again.log_joint(case.all, theta), case.resolved.log_joint(case.all, case.theta), law, 0.0)
    case.trial.same_sums(s + case.whole, 2.0 * case.whole, "statistics from a pickle add to those that stayed")


def forgetting_is_never_having_learned(case: Case) -> None:
    """The statistics of all rows less those of some are those of the others."""
    order = case.rng.permutation(len(case.y))
    gone, rest = order[: len(order) // 4], order[len(order) // 4 :]
    left = case.whole.without(case.sums(gone))
    case.trial.same_sums(left, case.sums(rest), "statistics.without(those of some rows) are those of the others", 1e-9)


def joint_is_density(case: Case) -> None:
    """log p(x, y) = log p(y) + log p(x | y), up to a term that is the same for all classes."""
    density = case.theta.class_log_prob + case.resolved.log_density(case.all, case.theta)
    law = "log_joint is class_log_prob + log_density, up to a term that is the same for all classes"
    case.trial.same(log_posterior(density), case.log_p(case.theta), law, 1e-8)


def integral_is_one(trial: LawTrial, model: Density[Any, Any], seed: int) -> None:
    """p(x | y) of a single column, summed over its support or integrated over a wide grid, is one."""
    rows, y = draw(model.encoder, seed, d=1)
    model = replace(model, encoder=model.encoder.prepare(Memory(rows, y)))
    s = model.statistics(model.encoder(rows), OneHot.of(y))
    resolved = model.resolve(s)
    grid, width = resolved.support(), 1.0
    if grid is None:
        trial.holds(rows.dtype.kind == "f", "a density over categories names them all in `support`")
        centre, far = float(rows.mean()), 60.0 * float(rows.std())
        points, width = np.linspace(centre - far, centre + far, 100_001, retstep=True)
        grid = model.encoder(points[:, None])
    density = np.exp(resolved.log_density(grid, resolved.parameters(resolved.restrict(s))))
    mass = width * density.sum(axis=0)
    trial.same(mass, np.ones(len(mass)), "exp(log_density) of one column sums or integrates to one", 1e-6)


def closed_form_is_the_most_likely(case: Case) -> None:
    """No other parameters have a greater log_likelihood than theta(s)."""
    other = case.resolved.restrict(case.model.statistics(case.all, OneHot.of(np.roll(case.y, 3))) + 2.0 * case.whole)
    theta = case.resolved.parameters(other)
    best, less = (case.resolved.log_likelihood(case.worked, case.theta, at) for at in (case.theta, theta))
    case.trial.holds(less <= best, "log_likelihood is greatest at theta(s), the closed form")


def likelihood_is_that_of_the_rows(case: Case) -> None:
    """log_likelihood is the sum of log p(x, y) over the rows except for a constant; a prior fades as rows grow."""
    # Views of a density have no density of their own, and a penalty never fades.
    if not isinstance(case.model, Density) or isinstance(case.model, Penalised):
        return
    dealt = case.model.statistics(case.all, OneHot.of(np.roll(case.y, 3)))
    target, other = (case.resolved.restrict(MANY * s) for s in (case.whole, dealt + 2.0 * case.whole))
    best, theta = case.resolved.parameters(target), case.resolved.parameters(other)
    ours = [case.resolved.log_likelihood(target, best, at) / MANY for at in (best, theta)]
    own = np.arange(len(case.y)), case.labels.codes
    theirs = [(at.class_log_prob + case.resolved.log_density(case.all, at))[own].sum() for at in (best, theta)]
    law = "log_likelihood differs between two parameters as the sum of log p(x, y) over the rows does"
    case.trial.same(ours[1] - ours[0], theirs[1] - theirs[0], law, 1e-4)


def natural_parameters_return(case: Case) -> None:
    """theta -> eta -> theta answers the same, and eta -> theta -> eta is the same."""
    eta = case.resolved.natural(case.theta)
    back = case.resolved.from_natural(eta)
    case.trial.same(case.log_p(back), case.log_p(case.theta), "from_natural(natural(theta)) answers as theta", 1e-8)
    case.trial.same(case.resolved.natural(back), eta, "natural(from_natural(eta)) is eta", 1e-7)


def gradient_is_the_slope(case: Case) -> None:
    """<gradient, v> is minus the slope of the log loss along v, leaf by leaf of the natural parameters."""
    own = np.arange(len(case.y)), case.labels.codes
    eta = case.resolved.natural(case.theta)

    def log_loss(at: Any) -> float:
        return -float(case.log_p(case.resolved.from_natural(at))[own].sum())

    W = case.labels.matrix().toarray() - posterior(case.resolved.log_joint(case.all, case.theta))
    gradient = case.resolved.gradient(case.resolved.statistics(case.all, W), eta)
    for i, leaf in enumerate(gradient.leaves()):
        index = iter(range(len(gradient.leaves())))
        v = gradient.map(lambda value, i=i, index=index: value if next(index) == i else 0.0 * value)
        h = 1e-5 / max(1e-300, float(np.max(abs(leaf))))
        slope = (log_loss(eta + h * v) - log_loss(eta - h * v)) / (2 * h)
        size = max(1e-6, abs(inner(gradient, v)))
        law = f"gradient is minus that of the log loss by finite differences (leaf {i} of the natural parameters)"
        case.trial.same(-slope / size, inner(gradient, v) / size, law, 1e-4)


def scores_are_linear(case: Case) -> None:
    """Scores are linear in eta, at zero all classes are alike, and the penalty is linear."""
    eta, m = case.resolved.natural(case.theta), case.resolved
    even = log_posterior(m.log_joint(case.all, m.from_natural(m.zero(case.worked))))
    case.trial.same(even, np.full_like(even, -np.log(even.shape[1])), "zero(s) makes all classes alike")
    one, two = (m.log_joint(case.all, m.from_natural(factor * eta)) for factor in (1.0, 2.0))
    case.trial.same(log_posterior(2.0 * one), log_posterior(two), "scores are linear in natural parameters", 1e-8)
    case.trial.same(m.penalised(2.0 * eta), 2.0 * m.penalised(eta), "penalised is linear in eta")
    D = m.design(case.all)
    case.trial.holds(len(D) == len(case.y), "design(X) has a row for every row")
    slopes = np.column_stack([eta.intercept, eta.coef])
    case.trial.same(log_posterior(D.scores(slopes)), log_posterior(one), "scores are products of design(X)", 1e-8)


def tables_can_be_added_to(case: Case) -> None:
    """Any weights that are not negative lead from valid statistics to valid ones."""
    W = case.rng.uniform(size=(len(case.y), len(case.labels.classes)))
    got = case.resolved.attempt(case.worked + case.resolved.statistics(case.all, W))
    case.trial.holds(all(np.all(leaf) for leaf in got.valid.leaves()), "adding to tables keeps them valid")


def leaving_a_row_out_is_not_having_it(case: Case) -> None:
    """log_joint_without is log_joint_density under theta(s - S(row)), with all that was resolved held."""
    score = case.resolved.log_joint_density if isinstance(case.model, Density) else case.resolved.log_joint
    Y = OneHot.of(case.y, case.rng.choice([0.5, 1.0, 2.5], len(case.y)))
    s = case.resolved.restrict(case.model.statistics(case.all, Y))
    got = case.resolved.log_joint_without(case.all, Y, case.resolved.parameters(s), s)
    case.trial.holds(got.shape == (len(Y), len(Y.classes)), "log_joint_without is (n, k)")
    for i in case.rng.choice(len(Y), min(len(Y), MAX_LEFT_OUT), replace=False):
        row = slice(i, i + 1)
        theta = case.resolved.parameters(s - case.resolved.statistics(case.all[row], Y[row]))
        law = f"log_joint_without of row {i} is its log_joint_density under the parameters of all other rows"
        case.trial.same(got[row], score(case.all[row], theta), law, 1e-8)


def terms_add_up(case: Case) -> None:
    """The terms of the columns sum to log_density, with and without the row; tempered, to weighted sums."""
    m, theta, Y = case.resolved, case.theta, case.labels
    terms = m.log_density_by_column(case.all, theta)
    case.trial.holds(terms.shape[:2] == (len(Y), len(Y.classes)), "log_density_by_column is (n, k, d)")
    case.trial.same(terms.sum(axis=2), m.log_density(case.all, theta), "terms by column sum to log_density", 1e-9)
    without = m.log_density_by_column_without(case.all, Y, theta, case.worked)
    law = "terms by column without the row sum to log_density_without"
    case.trial.same(without.sum(axis=2), m.log_density_without(case.all, Y, theta, case.worked), law, 1e-9)
    weight = case.rng.uniform(0.0, 2.0, terms.shape[2])
    law = "the log_density of tempered parameters is the sum of terms times their weights"
    case.trial.same(m.log_density(case.all, m.tempered(theta, weight)), terms @ weight, law, 1e-9)


def weights_in_all_classes_are_taken_out(case: Case) -> None:
    """log_joint_without also removes signed weights in every class."""
    score = case.resolved.log_joint_density if isinstance(case.model, Density) else case.resolved.log_joint
    Y = case.labels.matrix().toarray()
    V = Y + case.rng.uniform(-0.2, 0.2, Y.shape) * Y.mean(axis=0)
    own = 0.7 * V
    s = case.resolved.statistics(case.all, V)
    got = case.resolved.log_joint_without(case.all, own, case.resolved.parameters(s), s)
    for i in case.rng.choice(len(Y), min(len(Y), MAX_LEFT_OUT), replace=False):
        row = slice(i, i + 1)
        theta = case.resolved.parameters(s - case.resolved.statistics(case.all[row], own[row]))
        law = f"log_joint_without of row {i} with weights in all classes is that under theta(s - S(row, weights))"
        case.trial.same(got[row], score(case.all[row], theta), law, 1e-8)


def answers_are_sums_of_terms(case: Case) -> None:
    """The base and the terms of all columns sum to log_joint, up to a number that is the same for all classes."""
    found = case.resolved.terms(case.all, case.theta)
    k = len(case.labels.classes)
    shape = (len(case.y), k, len(found.keys))
    case.trial.holds(found.values.shape == shape, "the values of terms(X, theta) are (n, k, m), for m keys")
    law = "base + the sum of values of terms(X, theta) is log_joint, up to a number a row"
    case.trial.same(log_posterior(found.base + found.values.sum(axis=2)), case.log_p(case.theta), law)


def a_sample_leads_back(case: Case) -> None:
    """A model refitted on samples of itself does not fit them significantly better than the original.

    Twice the gain of maximum likelihood is chi-squared, with a degree of freedom for each parameter. If the sampler is
    wrong, every row adds to the gain. Under a penalty or a prior the refitted model may fit worse.
    """
    m, k = case.resolved, len(case.labels.classes)
    Y = OneHot(case.labels.classes, case.rng.integers(k, size=SAMPLE_ROWS), np.ones(SAMPLE_ROWS))
    X = m.sample(Y.codes, case.theta, case.rng)
    case.trial.holds(len(X) == SAMPLE_ROWS, "sample(codes, theta, rng) gives a row for each class number")
    s = m.statistics(X, Y)
    learned, free = m.parameters(s), sum(np.size(leaf) for leaf in s.leaves())
    gain = _own(m.log_density(X, learned), Y.codes) - _own(m.log_density(X, case.theta), Y.codes)
    gains = f"a sample of {SAMPLE_ROWS} rows, learned, gains {gain:.4g} in log p(x | y), for {free} sums"
    law = f"{gains}: it is not drawn from p(x | y)"
    case.trial.holds(gain <= 0.5 * free + MAX_DEVIATION * np.sqrt(0.5 * free) + MAX_DEVIATION, law)
    if not isinstance(m, Penalised):
        case.trial.holds(gain >= -MAX_LOSS_PER_SUM * free - MAX_DEVIATION, law)


def _own(log_density: Array, codes: Array) -> float:
    return float(log_density[np.arange(len(codes)), codes].sum())


def samples_are_densities(case: Case) -> None:
    """A model that can be sampled from is a density."""
    case.trial.holds(isinstance(case.model, Density), "a model that is `Samplable` is a `Density`")


LAWS: list[tuple[type, Callable[[Case], None]]] = [
    (Model, parts_add_up),
    (Model, linear_in_weights),
    (Model, labels_are_a_matrix),
    (Model, weights_are_repetitions),
    (Model, good_rows_have_parameters),
    (Model, resolved_models_keep_their_domain),
    (Model, rows_are_on_their_own),
    (Model, everything_pickles),
    (Model, forgetting_is_never_having_learned),
    (Density, joint_is_density),
    (Joint, closed_form_is_the_most_likely),
    (Joint, likelihood_is_that_of_the_rows),
    (Natural, natural_parameters_return),
    (Natural, gradient_is_the_slope),
    (Curved, scores_are_linear),
    (Tabular, tables_can_be_added_to),
    (Removable, leaving_a_row_out_is_not_having_it),
    (Additive, terms_add_up),
    (Removable, weights_in_all_classes_are_taken_out),
    (HasNomogram, answers_are_sums_of_terms),
    (Samplable, samples_are_densities),
    (Samplable, a_sample_leads_back),
]
