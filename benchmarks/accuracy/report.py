"""The report: docs/accuracy.md, written from the results alone."""

from collections.abc import Iterator

from benchmarks import sets
from benchmarks.accuracy import figures
from benchmarks.accuracy.methods import ALL, BOOSTING, EBM, LIGHT
from benchmarks.accuracy.summary import LARGE, MEASURES, Summary, lines, of_half
from suffice.compare import friedman, nemenyi

HEAD = """\
# Accuracy beside others

`make bench-accuracy` measures what stands here (written by `python -m benchmarks.accuracy report`): all data sets as
they are, text as text and missing as missing, without the RC authors' versions of the same rows; {seeds} splits of each
(75/25, stratified, the same for all methods), default settings, nothing fitted on test rows. The sets at even places of
the sorted list are for choosing what our classifiers are made of; those at odd places report. What `TabularClassifier`
is made of goes back to a prototype that had been tried on sets of both halves; kinds of trees, tables, and how weights
are learned were chosen on the choosing half (its figures there are those of the state before experts had to earn their
weights). How strict `AdditiveTables` is with pairs was changed once after ionosphere, of the reporting half, was seen.

Boosting and EBM take categories and missing values themselves; ExtraTrees (300 trees) and logistic regression get
imputed one-hot columns, scikit-bayes imputed columns and ordinal codes. Log loss takes probabilities of at least 1e-15;
calibration error is the mean gap of confidence and accuracy in 15 bins. Times are seconds of the processor with
{threads} for every method (the least of up to three fits where they are short); ratios to HistGradientBoosting
are geometric means over the sets{beside}.
Versions: {versions}.
"""


