"""What learners are, what they ask of a batch, and how several learn from one read of the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from suffice._arithmetic import Arithmetic, E
from suffice._labels import OneHot
from suffice._notice import Notice, PoorFitWarning
from suffice._progress import progress
from suffice._threads import spread
from suffice._vector import Array, Vector
from suffice.data import Batch, Data
from suffice.data._queries import Queried
from suffice.learners._carrying import Known, carried, merged
from suffice.learners._fit import Fit
from suffice.learners._level import level_at
from suffice.losses import Loss, Losses
from suffice.models import AnyModel, AnyStatistics, Spoken, summed
from suffice.models._base import Ability, Share

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

    def about(self, few: AnyStatistics) -> Observed:
        """The same, about the origins of the sums of a few rows."""
        return Observed(self.model.about(few))

    def query(self, rows: Queried) -> AnyStatistics:
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
        X = self.model.seen(batch.X)
        losses, W = self.loss(self.model.log_joint(X, self.theta), batch.Y.onto(self.classes))
        return Evaluation(losses, self.model.statistics(X, W.clip(min=0) if self.only_adds else W))

    def query(self, rows: Queried) -> Evaluation:
        """The same of the rows of a database."""
        if not isinstance(self.model, Spoken):
            raise TypeError(
                f"{self.model.called} cannot be learned step by step in a database: it lacks {Spoken.words}"
            )
        weighed = rows.onto(self.classes).weighed(self.said)
        direction = summed(self.model, weighed)
        return Evaluation(Losses(*weighed.totals().tolist()), direction)

    def said(self, say: Arithmetic[E], y: E, weight: E) -> tuple[list[E], list[E]]:
        """The class weights W (k,) and the losses, as formulas of the columns, the class and the weight of a row."""
        scores = say.keep(cast(Spoken[Any], self.model).said(say, self.theta))
        W, losses = self.loss.said(say, scores, y, weight)
        return [say.greatest([one, say.number(0.0)]) for one in W] if self.only_adds else W, losses


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

    needs: ClassVar[tuple[type[Ability], ...]] = ()
    once: ClassVar[bool] = False  # whether it mostly reads the data once
    instead: ClassVar[str] = "ClosedForm() and RiskCalibration() can be used with every model"  # of one that lacks them

    def needed(self) -> tuple[type[Ability], ...]:
        """The abilities that a model must have, with these settings."""
        return self.needs

    @abstractmethod
    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Learn the parameters of a model from a data set."""


class Iterative(Learner):
    """A learner that reads the data again and again; a subclass writes the course of one model."""

    one_by_one: ClassVar[bool] = False  # whether contests are learned after each other where that spares reading
    max_iter: int
    verbose: int

    @abstractmethod
    def check(self) -> None:
        """Refuse settings that make no sense."""

    @abstractmethod
    def course(self, share: Share, views: Views) -> Course[Outcome]:
        """Learn one share."""

    def learn(self, model: AnyModel, data: Data) -> Fit:
        """Learn the parameters of a model from a data set; where classes go two at a time, all contests at once."""
        require(self, model.unit, *self.needed())
        self.check()
        model, data = begin(model, data)
        whole = data.sum(Observed(model))
        self._check_movable(whole)
        resolved = self.settle(model.resolve(whole), whole, data)
        shares = resolved.shares(whole)
        outcomes = self._outcomes(shares, whole, data.seen(resolved.seen))
        fit = finish(self, resolved, whole, outcomes)
        if len(outcomes) == 1 and getattr(self, "costs", None) is None:  # else residuals are no Y - P
            fit = level_at(fit, outcomes[0].residual)
        return replace(fit, warnings=(*fit.warnings, *self._poor(shares, outcomes)))

    def _outcomes(self, shares: Sequence[Share], whole: AnyStatistics, data: Data) -> list[Outcome]:
        """What comes of all shares: one by one if their rows can be had on their own, else from the same reads."""

        def alone(share: Share) -> Outcome | None:
            rows = data.apart(Sides.of(share, whole))
            return None if rows is None else self._together([replace(share, group=None)], whole, Views(rows))[0]

        if self.one_by_one and all(share.group is not None for share in shares):
            each = list(map(alone, shares)) if self.verbose else spread(alone, shares)  # one display at a time
            outcomes = [outcome for outcome in each if outcome is not None]
            if outcomes:
                return outcomes
        return self._together(shares, whole, Views(data))

    def _together(self, shares: Sequence[Share], whole: AnyStatistics, views: Views) -> list[Outcome]:
        with progress(type(self).__name__, self.max_iter, bool(self.verbose)) as show:
            courses = [self.course(share, views) for share in shares]
            return together(courses, [_sided(share, whole) for share in shares], show)

    def carry(self, model: AnyModel, s: AnyStatistics, before: Fit | None) -> Fit:
        """What was learned before, if anything was, for the sums of the rows that count now, and marked as stale."""
        return carried(type(self).__name__, model, s, before)

    def unite(self, model: AnyModel, ours: Known, theirs: Known) -> Fit | None:
        """What two fits have learned from their rows, for the rows of both: see `carry`."""
        return merged(model, ours, theirs)

    def settle(self, model: AnyModel, whole: AnyStatistics, data: Data) -> AnyModel:  # noqa: ARG002 - most are settled
        """A resolved model with all that is to be fixed before learning begins."""
        return model

    def _check_movable(self, whole: AnyStatistics) -> None:
        why = whole.sums.immovable(whole.domain, whole.mass)
        if why is not None:
            raise ValueError(
                f"{type(self).__name__} cannot learn from these rows: {why}, and the sums of incomplete rows cannot be "
                "moved under whole covariances. Impute them, or use learner=ClosedForm() or GaussianNB"
            )

    def _poor(self, shares: Sequence[Share], outcomes: Sequence[Outcome]) -> tuple[Notice, ...]:
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
            f"{type(learner).__name__} cannot be used with {model.called}, which lacks "
            f"{' and '.join(missing)}; {learner.instead}"
        )


def finish(learner: Learner, model: AnyModel, whole: AnyStatistics, outcomes: Sequence[Outcome]) -> Fit:
    """One fit from the outcomes of all shares, with each complaint made once."""
    moved = tuple(outcome.moved for outcome in outcomes if outcome.moved is not None) or None
    notices = (notice for outcome in outcomes for notice in outcome.notices)
    return Fit(
        model,
        model.joined([outcome.theta for outcome in outcomes]),
        whole,
        moved[0] if moved is not None and len(moved) == 1 else moved,
        history=_mean_history([outcome.history for outcome in outcomes]),
        passes=_mean_history([outcome.passes for outcome in outcomes]),
        n_iter=max(outcome.n_iter for outcome in outcomes),
        converged=all(outcome.converged for outcome in outcomes),
        warnings=(*model.remarks(), *_complaints(type(learner).__name__, outcomes), *notices),
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


class Views:
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

    def few(self, rows: int) -> Data:
        """As `Data.few`."""
        return self._once(("few", rows), lambda: self.data.few(rows))

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
    def of(cls, share: Share, whole: AnyStatistics) -> Sides:
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


def _sided(share: Share, whole: AnyStatistics) -> Callable[[Question], Question]:
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
