"""Learners: from a data set to the parameters of a model.

`ClosedForm.learn` is the whole way in five steps, and every other learner begins like it:

    model, data = begin(model, data)     the encoder finds out about columns and categories; rows are encoded once
    s = data.sum(Observed(model))        S(X, Y), in one read of the rows
    model = model.resolve(s)             fixes what depends on the data: the prior's numbers, the bounds of bins
    s = model.restrict(s)                the sums that the resolved model works on, such as counts of bins
    model.attempt(s)                     parameters, and which blocks of s have none; `parameters(s)` raises instead

An `Iterative` learner goes on from there by asking for more sums. Its `course` is a generator: it yields
`Ask(data, f)` and is sent the sum of f over the rows. A course never reads rows itself. So `together` can run the
courses of many contests of two classes side by side, and one read answers them all.

When rows come or go later, the sums change exactly. What an iterative learner has found is not a function of the sums:
`carry_over` takes it along and marks it as stale.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from suffice._core.formula import Arithmetic, E
from suffice._core.labels import OneHot, positions, require_two_classes, show_all
from suffice._core.probability import log_posterior
from suffice._core.vector import Array, Vector, select
from suffice._runtime.messages import Notice, PoorFitWarning, StaleWarning, join_words
from suffice._runtime.progress import progress
from suffice._runtime.threads import spread
from suffice.data import Batch, Data
from suffice.data.queries import DatabaseRows
from suffice.losses import Loss, Losses
from suffice.models import AnyModel, AnyStatistics, HasFormula, summed
from suffice.models.base import Ability, Classed, Natural, Subproblem
from suffice.models.statistics import grouped

V = TypeVar("V")
Seed: TypeAlias = int | np.random.RandomState | None
Question: TypeAlias = Callable[[Batch], object]  # its answers for batches add up
ERROR_ROUNDING = 1e-9  # difference of two error rates that counts as none
MAX_SHIFT_HALVINGS = 5  # of a shift, before it is dropped


@dataclass(frozen=True)
class Fit:
    """The result of learning: the resolved model, its parameters, S(X, Y), and a record of how it went."""

    model: AnyModel
    parameters: Any
    statistics: AnyStatistics
    # The statistics behind the parameters, if a learner has moved them; a tuple for contests.
    moved: AnyStatistics | tuple[Any, ...] | None = None
    history: dict[str, list[float]] = field(default_factory=dict)  # of passes whose step was accepted
    n_iter: int = 1
    converged: bool = True
    warnings: tuple[Notice, ...] = ()
    passes: dict[str, list[float]] = field(default_factory=dict)  # of all passes, with `accepted`
    # The log class shares that predicted probabilities refer to; None: log p(y) of the parameters.
    level: Annotated[Array | None, "inf k"] = None


# What a data set is asked for.


@dataclass(frozen=True)
class Observed:
    """S(X, Y) of a batch, the first sum of every learner."""

    model: AnyModel

    def __call__(self, batch: Batch) -> AnyStatistics:
        return self.model.statistics(batch.X, batch.Y)

    def with_origin_of(self, few: AnyStatistics) -> Observed:
        """Sum about the origins of the sums of a few rows."""
        return Observed(self.model.with_origin_of(few))

    def query(self, rows: DatabaseRows) -> AnyStatistics:
        """Return S(X, Y) of the rows of a database."""
        return summed(self.model, rows)


@dataclass(frozen=True, eq=False, repr=False)
class Measured(Vector):
    """The answer of a pass that measures the losses of a model."""

    losses: Losses


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Measured):
    """The losses of a model on some rows, and the direction S(X, W) that lowers them, from one pass."""

    direction: AnyStatistics


@dataclass(frozen=True)
class Evaluate:
    """Losses and direction of a batch. This small value is all that travels to where the rows are."""

    model: AnyModel  # resolved
    theta: object
    classes: Array
    loss: Loss
    only_adds: bool = False  # drop negative weights

    def __call__(self, batch: Batch) -> Evaluation:
        X = self.model.precompute(batch.X)
        losses, W = self.loss(self.model.log_joint(X, self.theta), batch.Y.onto(self.classes))
        return Evaluation(losses, self.model.statistics(X, W.clip(min=0) if self.only_adds else W))

    def query(self, rows: DatabaseRows) -> Evaluation:
        """Return losses and direction of the rows of a database."""
        if not isinstance(self.model, HasFormula):
            raise TypeError(
                f"{self.model.display_name} cannot be learned step by step in a database: it lacks {HasFormula.words}"
            )
        weighed = rows.onto(self.classes).weighed(self.formula)
        direction = summed(self.model, weighed)
        return Evaluation(Losses(*weighed.totals().tolist()), direction)

    def formula(self, ops: Arithmetic[E], y: E, weight: E) -> tuple[list[E], list[E]]:
        """Return the class weights W (k,) and the losses, as formulas of a row's columns, class and weight."""
        scores = ops.keep(cast(HasFormula[Any], self.model).formula(ops, self.theta))
        W, losses = self.loss.formula(ops, scores, y, weight)
        return [ops.greatest([one, ops.number(0.0)]) for one in W] if self.only_adds else W, losses


