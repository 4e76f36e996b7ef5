"""A comparison on the terminal: a live table, or lines in a pipe, and the final table with the verdict."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Column
from rich.table import Table as Grid

from suffice.compare.race.methods import METHODS
from suffice.compare.race.run import Watch
from suffice.compare.race.schedule import Findings
from suffice.compare.race.verdict import BELOW_CHANCE, BELOW_START, LOSS_ABOVE_CHANCE, Comparison
from suffice.compare.result import p_text
from suffice.data.files.reading import counted
from suffice.report.page.charts import seconds

SIGNS = {BELOW_CHANCE: "*", BELOW_START: "\u2020", LOSS_ABOVE_CHANCE: "\u2021"}
MEANING = {
    BELOW_CHANCE: "more rows wrong than by always taking the most frequent class",
    BELOW_START: "more rows wrong than the method that it starts from",
    LOSS_ABOVE_CHANCE: "log loss above that of the class shares: its probabilities are worse than none",
}


@contextmanager
def watching(out: Console, err: Console, limit: float) -> Iterator[Watch]:
    """Yield a function that shows news: in a live table on a terminal, else as lines on standard error."""
    began = time.monotonic()
    if not out.is_terminal or out.is_dumb_terminal:
        printed: set[tuple[str, str]] = set()

        def tell(text: str) -> None:
            passed = f"{time.monotonic() - began:6.1f} s"
            err.print(f"{passed}  {text}", markup=False, highlight=False, soft_wrap=True)

        def lines(found: Findings, method: str) -> None:
            """Print a line for the first news of a method, and one for its last fold."""
            if found.doing:
                tell(found.doing)
            for occasion, text in _news(found, method).items() if method else ():
                if (method, occasion) not in printed:
                    printed.add((method, occasion))
                    tell(f"{method}: {text}")

        yield lines
        return
    with Live(console=out, refresh_per_second=4, transient=True) as live:
        yield lambda found, _: live.update(_so_far(found, time.monotonic() - began, limit, out.height))


def _news(found: Findings, method: str) -> dict[str, str]:
    """Return the news of a method by occasion."""
    news, folds = {}, found.done(method)
    if method in found.failures:
        return {"failed": f"could not learn: {found.failures[method]}"}
    if method in found.samples and not folds:
        sample = found.samples[method]
        news["sample"] = f"{sample['error']:.1%} of rows wrong after {sample['size']:,} rows"
    if folds:
        errors = [found.results[method, fold]["error"] for fold in folds]
        done = f"{len(folds)} of {counted(found.folds, 'fold')}"
        news["all" if len(folds) == found.folds else "first"] = f"{np.mean(errors):.1%} of rows wrong, {done}"
    return news


def _so_far(found: Findings, passed: float, limit: float, height: int) -> Grid:
    """Return a table of the methods by their errors so far, as many as there is room for."""
    heads = ("rows wrong", "log loss", "fit", "measured")
    grid = _grid("method so far", *heads)
    known = []
    for method in found.methods:
        folds = found.done(method)
        results = [found.results[method, fold] for fold in folds] or [
            found.samples[name] for name in (method,) if name in found.samples
        ]
        if results:
            where = f"{len(folds)}/{found.folds} folds" if folds else f"{results[0]['size']:,} rows"
            loss = np.mean([result.get("log_loss", np.nan) for result in results])
            fit = np.median([result["seconds"]["fit"] for result in results])
            error = float(np.mean([result["error"] for result in results]))
            cells = (f"{error:.2%}", "-" if np.isnan(loss) else f"{loss:.3f}", seconds(float(fit)), where)
            known.append((error, method, cells, "" if folds else "dim"))
    room = max(3, height - 4)
    for _, method, cells, style in sorted(known)[:room]:
        grid.add_row(method, *cells, style=style)
    hidden = f", {len(known) - room} more below" if len(known) > room else ""
    passed -= found.compiling
    grid.caption = f"{passed:.0f} of {limit:g} s, {len(known)} of {len(found.methods)} methods{hidden}; Ctrl-C ends"
    grid.caption = found.doing or grid.caption
    return grid


def show(comparison: Comparison, found: Findings, out: Console) -> None:
    """Print the table, the methods that were left out and why, warnings, and the verdict."""
    p = comparison.against_best() if comparison.usable else {}
    grid = _grid("method", *["input"] * comparison.mixed, "wrong", "\u00b1", "log loss", "calib.", "fit", "p", "folds")

    def number(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    for line in (*comparison.lines, *comparison.others):
        best = comparison.usable and line is comparison.best
        grid.add_row(
            " ".join([line.method, *(SIGNS[mark] for mark in line.marks)]),
            *(["-" if line.is_chance else METHODS[line.method].given.word] * comparison.mixed),
            f"{line.error:.2%}",
            number(line.spread, ".2%"),
            number(line.log_loss, ".3f"),
            number(line.calibration_error, ".3f"),
            seconds(line.fit),
            "best" if best else p_text(p[line.method], "", "<") if line.method in p else "-",
            f"{line.folds}",
            style="bold" if best else "" if line.ours else "dim",
        )
    if grid.rows:
        out.print(grid)
        _say(out, "wrong: rows of the test folds. calib.: calibration error. p: against the best.")
    if grid.rows and comparison.mixed:
        methods = [line.method for line in (*comparison.lines, *comparison.others) if not line.is_chance]
        given = dict.fromkeys(METHODS[method].given for method in methods)
        _say(out, f"input: {'; '.join(f'{one.word}: {one.sentence}' for one in given)}.")
    for mark, sign in SIGNS.items():
        if any(mark in line.marks for line in comparison.lines):
            _say(out, f"{sign} {MEANING[mark]}")
    for sentence in (*left_out(found), *warnings_of(found), *found.notes):
        _say(out, sentence)
    if found.interrupted:
        _say(out, "Interrupted: these are the results so far.")
    for sentence in comparison.verdict():
        _say(out, f"- {sentence}")


def _say(out: Console, sentence: str) -> None:
    out.print(sentence, markup=False, highlight=False, soft_wrap=not out.is_terminal)


def _grid(first: str, *heads: str) -> Grid:
    grid = Grid(first, *(Column(head, justify="right", no_wrap=True) for head in heads), box=None, padding=(0, 1, 0, 0))
    grid.columns[0].no_wrap = True
    grid.caption_justify = "left"
    return grid


def left_out(found: Findings) -> list[str]:
    """Name the methods that failed or are not on all folds, grouped by reason."""
    failed = [f"{method} could not learn: {why}" for method, why in found.failures.items()]
    by_reason: dict[str, list[str]] = {}
    for method, why in found.skipped.items():
        if method not in found.failures:
            begun = "" if found.done(method) else " left out"
            by_reason.setdefault(f"{begun}: {why}{found.trial(method)}", []).append(method)
    return failed + [f"{', '.join(methods)}{reason}" for reason, methods in by_reason.items()]


def warnings_of(found: Findings) -> list[str]:
    """Return each warning of a method once, whatever its numbers, with the number of folds."""
    heard: dict[tuple[str, str], tuple[str, set[int]]] = {}
    for (method, fold), result in found.results.items():
        for text in result.get("warnings", ()):
            first = heard.setdefault((method, re.sub(r"\d[\d.,]*", "#", text)), (text, set()))
            first[1].add(fold)
    return [
        f"{method} warned in {counted(len(folds), 'fold')}: {' '.join(text.split())}"
        for (method, _), (text, folds) in heard.items()
    ]


def explained() -> Grid:
    """Return a table of all methods with a line on each."""
    grid = Grid("method", "description", box=None, padding=(0, 2, 0, 0))
    grid.columns[0].no_wrap = True
    for method in METHODS.values():
        grid.add_row(method.name, method.about, style="" if method.ours else "dim")
    return grid
