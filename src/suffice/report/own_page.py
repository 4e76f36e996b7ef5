"""The page of a comparison on a table of one's own."""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np

from suffice.compare import critical_difference_figure
from suffice.report import page
from suffice.report.contest import Contest, Results
from suffice.report.page import Heading, Html, Section, Value
from suffice.report.verdict import Comparison


def compare_page(comparison: Comparison, results: Results, contest: Contest) -> str:
    """Verdict, numbers, the figure of differences, reliability, learning curves and times, as one HTML file."""
    said = comparison.verdict()
    lead = page.join([page.verdict(said[0]), page.bullets(said[1:])])
    sections = [
        Section("Numbers", _numbers(comparison)),
        Section("Differences", _differences(comparison)),
        Section("Are the probabilities right?", _reliability(comparison, results)),
        Section("Learning", _curves(results)),
        Section("Times", _times(comparison)),
        Section("The table, and how it was used", _facts(comparison, contest)),
    ]
    shown = [section for section in sections if section.body]
    return page.document(f"Classifiers on {contest.table.data.name}", shown, lead, "Filter methods", only_off=False)


def _numbers(comparison: Comparison) -> Html:
    rows_p, folds_p = comparison.against_best(), comparison.over_folds()
    headings: list[Heading | str] = [
        "method",
        Heading("rows wrong, %", title="mean over the folds"),
        Heading("±", title="standard deviation over the folds"),
        Heading("log loss", title="how surprised the probabilities are by the truth"),
        Heading("Brier score"),
        Heading("calibration error", title="mean gap between confidence and accuracy"),
        Heading("p, rows", title="against the best: McNemar's test on all rows, with Holm's correction"),
        Heading(
            "p, folds", title="against the best: t-test over folds, corrected for shared training rows, and by Holm"
        ),
    ]
    rows: list[list[object]] = []
    for line in comparison.lines:
        best = line is comparison.best
        name = page.tag("strong", line.method) if best else line.method
        shares: list[object] = [Value(100 * line.error, 2), Value(100 * line.spread, 2)]
        scores = [Value(line.log_loss), Value(line.brier), Value(line.calibration_error)]
        tests = [Value(None if best else p[line.method], 3) for p in (rows_p, folds_p)]
        rows.append([name, *shares, *scores, *tests])
    failed = [f"{method} could not learn: {why}" for method, why in comparison.failures.items()]
    return page.join([page.data_table(headings, rows, "Methods, best first"), page.bullets(failed)])


def _differences(comparison: Comparison) -> Html:
    if len(comparison.lines) < 4:
        return Html()
    family = comparison.family()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the layout, when all methods are at one place
        drawn = page.figure(critical_difference_figure(family, width=9.0), "differences", "Shares of wrong rows")
    note = "A bar joins methods that these rows do not tell apart (all pairs, McNemar's test, Holm's correction)."
    return page.block("Shares of rows that are wrong, best on the left", drawn, note=note)


def _reliability(comparison: Comparison, results: Results) -> Html:
    runs: dict[str, list[list[list[float]]]] = defaultdict(list)
    for (method, _), result in results.items():
        if result.get("reliability"):
            runs[method].append(result["reliability"])
    order = [line.method for line in comparison.lines if line.method in runs]
    shown = [page.reliability_diagram(page.pooled(runs[name]), name, at) for at, name in enumerate(order)]
    note = "Points on the diagonal: of the rows that a method is 80 % sure of, 80 % are right."
    return page.block("Accuracy against confidence", page.grid(shown), note=note) if shown else Html()


def _curves(results: Results) -> Html:
    runs: dict[str, list[list[float]]] = defaultdict(list)
    for (method, _), result in results.items():
        if "curves" in result:
            runs[method].append(result["curves"]["log_loss"])
    if not runs:
        return Html()
    series = {method: page.mean_curve(curves) for method, curves in runs.items()}
    chart = page.line_chart(series, "Training log loss by iteration", "iteration", "training log loss")
    note = "Means over the folds; iteration 1 is the start: the closed form, or all classes alike for LR Newton."
    return page.block("Training log loss by iteration", chart, note=note)


def _times(comparison: Comparison) -> Html:
    bars = {line.method: line.fit for line in sorted(comparison.lines, key=lambda line: line.fit)}
    return page.block("Seconds to learn one fold", page.bar_chart(bars, "Seconds to learn"), note="Medians.")


def _facts(comparison: Comparison, contest: Contest) -> Html:
    data = contest.table.data
    labels, size = np.unique(data.y, return_counts=True)
    table = page.data_table(
        ["class", "rows"], [[c, Value(int(n), 0)] for c, n in zip(labels, size, strict=True)], "Classes"
    )
    facts = [
        f"{len(data.y)} rows; {int((~data.categorical).sum())} columns of numbers and {int(data.categorical.sum())} of "
        f"categories; {int(np.isnan(data.X).sum())} values are missing.",
        f"{comparison.folds} folds, stratified and shuffled (seed {contest.seed}), the same for every method. What is "
        "learned besides the classifier (medians for missing numbers, scales, bins, columns for categories) is learned "
        "from the training part of each fold.",
        *contest.table.notes,
    ]
    return page.join([page.bullets(facts), table])
