"""What a comparison on one table says: who wins, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from suffice._vector import Array
from suffice.compare import Family, Test, corrected_resampled_t, holm, holm_adjusted, mcnemar
from suffice.report.contest import Results
from suffice.report.methods import BASELINES, CHANCE, OURS

PROBABILITIES = ("log_loss", "brier", "calibration_error")  # what methods with probabilities have besides


@dataclass(frozen=True)
class Line:
    """A method's numbers: means over the folds, the deviation of the error, and seconds."""

    method: str
    ours: bool
    error: float
    spread: float
    log_loss: float | None
    brier: float | None
    calibration_error: float | None
    fit: float
    predict: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of all methods on the same folds of one table."""

    lines: tuple[Line, ...]  # best first
    errors: dict[str, Array]  # by method, over the folds
    failures: dict[str, str]  # methods that could not learn, and why
    wrong: dict[str, Array]  # rows that each method gets wrong
    rows: int
    folds: int

    @classmethod
    def of(cls, results: Results, rows: int) -> Comparison:
        """From what a contest on so many rows has measured."""
        methods = list(dict.fromkeys(method for method, _ in results))
        failures = {method: result["failed"] for (method, _), result in results.items() if "failed" in result}
        folds = 1 + max(fold for _, fold in results)
        lines, errors, wrong = [], {}, {}
        for method in methods:
            if method in failures:
                continue
            mine = [results[method, fold] for fold in range(folds)]
            errors[method] = np.array([result["error"] for result in mine])
            wrong[method] = np.sort(np.concatenate([result["wrong"] for result in mine])).astype(int)
            loss, brier, gap = (_mean([result.get(name) for result in mine]) for name in PROBABILITIES)
            fit, predict = (float(np.median([r["seconds"][part] for r in mine])) for part in ("fit", "predict"))
            spread = float(errors[method].std(ddof=1))
            error = len(wrong[method]) / rows  # folds differ in size: this is the share of all rows
            lines.append(Line(method, method in OURS, error, spread, loss, brier, gap, fit, predict))
        lines.sort(key=lambda line: (line.method == CHANCE, line.error))
        return cls(tuple(lines), errors, failures, wrong, rows, folds)

    @property
    def best(self) -> Line:
        """The method of the least mean error."""
        return self.lines[0]

    def missed(self, method: str) -> Array:
        """Whether a method gets each row wrong (n,)."""
        return np.isin(np.arange(self.rows), self.wrong[method])

    def against_best(self) -> dict[str, float]:
        """The p-value of each other method against the best: McNemar's test on all rows, with Holm's correction."""
        others = [line.method for line in self.lines[1:]]
        raw = [self._test(self.best.method, other).p_value for other in others]
        return dict(zip(others, holm_adjusted(raw).tolist(), strict=True)) if others else {}

    def over_folds(self) -> dict[str, float]:
        """The same by the t-test over folds, corrected for the training rows that they share; it is more cautious."""
        mine, share = self.errors[self.best.method], 1 / self.folds
        others = [line.method for line in self.lines[1:]]
        raw = [corrected_resampled_t(mine, self.errors[other], test_share=share).p_value for other in others]
        return dict(zip(others, holm_adjusted(raw).tolist(), strict=True)) if others else {}

    def family(self, alpha: float = 0.05) -> Family:
        """Every pair of methods but the rule of chance, by McNemar's test with Holm's correction."""
        wrong = {line.method: self.missed(line.method) for line in self.lines if line.method != CHANCE}
        return holm(wrong, test=mcnemar, higher_is_better=False, alpha=alpha)

    def _test(self, a: str, b: str) -> Test:
        return mcnemar(self.missed(a), self.missed(b), names=(a, b))

    def verdict(self, alpha: float = 0.05) -> list[str]:
        """The findings, in plain sentences."""
        if len(self.lines) < 2:
            return ["Fewer than two methods could learn from this table: there is nothing to compare."]
        p, chance = self.against_best(), next((line for line in self.lines if line.method == CHANCE), None)
        if chance is not None and chance.error <= self.best.error:
            return [
                f"No method found anything in these {self.rows} rows: always taking the most frequent class is wrong "
                f"on {_percent(chance.error)}, the best of the methods tried, {self.best.method}, on "
                f"{_percent(self.best.error)}."
            ]
        sentences = [self._leads(p, alpha), *self._alike(p, alpha), *self._ours_and_theirs(p, alpha)]
        if chance is not None:
            real = "something has been learned" if p[CHANCE] <= alpha else "being better than that may be luck"
            rule = f"Always taking the most frequent class is wrong on {_percent(chance.error)}"
            sentences.append(f"{rule}: {real} ({_p(p[CHANCE])}).")
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
            return f"{', '.join(first[:-1])} and {first[-1]} share the lead with {_percent(best.error)} of rows wrong."
        second = self.lines[1]
        real = "more than chance" if p[second.method] <= alpha else "no more than chance could do"
        gap = 100 * (second.error - best.error)
        return (
            f"{best.method} wins with {_percent(best.error)} of rows wrong, {gap:.2g} points ahead of {second.method}; "
            f"that lead is {real} ({_p(p[second.method])})."
        )

    def _alike(self, p: Mapping[str, float], alpha: float) -> list[str]:
        others = [method for method in p if method != CHANCE]
        alike = [method for method in others if p[method] > alpha]
        if not alike:
            return []
        return [
            f"{len(alike)} of {len(others)} other methods cannot be told from {self.best.method} on {self.rows} rows: "
            f"{', '.join(alike)}. That does not make them equal: more rows could tell them apart."
        ]

    def _ours_and_theirs(self, p: Mapping[str, float], alpha: float) -> list[str]:
        """The best of suffice beside the best of the others; one of the two is the best of all."""
        ours, theirs = (
            [line for line in self.lines if line.method in names and line.method != CHANCE]
            for names in (OURS, BASELINES)
        )
        if not ours or not theirs:
            return []
        said = (
            f"Best of suffice: {ours[0].method} with {_percent(ours[0].error)} of rows wrong; best of the others: "
            f"{theirs[0].method} with {_percent(theirs[0].error)}."
        )
        if ours[0].error == theirs[0].error:
            return [said]
        other = theirs[0] if ours[0] is self.best else ours[0]
        real = "more than chance" if p[other.method] <= alpha else "no more than chance could do"
        return [f"{said} The difference is {real} ({_p(p[other.method])})."]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _p(p: float) -> str:
    return "p below 0.001" if p < 0.001 else f"p = {p:.3f}"


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
