"""The page of a comparison on one table."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

import suffice
from suffice.compare.race.methods import CHANCE, METHODS, Method, is_chance
from suffice.compare.race.run import Race
from suffice.compare.race.schedule import Findings
from suffice.compare.race.table import EMBEDDED, ComparedTable
from suffice.compare.race.terminal import MEANING, SIGNS, left_out, warnings_of
from suffice.compare.race.verdict import Comparison
from suffice.data.files.reading import counted
from suffice.model_selection.measures import FALSE_POSITIVE_RATES
from suffice.report import page
from suffice.report.page import Heading, Html, Section, Value, charts
from suffice.report.page.charts import PLAIN, SERIES, Dot, Spot

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "interpret-core")


def the_table(read: ComparedTable) -> Html:
    """Show columns, their contents and missing values, and the classes."""
    data = read.data
    missing = np.isnan(data.X).sum(axis=0)
    rows: list[list[object]] = []
    for j, name in enumerate(data.names):
        values = np.unique(data.X[~np.isnan(data.X[:, j]), j])
        span = "" if data.categorical[j] else f"{values[0]:.6g} to {values[-1]:.6g}"
        kind = "categories" if data.categorical[j] else "numbers"
        share = 100 * missing[j] / len(data.y)
        rows.append([name, kind, Value(len(values), 0), span, Value(float(share), 1)])
    heads: list[Heading | str] = [
        "column",
        Heading("holds", words=True),
        "values",
        Heading("range", words=True),
        "missing, %",
    ]
    labels, size = np.unique(data.y, return_counts=True)
    classes: list[list[object]] = [
        [str(c), Value(int(n), 0), Value(100 * n / len(data.y), 1)] for c, n in zip(labels, size, strict=True)
    ]
    summary = (
        f"{len(data.y):,} rows; {counted(int((~data.categorical).sum()), 'column')} of numbers and "
        f"{int(data.categorical.sum()):,} of categories; missing values: {int(missing.sum()):,}."
    )
    return page.join(
        [
            page.bullets([summary, *read.notes]),
            page.block("Classes", page.data_table(["class", "rows", "%"], classes, "Classes", filtered=False)),
            page.block("Columns", page.data_table(heads, rows, "Columns", filtered=False)),
        ]
    )


class ComparisonSettings(NamedTuple):
    """The options of a comparison: the column of the classes, the rows to sample, and the command."""

    target: str | None = None
    sample: int | None = None
    command: str = ""


def how_it_was_done(comparison: Comparison, found: Findings, race: Race, options: ComparisonSettings) -> Html:
    """Show folds, preprocessing, versions, the command, and the winner as a program."""
    facts = [
        f"{found.folds} folds, stratified and shuffled (seed {race.seed}), the same for every method. All "
        "preprocessing (medians for missing numbers, scales, bins, codes or columns of categories) is learned from the "
        "training part of each fold.",
        comparison.inputs(),
        *found.notes,
        f"It took {found.seconds:.0f} s"
        + f", {found.compiling:.0f} s of these to compile, once" * bool(found.compiling)
        + (", and was interrupted." if found.interrupted else "."),
        f"{', '.join(versions())}; {platform.system()} {platform.machine()}.",
    ]
    if options.command:
        facts.append(page.join(["Command: ", page.tag("code", options.command)]))
    blocks = [page.bullets(facts)]
    if comparison.usable:
        best = METHODS[comparison.best.method]
        note = f"Python that measures {best.name} again; the last line fits it on all rows."
        blocks.append(page.block("The best as a program", page.code(program(best, found, race, options)), note=note))
    return page.join(blocks)


def versions() -> list[str]:
    """Return the packages that took part, with their versions."""
    found = [f"Python {platform.python_version()}", f"suffice {suffice.__version__}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return found


class _Named(str):
    """A variable name, whose repr is the name itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def program(method: Method, found: Findings, race: Race, options: ComparisonSettings) -> str:
    """Return Python code that cross-validates a method on the same folds and fits it on all rows."""
    model, data = method.make(race.seed), race.table.data
    parts, steps = [model], []
    if method.prepare is not None:
        prepared = method.prepare(_Named("numbers"), _Named("categories"))
        parts.append(prepared)
        model.set_params(**(method.categories(data) if method.categories is not None else {}))
        for name, words in (("numbers", False), ("categories", True)):
            columns = [column for column, kind in zip(data.names, data.categorical, strict=True) if kind == words]
            steps.append(f"{name} = {columns!r}")
        steps.append(f"columns = {_code(prepared)}")
    steps.append(f"model = make_pipeline(columns, {_code(model)})" if method.prepare else f"model = {_code(model)}")
    if method.draws_categories and data.categorical.any():
        steps.append("# categories are text here and were numbers there: trees that draw them differ a little")
    steps += [
        f"folds = StratifiedKFold({found.folds}, shuffle=True, random_state={race.seed})",
        "print(1 - cross_val_score(model, X, y, cv=folds))",
        "model.fit(X, y)",
    ]
    size = found.rows if found.rows < len(data.y) else options.sample
    imports, reading = _rows(race, options.target, size)
    imports |= {f"from {_home(type(one))} import {type(one).__name__}" for part in parts for one in _all_parts(part)}
    imports.add("from sklearn.model_selection import StratifiedKFold, cross_val_score")
    if method.prepare is not None:
        imports.add("from sklearn.pipeline import make_pipeline")
    return "\n".join([*sorted(imports), "", *reading, *steps]) + "\n"


