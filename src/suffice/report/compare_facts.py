"""What a comparison was made of: the columns of the table, settings and versions, and code that repeats the winner."""

from __future__ import annotations

import platform
from dataclasses import fields
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

import suffice
from suffice.report import page
from suffice.report.contest import Contest, Findings
from suffice.report.dataset import Dataset
from suffice.report.methods import METHODS, Method
from suffice.report.own import EMBEDDED, Read
from suffice.report.page import Heading, Html, Value
from suffice.report.verdict import Comparison
from suffice.tables import Reading, counted

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "interpret-core")


def the_table(read: Read) -> Html:
    """Columns, kinds, what is missing, and the classes."""
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
    said = (
        f"{len(data.y):,} rows; {counted(int((~data.categorical).sum()), 'column')} of numbers and "
        f"{int(data.categorical.sum()):,} of categories; missing values: {int(missing.sum()):,}."
    )
    return page.join(
        [
            page.bullets([said, *read.notes]),
            page.block("Classes", page.data_table(["class", "rows", "%"], classes, "Classes", filtered=False)),
            page.block("Columns", page.data_table(heads, rows, "Columns", filtered=False)),
        ]
    )


class Asked(NamedTuple):
    """How a comparison was asked for: the column of the classes, rows to sample, and the command."""

    target: str | None = None
    sample: int | None = None
    command: str = ""


def how_it_was_done(comparison: Comparison, found: Findings, contest: Contest, asked: Asked) -> Html:
    """Folds, preparation, versions, the command, and the winner as a program."""
    facts = [
        f"{found.folds} folds, stratified and shuffled (seed {contest.seed}), the same for every method. What is "
        "learned besides the classifier (medians for missing numbers, scales, bins, columns for categories) is learned "
        "from the training part of each fold.",
        *found.notes,
        f"It took {found.seconds:.0f} s{_compiled(found)}" + (", and was interrupted." if found.interrupted else "."),
        f"{', '.join(versions())}; {platform.system()} {platform.machine()}.",
    ]
    if asked.command:
        facts.append(page.join(["Command: ", page.tag("code", asked.command)]))
    blocks = [page.bullets(facts)]
    if comparison.usable:
        best = METHODS[comparison.best.method]
        note = f"Python that measures {best.name} again; the last line fits it on all rows."
        blocks.append(page.block("The winner as a program", page.code(program(best, found, contest, asked)), note=note))
    return page.join(blocks)


def _compiled(found: Findings) -> str:
    return f", {found.compiling:.0f} s of these to compile, once" if found.compiling else ""


def versions() -> list[str]:
    """The packages that took part, with their versions."""
    found = [f"Python {platform.python_version()}", f"suffice {suffice.__version__}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return found


class _Named(str):
    """A name that stands in code as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def program(method: Method, found: Findings, contest: Contest, asked: Asked) -> str:
    """Python code that cross-validates a method on the same folds and fits it on all rows."""
    model, data = method.make(contest.seed), contest.table.data
    parts, steps = [model], []
    if method.prepare is not None:
        prepared = method.prepare(_Named("numbers"), _Named("categories"))
        parts.append(prepared)
        steps += [f"{name} = {_names(data, kind)}" for name, kind in (("numbers", False), ("categories", True))]
        steps.append(f"columns = {_code(prepared)}")
    steps.append(
        f"model = {_code(model)}" if method.prepare is None else f"model = make_pipeline(columns, {_code(model)})"
    )
    if method.draws_categories and data.categorical.any():
        steps.append("# categories are text here and were numbers there: trees that draw them differ a little")
    steps += [
        f"folds = StratifiedKFold({found.folds}, shuffle=True, random_state={contest.seed})",
        "print(1 - cross_val_score(model, X, y, cv=folds))",
        "model.fit(X, y)",
    ]
    size = found.rows if found.rows < len(data.y) else asked.sample
    imports, reading = _rows(contest, asked.target, size)
    imports |= {f"from {_home(type(one))} import {type(one).__name__}" for part in parts for one in _all_parts(part)}
    imports.add("from sklearn.model_selection import StratifiedKFold, cross_val_score")
    if method.prepare is not None:
        imports.add("from sklearn.pipeline import make_pipeline")
    return "\n".join([*sorted(imports), "", *reading, *steps]) + "\n"


def _rows(contest: Contest, target: str | None, size: int | None) -> tuple[set[str], list[str]]:
    """Code that reads X and y."""
    data = contest.table.data
    if data.source in EMBEDDED:
        imports = {f"from sklearn.datasets import load_{data.source}"}
        steps = [f"table = load_{data.source}(as_frame=True)", "X, y = table.data, table.target_names[table.target]"]
        steps.append(f"X = X[{list(data.names)!r}]")
    else:
        imports = {"from suffice.tables import Reading, in_days, read_classes"}
        reading = f"read_classes({data.source!r}, {target!r}, {_reading(contest.table.how)}, many=True)"
        steps = [f"sheet, target = {reading}", "table = in_days(sheet, target).table.to_pandas()"]
        steps.append(f"X, y = table[{list(data.names)!r}], table[{target!r}].astype(str).to_numpy()")
        numbers = [name for name, codes in zip(data.names, data.categorical, strict=True) if not codes]
        steps.append(f"X = X.astype(dict.fromkeys({numbers!r}, float))  # truth values too")
    if size is not None:
        imports |= {"import numpy as np", "from sklearn.model_selection import train_test_split"}
        steps.append(
            f"rows, _ = train_test_split(np.arange(len(y)), train_size={size}, stratify=y, random_state={contest.seed})"
        )
        steps += ["rows = np.sort(rows)", "X, y = X.iloc[rows], y[rows]"]
    return imports, steps


def _reading(how: Reading) -> str:
    """How the file was read, as code: what is not as usual."""
    told = {one.name: getattr(how, one.name) for one in fields(how) if getattr(how, one.name) != one.default}
    return f"Reading({', '.join(f'{name}={value!r}' for name, value in told.items())})"


def _names(data: Dataset, categories: bool) -> str:
    return repr([name for name, kind in zip(data.names, data.categorical, strict=True) if kind == categories])


def _code(model: Any) -> str:
    return str(model.__repr__(N_CHAR_MAX=10**6))


def _all_parts(model: Any) -> list[BaseEstimator]:
    """An estimator and the estimators among its settings."""
    inner = model.get_params(deep=True).values() if hasattr(model, "get_params") else ()
    return [model, *(one for one in inner if isinstance(one, BaseEstimator))]


def _home(kind: type) -> str:
    """Where a class is imported from: the shortest public module that has it."""
    parts = [part for part in kind.__module__.split(".") if not part.startswith("_")]
    for length in range(1, len(parts) + 1):
        module = ".".join(parts[:length])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return module
    return kind.__module__
