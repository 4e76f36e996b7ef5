"""The verdict of a comparison on one table: the best method, its lead, and whether the lead may be chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import binomtest

from suffice._core.vector import Array
from suffice._runtime.messages import join_words
from suffice.compare import corrected_resampled_t, holm_adjusted, mcnemar
from suffice.compare.race.methods import CHANCE, METHODS, Given, is_chance
from suffice.compare.race.schedule import Findings
from suffice.compare.result import p_text
from suffice.compare.two import MAX_EXACT_ROWS
from suffice.data.files.reading import counted
from suffice.model_selection.measures import Result, calibration_error
from suffice.report.page.charts import Point, pooled

MIN_SHARE_OF_METHODS = 2 / 3  # that have been measured on a fold, for it to count
BELOW_CHANCE, BELOW_START, LOSS_ABOVE_CHANCE = "below chance", "below its start", "log loss above chance"


@dataclass(frozen=True)
class Line:
    """The results of a method over its folds: measures over all rows, the deviation of the error, and seconds."""

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
        """True for a method of suffice."""
        return METHODS[self.method].ours

    @property
    def is_chance(self) -> bool:
        """True for the rule of chance."""
        return is_chance(self.method)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods that were measured on the same folds of one table, and those that were measured on fewer."""

    lines: tuple[Line, ...]  # on the same folds, best first
    others: tuple[Line, ...]  # on fewer folds, and so not compared
    results: dict[str, list[Result]]  # of either, by fold
    wrong: dict[str, Array] = field(default_factory=dict)  # (rows,) of bool: the errors of each compared method
    rows: int = 0  # in the compared folds
    folds: tuple[int, ...] = ()
    of_folds: int = 0  # in all
    mixed: bool = False  # True if the table has categories or missing values
    missing: tuple[str, ...] = ()  # unmeasured methods that might be better, with their trials

    @classmethod
    def of(cls, found: Findings) -> Comparison:
        """Build from the findings of a race."""
        done = {method: set(found.done(method)) for method in found.methods if method not in found.failures}
        done = {method: folds for method, folds in done.items() if folds}
        if not done or found.fold_of is None:
            return cls((), (), {}, missing=_missing(found, None))
        counts = Counter(fold for folds in done.values() for fold in folds)
        common = {fold for fold, n in counts.items() if n >= MIN_SHARE_OF_METHODS * len(done)}
        common = common or {counts.most_common(1)[0][0]}
        folds = tuple(sorted(common))
        results = {
            method: [found.results[method, fold] for fold in (folds if mine >= common else sorted(mine))]
            for method, mine in done.items()
        }
        lines = {method: _line(method, mine) for method, mine in results.items()}
        compared = [line for method, line in lines.items() if done[method] >= common]
        there = {line.method: line for line in compared}
        errors = {method: line.error for method, line in there.items()}
        compared = [replace(line, marks=_marks(line, there)) for line in compared]
        compared.sort(key=lambda line: (line.error, line.is_chance))
        others = sorted((line for line in lines.values() if line.method not in errors), key=lambda line: line.error)
        asked = np.isin(found.fold_of, folds)
        wrong = {}
        for method in errors:
            rows = np.concatenate([result["wrong"] for result in results[method]])
            wrong[method] = np.isin(np.flatnonzero(asked), rows)
        made = cls(tuple(compared), tuple(others), results, wrong, int(asked.sum()), folds, found.folds, found.mixed)
        return replace(made, missing=_missing(found, made.best.method))

    @property
    def best(self) -> Line:
        """The method of least error, other than the rule of chance."""
        return next((line for line in self.lines if not line.is_chance), self.lines[0])

    @property
    def chance(self) -> Line | None:
        """The rule of chance, if it was measured."""
        return next((line for line in self.lines if line.is_chance), None)

    @property
    def usable(self) -> bool:
        """True if there are at least two methods to compare."""
        return len(self.lines) > 1

    @property
    def winner(self) -> str | None:
        """The name of the best method, if it can be compared with others."""
        return self.best.method if self.usable else None

    @property
    def preliminary(self) -> bool:
        """True if a method that was not measured, or not on all folds, might win."""
        return bool(self.missing or self._ahead())

    def rivals(self) -> list[str]:
        """Return all compared methods except the best."""
        return [line.method for line in self.lines if line is not self.best]

    def against_best(self) -> dict[str, float]:
        """Return the p-value of each other method against the best: McNemar's test on all rows, Holm's correction.

        The rule of chance is another question and not counted in the correction.
        """
        return _adjusted(self._tests())

    def intervals(self, alpha: float = 0.05) -> dict[str, tuple[float, float]]:
        """Return intervals of how much larger each method's error is than the best; 0 is outside where p <= alpha.

        Each has the level that Holm's correction gives its test: alpha / m for the smallest of m p-values,
        alpha / (m - 1) for the next, and so on up to the first that is not significant, whose level all others share.
        """
        raw, adjusted = self._tests(), self.against_best()
        order = sorted((other for other in raw if not is_chance(other)), key=lambda other: raw[other])
        real = sum(adjusted[other] <= alpha for other in order)
        levels = {other: alpha / max(1, len(order) - min(at, real)) for at, other in enumerate(order)}
        levels[CHANCE] = alpha
        mine, gaps = self.wrong[self.best.method], {}
        for other in raw:
            theirs = self.wrong[other]
            alone = int((theirs & ~mine).sum()), int((mine & ~theirs).sum())
            gaps[other] = difference_interval(*alone, self.rows, levels[other])
        return gaps

    def over_folds(self) -> dict[str, float]:
        """Return p-values of the t-test over folds, corrected for the training rows that they share, and by Holm."""
        if len(self.folds) < 2:
            return {}
        errors = {method: np.array([r["error"] for r in self.results[method]]) for method in self.wrong}
        mine, share = errors[self.best.method], 1 / self.of_folds
        tests = {o: corrected_resampled_t(mine, errors[o], test_share=share).p_value for o in self.rivals()}
        return _adjusted(tests)

    def reliability(self, method: str) -> list[Point]:
        """Return confidence and accuracy of all rows by bins; empty for a method without probabilities."""
        return pooled(result["reliability"] for result in self.results[method] if "reliability" in result)

    def _tests(self) -> dict[str, float]:
        mine = self.wrong[self.best.method]
        return {other: mcnemar(mine, self.wrong[other]).p_value for other in self.rivals()}

    def verdict(self, alpha: float = 0.05) -> list[str]:
        """Return the findings as sentences."""
        if not self.usable:
            nothing = "Fewer than two methods were measured on the same folds: there is nothing to compare."
            return [nothing, *self._unmeasured()]
        p, chance = self.against_best(), self.chance
        if chance is not None and chance.error <= self.best.error:
            none = "Preliminary: no method" if self.preliminary else "No method"
            return [
                f"{none} has fewer of these {self.rows:,} rows wrong than always taking the most frequent class: that "
                f"is wrong on {percent(chance.error)}, the best of the methods tried, {self.best.method}, on "
                f"{percent(self.best.error)}. Their probabilities may still be informative.",
                *self._overconfident(),
                *self._unmeasured(),
                *self._partial(),
                self.inputs(),
            ]
        sentences = [self._leads(p, alpha), *self._overconfident(), *self._unmeasured(), *self._partial()]
        others = [method for method in p if not is_chance(method)]
        alike = [method for method in others if p[method] > alpha]
        if alike:
            which = f"{len(alike)} of {len(others)} other methods ({join_words(alike, 8)})"
            who = f"{alike[0]}, the only other method," if len(others) == 1 else which
            sentences.append(
                f"{who} cannot be told from {self.best.method} on {self.rows:,} rows. That does not make them equal: "
                "more rows could tell them apart."
            )
        sentences += self._ours_and_theirs(p, alpha)
        if chance is not None:
            real = "something has been learned" if p[CHANCE] <= alpha else "being better than that may be luck"
            rule = f"Always taking the most frequent class is wrong on {percent(chance.error)}"
            sentences.append(f"{rule}: {real} ({p_text(p[CHANCE])}).")
        sentences.append(
            "The best was chosen on the folds that it is judged by, which flatters it a little. Differences are "
            "counted in rows that one method gets right and the other wrong (McNemar; between methods with Holm's "
            "correction for their number): they are between these classifiers on rows like these."
        )
        return [*sentences, self.inputs()]

    def inputs(self) -> str:
        """Say that no method is tuned, and how each receives categories and missing values."""
        untuned = "No method is tuned: each has its default settings."
        by_input: dict[Given, list[str]] = {}
        for line in (*self.lines, *self.others) if self.mixed else ():
            if not line.is_chance:
                by_input.setdefault(METHODS[line.method].given, []).append(line.method)
        each = [f"{one.sentence} ({join_words(methods, 8)})" for one, methods in by_input.items()]
        return f"{untuned} Inputs: {'; '.join(each)}." if each else untuned

    def _leads(self, p: Mapping[str, float], alpha: float) -> str:
        """Say which method leads, or which methods share the lead."""
        best, so_far = self.best, "Preliminary: " * self.preliminary
        but = _but(best)
        first = [line.method for line in self.lines if line.error == best.error and not line.is_chance]
        if len(first) > 1:
            shared = f"{so_far}{join_words(first, 8, ' and ')} share the lead with {percent(best.error)} of rows wrong"
            return f"{shared}{but}."
        second = next(line for line in self.lines if line is not best)
        gap = 100 * (second.error - best.error)
        return (
            f"{so_far}{best.method} has the fewest rows wrong: {percent(best.error)}, "
            f"{counted(f'{gap:.2g}', 'point')} less than {second.method}{but}. {_apart(p[second.method], alpha)}"
        )

    def _overconfident(self) -> list[str]:
        """Name the methods whose log loss is above that of chance."""
        above = [line for line in self.lines if LOSS_ABOVE_CHANCE in line.marks]
        if self.chance is None or not above:
            return []
        each = join_words([f"{line.method} ({line.log_loss:.3f})" for line in above], 8)
        return [
            f"The log loss of {each} is above that of the class shares ({self.chance.log_loss:.3f}): "
            "take labels from such a method, not probabilities."
        ]

    def _ours_and_theirs(self, p: Mapping[str, float], alpha: float) -> list[str]:
        """Compare the best of suffice with the best of the others."""
        ours, theirs = (
            [line for line in self.lines if line.ours == wanted and not line.is_chance] for wanted in (True, False)
        )
        if not ours or not theirs:
            return []
        both = (
            f"Best of suffice: {ours[0].method} with {percent(ours[0].error)} of rows wrong{_but(ours[0])}; best of "
            f"the others: {theirs[0].method} with {percent(theirs[0].error)}{_but(theirs[0])}."
        )
        if ours[0].error == theirs[0].error:
            return [both]
        other = theirs[0] if ours[0] is self.best else ours[0]
        return [f"{both} {_apart(p[other.method], alpha)}"]

    def _unmeasured(self) -> list[str]:
        """Name the methods without a fold."""
        if not self.missing:
            return []
        might = "It might win" if len(self.missing) == 1 else "Each of them might win"
        return [f"Not measured: {', '.join(self.missing)}. {might}, given more time (--max-time)."]

    def _ahead(self) -> list[Line]:
        return [line for line in self.others if line.error < self.best.error]

    def _partial(self) -> list[str]:
        """Name the methods that lead on fewer folds."""
        return [
            f"{line.method} has {line.folds} of {counted(len(self.folds), 'fold')}, with {percent(line.error)} of "
            "these rows wrong: given more time (--max-time) it might win."
            for line in self._ahead()
        ]