def _rows(race: Race, target: str | None, size: int | None) -> tuple[set[str], list[str]]:
    """Return imports and code that reads X and y."""
    data = race.table.data
    if data.source in EMBEDDED:
        imports = {f"from sklearn.datasets import load_{data.source}"}
        steps = [f"table = load_{data.source}(as_frame=True)", "X, y = table.data, table.target_names[table.target]"]
        steps.append(f"X = X[{list(data.names)!r}]")
    else:
        imports = {
            "from suffice.data.files.reading import Reading",
            "from suffice.data.files.target import in_days, read_classes",
        }
        how = race.table.how
        given = (one.name for one in fields(how) if getattr(how, one.name) != one.default)
        settings = ", ".join(f"{name}={getattr(how, name)!r}" for name in given)
        reading = f"read_classes({data.source!r}, {target!r}, Reading({settings}), many=True)"
        steps = [f"sheet, target = {reading}", "table = in_days(sheet, target).table.to_pandas()"]
        steps.append(f"X, y = table[{list(data.names)!r}], table[{target!r}].astype(str).to_numpy()")
        numbers = [name for name, codes in zip(data.names, data.categorical, strict=True) if not codes]
        steps.append(f"X = X.astype(dict.fromkeys({numbers!r}, float))  # truth values too")
    if size is not None:
        imports |= {"import numpy as np", "from sklearn.model_selection import train_test_split"}
        steps.append(
            f"rows, _ = train_test_split(np.arange(len(y)), train_size={size}, stratify=y, random_state={race.seed})"
        )
        steps += ["rows = np.sort(rows)", "X, y = X.iloc[rows], y[rows]"]
    return imports, steps


def _code(model: Any) -> str:
    return str(model.__repr__(N_CHAR_MAX=10**6))


def _all_parts(model: Any) -> list[BaseEstimator]:
    """Return an estimator and the estimators among its settings."""
    inner = model.get_params(deep=True).values() if hasattr(model, "get_params") else ()
    return [model, *(one for one in inner if isinstance(one, BaseEstimator))]


def _home(kind: type) -> str:
    """Return the shortest public module that a class can be imported from."""
    parts = [part for part in kind.__module__.split(".") if not part.startswith("_")]
    for length in range(1, len(parts) + 1):
        module = ".".join(parts[:length])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return module
    return kind.__module__


