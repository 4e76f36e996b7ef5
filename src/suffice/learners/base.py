"""Learners: what they return, what they ask of a batch, how several share a read, and how a fit is carried over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from suffice._core.formula import Arithmetic, E
from suffice._core.labels import OneHot, positions, show_all
from suffice._core.probability import log_posterior
from suffice._core.vector import Array, Vector, select
from suffice._runtime.messages import Notice, PoorFitWarning, StaleWarning, join_words
from suffice._runtime.progress import progress
from suffice._runtime.threads import spread
from suffice.data import Batch, Data
from suffice.data.queries import DatabaseRows
from suffice.losses import Loss, Losses
from suffice.models import AnyModel, AnyStatistics, HasFormula, summed
from suffice.models.base import Ability, Classed, Natural, NaturalModel, Subproblem
from suffice.models.statistics import grouped


@dataclass(frozen=True)
class Fit:
    """What learning returns: the resolved model, its parameters, S(X, Y), and how it went."""

    model: AnyModel
    parameters: Any
    statistics: AnyStatistics
    # the statistics behind the parameters, where a learner has moved them; a tuple for contests
    moved: AnyStatistics | tuple[Any, ...] | None = None
    history: dict[str, list[float]] = field(default_factory=dict)  # of the passes whose step was kept
    n_iter: int = 1
    converged: bool = True
    warnings: tuple[Notice, ...] = ()
    passes: dict[str, list[float]] = field(default_factory=dict)  # of all passes, with `accepted`
    # log shares at which probabilities count; None: log p(y) of the parameters
    level: Annotated[Array | None, "inf k"] = None


def closed(model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
    """theta(s) of statistics S(X, Y); their rows, if given, may be read again."""
    resolved = model.resolve(s)
    worked = resolved.restrict(s) if data is None else resolved.revisit(s, data.sum)
    values, settled = worked.sums.iterations()
    return Fit(
        resolved,
        resolved.parameters(worked),
        s,
        None if worked is s else worked,
        history={"log_posterior": values} if values else {},
        n_iter=max(1, len(values)),
        converged=settled,
        warnings=(*resolved.notices(), *worked.sums.notices()),
    )


def level_at(fit: Fit, residual: Array | None) -> Fit:
    """A fit that knows the shares at which its probabilities count, from the mean of Y - P over its rows (k,).

        q_y = mean_i P_iy

    Rows of which P is right on average are then found to have their own shares, whatever p(y) has become. Where
    calibration has settled, q is the share of the rows; where it has not, it is off by what P is off on average. Models
    without class probabilities stay as they are, and so do fits whose learner has no such sums: of those, p(y) counts.
    """
    if residual is None or not isinstance(fit.model, Classed):
        return fit
    mass = fit.statistics.mass
    found = np.where(mass > 0, np.maximum(mass / mass.sum() - residual, 0.0), 0.0)
    with np.errstate(divide="ignore"):
        return replace(fit, level=np.log(found / found.sum()))


def level_of(fit: Fit) -> Array:
    """log q (k,): what a learner has found, or log p(y) of the closed form, which is a parameter of the model."""
    return np.asarray(fit.parameters.class_log_prob if fit.level is None else fit.level)


def level_for(before: Fit, model: AnyModel, s: AnyStatistics) -> Array | None:
    """The shares for the sums s of rows that count now: those of then, changed as the rows' own have changed.

    Where p(y) is given, rows that come or go do not change it, nor these shares.
    """
    if before.level is None:
        return None
    at = positions(s.domain.classes, before.statistics.domain.classes)
    known = at >= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        then, now = (np.log(one.mass / one.mass.sum()) for one in (before.statistics, s))
        beside = before.level - then
    if cast(Classed[Any, Any], model).classes_given:
        given = cast(Classed[Any, Any], model).class_log_prob(s)
        return np.where(known, before.level[at], given)
    moved = now + np.where(known & np.isfinite(beside[at]), beside[at], 0.0)
    return np.asarray(log_posterior(moved[None])[0])


HALVINGS = 5  # of a shift, before it is dropped
Shifts: TypeAlias = dict[tuple[object, ...], AnyStatistics]  # by the classes of a contest; () where there is none
Known: TypeAlias = tuple[Fit | None, AnyStatistics]  # what was learned from rows, and the sums of those that count now


def carried(who: str, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:
    """What was learned before, for the sums s of the rows that count now; it says that it is stale.

        S + (mass now / mass then) D,     D = moved - S then

    class by class, where statistics were moved. A new class has no shift; that of a block (a table, a covariance) is
    halved while it leaves no parameters, and then dropped; cells of numbers and pooled categories are those of then.
    Where parameters were learned without moving statistics, these stay; if they know of other classes than there are
    now, the closed form stands in.
    """
    if before is None:
        return _closed(who, model, s, "no rows came that it could learn from")
    late = np.setdiff1d(s.domain.classes[s.mass > 0], before.statistics.domain.classes[before.statistics.mass > 0])
    if before.moved is not None:
        try:
            fit = _shifted(model, s, before, [_shifts(before, s)])
        except ValueError:  # sums on a grid that has become coarser than the cells
            return _closed(who, model, s, "the cells of its numbers can no longer be told apart")
        known = f", and the classes {show_all(late)} have come" if len(late) else ""
        return _stale(who, fit, f"rows have come or gone since it was learned{known}")
    if len(late) or not np.array_equal(s.domain.classes, before.statistics.domain.classes):
        those = f"the classes {show_all(late)} have come" if len(late) else "a class has come or gone"
        return _closed(who, model, s, f"{those} since it was learned")
    kept = replace(before, statistics=s, warnings=())
    return _stale(who, kept, "rows have come or gone since its parameters were learned")


def merged(model: AnyModel, ours: Known, theirs: Known) -> Fit | None:
    """What two fits have learned together, which `carried` goes on from.

    Shifts add up. Parameters that come without are averaged by mass, in natural parameters. Where neither can be done,
    because cells, categories or classes differ, it is what the fit of more rows has learned.
    """
    if ours[0] is None or theirs[0] is None:
        return ours[0] or theirs[0]
    (a, s), (b, t) = sorted((ours, theirs), key=_size, reverse=True)
    if a is None or b is None or (a.moved is None) != (b.moved is None):
        return a
    if a.moved is None:
        return _mean(model, a, s, b, t)
    try:
        return _shifted(model, s + t, a, [_shifts(a, s), _shifts(b, t)])
    except ValueError:  # cells that differ
        return a


def _size(known: Known) -> tuple[float, bytes]:
    """The mass of the rows that count, and their sums as bytes, so that a + b and b + a are the same."""
    return float(known[1].mass.sum()), b"".join(np.asarray(leaf).tobytes() for leaf in known[1].leaves())


def _mean(model: AnyModel, a: Fit, s: AnyStatistics, b: Fit, t: AnyStatistics) -> Fit:
    """A fit whose natural parameters are the mean of those of two, by mass; the first if they are of other things."""
    whole = s + t
    alike = all(_same(one.statistics, whole) for one in (a, b))
    if not alike or not isinstance(model.base_model, Natural):
        return a
    resolved, share, each = model.resolve(whole), float(s.mass.sum() / whole.mass.sum()), []
    for part, one, other in zip(resolved.subproblems(whole), _each(a.parameters), _each(b.parameters), strict=True):
        natural = cast(NaturalModel[Any, Any, Any], part.model)
        first, second = natural.natural(one), natural.natural(other)
        each.append(natural.from_natural(natural.feasible(share * first + (1.0 - share) * second, first)))
    level = None if a.level is None or b.level is None else share * a.level + (1.0 - share) * b.level
    return replace(a, model=resolved, parameters=resolved.combine(each), statistics=whole, level=level)


def _same(a: AnyStatistics, b: AnyStatistics) -> bool:
    """Whether rows of the same classes and features are summed in both."""
    classes = np.array_equal(a.domain.classes, b.domain.classes) and np.array_equal(a.mass > 0, b.mass > 0)
    return classes and a.domain.features.same(b.domain.features)


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _stale(who: str, fit: Fit, why: str) -> Fit:
    do = "recalibrate(X, y) learns it again, of rows that count now"
    return replace(fit, warnings=(*fit.warnings, Notice(f"{who}: {why}; {do}", StaleWarning)))


def _closed(who: str, model: AnyModel, s: AnyStatistics, why: str) -> Fit:
    return _stale(who, closed(model, s), f"{why}, so that the closed form stands in")


def _shifts(before: Fit, s: AnyStatistics) -> Shifts:
    """What the statistics of each share were moved by, in proportion to the mass that its classes have in s."""
    then = before.statistics.domain.classes
    mass = grouped(s.mass, positions(s.domain.classes, then), len(then))
    found: Shifts = {}
    for share, at in zip(before.model.subproblems(before.statistics), _each(before.moved), strict=True):
        now = mass if share.group is None else grouped(mass, share.group, len(share.whole.mass))
        scale = np.divide(now, share.whole.mass, out=np.zeros(len(now)), where=share.whole.mass > 0)
        found[_key(share)] = (at - share.whole).by_class(scale)
    return found


def _shifted(model: AnyModel, s: AnyStatistics, held: Fit, shifts: Sequence[Shifts]) -> Fit:
    """A fit whose statistics are s and some shifts, in the cells that another works on."""
    worked = held.model.restrict(s)
    resolved = model.resolve(worked)
    places = [
        _shift(share, [each[key] for each in shifts if (key := _key(share)) in each])
        for share in resolved.subproblems(worked)
    ]
    moved, thetas = zip(*places, strict=True)
    return replace(
        held,
        model=resolved,
        parameters=resolved.combine(thetas),
        statistics=s,
        moved=moved if len(moved) > 1 else moved[0],
        warnings=resolved.notices(),
        level=level_for(held, resolved, s),
    )


def _shift(share: Subproblem, by: Sequence[AnyStatistics]) -> tuple[AnyStatistics, object]:
    """Statistics with shifts, halved block by block until there are parameters, and these."""
    here = share.whole
    for one in by:
        here.domain.features | one.domain.features  # ValueError if their cells differ
    here, shift = here.align(sum((one.onto(here.domain) for one in by), 0.0 * here))
    for factor in (*[0.5] * HALVINGS, 0.0):
        new = here + shift
        got = share.model.attempt(new)
        if all(np.all(leaf) for leaf in got.valid.leaves()):
            return new, got.parameters
        shift = select(got.valid, shift, factor * shift)
    return here, share.model.parameters(here)


def _key(share: Subproblem) -> tuple[object, ...]:
    return () if share.group is None else tuple(share.whole.domain.classes.tolist())


V = TypeVar("V")
Seed: TypeAlias = int | np.random.RandomState | None
Question: TypeAlias = Callable[[Batch], object]  # whose answers for batches add up
ROUNDING = 1e-9  # of an error


class Ask(NamedTuple):
    """A sum over a data set that somebody waits for."""

    data: Data
    f: Question


Course = Generator[Ask, Any, V]  # learning as a sequence of sums that are asked for, each answered before the next


@dataclass(frozen=True)
class Observed:
    """S(X, Y) of a batch: what a data set is asked for first."""

    model: AnyModel

    def __call__(self, batch: Batch) -> AnyStatistics:
        return self.model.statistics(batch.X, batch.Y)

    def with_origin_of(self, few: AnyStatistics) -> Observed:
        """The same, about the origins of the sums of a few rows."""
        return Observed(self.model.with_origin_of(few))

    def query(self, rows: DatabaseRows) -> AnyStatistics:
        """The same of the rows of a database."""
        return summed(self.model, rows)


@dataclass(frozen=True, eq=False, repr=False)
class Measured(Vector):
    """What a pass that measures the losses of a model comes back with."""

    losses: Losses


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Measured):
    """The losses of a model on some rows, and the direction S(X, W) that lowers them, both from one pass."""

    direction: AnyStatistics


@dataclass(frozen=True)
class Evaluate:
    """Losses and direction of a batch; all that travels to where the rows are."""

    model: AnyModel  # resolved
    theta: object
    classes: Array
    loss: Loss
    only_adds: bool = False  # whether negative weights are dropped

    def __call__(self, batch: Batch) -> Evaluation:
        X = self.model.precompute(batch.X)
        losses, W = self.loss(self.model.log_joint(X, self.theta), batch.Y.onto(self.classes))
        return Evaluation(losses, self.model.statistics(X, W.clip(min=0) if self.only_adds else W))

    def query(self, rows: DatabaseRows) -> Evaluation:
        """The same of the rows of a database."""
        if not isinstance(self.model, HasFormula):
            raise TypeError(
                f"{self.model.display_name} cannot be learned step by step in a database: it lacks {HasFormula.words}"
            )
        weighed = rows.onto(self.classes).weighed(self.formula)
        direction = summed(self.model, weighed)
        return Evaluation(Losses(*weighed.totals().tolist()), direction)

    def formula(self, ops: Arithmetic[E], y: E, weight: E) -> tuple[list[E], list[E]]:
        """The class weights W (k,) and the losses, as formulas of the columns, the class and the weight of a row."""
        scores = ops.keep(cast(HasFormula[Any], self.model).formula(ops, self.theta))
        W, losses = self.loss.formula(ops, scores, y, weight)
        return [ops.greatest([one, ops.number(0.0)]) for one in W] if self.only_adds else W, losses


@dataclass(frozen=True)
class Outcome:
    """What came of one course of learning."""

    theta: object
    moved: AnyStatistics | None
    passes: dict[str, list[float]]
    converged: bool
    error: float  # on the training rows
    complaints: tuple[tuple[str, str], ...] = ()  # of the descent: what is wrong, and what to do
    notices: tuple[Notice, ...] = ()  # of anything else
    residual: Array | None = None  # (k,) the mean of Y - P over the rows, where the learner has these

    @property
    def n_iter(self) -> int:
        """Passes over the data."""
        return len(self.passes["error"])

    @property
    def history(self) -> dict[str, list[float]]:
        """What the passes whose step was kept have measured."""
        kept = self.passes["accepted"]
        columns = {name: values for name, values in self.passes.items() if name != "accepted"}
        return {name: [v for v, ok in zip(values, kept, strict=True) if ok] for name, values in columns.items()}


def begin(model: AnyModel, data: Data) -> tuple[AnyModel, Data]:
    """The model with its encoder prepared, and the data encoded once."""
    encoder = model.encoder.prepare(data)
    return replace(model, encoder=encoder), data.map(encoder).persist()


class Learner(BaseEstimator):
    """A way from data to parameters that knows no particular model."""

    exact: ClassVar[bool] = False  # whether parameters are a function of the sums alone, which `solve` gives
    carries_over: ClassVar[bool] = False  # whether `carry_over` takes what was learned to the sums of other rows
    needs: ClassVar[tuple[type[Ability], ...]] = ()
    once: ClassVar[bool] = False  # whether it mostly reads the data once
    instead: ClassVar[str] = "ClosedForm() and RiskCalibration() can be used with every model"  # of one that lacks them

    def needed(self) -> tuple[type[Ability], ...]:
        """The abilities that a model must have, with these settings."""
        return self.needs

    @abstractmethod
    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Learn the parameters of a model from a data set."""

    def solve(self, model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
        """The parameters that statistics S(X, Y) lead to, if learning is `exact`; rows, if given, may be read again."""
        raise NotImplementedError(f"{type(self).__name__} is not exact")

    def carry_over(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:
        """What was learned before, for the sums of the rows that count now, marked as stale."""
        raise NotImplementedError(f"{type(self).__name__} does not carry over")

    def merge_fits(self, model: AnyModel, ours: Known, theirs: Known) -> Fit | None:
        """What two fits have learned from their rows, for the rows of both: see `carry_over`."""
        raise NotImplementedError(f"{type(self).__name__} does not carry over")


class Iterative(Learner):
    """A learner that reads the data again and again; a subclass writes the course of one model."""

    carries_over = True
    one_by_one: ClassVar[bool] = False  # whether contests are learned after each other where that spares reading
    max_iter: int
    verbose: int

    @abstractmethod
    def check(self) -> None:
        """Refuse settings that make no sense."""

    @abstractmethod
    def course(self, share: Subproblem, views: DataViews) -> Course[Outcome]:
        """Learn one share."""

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Learn the parameters of a model from a data set; where classes go two at a time, all contests at once."""
        require(self, model.base_model, *self.needed())
        self.check()
        model, data = begin(model, data)
        whole = data.sum(Observed(model))
        self._check_movable(whole)
        resolved = self.settle(model.resolve(whole), whole, data)
        shares = resolved.subproblems(whole)
        outcomes = self._outcomes(shares, whole, data.precomputed(resolved.precompute))
        fit = finish(self, resolved, whole, outcomes)
        if len(outcomes) == 1 and getattr(self, "costs", None) is None:  # else residuals are no Y - P
            fit = level_at(fit, outcomes[0].residual)
        return replace(fit, warnings=(*fit.warnings, *self._poor(shares, outcomes)))

    def _outcomes(self, shares: Sequence[Subproblem], whole: AnyStatistics, data: Data) -> list[Outcome]:
        """What comes of all shares: one by one if their rows can be had on their own, else from the same reads."""

        def alone(share: Subproblem) -> Outcome | None:
            rows = data.materialise(Sides.of(share, whole))
            return None if rows is None else self._together([replace(share, group=None)], whole, DataViews(rows))[0]

        if self.one_by_one and all(share.group is not None for share in shares):
            each = list(map(alone, shares)) if self.verbose else spread(alone, shares)  # one display at a time
            outcomes = [outcome for outcome in each if outcome is not None]
            if outcomes:
                return outcomes
        return self._together(shares, whole, DataViews(data))

    def _together(self, shares: Sequence[Subproblem], whole: AnyStatistics, views: DataViews) -> list[Outcome]:
        with progress(type(self).__name__, self.max_iter, bool(self.verbose)) as show:
            courses = [self.course(share, views) for share in shares]
            return together(courses, [_sided(share, whole) for share in shares], show)

    def carry_over(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:
        """What was learned before, if anything was, for the sums of the rows that count now, and marked as stale."""
        return carried(type(self).__name__, model, s, before)

    def merge_fits(self, model: AnyModel, ours: Known, theirs: Known) -> Fit | None:
        """What two fits have learned from their rows, for the rows of both: see `carry_over`."""
        return merged(model, ours, theirs)

    def settle(self, model: AnyModel, whole: AnyStatistics, data: Data) -> AnyModel:  # noqa: ARG002 - most are settled
        """A resolved model with all that is to be fixed before learning begins."""
        return model

    def _check_movable(self, whole: AnyStatistics) -> None:
        why = whole.sums.why_not_movable(whole.domain, whole.mass)
        if why is not None:
            raise ValueError(
                f"{type(self).__name__} cannot learn from these rows: {why}, and the sums of incomplete rows cannot be "
                "moved under whole covariances. Impute them, or use learner=ClosedForm() or GaussianNB"
            )

    def _poor(self, shares: Sequence[Subproblem], outcomes: Sequence[Outcome]) -> tuple[Notice, ...]:
        """A notice if rows are told apart worse than by always saying the most frequent class."""
        if getattr(self, "costs", None) is not None:  # what is counted then are costs
            return ()
        majority = [1.0 - share.whole.mass.max() / share.whole.mass.sum() for share in shares]
        worse = [o.error - m > ROUNDING for o, m in zip(outcomes, majority, strict=True)]
        if 2 * sum(worse) <= len(worse):  # a contest or two may be lost without harm
            return ()
        where = f" in {sum(worse)} of {len(shares)} contests" if len(shares) > 1 else ""
        at = int(np.argmax([o.error - m for o, m in zip(outcomes, majority, strict=True)]))
        said = f"{type(self).__name__}: {outcomes[at].error:.1%} of the training rows are wrong{where}, more than by"
        rule = f"the majority rule, always the most frequent class ({majority[at]:.1%})"
        return (Notice(f"{said} {rule}; use another model, or raise max_iter", PoorFitWarning),)


def require(learner: Learner, model: AnyModel, *needs: type[Ability]) -> None:
    """TypeError, in one sentence, unless a model has all abilities that a learner needs."""
    missing = [need.words for need in needs if not isinstance(model, need)]
    if missing:
        raise TypeError(
            f"{type(learner).__name__} cannot be used with {model.display_name}, which lacks "
            f"{join_words(missing, last=' and ')}; {learner.instead}"
        )


def finish(learner: Learner, model: AnyModel, whole: AnyStatistics, outcomes: Sequence[Outcome]) -> Fit:
    """One fit from the outcomes of all shares, with each complaint made once."""
    moved = tuple(outcome.moved for outcome in outcomes if outcome.moved is not None) or None
    notices = (notice for outcome in outcomes for notice in outcome.notices)
    return Fit(
        model,
        model.combine([outcome.theta for outcome in outcomes]),
        whole,
        moved[0] if moved is not None and len(moved) == 1 else moved,
        history=_mean_history([outcome.history for outcome in outcomes]),
        passes=_mean_history([outcome.passes for outcome in outcomes]),
        n_iter=max(outcome.n_iter for outcome in outcomes),
        converged=all(outcome.converged for outcome in outcomes),
        warnings=(*model.notices(), *_complaints(type(learner).__name__, outcomes), *notices),
    )


def _complaints(who: str, outcomes: Sequence[Outcome]) -> list[Notice]:
    every = list(dict.fromkeys(c for outcome in outcomes for c in outcome.complaints))
    found = []
    for what, do in every:
        concerned = [outcome.n_iter for outcome in outcomes if (what, do) in outcome.complaints]
        where = f" in {len(concerned)} of {len(outcomes)} contests" if len(outcomes) > 1 else ""
        found.append(Notice(f"{who}: {what} after {max(concerned)} iterations{where}; {do}", ConvergenceWarning))
    return found


def _mean_history(histories: Sequence[dict[str, list[float]]]) -> dict[str, list[float]]:
    """The mean over contests, pass by pass; one that has ended stays as it was."""
    if len(histories) == 1:
        return histories[0]
    length = max(len(history["error"]) for history in histories)

    def padded(values: list[float]) -> list[float]:
        return values + values[-1:] * (length - len(values))

    return {name: np.mean([padded(h[name]) for h in histories], axis=0).tolist() for name in histories[0]}


class DataViews:
    """A data set and the parts of it that courses ask for, each made once: so that courses can share a read."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self._made: dict[Hashable, Any] = {}

    def _once(self, key: Hashable, make: Callable[[], V]) -> V:
        if key not in self._made:
            self._made[key] = make()
        made: V = self._made[key]
        return made

    def split(self, shares: tuple[float, ...], seed: int) -> Sequence[Data]:
        """As `Data.split`."""
        return self._once(("split", shares, seed), lambda: self.data.split(shares, seed))

    def pieces(self, data: Data, count: int, seed: int) -> Sequence[Data]:
        """As `Data.pieces`, of this data set or a part of it."""
        return self._once(("pieces", id(data), count, seed), lambda: data.pieces(count, seed))

    def cheap_sample(self, rows: int) -> Data:
        """As `Data.cheap_sample`."""
        return self._once(("few", rows), lambda: self.data.cheap_sample(rows))

    def resample(self, data: Data, seed: int) -> Data:
        """As `Data.resample`, of this data set or a part of it."""
        return self._once(("resample", id(data), seed), lambda: data.resample(seed))


@dataclass(frozen=True)
class Sides:
    """The rows of a contest, whose labels are its sides."""

    classes: Array  # (k,) of the data
    group: Array  # (k,) of 0, 1 and -1
    sides: Array  # (2,)

    @classmethod
    def of(cls, share: Subproblem, whole: AnyStatistics) -> Sides:
        """Of a share that is a contest."""
        return cls(whole.domain.classes, cast(Array, share.group), share.whole.domain.classes)

    def __call__(self, batch: Batch) -> Batch:
        codes = np.append(self.group, -1)[batch.Y.onto(self.classes).codes]
        Y = OneHot(self.sides, codes, batch.Y.given)
        rows = np.flatnonzero(codes >= 0)
        return Batch(batch.X, Y) if len(rows) == len(codes) else Batch(batch.X[rows], Y[rows])


@dataclass(frozen=True)
class Sided:
    """f of the rows of a contest."""

    f: Question
    rows: Sides

    def __call__(self, batch: Batch) -> object:
        return self.f(self.rows(batch))


def _sided(share: Subproblem, whole: AnyStatistics) -> Callable[[Question], Question]:
    return (lambda f: f) if share.group is None else lambda f: Sided(f, Sides.of(share, whole))


@dataclass(frozen=True, eq=False, repr=False)
class _Answers(Vector):
    each: tuple[object, ...]


@dataclass(frozen=True)
class _Several:
    """Several functions of a batch at once."""

    fs: tuple[Question, ...]

    def __call__(self, batch: Batch) -> _Answers:
        return _Answers(tuple(f(batch) for f in self.fs))


def together(
    courses: Sequence[Course[V]], sided: Sequence[Callable[[Question], Question]], show: Callable[[str], None]
) -> list[V]:
    """Run courses side by side: what they ask of the same data at the same time is answered by one read."""
    waiting: dict[int, Ask] = {}
    ended: dict[int, V] = {}

    def go_on(i: int, answer: object) -> None:
        try:
            waiting[i] = courses[i].send(answer)
        except StopIteration as end:
            waiting.pop(i, None)
            ended[i] = end.value

    for i in range(len(courses)):
        go_on(i, None)
    while waiting:
        data = next(iter(waiting.values())).data
        asked = [i for i, ask in waiting.items() if ask.data is data]
        fs = tuple(sided[i](waiting[i].f) for i in asked)
        answers = (data.sum(fs[0]),) if len(fs) == 1 else data.sum(_Several(fs)).each
        losses = [answer.losses.means() for answer in answers if isinstance(answer, Measured)]
        if losses:
            log_loss, error = (np.mean([means[name] for means in losses]) for name in ("log_loss", "error"))
            show(f"log loss {log_loss:.4f}, error {error:.4f}")
        for i, answer in zip(asked, answers, strict=True):
            go_on(i, answer)
    return [ended[i] for i in range(len(courses))]