def _missing(found: Findings, best: str | None) -> tuple[str, ...]:
    """Return the methods without a fold that might be better: all after an interruption, else those with a good trial.

    A good trial has fewer rows wrong than the best method has in its own trial.
    """
    sample = found.samples.get(best or "")
    level = 1.0 if sample is None or found.interrupted else sample["error"]
    out = [m for m in found.methods if not is_chance(m) and m not in found.failures and not found.done(m)]
    out = [m for m in out if m not in found.samples or found.samples[m]["error"] < level or found.interrupted]
    return tuple(f"{method}{found.trial(method)}" for method in out)


def difference_interval(theirs: int, mine: int, rows: int, level: float) -> tuple[float, float]:
    """Return the interval of a difference of errors that matches McNemar's test: 0 is outside where p <= level.

        (2 p - 1) (theirs + mine) / rows,     p from low to high

    `theirs` rows are wrong with the other method alone, `mine` with the best alone; low and high are the interval of
    the share theirs / (theirs + mine): exact for few rows, as the test is, else Wilson's with the same correction.

    >>> [round(end, 3) for end in difference_interval(65, 22, 1000, 0.05)]
    [0.024, 0.058]
    """
    both = theirs + mine
    if not both:
        return 0.0, 0.0
    share = binomtest(theirs, both).proportion_ci(1 - level, method="exact" if both < MAX_EXACT_ROWS else "wilsoncc")
    return float(2 * share.low - 1) * both / rows, float(2 * share.high - 1) * both / rows


