"""Choosing a model by cross-validation, within a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from suffice._vector import Array
from suffice.commands._chance import gains
from suffice.commands._models import MODELS, Columns
from suffice.report.folds import Folds, Split
from suffice.report.measures import log_losses
from suffice.tables import NUMBER, kind_of

ORDER = ("nb", "additive", "tabular", "lda", "qda", "gaussian-nb", "nb-calibrated", "logistic")  # promising and quick
FOLDS = 5
MOST = 20_000  # rows that are chosen by


class Score(NamedTuple):
    """What was measured on the rows of a fold."""

    error: float
    log_loss: float
    seconds: float


@dataclass
class Trial:
    """A model that was tried: a score for every fold, or why there is none."""

    name: str
    scores: list[Score] = field(default_factory=list)
    gains: list[Array] = field(default_factory=list)  # of the rows of each fold, against chance
    why: str = ""

    def mean(self, folds: int) -> Score:
        """The mean over the first folds, which all have."""
        return Score(*np.mean(self.scores[:folds], axis=0).tolist())

    def against_chance(self, folds: int) -> Array:
        """How much smaller log loss and error are than those of chance, for every row of the first folds (n, 2)."""
        return np.concatenate(self.gains[:folds])


@dataclass(frozen=True)
class Choice:
    """All trials, those with the least log loss first, the folds that they are compared on, and the rows."""

    trials: list[Trial]
    folds: int
    rows: int

    @property
    def best(self) -> str | None:
        """The model with the least log loss; None if none could be measured."""
        return self.trials[0].name if self.trials and self.folds and not self.trials[0].why else None


def choose(X: pa.Table, y: Array, columns: Columns, seed: int, seconds: float, step: Callable[[str], None]) -> Choice:
    """Try models on the same folds of at most 20,000 rows, as long as there is time."""
    end = time.monotonic() + seconds
    rows = _some(y, seed)
    X, y = X.take(pa.array(rows)), y[rows]
    numbers = [name for name in X.column_names if kind_of(X[name]) == NUMBER]
    trials = [Trial(name) for name in ORDER if MODELS[name].takes_all or len(numbers) == X.num_columns]
    for split in _splits(y, seed):
        for trial in trials:
            if time.monotonic() > end and any(other.scores for other in trials):
                break
            if not trial.why:
                step(trial.name)
                _try(trial, X, y, split, columns, seed)
    tried = [trial for trial in trials if trial.scores and not trial.why]
    folds = min((len(trial.scores) for trial in tried), default=0)
    for trial in trials:
        trial.why = trial.why or ("" if trial.scores else "no time was left")
    order = sorted(tried, key=lambda trial: trial.mean(folds).log_loss)
    return Choice([*order, *(trial for trial in trials if trial not in tried)], folds, len(y))


def _some(y: Array, seed: int) -> Array:
    """At most so many rows, drawn at random, without classes that are too small to be in two folds."""
    _, codes, size = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(size[codes] >= 2)
    return np.sort(np.random.default_rng(seed).permutation(rows)[:MOST])


def _splits(y: Array, seed: int) -> Iterator[Split]:
    smallest = int(np.unique(y, return_counts=True)[1].min()) if len(y) else 0
    if len(np.unique(y)) < 2:
        return
    folds = Folds(max(2, min(FOLDS, smallest)), seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from (folds.split(y, number) for number in range(folds.n))


def _try(trial: Trial, X: pa.Table, y: Array, split: Split, columns: Columns, seed: int) -> None:
    """Learn from one part and measure the other; a model that cannot is out of the contest."""
    model: Any = MODELS[trial.name].make(columns, seed)
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X.take(pa.array(split.train)), y[split.train])
            p = model.predict_proba(X.take(pa.array(split.test)))
    except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
        trial.why = " ".join(str(error).split())
        return
    truth, classes = y[split.test].astype(str), model.classes_.astype(str)
    wrong = float(np.mean(classes[p.argmax(axis=1)] != truth))
    loss = float(log_losses(p, classes, truth).mean())
    trial.scores.append(Score(wrong, loss, time.perf_counter() - begun))
    share = (y[split.train].astype(str)[:, None] == classes).mean(axis=0)
    trial.gains.append(gains(p, classes, truth, share))
