"""The page of a comparison on a table of one's own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from suffice.report import page
from suffice.report.compare_facts import Asked, how_it_was_done, the_table
from suffice.report.contest import Contest, Findings
from suffice.report.live import MEANING, SIGNS, left_out, warnings_of
from suffice.report.methods import CHANCE, METHODS
from suffice.report.page import PLAIN, SERIES, Dot, Heading, Html, Section, Spot, Value
from suffice.report.trial import GRID
from suffice.report.verdict import Comparison, Line
from suffice.tables import counted

SHOWN = 15  # columns whose importance is shown
STEEP = 20.0  # ratio of losses from which on their axis is logarithmic


def compare_page(comparison: Comparison, found: Findings, contest: Contest, asked: Asked) -> str:
    """Verdict, differences, times, the winner, reliability, learning curves and facts, as one HTML file."""
    said = comparison.verdict()
    lead = page.join([page.verdict(said[0]), page.bullets(said[1:])])
    colours = colours_of(comparison)
    classes = [str(label) for label in np.unique(contest.table.data.y)]
    sections = [
        Section("How the methods differ", _differences(comparison, found, colours), "differences"),
        Section("Errors and times", _times(comparison, colours), "times"),
        Section(f"The winner, {_best(comparison)}", _winner(comparison, found, contest, classes, colours), "winner"),
        Section("Are the probabilities right?", _reliability(comparison, colours), "reliability"),
        Section("Learning", _curves(comparison, colours), "learning"),
        Section("The table", the_table(contest.table), "table"),
        Section("How it was done", how_it_was_done(comparison, found, contest, asked), "how"),
    ]
    shown = [section for section in sections if section.body]
    return page.document(f"Classifiers on {contest.table.data.name}", shown, lead, "Filter methods", only_off=False)


def colours_of(comparison: Comparison) -> dict[str, int]:
    """One colour for each method on the whole page: first for the best three and those with curves, then by rank."""
    lines = [line.method for line in (*comparison.lines, *comparison.others) if line.method != CHANCE]
    curved = [method for method in lines if "curves" in comparison.results[method][0]]
    order = list(dict.fromkeys([*_with_probabilities(comparison), *curved, *lines]))
    return {method: at if at < SERIES else PLAIN for at, method in enumerate(order)} | {CHANCE: PLAIN}


def _best(comparison: Comparison) -> str:
    return comparison.best.method if comparison.lines else ""


def _with_probabilities(comparison: Comparison, most: int = 3) -> list[str]:
    """The best methods that give probabilities."""
    return [line.method for line in comparison.lines if line.log_loss is not None and line.method != CHANCE][:most]


def _differences(comparison: Comparison, found: Findings, colours: Mapping[str, int]) -> Html:
    missing = page.bullets([*left_out(found), *warnings_of(found)])
    rest = page.block("Not on all folds, failed, or with a warning", missing) if missing else Html()
    if not comparison.usable:
        return rest
    gaps, best, chance = comparison.intervals(), comparison.best, comparison.chance
    dots = [
        Dot(line.method, 100 * line.error, *_reach(gaps.get(line.method), best), colours[line.method], _note(line))
        for line in comparison.lines
    ]
    rule = None if chance is None else 100 * chance.error
    end = scale_end(comparison)
    plot = page.dot_plot(dots, "Rows wrong, with intervals", end, 100 * best.error, rule)
    note = (
        f"Test rows that are wrong, over {counted(len(comparison.folds), 'fold')}. A bar is the interval of a method's "
        f"difference to {best.method}, whose own error is the thin line: where a bar reaches the line, these rows do "
        "not tell the two apart. It has the level of the test that the verdict and the p-values below are of (McNemar, "
        "5 % for all methods together by Holm's correction; the rule of chance has a test of its own). An arrow at the "
        "right end: it goes on beyond the scale."
    )
    if rule is not None:
        beyond = " and lies beyond the scale" if rule > end else ", the dashed line"
        note += f" The rule of chance, always the most frequent class, is wrong on {rule:.1f} %{beyond}."
    blocks = [page.block("Rows wrong, best first", plot, note=note), _numbers(comparison), _tests(comparison)]
    return page.join([*blocks, rest])


def _reach(gap: tuple[float, float] | None, best: Line) -> tuple[float | None, float | None]:
    return (None, None) if gap is None else (100 * (best.error + gap[0]), 100 * (best.error + gap[1]))


def _note(line: Line) -> str:
    return "; ".join([METHODS[line.method].about, *(MEANING[mark] for mark in line.marks)])


def scale_end(comparison: Comparison) -> float:
    """Where a scale of errors in percent ends: at three of four methods, or at the last that is not far off."""
    errors = np.array([line.error for line in comparison.lines if line.method != CHANCE])
    best, gaps = comparison.best.error, comparison.intervals()
    highs = [best + high for method, (_, high) in gaps.items() if method != CHANCE]
    end = max(float(np.quantile(highs or errors, 0.75)), float(np.quantile(errors, 0.75)))
    near = [error for error in errors.tolist() if error <= 1.5 * end]
    if comparison.chance is not None and comparison.chance.error <= 2.5 * end:
        near.append(comparison.chance.error)
    end = max([end, *near])
    return 100 * min(end, 1.0) or 1.0


def _numbers(comparison: Comparison) -> Html:
    p, two = comparison.against_best(), any(line.auc is not None for line in comparison.lines)
    headings: list[Heading | str] = [
        "method",
        Heading("wrong, %", title="of all rows of the test folds"),
        Heading("\u00b1", title="standard deviation over the folds, in points"),
        Heading("p", title="against the best: McNemar's test on all rows, between methods with Holm's correction"),
        Heading("log loss", title="how surprised the probabilities are by the truth"),
        Heading("Brier", title="mean squared distance of the probabilities from the truth"),
        Heading("calibration error", title="mean gap between confidence and accuracy, over ten bins of all rows"),
        *([Heading("AUC", title="area below the ROC curve, mean over the folds")] if two else []),
        Heading("fit, s", title="median over the folds"),
        Heading("predict, s", title="median over the folds"),
        Heading("folds"),
    ]
    rows: list[list[object]] = []
    for line in (*comparison.lines, *comparison.others):
        best = line is comparison.best
        marks = [page.tag("sup", SIGNS[mark], title=MEANING[mark]) for mark in line.marks]
        name = page.tag("strong" if best else "span", line.method, *marks, title=METHODS[line.method].about)
        spread = None if line.spread is None else 100 * line.spread
        scores = [Value(line.log_loss), Value(line.brier), Value(line.calibration_error)]
        areas = [Value(line.auc)] if two else []
        times = [Value(line.fit, 3), Value(line.predict, 3), Value(line.folds, 0)]
        shares = [Value(100 * line.error, 2), Value(spread, 2), _p(p.get(line.method))]
        rows.append([name, *shares, *scores, *areas, *times])
    keys = [f"{sign} {MEANING[mark]}" for mark, sign in SIGNS.items() if any(mark in x.marks for x in comparison.lines)]
    return page.block("All numbers", page.data_table(headings, rows, "Methods, best first"), page.bullets(keys))


def _p(value: float | None) -> Value:
    return Value(value, 3, least=0.001)


def _tests(comparison: Comparison) -> Html:
    by_rows, by_folds = comparison.against_best(), comparison.over_folds()
    rows: list[list[object]] = [[m, _p(by_rows[m]), _p(by_folds.get(m))] for m in comparison.rivals()]
    table = page.data_table(["method", "p, by rows", "p, by folds"], rows, "P-values of two tests against the best")
    why = (
        "The page judges by rows: McNemar's test counts the test rows that one method gets right and the other wrong. "
        "It asks whether these classifiers differ on rows like these, and it holds for one fold as for ten, so also "
        "where time ended a comparison early. The t-test over folds, corrected for the training rows that folds share "
        "(Nadeau and Bengio), asks more: whether the methods would differ with other training rows too. Its p-values "
        "are larger, above all with few folds. Both have Holm's correction for the number of methods."
    )
    return page.fold("Another test, and why it differs", page.paragraph(why), table)


def _times(comparison: Comparison, colours: Mapping[str, int]) -> Html:
    if not comparison.usable:
        return Html()
    lines = [line for line in comparison.lines if line.method != CHANCE]
    end = scale_end(comparison)
    charts = [
        page.block(
            f"To {what}",
            page.scatter(
                [Spot(line.method, getattr(line, part), 100 * line.error, colours[line.method]) for line in lines],
                f"Rows wrong against seconds to {what}",
                f"seconds to {what} one fold (log)",
                "rows wrong, %",
                end,
            ),
        )
        for what, part in (("learn", "fit"), ("predict", "predict"))
    ]
    note = (
        "Medians over the folds, one core each. A method is named if all quicker ones have more rows wrong, and if "
        "there is room for its name. A triangle has more rows wrong than the axis goes."
    )
    return page.join([page.paragraph(note, quiet=True), page.tag("div", *charts, class_="pair")])


def _winner(
    comparison: Comparison, found: Findings, contest: Contest, classes: list[str], colours: Mapping[str, int]
) -> Html:
    if not comparison.usable:
        return Html()
    best = comparison.best.method
    counts = np.sum([result["confusion"] for result in comparison.results[best]], axis=0)
    shown = page.confusion(counts.tolist(), classes, f"Confusions of {best}")
    note = f"All {int(counts.sum()):,} test rows. Shares are of the rows of the true class."
    blocks = [page.paragraph(f"{best}: {METHODS[best].about}.", quiet=True)]
    blocks.append(page.block("What it takes for what", shown, note=note))
    blocks.append(_roc(comparison, classes, colours))
    blocks.append(_importances(found, contest, colours))
    return page.join(blocks)


def _roc(comparison: Comparison, classes: list[str], colours: Mapping[str, int]) -> Html:
    best = comparison.best.method
    curves = [result["roc"] for result in comparison.results[best] if "roc" in result]
    if not curves:
        return Html()
    points = list(zip(GRID.tolist(), np.mean(curves, axis=0).tolist(), strict=True))
    area = float(np.mean([result["auc"] for result in comparison.results[best] if "auc" in result]))
    x, y = f"share of {classes[0]} taken wrongly", f"share of {classes[1]} found"
    long = max(len(x), len(y)) > 36
    chart = page.roc_chart(points, best, area, "false alarms" if long else x, "found" if long else y, colours[best])
    note = (
        f"How many rows of {classes[1]} are found for every share of rows of {classes[0]} that are wrongly taken for "
        "it; the mean curve over the folds, and its area."
    )
    return page.block("ROC curve", chart, note=note)


def _importances(found: Findings, contest: Contest, colours: Mapping[str, int]) -> Html:
    if found.importances is None:
        return Html()
    method, got = found.importances
    names = contest.table.data.names
    order = np.argsort(-got["mean"])[:SHOWN]
    bars = {names[j]: 100.0 * float(got["mean"][j]) for j in order if got["mean"][j] > 0}
    note = "How many points of accuracy are lost when the values of a column are shuffled (mean of five times)."
    note += f" On {got['rows']:,} rows that were not learned from."
    if len(names) > len(bars):
        rest = len(names) - len(bars)
        note += f" {counted(rest, 'other column')} {'matters' if rest == 1 else 'matter'} less or not at all."
    chart = page.bar_chart(bars, f"Importances of {method}", "points", colours[method])
    return page.block("Columns that matter", chart, note=note)


def _reliability(comparison: Comparison, colours: Mapping[str, int]) -> Html:
    shown = [
        page.reliability_diagram(comparison.reliability(name), name, colours[name], intervals=True)
        for name in _with_probabilities(comparison)
    ]
    note = (
        "The best three that give probabilities. Points on the diagonal: of the rows that a method is 80 % sure of, "
        "80 % are right. A line is the 95 % interval of the accuracy (Wilson); rings are bins of fewer than 20 rows."
    )
    return page.block("Accuracy against confidence", page.grid(shown), note=note) if shown else Html()


def _curves(comparison: Comparison, colours: Mapping[str, int]) -> Html:
    runs = {method: [r["curves"] for r in results if "curves" in r] for method, results in comparison.results.items()}
    series = {method: page.mean_curve(curves) for method, curves in runs.items() if curves}
    if not series:
        return Html()
    values = [value for curve in series.values() for _, value in curve if value > 0]
    steep = bool(values) and max(values) > STEEP * min(values)
    title = "Training log loss by iteration"
    order = [line.method for line in (*comparison.lines, *comparison.others) if line.method in series]
    chart = page.line_chart(
        {method: series[method] for method in order},
        title,
        "iteration",
        "training log loss" + " (log)" * steep,
        log_y=steep,
        colours=colours,
    )
    note = (
        "Means over the folds, of the steps that were kept. Iteration 1 is the start: the closed form, or all classes "
        "alike for LR Newton. A name switches its curve on and off."
    )
    return page.block(title, chart, note=note)