def write(out, path, folder=sets.FOLDER):
    """The page and its figures beside it, from the results in a folder."""
    rows = lines(out)
    if rows.empty:
        raise SystemExit(f"no results in {out}: python -m benchmarks.accuracy run --out {out}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(page(rows, {half: of_half(out, half, folder) for half in sets.HALVES}, path)) + "\n")


def page(rows, halves, path) -> Iterator[str]:
    """The blocks of the page."""
    report, choose = halves["report"], halves["choose"]
    yield head(rows)
    yield from notes(rows)
    yield f"## The reporting half: {len(report.names)} sets\n"
    yield from means(report)
    yield from duels(report)
    yield from ranks(report, path)
    large = report.only(set(_large(report)).__contains__)
    if large.names:
        yield f"### Its sets above {LARGE:,} rows\n"
        yield from by_set(large, (*MEASURES, "fit"))
    yield "### By set\n"
    yield "Difference to HistGradientBoosting; arrows at the edge are off the scale.\n"
    yield f"![Difference to HistGradientBoosting by set]({figures.by_set(report, _beside(path, 'sets'))})\n"
    yield from by_set(report, (*MEASURES, "fit"))
    yield from explainable(Summary(rows))
    if choose.names:
        yield f"## The choosing half: {len(choose.names)} sets\n"
        yield "Defaults are chosen here, so these figures flatter our own methods.\n"
        yield from means(choose)
        yield from by_set(choose, ("error", "log_loss"))


def of_one_half(summary) -> Iterator[str]:
    """The tables of one half alone, to be read where nothing of the other is to be seen."""
    yield from means(summary)
    yield from duels(summary)
    yield from by_set(summary, ("error", "log_loss", "fit"))


def head(rows):
    """How it was measured."""
    threads = sorted({int(count) for count in rows["threads"]})
    said = " or ".join("one thread" if count == 1 else f"{count} threads" for count in threads)
    beside = " (of a method measured again, to boosting's time in the same call)" if rows["boosting_fit"].any() else ""
    versions = ", ".join(sorted(set(rows["version"])))
    seeds = {1: "one split", 2: "two", 3: "three"}.get(rows["seed"].nunique(), rows["seed"].nunique())
    return HEAD.format(seeds=seeds, threads=said, beside=beside, versions=versions)


def notes(rows):
    """List results that were left out of the tables, and failures."""
    said = rows[rows["said"].map(bool)].drop_duplicates("set").sort_values("set")
    if len(said):
        yield (
            "Not the whole table: "
            + "; ".join(f"{r['set']} ({', '.join(r['said'])})" for _, r in said.iterrows())
            + ".\n"
        )
    for (method, name), part in rows[rows["failed"].notna()].groupby(["method", "set"]):
        yield f"{method} failed on {len(part)} splits of {name}: {part['failed'].iloc[0]}.\n"


def means(summary):
    """Means over the sets: of the methods that ran on all of them, and of others beside boosting on their own sets."""
    everywhere, some = summary.everywhere
    yield _row("method", *MEASURES.values(), "AUC (two classes)", "fit time", "predict time")
    yield _rule(7)
    for name in everywhere:
        yield _row(f"**{name}**" if name in ALL[:2] else name, *_numbers(summary.on(name)[0]))
    yield ""
    if some:
        yield "On the sets that they take, beside HistGradientBoosting on the same ones:\n"
        yield _row("method", "sets", *MEASURES.values(), "AUC (two classes)", "fit time", "predict time")
        yield _rule(8)
        for name in some:
            own, base, count = summary.on(name)
            both = [f"{a} ({b})" for a, b in zip(_numbers(own)[:4], _numbers(base)[:4], strict=True)]
            yield _row(name, count, *both, *_numbers(own)[4:])
        yield ""


def duels(summary):
    """Wins, losses and ties against both boosters."""
    there = summary.wide("error").columns
    for other in (BOOSTING, LIGHT):
        if other not in there:
            continue
        yield f"Sets won / lost / level against {other} by set means, and p of the signed-rank test (`wilcoxon`):\n"
        yield _row("method", *(title for name in MEASURES.values() for title in (name, "p")))
        yield _rule(7)
        for name in there:
            if name not in (other, EBM):
                found = (summary.duel(name, other, measure) for measure in MEASURES)
                yield _row(name, *(cell for *counts, p in found for cell in (" / ".join(map(str, counts)), _p(p))))
        yield ""


def ranks(summary, path):
    """Friedman's test and the critical-difference figures."""
    for measure in ("log_loss", "error"):
        scores = summary.scores(measure)
        if min(scores.shape) < 2:
            continue
        called, file = MEASURES[measure], _beside(path, f"ranks-{measure.replace('_', '-')}")
        figures.ranks(nemenyi(scores, higher_is_better=False), called, file)
        yield f"Ranks by {called}: {friedman(scores, higher_is_better=False)}\n"
        yield f"![Average ranks by {called}]({file.name})\n"


def by_set(summary, measures):
    """One table a measure: sets by methods, the best in bold."""
    for measure in measures:
        table = summary.wide(measure).loc[summary.names].drop(columns=EBM, errors="ignore")
        size = summary.means["rows"].xs(BOOSTING, level="method")
        yield f"{MEASURES.get(measure, 'Seconds of a fit').capitalize()}:\n"
        yield _row("data set", "rows", *table.columns)
        yield _rule(2 + table.shape[1])
        for name, row in table.iterrows():
            cells = [_cell(value, measure, value == row.min()) for value in row]
            yield _row(name, f"{int(size[name]):,}", *cells)
        yield ""


def explainable(summary):
    """Small sets of two classes beside EBM."""
    if EBM not in summary.wide("error"):
        return
    shown = [name for name in ("AdditiveTables", "TabularClassifier", EBM, BOOSTING) if name in summary.wide("error")]
    tables = {measure: summary.wide(measure)[shown].dropna() for measure in ("error", "log_loss", "fit")}
    yield f"## Beside EBM: {len(tables['error'])} small sets of two classes\n"
    yield "Error / log loss / seconds of a fit. All such sets of the reporting half, and three of the other.\n"
    yield _row("data set", *shown)
    yield _rule(1 + len(shown))
    for name in [*tables["error"].index, "mean"]:
        of = {m: table.mean() if name == "mean" else table.loc[name] for m, table in tables.items()}
        yield _row(name, *(" / ".join(_cell(of[m][method], m) for m in tables) for method in shown))
    yield ""


def _large(summary):
    size = summary.means["rows"].xs(BOOSTING, level="method")
    return size.index[size > LARGE]


def _beside(path, name):
    return path.with_name(f"{path.stem}-{name}.svg")


def _numbers(found):
    scores = [_cell(found[name]) for name in (*MEASURES, "auc")]
    return [*scores, *(f"{found[name]:.2f}" for name in ("fit", "predict"))]


def _cell(value, measure="error", best=False):
    if value != value:
        return ""
    text = f"{value:.3f}" if measure != "fit" else f"{value:.2f}" if value < 10 else f"{value:.0f}"
    return f"**{text}**" if best else text


def _p(value):
    return "< .001" if value < 0.001 else f"{value:.3f}".lstrip("0")


def _row(*cells):
    return f"| {' | '.join(map(str, cells))} |"


def _rule(count):
    return "|" + "---|" * count
