"""A table of one's own: reading it, and the methods that are compared on it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from sklearn import datasets as bundled
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import suffice
from suffice.experiments.datasets import Dataset, Library
from suffice.experiments.protocols import Folds
from suffice.experiments.store import Task
from suffice.experiments.table import Result, fit_and_measure
from suffice.learners import ClosedForm, RiskCalibration

EMBEDDED = ("breast_cancer", "digits", "iris", "wine")
MAX_CLASSES = 100
CHANCE = "most frequent class"


class TableError(ValueError):
    """A table cannot be used as it is; the message says what to do."""


@dataclass(frozen=True)
class Read:
    """What was read of a table: the rows, and a sentence for everything that was left out."""

    data: Dataset
    notes: tuple[str, ...]


def read_table(path: str, target: str | None, drop: tuple[str, ...] = ()) -> Read:
    """A CSV or Parquet file, or a data set that comes with scikit-learn, as features and labels."""
    table, target = _embedded(path) if path in EMBEDDED and not Path(path).exists() else (_file(path), target)
    if target is None:
        raise TableError(f"which column holds the classes? Say --target with one of: {_listed(table.column_names)}")
    _check_columns(table, target, drop)
    table = table.drop_columns([name for name in drop if name != target])
    notes: list[str] = []
    table = _labelled(table, target, notes)
    table = _useful(table, target, notes)
    data = Dataset.of(Path(path).name, table, target, str(path))
    return Read(_of_some_size(data, notes), tuple(notes))


def _embedded(name: str) -> tuple[pa.Table, str]:
    got = getattr(bundled, f"load_{name}")()
    columns = {str(feature): got.data[:, j] for j, feature in enumerate(got.feature_names)}
    return pa.table({**columns, "class": np.asarray(got.target_names)[got.target].astype(str)}), "class"


def _file(path: str) -> pa.Table:
    file = Path(path)
    if not file.exists():
        raise TableError(f"there is no file {path}; the data sets that need none are {_listed(EMBEDDED)}")
    if file.is_dir() or not os.access(file, os.R_OK):
        raise TableError(f"{path} is not a file that can be read")
    if file.stat().st_size == 0:
        raise TableError(f"{path} is empty")
    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            table = pq.read_table(file)
        else:
            table = pcsv.read_csv(
                file,
                parse_options=pcsv.ParseOptions(delimiter=_delimiter(file)),
                convert_options=pcsv.ConvertOptions(strings_can_be_null=True),
            )
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError) as error:
        raise TableError(f"{path} cannot be read as a table: {str(error).splitlines()[0]}") from error
    if not table.num_rows:
        raise TableError(f"{path} has a header and no rows")
    return table


def _delimiter(file: Path) -> str:
    """The separator that the first line has most of."""
    with file.open(encoding="utf-8", errors="replace") as text:
        line = text.readline()
    return max((",", ";", "\t", "|"), key=line.count)


def _check_columns(table: pa.Table, target: str, drop: tuple[str, ...]) -> None:
    names = table.column_names
    for name in (target, *drop):
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise TableError(f"there is no column {name!r}.{hint} The columns are: {_listed(names)}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"more than one column is called {_listed(twice)}: give every column a name of its own")


def _labelled(table: pa.Table, target: str, notes: list[str]) -> pa.Table:
    """The rows that have a label, if the labels are classes at all."""
    known = table[target].is_valid()
    lost = table.num_rows - int(np.sum(known.to_numpy()))
    if lost:
        notes.append(f"{lost} rows have no {target!r} and are left out")
        table = table.filter(known)
    kinds = len(table[target].unique())
    if not table.num_rows:
        raise TableError(f"no row has a value in {target!r}")
    if kinds == 1:
        raise TableError(f"{target!r} has one value only, {table[target][0].as_py()!r}: there is nothing to tell apart")
    if kinds > MAX_CLASSES or (pa.types.is_floating(table[target].type) and kinds > table.num_rows / 4):
        raise TableError(
            f"{target!r} has {kinds} different values in {table.num_rows} rows: that is a quantity or a name, not a "
            "class. Choose another --target, or make classes of it (for example above and below its median)"
        )
    return table


def _useful(table: pa.Table, target: str, notes: list[str]) -> pa.Table:
    """The columns that can say something about a row that was never seen."""
    for name in table.column_names:
        column = table[name]
        if name == target:
            continue
        values = len(column.drop_null().unique())
        why = None
        if values <= 1:
            why = "has no values" if not values else "has one value only"
        elif _is_text(column) and values > max(20, 0.5 * table.num_rows):
            why = f"is text with {values} different values, as names and numbers of rows are"
        elif not (_is_text(column) or _is_number(column)):
            why = f"holds neither numbers nor text but {column.type}"
        if why:
            notes.append(f"the column {name!r} {why}, and is left out")
            table = table.drop_columns([name])
    if table.num_columns == 1:
        raise TableError(f"besides {target!r} there is no column to learn from")
    return table


def _is_text(column: pa.ChunkedArray) -> bool:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(column: pa.ChunkedArray) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(column.type) for test in tests)


def _of_some_size(data: Dataset, notes: list[str]) -> Dataset:
    """Without classes that are too small to be in a training and a test part."""
    labels, size = np.unique(data.y, return_counts=True)
    small = labels[size < 2]
    if len(small):
        notes.append(f"the classes {_listed(small.tolist())} have one row only, and are left out")
        data = data.rows(~np.isin(data.y, small))
    if len(labels) - len(small) < 2:
        raise TableError("fewer than two classes have two rows or more: there is nothing to compare on")
    return data


def _listed(names: Any, most: int = 12) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")


# Methods


def _numbers(data: Dataset) -> ColumnTransformer:
    """Numbers standardised, categories as columns of 0 and 1; a missing number is the median, a category its own."""
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(_filled(), StandardScaler()), np.flatnonzero(~data.categorical)),
            ("categories", _one_hot(), np.flatnonzero(data.categorical)),
        ]
    )


def _categories(data: Dataset) -> ColumnTransformer:
    """Numbers in five bins by k-means; categories as they are."""
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None, random_state=0)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(_filled(), bins), np.flatnonzero(~data.categorical)),
            ("categories", "passthrough", np.flatnonzero(data.categorical)),
        ]
    )


def _filled() -> SimpleImputer:
    return SimpleImputer(strategy="median", keep_empty_features=True)


def _one_hot() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=30)


Make = Callable[[int], Any]
OURS: dict[str, tuple[Callable[[Dataset], Any], Make]] = {
    "CategoricalNB": (_categories, lambda _: suffice.CategoricalNB()),
    "CategoricalNB + RC": (_categories, lambda _: suffice.CategoricalNB(learner=RiskCalibration())),
    "GaussianNB": (_numbers, lambda _: suffice.GaussianNB()),
    "GaussianNB + RC": (_numbers, lambda _: suffice.GaussianNB(learner=RiskCalibration())),
    "LDA": (_numbers, lambda _: suffice.LinearDiscriminantAnalysis()),
    "LDA + RC": (_numbers, lambda _: suffice.LinearDiscriminantAnalysis(learner=RiskCalibration())),
    "QDA": (_numbers, lambda _: suffice.QuadraticDiscriminantAnalysis()),
    "QDA + RC": (_numbers, lambda _: suffice.QuadraticDiscriminantAnalysis(learner=RiskCalibration())),
    "LR closed form": (_numbers, lambda _: suffice.LogisticRegression(learner=ClosedForm())),
    "LR + RC": (_numbers, lambda _: suffice.LogisticRegression(learner=RiskCalibration())),
    "LR Newton": (_numbers, lambda _: suffice.LogisticRegression()),
    "Fisher": (_numbers, lambda _: suffice.FisherDiscriminant()),
    "Scatter": (_numbers, lambda _: suffice.ScatterDiscriminant()),
    "MPM": (_numbers, lambda _: suffice.MinimaxProbabilityMachine()),
    "MEMPM": (_numbers, lambda _: suffice.MinimumErrorMPM()),
    "Quasi-Bayes": (_numbers, lambda _: suffice.QuasiBayes()),
    "Linear Bayes": (_numbers, lambda _: suffice.LinearBayes()),
}
BASELINES: dict[str, tuple[Callable[[Dataset], Any], Make]] = {
    "kNN": (_numbers, lambda _: KNeighborsClassifier()),
    "SVM": (_numbers, lambda seed: SVC(random_state=seed)),
    "decision tree": (_numbers, lambda seed: DecisionTreeClassifier(random_state=seed)),
    "neural network": (_numbers, lambda seed: MLPClassifier(max_iter=500, random_state=seed)),
    "logistic regression": (_numbers, lambda _: TheirLogisticRegression(max_iter=1000)),
    "gradient boosting": (_numbers, lambda seed: HistGradientBoostingClassifier(random_state=seed)),
    CHANCE: (_numbers, lambda _: DummyClassifier()),
}
METHODS = {**OURS, **BASELINES}


def chosen(names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The methods of these names, whatever their capitals, or all; the rule of chance always takes part."""
    if not names:
        return tuple(METHODS)
    known = {name.lower(): name for name in METHODS}
    strange = [name for name in names if name.strip().lower() not in known]
    if strange:
        raise TableError(f"there is no method {_listed(strange)}; the methods are: {', '.join(METHODS)}")
    return tuple(dict.fromkeys([*(known[name.strip().lower()] for name in names), CHANCE]))