def _adjusted(raw: Mapping[str, float]) -> dict[str, float]:
    """Apply Holm's correction to all p-values except that of the rule of chance."""
    rivals = {method: p for method, p in raw.items() if not is_chance(method)}
    held = zip(rivals, holm_adjusted(list(rivals.values())).tolist(), strict=True) if rivals else ()
    return {**raw, **dict(held)}


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
    """Return the mean over all rows; None unless every fold has the measure."""
    values = [result.get(name) for result in results]
    return None if None in values else float(np.average(np.array(values, float), weights=asked))


def _marks(line: Line, compared: Mapping[str, Line]) -> tuple[str, ...]:
    """Mark a method that is worse than the rule of chance, or than the method that it starts from."""
    chance, start = compared.get(CHANCE), compared.get(METHODS[line.method].start)
    pairs: list[tuple[str, float | None, float | None]] = [
        (BELOW_CHANCE, line.error, None if chance is None else chance.error),
        (BELOW_START, line.error, None if start is None else start.error),
        (LOSS_ABOVE_CHANCE, line.log_loss, None if chance is None else chance.log_loss),
    ]
    return tuple(mark for mark, own, level in pairs if own is not None and level is not None and own > level)


def _but(line: Line) -> str:
    """The clause of a method whose log loss is above that of chance; empty for others."""
    return ", but a log loss above chance" * (LOSS_ABOVE_CHANCE in line.marks)


def percent(share: float) -> str:
    """Write a share as 12.3 %."""
    return f"{100 * share:.1f} %"


def _apart(p: float, alpha: float) -> str:
    """Say whether two methods differ by more than chance."""
    return f"These rows {'tell' if p <= alpha else 'do not tell'} the two apart ({p_text(p)})."