# Learners.


def begin(model: AnyModel, data: Data) -> tuple[AnyModel, Data]:
    """Return the model with its encoder prepared, and the data encoded once."""
    encoder = model.encoder.prepare(data)
    return replace(model, encoder=encoder), data.map(encoder).persist()


def require(learner: Learner, model: AnyModel, *needs: type[Ability]) -> None:
    """Raise TypeError unless a model has all abilities that a learner needs."""
    missing = [need.words for need in needs if not isinstance(model, need)]
    if missing:
        raise TypeError(
            f"{type(learner).__name__} cannot be used with {model.display_name}, which lacks "
            f"{join_words(missing, last=' and ')}; {learner.hint}"
        )


FitAndSums: TypeAlias = tuple[Fit | None, AnyStatistics]  # what was learned, and the sums of the rows that count now


class Learner(BaseEstimator):
    """A way from data to parameters that knows no particular model."""

    exact: ClassVar[bool] = False  # parameters are a function of the sums alone, which `solve` returns
    carries_over: ClassVar[bool] = False  # `carry_over` adapts a fit to the sums of other rows
    needs: ClassVar[tuple[type[Ability], ...]] = ()
    once: ClassVar[bool] = False  # it mostly reads the data once
    # Appended to the error if a model lacks an ability.
    hint: ClassVar[str] = "ClosedForm() and RiskCalibration() can be used with every model"

    def needed(self) -> tuple[type[Ability], ...]:
        """Return the abilities that a model must have under these settings."""
        return self.needs

    @abstractmethod
    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Learn the parameters of a model from a data set."""

    def solve(self, model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
        """Return the fit that follows from S(X, Y), if learning is `exact`; rows, if given, may be read again."""
        raise NotImplementedError(f"{type(self).__name__} is not exact")

    def carry_over(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:
        """Adapt a fit to the sums of the rows that count now, marked as stale."""
        raise NotImplementedError(f"{type(self).__name__} does not carry over")

    def merge_fits(self, model: AnyModel, ours: FitAndSums, theirs: FitAndSums) -> Fit | None:
        """Combine two fits into one, from which `carry_over` goes on with the rows of both."""
        raise NotImplementedError(f"{type(self).__name__} does not carry over")


class ClosedForm(Learner):
    """Parameters are theta(S(X, Y)): maximum likelihood, or MAP under the model's prior, in one read of the data.

    Because the statistics add up, a model learned so can be fitted in pieces, merged, and made to forget rows, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.data import Memory
    >>> from suffice.models import DiagonalGaussian
    >>> data = Memory(np.array([[0.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 1]))
    >>> ClosedForm().learn(DiagonalGaussian(), data).parameters.variance
    array([[1.],
           [4.]])
    """

    exact = True
    once = True

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Sum the statistics and compute the parameters from them."""
        model, data = begin(model, data)
        return self.solve(model, data.sum(Observed(model)), data)

    def solve(self, model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
        """Return theta(s) for S(X, Y); the rows, if given, may be read again."""
        resolved = model.resolve(s)
        worked = resolved.restrict(s) if data is None else resolved.revisit(s, data.sum)
        # Most sums are complete. Those of incomplete rows come from EM, which has a history of its own.
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


class Ask(NamedTuple):
    """A sum over a data set that a course waits for."""

    data: Data
    f: Question


Course = Generator[Ask, Any, V]  # learning as a sequence of sums, each answered before the next is asked for


@dataclass(frozen=True)
class Outcome:
    """The result of one course."""

    theta: object
    moved: AnyStatistics | None
    passes: dict[str, list[float]]
    converged: bool
    error: float  # on the training rows
    complaints: tuple[tuple[str, str], ...] = ()  # of the descent: what is wrong, and what to do
    notices: tuple[Notice, ...] = ()  # of anything else
    residual: Array | None = None  # (k,) the mean of Y - P over the rows, if the learner has it

    @property
    def n_iter(self) -> int:
        """Passes over the data."""
        return len(self.passes["error"])

    @property
    def history(self) -> dict[str, list[float]]:
        """Measurements of the passes whose step was accepted."""
        accepted = self.passes["accepted"]
        columns = {name: values for name, values in self.passes.items() if name != "accepted"}
        return {name: [v for v, ok in zip(values, accepted, strict=True) if ok] for name, values in columns.items()}


class Iterative(Learner):
    """A learner that reads the data again and again; a subclass writes the course of one subproblem."""

    carries_over = True
    one_by_one: ClassVar[bool] = False  # learn contests one after another, if the engine can hold the rows of one
    max_iter: int
    verbose: int
    costs: ArrayLike | None = None

    @abstractmethod
    def check(self) -> None:
        """Refuse settings that make no sense."""

    @abstractmethod
    def course(self, subproblem: Subproblem, views: DataViews) -> Course[Outcome]:
        """Learn one subproblem: all classes, or a contest of two."""

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Learn the parameters of a model from a data set; where classes go two at a time, all contests at once."""
        require(self, model.base_model, *self.needed())
        self.check()
        model, data = begin(model, data)
        whole = data.sum(Observed(model))
        require_two_classes(type(self).__name__, whole.domain.classes)
        self._check_movable(whole)
        resolved = self.fix_weights(model.resolve(whole), whole, data)
        # Subproblems restrict the sums for their models.
        subproblems = resolved.subproblems(whole)
        outcomes = self._outcomes(subproblems, whole, data.precomputed(resolved.precompute))
        fit = finish(self, resolved, whole, outcomes)
        # With costs, or in contests, residuals are not the Y - P of all rows.
        if len(outcomes) == 1 and self.costs is None:
            fit = with_level(fit, outcomes[0].residual)
        return replace(fit, warnings=(*fit.warnings, *self._poor(subproblems, outcomes)))

    def _outcomes(self, subproblems: Sequence[Subproblem], whole: AnyStatistics, data: Data) -> list[Outcome]:
        """Learn all subproblems: each on rows of its own if the engine offers them, else from the same reads."""

        def alone(subproblem: Subproblem) -> Outcome | None:
            rows = data.materialise(Sides.of(subproblem, whole))
            if rows is None:
                return None
            return self._together([replace(subproblem, group=None)], whole, DataViews(rows))[0]

        if self.one_by_one and all(one.group is not None for one in subproblems):
            # With a display there is one thread, as two displays would overwrite each other.
            each = list(map(alone, subproblems)) if self.verbose else spread(alone, subproblems)
            outcomes = [outcome for outcome in each if outcome is not None]
            if outcomes:
                return outcomes
        return self._together(subproblems, whole, DataViews(data))

    def _together(self, subproblems: Sequence[Subproblem], whole: AnyStatistics, views: DataViews) -> list[Outcome]:
        with progress(type(self).__name__, self.max_iter, bool(self.verbose)) as show:
            courses = [self.course(one, views) for one in subproblems]
            rows = [None if one.group is None else Sides.of(one, whole) for one in subproblems]
            return together(courses, rows, show)

    def carry_over(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:
        """Adapt a fit to the sums s of the rows that count now, marked as stale.

            S + (mass now / mass then) D,     D = moved - S then

        class by class, if the learner moved statistics. A new class has no shift. The shift of a block (a table, a
        covariance) is halved while it leaves no parameters, and finally dropped. Bins and pooled categories stay as
        they were. Parameters that were learned without moving statistics stay, too. If they are for other classes than
        there are now, the closed form takes their place.
        """

        def stale(fit: Fit, why: str) -> Fit:
            words = f"{type(self).__name__}: {why}; recalibrate(X, y) learns it again, of rows that count now"
            return replace(fit, warnings=(*fit.warnings, Notice(words, StaleWarning)))

        def closed_form(why: str) -> Fit:
            return stale(ClosedForm().solve(model, s), f"{why}, so that the closed form stands in")

        if before is None:
            return closed_form("no rows came that it could learn from")
        late = np.setdiff1d(s.domain.classes[s.mass > 0], before.statistics.domain.classes[before.statistics.mass > 0])
        if before.moved is not None:
            try:
                fit = _apply_shifts(model, s, before, [_shifts(before, s)])
            except ValueError:  # the grid of the sums has become coarser than the bins
                return closed_form("the cells of its numbers can no longer be told apart")
            known = f", and the classes {show_all(late)} have come" if len(late) else ""
            return stale(fit, f"rows have come or gone since it was learned{known}")
        if len(late) or not np.array_equal(s.domain.classes, before.statistics.domain.classes):
            those = f"the classes {show_all(late)} have come" if len(late) else "a class has come or gone"
            return closed_form(f"{those} since it was learned")
        same = replace(before, statistics=s, warnings=())
        return stale(same, "rows have come or gone since its parameters were learned")

    def merge_fits(self, model: AnyModel, ours: FitAndSums, theirs: FitAndSums) -> Fit | None:
        """Combine two fits into one, from which `carry_over` goes on with the rows of both.

        Shifts add up. Parameters without shifts are averaged by mass, in natural parameters. If neither is possible
        because bins, categories or classes differ, the fit of more rows is returned.
        """
        if ours[0] is None or theirs[0] is None:
            return ours[0] or theirs[0]
        (a, s), (b, t) = sorted((ours, theirs), key=_size, reverse=True)
        if a is None or b is None or (a.moved is None) != (b.moved is None):
            return a
        if a.moved is None:
            return _average(model, a, s, b, t)
        try:
            return _apply_shifts(model, s + t, a, [_shifts(a, s), _shifts(b, t)])
        except ValueError:  # bins differ
            return a

    def fix_weights(self, model: AnyModel, whole: AnyStatistics, data: Data) -> AnyModel:  # noqa: ARG002 - for subclasses
        """Return a resolved model with everything fixed that must not change during learning."""
        return model

    def _check_movable(self, whole: AnyStatistics) -> None:
        why = whole.sums.why_not_movable(whole.domain, whole.mass)
        if why is not None:
            raise ValueError(
                f"{type(self).__name__} does not support missing values with full covariances: {why}. Impute them, or "
                "use learner=ClosedForm() or GaussianNB"
            )

    def _poor(self, subproblems: Sequence[Subproblem], outcomes: Sequence[Outcome]) -> tuple[Notice, ...]:
        """Return a notice if more rows are wrong than by always predicting the most frequent class."""
        # With costs, the errors of outcomes are costs.
        if self.costs is not None:
            return ()
        majority = [1.0 - one.whole.mass.max() / one.whole.mass.sum() for one in subproblems]
        worse = [o.error - m > ERROR_ROUNDING for o, m in zip(outcomes, majority, strict=True)]
        # A contest or two may be lost without harm.
        if 2 * sum(worse) <= len(worse):
            return ()
        where = f" in {sum(worse)} of {len(subproblems)} contests" if len(subproblems) > 1 else ""
        at = int(np.argmax([o.error - m for o, m in zip(outcomes, majority, strict=True)]))
        what = f"{type(self).__name__}: {outcomes[at].error:.1%} of the training rows are wrong{where}, more than by"
        rule = f"the majority rule, always the most frequent class ({majority[at]:.1%})"
        return (Notice(f"{what} {rule}; use another model, or raise max_iter", PoorFitWarning),)


def finish(learner: Learner, model: AnyModel, whole: AnyStatistics, outcomes: Sequence[Outcome]) -> Fit:
    """Combine the outcomes of all subproblems into one fit, with each complaint made once."""
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
    """Average over contests, pass by pass; one that has ended keeps its last value."""
    if len(histories) == 1:
        return histories[0]
    length = max(len(history["error"]) for history in histories)

    def padded(values: list[float]) -> list[float]:
        return values + values[-1:] * (length - len(values))

    return {name: np.mean([padded(h[name]) for h in histories], axis=0).tolist() for name in histories[0]}


# Several courses on one data set.


class DataViews:
    """A data set and the parts of it that courses ask for, each made once, so that courses can share a read."""

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
    """Maps a batch to the rows of a contest, labelled by its two sides."""

    classes: Array  # (k,) of the data
    group: Array  # (k,) of 0, 1 and -1
    sides: Array  # (2,)

    @classmethod
    def of(cls, contest: Subproblem, whole: AnyStatistics) -> Sides:
        return cls(whole.domain.classes, cast(Array, contest.group), contest.whole.domain.classes)

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


@dataclass(frozen=True, eq=False, repr=False)
class _Answers(Vector):
    each: tuple[object, ...]


@dataclass(frozen=True)
class _Several:
    """Answers several questions about a batch in one read."""

    fs: tuple[Question, ...]

    def __call__(self, batch: Batch) -> _Answers:
        return _Answers(tuple(f(batch) for f in self.fs))


def together(courses: Sequence[Course[V]], rows: Sequence[Sides | None], show: Callable[[str], None]) -> list[V]:
    """Run courses side by side, each on all rows or on those of a contest; one read answers all that wait for one."""
    waiting: dict[int, Ask] = {}
    ended: dict[int, V] = {}

    def advance(i: int, answer: object) -> None:
        try:
            waiting[i] = courses[i].send(answer)
        except StopIteration as end:
            waiting.pop(i, None)
            ended[i] = end.value

    for i in range(len(courses)):
        advance(i, None)
    while waiting:
        data = next(iter(waiting.values())).data
        now = [i for i, ask in waiting.items() if ask.data is data]
        asked = [(waiting[i].f, rows[i]) for i in now]
        fs = tuple(f if own is None else Sided(f, own) for f, own in asked)
        answers = (data.sum(fs[0]),) if len(fs) == 1 else data.sum(_Several(fs)).each
        losses = [answer.losses.means() for answer in answers if isinstance(answer, Measured)]
        if losses:
            log_loss, error = (np.mean([means[name] for means in losses]) for name in ("log_loss", "error"))
            show(f"log loss {log_loss:.4f}, error {error:.4f}")
        for i, answer in zip(now, answers, strict=True):
            advance(i, answer)
    return [ended[i] for i in range(len(courses))]


# The class shares that probabilities refer to.


def with_level(fit: Fit, residual: Array | None) -> Fit:
    """Add the class shares that predicted probabilities refer to, from the mean of Y - P over the rows (k,).

        q_y = mean_i P_iy

    Calibration moves p(y) away from the shares of the rows, so that p(y) no longer says what a row's probabilities
    assume. If P is right on average, q are the shares of the rows; otherwise q is off by as much as P is on average.
    Fits stay as they are if their model has no class probabilities, or their learner no residual: p(y) counts then.
    """
    if residual is None or not isinstance(fit.model, Classed):
        return fit
    mass = fit.statistics.mass
    found = np.where(mass > 0, np.maximum(mass / mass.sum() - residual, 0.0), 0.0)
    with np.errstate(divide="ignore"):
        return replace(fit, level=np.log(found / found.sum()))


def level_of(fit: Fit) -> Array:
    """Return log q (k,): as the learner found it, or log p(y) of the closed form."""
    return np.asarray(fit.parameters.class_log_prob if fit.level is None else fit.level)


def _carry_level(before: Fit, model: AnyModel, s: AnyStatistics) -> Array | None:
    """Return log q for the sums s: as before, changed as the shares of the rows have changed.

    Where p(y) is given, rows that come or go change neither it nor q.
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


# Fits after rows have come or gone.

Shifts: TypeAlias = dict[tuple[object, ...], AnyStatistics]  # by the classes of a contest; () for all classes


def _size(known: FitAndSums) -> tuple[float, bytes]:
    """Return the mass of the rows, and their sums as bytes, so that a + b and b + a are the same."""
    return float(known[1].mass.sum()), b"".join(np.asarray(leaf).tobytes() for leaf in known[1].leaves())


def _average(model: AnyModel, a: Fit, s: AnyStatistics, b: Fit, t: AnyStatistics) -> Fit:
    """Average the natural parameters of two fits by mass; return the first if they are of different things."""
    whole = s + t
    alike = all(_same(one.statistics, whole) for one in (a, b))
    if not alike or not isinstance(model.base_model, Natural):
        return a
    resolved, share, each = model.resolve(whole), float(s.mass.sum() / whole.mass.sum()), []
    for part, one, other in zip(resolved.subproblems(whole), _each(a.parameters), _each(b.parameters), strict=True):
        natural: Any = part.model
        first, second = natural.natural(one), natural.natural(other)
        each.append(natural.from_natural(natural.feasible(share * first + (1.0 - share) * second, first)))
    level = None if a.level is None or b.level is None else share * a.level + (1.0 - share) * b.level
    return replace(a, model=resolved, parameters=resolved.combine(each), statistics=whole, level=level)


def _same(a: AnyStatistics, b: AnyStatistics) -> bool:
    """True if both are sums of rows of the same classes and features."""
    classes = np.array_equal(a.domain.classes, b.domain.classes) and np.array_equal(a.mass > 0, b.mass > 0)
    return classes and a.domain.features.same(b.domain.features)


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _shifts(before: Fit, s: AnyStatistics) -> Shifts:
    """Return by how much the statistics of each subproblem were moved, scaled to the mass of its classes in s."""
    then = before.statistics.domain.classes
    mass = grouped(s.mass, positions(s.domain.classes, then), len(then))
    found: Shifts = {}
    for one, at in zip(before.model.subproblems(before.statistics), _each(before.moved), strict=True):
        now = mass if one.group is None else grouped(mass, one.group, len(one.whole.mass))
        scale = np.divide(now, one.whole.mass, out=np.zeros(len(now)), where=one.whole.mass > 0)
        found[_key(one)] = (at - one.whole).by_class(scale)
    return found


def _apply_shifts(model: AnyModel, s: AnyStatistics, held: Fit, shifts: Sequence[Shifts]) -> Fit:
    """Return a fit whose statistics are s plus shifts, with the bins of the fit `held`."""
    worked = held.model.restrict(s)
    resolved = model.resolve(worked)
    places = [
        _shift(one, [each[key] for each in shifts if (key := _key(one)) in each])
        for one in resolved.subproblems(worked)
    ]
    moved, thetas = zip(*places, strict=True)
    return replace(
        held,
        model=resolved,
        parameters=resolved.combine(thetas),
        statistics=s,
        moved=moved if len(moved) > 1 else moved[0],
        warnings=resolved.notices(),
        level=_carry_level(held, resolved, s),
    )


def _shift(subproblem: Subproblem, by: Sequence[AnyStatistics]) -> tuple[AnyStatistics, object]:
    """Add shifts to statistics, halved block by block until there are parameters; return both."""
    here = subproblem.whole
    for one in by:
        here.domain.features | one.domain.features  # raises ValueError if their bins differ
    here, shift = here.align(sum((one.onto(here.domain) for one in by), 0.0 * here))
    for factor in (*[0.5] * MAX_SHIFT_HALVINGS, 0.0, 0.0):  # tried again with what was dropped
        new = here + shift
        got = subproblem.model.attempt(new)
        if all(np.all(leaf) for leaf in got.valid.leaves()):
            return new, got.parameters
        shift = select(got.valid, shift, factor * shift)
    return here, subproblem.model.parameters(here)


def _key(subproblem: Subproblem) -> tuple[object, ...]:
    return () if subproblem.group is None else tuple(subproblem.whole.domain.classes.tolist())
