"""The page of a benchmark: tables of papers, measured against printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers import evidence
from papers.agreement import Cell, by_reason, cells, counts, heading, means
from papers.blocks import ASSETS, chooser, figure, stacked_bar
from papers.claims import judge, tally
from papers.documents import DOCUMENTS
from papers.store import Task
from suffice.compare import critical_difference_figure, friedman, nemenyi
from suffice.report.page import (
    MARKS,
    Heading,
    Html,
    Kind,
    Section,
    Value,
    block,
    bullets,
    data_table,
    document,
    fold,
    grid,
    join,
    paragraph,
    slug,
    tag,
    verdict,
)
from suffice.report.page.charts import bar_chart, legend, line_chart, pooled, reliability_diagram

STATES = ("equal", "near", "off")
LOSSES = {"error": "error", "soft_error": "soft error", "log_loss": "log loss"}
EVERY = "all data sets"
AVERAGE = "mean of the rows with both"
FEWEST_METHODS, FEWEST_SETS = 3, 5  # for a critical-difference figure

Results = Mapping[Task, dict[str, Any]]


def bench_page(
    tables: Sequence[Any], results: Results, times: Results, missing: Sequence[str] = (), age: str = ""
) -> str:
    """The report on tables of papers as one HTML page.

    Parameters
    ----------
    tables : sequence of Table, Computed or Derived
        The tables to show, in order.
    results, times : mappings of Task to dict
        What `Store.read` and `Store.read_times` return.
    missing : sequence of str
        A sentence for each data set that is not available.
    age : str
        A sentence on how many of the results are stale.

    Returns
    -------
    str
        The page, to be written by `write`. The same input gives the same bytes.
    """
    found = {table.name: cells(table, results) for table in tables}
    parts = [_part(table, found[table.name], results, times) for table in tables]
    everything = [cell for table in tables for cell in found[table.name]]
    aged = paragraph(age, quiet=True) if age else None
    lead = join([_verdict(everything, "the tables"), aged, _key(), _missing(missing)])
    overview = Section("Overview", _overview(tables, found))
    return document("Tables of the papers, measured again", [_verdicts(results), overview, *parts], lead, assets=ASSETS)


def _verdicts(results: Results) -> Section:
    """The claims of the documents, each with its verdict."""
    judged = judge(results)
    heads = ["document", "claim", "in print", "here", "verdict", "shown by"]
    rows = [
        [f"{one.document}, {one.place}", one.says, one.printed, ours, tag("strong", verdict), one.test.strip("`")]
        for one, verdict, ours in judged
    ]
    papers = bullets(f"{name}: {about.authors}: {about.title}. {about.published}" for name, about in DOCUMENTS.items())
    table = data_table(heads, rows, "Claims and verdicts", filtered=False)
    return Section("Verdicts", join([paragraph(tally(judged)), table, fold("The documents", papers)]))


def _verdict(found: list[Cell], where: str) -> Html:
    """How many cells agree, in a sentence."""
    by = counts(found)
    absent = sum(cell.state == "missing" for cell in found)
    rest = f" {absent} more are printed and not measured here." if absent else ""
    if not by["compared"]:
        return verdict(f"No cell of {where} is both printed and measured.", rest)
    kind: Kind = "off" if by["off"] else "near" if by["near"] else "equal"
    said = (
        f"Of {by['compared']} cells of {where} that are printed and measured, {by['equal']} equal the print to its "
        f"last digit, {by['near']} are near and {by['off']} are off."
    )
    return verdict(said, rest, kind=kind)


def _key() -> Html:
    """What the colours mean."""
    said = {
        "equal": "equal to the printed digits",
        "near": "near: within the tolerance of the column",
        "off": "off: point at a cell for the difference and the reason",
    }
    marks = [tag("span", MARKS[state], " ", text, class_=f"key {state}") for state, text in said.items()]
    return tag("p", *marks, tag("span", "The heading of a column sorts by it."), class_="keys quiet")


def _missing(sentences: Sequence[str]) -> Html | None:
    if not sentences:
        return None
    count = f"{len(sentences)} data set{'s' * (len(sentences) != 1)} are not available here"
    return fold(count, bullets(sentences))


def _overview(tables: Sequence[Any], found: Mapping[str, list[Cell]]) -> Html:
    heads: list[Heading | str] = ["table", "", Heading("compared", title="printed and measured"), *STATES]
    rows = []
    for table in tables:
        by = counts(found[table.name])
        bar = stacked_bar({state: by[state] for state in STATES}, _spoken(by))
        numbers = [Value(by[name], 0, name if name == "off" and by[name] else "") for name in ("compared", *STATES)]
        rows.append([tag("a", table.title, href=f"#{slug(table.name)}"), bar, *numbers])
    return data_table(heads, rows, "Cells of every table by agreement with the print", filtered=False)


def _spoken(by: Mapping[str, int]) -> str:
    return ", ".join(f"{by[state]} {state}" for state in STATES)


def _part(table: Any, found: list[Cell], results: Results, times: Results) -> Section:
    """The section of a table."""
    by = counts(found)
    badge = tag("span", *(_count(state, by[state]) for state in STATES if by[state]), class_="badge")
    body = [
        paragraph(table.notes) if table.notes else None,
        _verdict(found, "this table"),
        _side_by_side(table, found),
        _reasons(found),
        _failures(table, results),
        _curves(table, results),
        _by_prior(table, results),
        _reliability(table, results),
        _times(table, times),
        _ranks(table, results),
    ]
    return Section(table.title, join(body), table.name, badge)


def _count(state: str, count: int) -> Html:
    return tag("span", f"{MARKS[state]} {count}", title=f"{count} {state}", class_=f"key {state}")


def _side_by_side(table: Any, found: list[Cell]) -> Html:
    """Ours beside theirs for every data set with a result; those without are named below."""
    by = {(cell.dataset, cell.column): cell for cell in found}
    every = list(dict.fromkeys(cell.dataset for cell in found))
    here = {cell.dataset for cell in found if cell.measured is not None}
    average = means(found)
    heads = [Heading("data set"), *(h for column in table.columns for h in _pair_of_heads(column.name))]
    rows = [
        [name, *(v for column in table.columns for v in _pair(by.get((name, column.name)), column.digits))]
        for name in every
        if name in here
    ]
    if average:
        rows.append(
            [AVERAGE, *(v for column in table.columns for v in _averages(average.get(column.name), column.digits))]
        )
    absent = [name for name in every if name not in here]
    note = paragraph("Printed, and not measured here: ", ", ".join(absent), ".", quiet=True) if absent else None
    return data_table(heads, rows, f"{table.title}: ours beside the print") + join([note])


def _pair_of_heads(column: str) -> list[Heading]:
    group = column.replace("_", " ")
    return [Heading("ours", group), Heading("print", group)]


def _pair(cell: Cell | None, digits: int) -> list[Value]:
    """A measured number, with the difference as its tooltip, and the printed one."""
    if cell is None:
        return [Value(None), Value(None, state="printed")]
    theirs = f"\u00b1 {cell.printed_spread:g}" if cell.printed_spread is not None else ""
    return [Value(cell.measured, digits, cell.state, _told(cell)), Value(cell.printed, digits, "printed", theirs)]


def _averages(average: tuple[int, float, float] | None, digits: int) -> list[Value]:
    """The means of both over the rows that have both."""
    if average is None:
        return [Value(None), Value(None, state="printed")]
    size, mine, theirs = average
    return [Value(mine, digits + 1, "", f"mean of {size} rows"), Value(theirs, digits + 1, "printed")]


def _told(cell: Cell) -> str:
    if cell.measured is None:
        return "not measured"
    spread = f" \u00b1 {cell.spread:.2g}" if cell.spread is not None else ""
    if cell.difference is None:
        return f"ours {cell.measured:.6g}{spread}, not printed"
    why = f". {str(cell.why).capitalize()}" if cell.why.basis else ""
    return f"ours {cell.measured:.6g}{spread}, print {cell.printed:g}, difference {_signed(cell.difference)}{why}"


def _signed(difference: float | None) -> str:
    return "" if difference is None else f"{difference:+.3g}".replace("-", "\u2212")


def _reasons(found: list[Cell]) -> Html:
    """Why cells are off: each reason once, with its cells and what was found on their data sets."""
    groups = by_reason(found)
    return block(
        "Why cells are off",
        bullets(join([tag("b", heading(*why)), ": ", "; ".join(map(_place, group))]) for why, group in groups.items()),
    )


def _place(cell: Cell) -> str:
    found = f"; {cell.why.found}" if cell.why.found else ""
    return f"{cell.dataset}, {cell.column.replace('_', ' ')} ({_signed(cell.difference)}{found})"


def _failures(table: Any, results: Results) -> Html | None:
    failed = evidence.failures(table, results)
    if not failed:
        return None
    told = [f"{why}: {', '.join(dict.fromkeys(f'{t.dataset} ({t.method})' for t in at))}" for why, at in failed.items()]
    count = sum(map(len, failed.values()))
    return fold(f"{count} fit{'s' * (count != 1)} failed", bullets(told))


def _curves(table: Any, results: Results) -> Html:
    found = evidence.curves(table, results)
    if not found:
        return Html()
    panes: dict[tuple[str, ...], Html] = {
        (dataset, LOSSES.get(loss, loss)): line_chart(
            each,
            f"{LOSSES.get(loss, loss)} on the training rows of {dataset} by iteration",
            "iteration",
            LOSSES.get(loss, loss),
            with_legend=False,
        )
        for (dataset, loss), each in found.items()
    }
    names = list(next(iter(found.values())))
    charts = legend(names, chooser(f"{table.name} curves", ["Data set", "Loss"], panes))
    note = "Mean over splits, on the rows learned from. A ring marks the lowest point; dashed: learned in one step."
    return block("Convergence", charts, note=note)


def _by_prior(table: Any, results: Results) -> Html:
    """Accuracy against the class probabilities (thesis, Figures 4.1 and 4.2)."""
    found = evidence.by_prior(table, results)
    if not found:
        return Html()
    panes: dict[tuple[str, ...], Html] = {
        (name,): line_chart(
            lines, f"accuracy by the probability of the first class, {name}", "P1", "accuracy, %", with_legend=False
        )
        for name, lines in found.items()
    }
    charts = legend(list(next(iter(found.values()))), chooser(f"{table.name} priors", ["Classes"], panes))
    return block(
        "Accuracy by class probability", charts, note="Means over repeats. A ring marks the lowest accuracy of a rule."
    )


def _reliability(table: Any, results: Results) -> Html:
    found = evidence.reliability(table, results)
    if not found:
        return Html()
    order = evidence.methods(table, evidence.of_table(table, results))
    whole = {
        m: pooled(by[m] for by in found.values() if m in by) for m in order if any(m in by for by in found.values())
    }
    shown = {EVERY: whole, **found} if len(found) > 1 else found
    panes: dict[tuple[str, ...], Html] = {
        (dataset,): grid(reliability_diagram(by[method], method, order.index(method)) for method in by)
        for dataset, by in shown.items()
    }
    note = "Accuracy against confidence, pooled over splits; the area of a point grows with its rows."
    return block("Reliability", chooser(f"{table.name} reliability", ["Data set"], panes), note=note)


def _times(table: Any, times: Results) -> Html:
    found = evidence.fit_times(table, times)
    if not found:
        return Html()
    note = "Median over data sets and splits."
    return block("Time to fit", bar_chart(found, "Median seconds to fit, by method"), note=note)


def _ranks(table: Any, results: Results) -> Html:
    errors = evidence.mean_errors(table, results)
    sets = min(map(len, errors.values()), default=0)
    if len(errors) < FEWEST_METHODS or sets < FEWEST_SETS:
        return Html()
    ranks = nemenyi(errors, higher_is_better=False)
    kind = "training" if evidence.on_training_rows(table) else "test"
    drawn = figure(critical_difference_figure(ranks), f"{table.name} ranks", ranks.sentence)
    said = paragraph(friedman(errors, higher_is_better=False).sentence, quiet=True)
    note = f"By mean {kind} error on {sets} data sets; a bar joins methods that are not told apart."
    return block("Average ranks", drawn, said, note=note)
