"""What a comparison on one table says: who wins, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from suffice._vector import Array
from suffice.compare import Test, corrected_resampled_t, holm_adjusted, mcnemar
from suffice.report.contest import Findings
from suffice.report.measures import Result, calibration_error
from suffice.report.methods import CHANCE, METHODS
from suffice.report.page import Point, pooled

MOST = 2 / 3  # of the methods have been measured on a fold that counts in the comparison
BELOW_CHANCE, BELOW_START = "below chance", "below its start"


@dataclass(frozen=True)
class Line:
    """A method's numbers over its folds: shares of all rows, the deviation of the error, and seconds."""

    method: str
    error: float
    spread: float | None
    log_loss: float | None
    brier: float | None
    calibration_error: float | None
    auc: float | None
    fit: float
    predict: float
    folds: int
    marks: tuple[str, ...] = ()

    @property
    def ours(self) -> bool:
        """Whether it is a method of suffice."""
        return METHODS[self.method].ours


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods that were measured on the same folds of one table, and those that were measured on fewer."""

    lines: tuple[Line, ...]  # on the same folds, best first
    others: tuple[Line, ...]  # on fewer folds, and so not compared
    results: dict[str, list[Result]]  # of either, by fold
    wrong: dict[str, Array] = field(default_factory=dict)  # (rows,) of bool: what each compared method gets wrong
    rows: int = 0  # of the folds compared
    folds: tuple[int, ...] = ()
    of_folds: int = 0  # that all rows are divided into

    @classmethod
    def of(cls, found: Findings) -> Comparison:
        """From what a contest has measured."""
        done = {method: set(found.done(method)) for method in found.methods if method not in found.failures}
        done = {method: folds for method, folds in done.items() if folds}
        if not done or found.fold_of is None:
            return cls((), (), {})
        counts = Counter(fold for folds in done.values() for fold in folds)
        common = {fold for fold, n in counts.items() if n >= MOST * len(done)} or {counts.most_common(1)[0][0]}
        folds = tuple(sorted(common))
        results = {
            method: [found.results[method, fold] for fold in (folds if mine >= common else sorted(mine))]
            for method, mine in done.items()
        }
        lines = {method: _line(method, mine) for method, mine in results.items()}
        compared = [line for method, line in lines.items() if done[method] >= common]
        errors = {line.method: line.error for line in compared}
        compared = [replace(line, marks=_marks(line, errors)) for line in compared]
        compared.sort(key=lambda line: (line.error, line.method == CHANCE))
        others = sorted((line for line in lines.values() if line.method not in errors), key=lambda line: line.error)
        asked = np.isin(found.fold_of, folds)
        wrong = {method: _flags([r["wrong"] for r in results[method]], len(asked))[asked] for method in errors}
        return cls(tuple(compared), tuple(others), results, wrong, int(asked.sum()), folds, found.folds)

    @property
    def best(self) -> Line:
        """The method of the least error; the rule of chance is none."""
        return next((line for line in self.lines if line.method != CHANCE), self.lines[0])

    @property
    def chance(self) -> Line | None:
        """The rule of chance."""
        return next((line for line in self.lines if line.method == CHANCE), None)

    @property
    def usable(self) -> bool:
        """Whether there is anything to compare."""
        return len(self.lines) > 1

    def rivals(self) -> list[str]:
        """All methods compared but the best."""
        return [line.method for line in self.lines if line is not self.best]

    def against_best(self) -> dict[str, float]:
        """The p-value of each other method against the best: McNemar's test on all rows, with Holm's correction."""
        return self._adjusted({other: self._test(other, 0.05).p_value for other in self.rivals()})

    def intervals(self, alpha: float = 0.05) -> dict[str, tuple[float, float]]:
        """How much larger each other method's error is than that of the best: intervals that hold all together."""
        level = alpha / max(1, len(self.rivals()))
        return {other: self._test(other, level).interval or (0.0, 0.0) for other in self.rivals()}

    def over_folds(self) -> dict[str, float]:
        """The same by the t-test over folds, corrected for the training rows that they share, and by Holm."""
        if len(self.folds) < 2:
            return {}
        errors = {method: np.array([r["error"] for r in self.results[method]]) for method in self.wrong}
        mine, share = errors[self.best.method], 1 / self.of_folds
        tests = {o: corrected_resampled_t(mine, errors[o], test_share=share).p_value for o in self.rivals()}
        return self._adjusted(tests)

    def reliability(self, method: str) -> list[Point]:
        """Confidence and accuracy of all rows of the folds, by bins; nothing for a method without probabilities."""
        return pooled(result["reliability"] for result in self.results[method] if "reliability" in result)

    def _adjusted(self, raw: Mapping[str, float]) -> dict[str, float]:
        return dict(zip(raw, holm_adjusted(list(raw.values())).tolist(), strict=True)) if raw else {}

    def _test(self, other: str, alpha: float) -> Test:
        best = self.best.method
        return mcnemar(self.wrong[best], self.wrong[other], alpha=alpha, names=(best, other))

    def verdict(self, alpha: float = 0.05) -> list[str]:
        """The findings, in plain sentences."""
        if not self.usable:
            return ["Fewer than two methods were measured on the same folds: there is nothing to compare."]
        p, chance = self.against_best(), self.chance
        if chance is not None and chance.error <= self.best.error:
            return [
                f"No method found anything in these {self.rows:,} rows: always taking the most frequent class is wrong "
                f"on {percent(chance.error)}, the best of the methods tried, {self.best.method}, on "
                f"{percent(self.best.error)}."
            ]
        sentences = [self._leads(p, alpha), *self._alike(p, alpha), *self._ours_and_theirs(p, alpha), *self._partial()]
        if chance is not None:
            real = "something has been learned" if p[CHANCE] <= alpha else "being better than that may be luck"
            rule = f"Always taking the most frequent class is wrong on {percent(chance.error)}"
            sentences.append(f"{rule}: {real} ({told(p[CHANCE])}).")
        sentences.append(
            "The winner was chosen on the folds that it is judged by, so that its own error is a little flattering. "
            "Differences are counted in rows that one method gets right and the other wrong (McNemar, with Holm's "
            "correction for their number)."
        )
        return sentences

    def _leads(self, p: Mapping[str, float], alpha: float) -> str:
        """Who is first, alone or not."""
        best = self.best
        first = [line.method for line in self.lines if line.error == best.error and line.method != CHANCE]
        if len(first) > 1:
            return f"{', '.join(first[:-1])} and {first[-1]} share the lead with {percent(best.error)} of rows wrong."
        second = next(line for line in self.lines if line is not best)
        real = "more than chance" if p[second.method] <= alpha else "no more than chance could do"
        gap = 100 * (second.error - best.error)
        return (
            f"{best.method} wins with {percent(best.error)} of rows wrong, {gap:.2g} points ahead of {second.method}; "
            f"that lead is {real} ({told(p[second.method])})."
        )

    def _alike(self, p: Mapping[str, float], alpha: float) -> list[str]:
        others = [method for method in p if method != CHANCE]
        alike = [method for method in others if p[method] > alpha]
        if not alike:
            return []
        return [
            f"{len(alike)} of {len(others)} other methods cannot be told from {self.best.method} on {self.rows:,} "
            f"rows: {_listed(alike)}. That does not make them equal: more rows could tell them apart."
        ]

    def _ours_and_theirs(self, p: Mapping[str, float], alpha: float) -> list[str]:
        """The best of suffice beside the best of the others; one of the two is the best of all."""
        ours, theirs = (
            [line for line in self.lines if line.ours == wanted and line.method != CHANCE] for wanted in (True, False)
        )
        if not ours or not theirs:
            return []
        said = (
            f"Best of suffice: {ours[0].method} with {percent(ours[0].error)} of rows wrong; best of the others: "
            f"{theirs[0].method} with {percent(theirs[0].error)}."
        )
        if ours[0].error == theirs[0].error:
            return [said]
        other = theirs[0] if ours[0] is self.best else ours[0]
        real = "more than chance" if p[other.method] <= alpha else "no more than chance could do"
        return [f"{said} The difference is {real} ({told(p[other.method])})."]

    def _partial(self) -> list[str]:
        """Methods on fewer folds that are ahead there."""
        ahead = [line for line in self.others if line.error < self.best.error]
        return [
            f"{line.method} has {line.folds} of {len(self.folds)} folds, with {percent(line.error)} of these rows "
            "wrong: given more time (--max-time) it might win."
            for line in ahead
        ]