@dataclass(frozen=True)
class OwnTable:
    """A comparison on one table: the same folds for every method, all preprocessing learned from the training part."""

    path: str
    target: str | None
    drop: tuple[str, ...]
    methods: tuple[str, ...]
    folds: int = 10
    seed: int = 0
    name: str = "compare"

    def read(self) -> Read:
        """The rows."""
        return _read_once(self.path, self.target, self.drop)

    def protocol(self) -> Folds:
        """As many folds as were asked for, or as the smallest class has rows."""
        smallest = int(np.unique(self.read().data.y, return_counts=True)[1].min())
        return Folds(max(2, min(self.folds, smallest)), seed=self.seed)

    def tasks(self, quick: bool = False) -> list[Task]:
        """Every method on every fold."""
        folds = 2 if quick else self.protocol().repeats
        every = ((fold, method) for fold in range(folds) for method in self.methods)
        return [Task(self.name, self.read().data.name, method, fold) for fold, method in every]

    def needs(self, task: Task) -> None:
        """No data set of the registry."""

    def run(self, task: Task, library: Library) -> tuple[Result, dict[str, float]]:  # noqa: ARG002 - the table is a file
        """One method on one fold."""
        data = self.read().data
        prepare, make = METHODS[task.method]
        model = make_pipeline(prepare(data), make(self.seed + task.split))
        return fit_and_measure(model, data, self.protocol().split(data.y, task.split), keep_wrong=True)


@cache
def _read_once(path: str, target: str | None, drop: tuple[str, ...]) -> Read:
    return read_table(path, target, drop)