MAX_IMPORTANCES_SHOWN = 15
MAX_LINEAR_RATIO = 20.0  # of losses; above it their axis is logarithmic


def compare_page(comparison: Comparison, found: Findings, race: Race, options: ComparisonSettings) -> str:
    """Return the page as one HTML file: verdict, differences, times, winner, reliability, learning curves, facts."""
    first, *others = comparison.verdict()
    lead = page.join([page.verdict(first), page.bullets(others)])
    colours, best = colours_of(comparison), comparison.best.method if comparison.lines else ""
    classes = [str(label) for label in np.unique(race.table.data.y)]
    sections = [
        Section("How the methods differ", _differences(comparison, found, colours), "differences"),
        Section("Errors and times", _times(comparison, colours), "times"),
        Section(f"The best here, {best}", _winner(comparison, found, race, classes, colours), "winner"),
        Section("Are the probabilities right?", _reliability(comparison, colours), "reliability"),
        Section("Learning", _curves(comparison, colours), "learning"),
        Section("The table", the_table(race.table), "table"),
        Section("How it was done", how_it_was_done(comparison, found, race, options), "how"),
    ]
    shown = [section for section in sections if section.body]
    return page.document(f"Classifiers on {race.table.data.name}", shown, lead, "Filter methods", only_off=False)


def colours_of(comparison: Comparison) -> dict[str, int]:
    """Assign one colour to each method: first to the best three and those with curves, then by rank."""
    lines = [line.method for line in (*comparison.lines, *comparison.others) if not line.is_chance]
    curved = [method for method in lines if "curves" in comparison.results[method][0]]
    order = list(dict.fromkeys([*_with_probabilities(comparison), *curved, *lines]))
    return {method: at if at < SERIES else PLAIN for at, method in enumerate(order)} | {CHANCE: PLAIN}


def _with_probabilities(comparison: Comparison) -> list[str]:
    """Return the best three methods that predict probabilities."""
    return [line.method for line in comparison.lines if line.log_loss is not None and not line.is_chance][:3]


def _differences(comparison: Comparison, found: Findings, colours: Mapping[str, int]) -> Html:
    missing = page.bullets([*left_out(found), *warnings_of(found)])
    rest = page.block("Not on all folds, failed, or with a warning", missing) if missing else Html()
    if not comparison.usable:
        return rest
    gaps, best, chance = comparison.intervals(), comparison.best, comparison.chance
    dots = []
    for line in comparison.lines:
        gap = gaps.get(line.method)
        low, high = (None, None) if gap is None else (100 * (best.error + end) for end in gap)
        note = "; ".join([METHODS[line.method].about, *(MEANING[mark] for mark in line.marks)])
        dots.append(Dot(line.method, 100 * line.error, low, high, colours[line.method], note))
    rule = None if chance is None else 100 * chance.error
    end = scale_end(comparison)
    plot = charts.dot_plot(dots, "Rows wrong, with intervals", end, 100 * best.error, rule)
    note = (
        f"Test rows that are wrong, over {counted(len(comparison.folds), 'fold')}. A bar is the interval of a method's "
        f"difference to {best.method}, whose own error is the thin line: where a bar reaches the line, these rows do "
        "not tell the two apart. Its level is that of the test behind the verdict and the p-values below (McNemar, 5 % "
        "for all methods together by Holm's correction; the rule of chance has a test of its own). An arrow marks a "
        "bar that goes beyond the scale."
    )
    if rule is not None:
        beyond = " and lies beyond the scale" if rule > end else ", the dashed line"
        note += f" The rule of chance, always the most frequent class, is wrong on {rule:.1f} %{beyond}."
    blocks = [page.block("Rows wrong, best first", plot, note=note), _numbers(comparison), _tests(comparison)]
    return page.join([*blocks, rest])