def _line(method: str, results: list[Result]) -> Line:
    asked = np.array([result["asked"] for result in results])
    errors = np.array([result["error"] for result in results])
    fit, predict = (float(np.median([r["seconds"][part] for r in results])) for part in ("fit", "predict"))
    gap = calibration_error(pooled(r["reliability"] for r in results)) if "reliability" in results[0] else None
    loss, brier, auc = (_mean(results, name, asked) for name in ("log_loss", "brier", "auc"))
    spread = float(errors.std(ddof=1)) if len(results) > 1 else None
    wrong = sum(len(result["wrong"]) for result in results)
    return Line(method, wrong / int(asked.sum()), spread, loss, brier, gap, auc, fit, predict, len(results))


def _mean(results: list[Result], name: str, asked: Array) -> float | None:
    """Over all rows; None unless every fold has it."""
    values = [result.get(name) for result in results]
    return None if None in values else float(np.average(np.array(values, float), weights=asked))


def _marks(line: Line, errors: Mapping[str, float]) -> tuple[str, ...]:
    """What a method should not be: worse than the rule of chance, or than what it started from."""
    start = METHODS[line.method].start
    below = [(BELOW_CHANCE, errors.get(CHANCE)), (BELOW_START, errors.get(start))]
    return tuple(mark for mark, level in below if level is not None and line.error > level)


def _flags(wrong: list[Array], rows: int) -> Array:
    flags = np.zeros(rows, dtype=bool)
    flags[np.concatenate(wrong)] = True
    return flags


def _listed(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def percent(share: float) -> str:
    """A share in words: 12.3 %."""
    return f"{100 * share:.1f} %"


def told(p: float) -> str:
    """A p-value in words."""
    return "p below 0.001" if p < 0.001 else f"p = {p:.3f}"