def scale_end(comparison: Comparison) -> float:
    """Return the end of the scale of errors in percent: the third quartile, or a method slightly above it."""
    errors = np.array([line.error for line in comparison.lines if not line.is_chance])
    best, gaps = comparison.best.error, comparison.intervals()
    highs = [best + high for method, (_, high) in gaps.items() if not is_chance(method)]
    end = max(float(np.quantile(highs or errors, 0.75)), float(np.quantile(errors, 0.75)))
    near = [error for error in errors.tolist() if error <= 1.5 * end]
    if comparison.chance is not None and comparison.chance.error <= 2.5 * end:
        near.append(comparison.chance.error)
    end = max([end, *near])
    return 100 * min(end, 1.0) or 1.0


p_value = partial(Value, digits=3, least=0.001)


def _numbers(comparison: Comparison) -> Html:
    p, two = comparison.against_best(), any(line.auc is not None for line in comparison.lines)
    mixed = comparison.mixed
    headings: list[Heading | str] = [
        "method",
        Heading("wrong, %", title="of all rows of the test folds"),
        Heading("\u00b1", title="standard deviation over the folds, in points"),
        Heading("p", title="against the best: McNemar's test on all rows, between methods with Holm's correction"),
        Heading("log loss", title="mean of -log of the probability of the true class"),
        Heading("Brier", title="mean squared distance of the probabilities from the truth"),
        Heading("calibration error", title="mean gap between confidence and accuracy, over ten bins of all rows"),
        *([Heading("AUC", title="area below the ROC curve, mean over the folds")] if two else []),
        Heading("fit, s", title="median over the folds"),
        Heading("predict, s", title="median over the folds"),
        Heading("folds"),
        *([Heading("input", title="how it receives categories and missing values", words=True)] if mixed else []),
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
        shares = [Value(100 * line.error, 2), Value(spread, 2), p_value(p.get(line.method))]
        given = ["" if line.is_chance else METHODS[line.method].given.words] if mixed else []
        rows.append([name, *shares, *scores, *areas, *times, *given])
    keys = [f"{sign} {MEANING[mark]}" for mark, sign in SIGNS.items() if any(mark in x.marks for x in comparison.lines)]
    return page.block("All numbers", page.data_table(headings, rows, "Methods, best first"), page.bullets(keys))


def _tests(comparison: Comparison) -> Html:
    by_rows, by_folds = comparison.against_best(), comparison.over_folds()
    rows: list[list[object]] = [[m, p_value(by_rows[m]), p_value(by_folds.get(m))] for m in comparison.rivals()]
    table = page.data_table(["method", "p, by rows", "p, by folds"], rows, "P-values of two tests against the best")
    why = (
        "The page judges by rows: McNemar's test counts the test rows that one method gets right and the other wrong. "
        "It asks whether these classifiers differ on rows like these, and it is valid for one fold as for ten, also if "
        "the time ran out early. The t-test over folds, corrected for the training rows that folds share "
        "(Nadeau and Bengio), asks more: whether the methods would differ with other training rows too. Its p-values "
        "are larger, above all with few folds. Both have Holm's correction for the number of methods."
    )
    return page.fold("Another test, and why it differs", page.paragraph(why), table)


def _times(comparison: Comparison, colours: Mapping[str, int]) -> Html:
    if not comparison.usable:
        return Html()
    lines = [line for line in comparison.lines if not line.is_chance]
    end = scale_end(comparison)
    each = [
        page.block(
            f"To {what}",
            charts.scatter(
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
        "Medians over the folds, one core each. A method is named if all quicker ones have more rows wrong and there "
        "is room for its name. A triangle marks a method beyond the axis."
    )
    return page.join([page.paragraph(note, quiet=True), page.tag("div", *each, class_="pair")])


def _winner(
    comparison: Comparison, found: Findings, race: Race, classes: list[str], colours: Mapping[str, int]
) -> Html:
    if not comparison.usable:
        return Html()
    best = comparison.best.method
    counts = np.sum([result["confusion"] for result in comparison.results[best]], axis=0)
    shown = charts.confusion(counts.tolist(), classes, f"Confusions of {best}")
    note = f"All {int(counts.sum()):,} test rows. Shares are of the rows of the true class."
    blocks = [page.paragraph(f"{best}: {METHODS[best].about}.", quiet=True)]
    blocks.append(page.block("Confusions", shown, note=note))
    blocks.append(_roc(comparison, classes, colours))
    blocks.append(_importances(found, race, colours))
    return page.join(blocks)


def _roc(comparison: Comparison, classes: list[str], colours: Mapping[str, int]) -> Html:
    best = comparison.best.method
    curves = [result["roc"] for result in comparison.results[best] if "roc" in result]
    if not curves:
        return Html()
    points = list(zip(FALSE_POSITIVE_RATES.tolist(), np.mean(curves, axis=0).tolist(), strict=True))
    area = float(np.mean([result["auc"] for result in comparison.results[best] if "auc" in result]))
    x, y = f"share of {classes[0]} taken wrongly", f"share of {classes[1]} found"
    long = max(len(x), len(y)) > 36
    chart = charts.roc_chart(points, best, area, "false alarms" if long else x, "found" if long else y, colours[best])
    note = (
        f"The share of the rows of {classes[1]} that are found, for every share of the rows of {classes[0]} that are "
        "wrongly taken for it; the mean curve over the folds, and its area."
    )
    return page.block("ROC curve", chart, note=note)


def _importances(found: Findings, race: Race, colours: Mapping[str, int]) -> Html:
    if found.importances is None:
        return Html()
    method, got = found.importances
    names = race.table.data.names
    order = np.argsort(-got["mean"])[:MAX_IMPORTANCES_SHOWN]
    bars = {names[j]: 100.0 * float(got["mean"][j]) for j in order if got["mean"][j] > 0}
    note = "Points of accuracy lost when the values of a column are shuffled (mean of five repetitions)."
    note += f" On {got['rows']:,} rows that were not learned from."
    if len(names) > len(bars):
        rest = len(names) - len(bars)
        note += f" {counted(rest, 'other column')} {'matters' if rest == 1 else 'matter'} less or not at all."
    chart = charts.bar_chart(bars, f"Importances of {method}", "points", colours[method])
    return page.block("Columns that matter", chart, note=note)


def _reliability(comparison: Comparison, colours: Mapping[str, int]) -> Html:
    shown = [
        charts.reliability_diagram(comparison.reliability(name), name, colours[name], intervals=True)
        for name in _with_probabilities(comparison)
    ]
    note = (
        "The best three that give probabilities. Points on the diagonal: of the rows that a method is 80 % sure of, "
        "80 % are right. A line is the 95 % interval of the accuracy (Wilson); rings are bins of fewer than 20 rows."
    )
    return page.block("Accuracy against confidence", page.grid(shown), note=note) if shown else Html()


def _curves(comparison: Comparison, colours: Mapping[str, int]) -> Html:
    runs = {method: [r["curves"] for r in results if "curves" in r] for method, results in comparison.results.items()}
    series = {method: charts.mean_curve(curves) for method, curves in runs.items() if curves}
    if not series:
        return Html()
    values = [value for curve in series.values() for _, value in curve if value > 0]
    steep = bool(values) and max(values) > MAX_LINEAR_RATIO * min(values)
    title = "Training log loss by iteration"
    order = [line.method for line in (*comparison.lines, *comparison.others) if line.method in series]
    chart = charts.line_chart(
        {method: series[method] for method in order},
        title,
        "iteration",
        "training log loss" + " (log)" * steep,
        log_y=steep,
        colours=colours,
    )
    note = (
        "Means over the folds, of the accepted steps. Iteration 1 is the start: the closed form, or equal classes for "
        "LR Newton. Click a name to show or hide its curve."
    )
    return page.block(title, chart, note=note)
