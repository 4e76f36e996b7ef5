"""The roles of the columns of a table: labels, weights, keys and features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from suffice._core.labels import OneHot, show_all, unlabelled
from suffice._core.vector import Array
from suffice._runtime.factorize import looked_up
from suffice._runtime.messages import emit
from suffice.data.base import Batch


class DataError(ValueError):
    """Rows cannot be read or learned from; the message names the file or partition."""


@contextmanager
def located(where: str) -> Iterator[None]:
    """Raise errors of rows as a DataError that begins with their place.

    >>> with located("part 3"):
    ...     raise ValueError("no labels")
    Traceback (most recent call last):
    suffice.data.layout.DataError: part 3: no labels
    """
    try:
        yield
    except DataError:
        raise
    except (ValueError, TypeError) as error:
        raise DataError(f"{where}: {error}") from error


@dataclass(frozen=True)
class Layout:
    """The roles of the columns of a table, as a value that can be sent to the rows.

    Parameters
    ----------
    target : str, default=None
        The column with the labels. Rows without a label are left out of sums, with a warning; without a target, rows
        can be predicted, not learned from.
    weight : str, default=None
        The column with the row weights.
    columns : tuple of str, default=None
        The columns with the features; by default all other columns.
    keys : tuple of str, default=()
        Columns that identify rows: they are returned with the predictions, and are not features.

    Examples
    --------
    >>> import pandas as pd
    >>> layout = Layout("y", keys=("id",))
    >>> table = pd.DataFrame({"id": [7, 8], "x": [1.5, 2.0], "y": ["a", "b"]})
    >>> batch = layout.batch(table)
    >>> list(batch.X.columns), batch.Y.classes.tolist()
    (['x'], ['a', 'b'])
    """

    target: str | None = None
    weight: str | None = None
    columns: tuple[str, ...] | None = None
    keys: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, target: str | None, weight: str | None, columns: Sequence[str] | None, keys: str | Sequence[str]
    ) -> Layout:
        """From the arguments of an engine, checked."""
        keys = (keys,) if isinstance(keys, str) else tuple(keys)
        if isinstance(columns, str):
            raise TypeError(f"columns must be None or a list of names, got {columns!r}")
        features = None if columns is None else tuple(columns)
        named = [name for name in (target, weight, *keys) if name is not None]
        wrong = [name for name in (*named, *(features or ())) if not isinstance(name, str)]
        if wrong:
            raise TypeError(f"target, weight, columns and keys are names of columns, got {show_all(wrong)}")
        again = sorted({name for name in features or () if (features or ()).count(name) > 1})
        if again:
            raise ValueError(f"columns has {show_all(again)} more than once: name each feature once")
        twice = sorted({name for name in named if named.count(name) > 1} | set(named).intersection(features or ()))
        if twice:
            raise ValueError(f"a column is the target, the weight, a key or a feature, not two of them: {twice}")
        return cls(target, weight, features, keys)

    @property
    def beside(self) -> list[str]:
        """The columns of the labels and the weights."""
        return [name for name in (self.target, self.weight) if name is not None]

    @property
    def named(self) -> set[str]:
        """All columns that are given by name."""
        return {name for name in (self.target, self.weight, *(self.columns or ()), *self.keys) if name is not None}

    def check_labels(self) -> None:
        """ValueError if there is no column with labels."""
        if self.target is None:
            raise ValueError(no_labels("target= with the name of a column"))

    def without_labels(self) -> Layout:
        """The same layout without labels: all rows are of one class."""
        return Unlabelled(self.target, self.weight, self.columns, self.keys)

    def features(self, names: Sequence[str]) -> list[str]:
        """The names of the features among all columns; ValueError if a given one is missing."""
        self.check(names, self.columns or ())
        others = {self.target, self.weight, *self.keys}
        found = [name for name in names if name not in others] if self.columns is None else list(self.columns)
        if not found:
            raise ValueError(f"no column is left for features: there are {show_all(names)}")
        return found

    def needed(self, names: Sequence[str], labels: bool) -> list[str]:
        """The columns to read: features with labels and weights (`labels`), or with keys."""
        if not labels:
            self.check(names, self.keys)
            return [*self.keys, *self.features(names)]
        self.check(names, self.beside)
        return [*self.features(names), *self.beside]

    def check(self, names: Sequence[str], needed: Sequence[str]) -> None:
        """ValueError unless all needed columns are there."""
        lost = [name for name in needed if name not in set(names)]
        if lost:
            raise ValueError(f"there is no column {show_all(lost)}; the columns are {show_all(names)}")

    def batch(self, table: Any) -> Batch:
        """The rows of a data frame of any library, with their labels; those without one or of weight 0 are left out."""
        self.check_labels()
        frame = nw.from_native(table, eager_only=True)
        self.needed(frame.columns, labels=True)
        weight, known = self._weights(frame), self._known(frame)
        counts = known if weight is None else known & (weight > 0)
        if not counts.all():
            rows = np.flatnonzero(counts)
            frame, weight = frame[rows.tolist(), :], None if weight is None else weight[rows]
        labels = replace(self._labels(frame, weight), unlabelled=len(known) - int(known.sum()))
        return Batch(frame.select(self.features(frame.columns)).to_native(), labels)

    def rows(self, table: Any) -> Any:
        """The features of a data frame, as one of the same library."""
        frame = nw.from_native(table, eager_only=True)
        return frame.select(self.features(frame.columns)).to_native()

    def answers(self, table: Any, f: Callable[[Any], Any]) -> dict[str, Any]:
        """The key columns of some rows, and after them the columns of f of their features, by name."""
        frame = nw.from_native(table, eager_only=True)
        self.check(frame.columns, self.keys)
        keys: dict[str, Any] = {name: frame.get_column(name).to_native() for name in self.keys}
        found = answer_columns(f(frame.select(self.features(frame.columns)).to_native()), names_of(f))
        check_apart(keys, found)
        return keys | found

    def _known(self, frame: nw.DataFrame[Any]) -> Array:
        """Which rows (n,) have a label."""
        column = frame.get_column(str(self.target))
        gone = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
        return np.asarray(~gone.to_numpy().astype(bool)) if gone.any() else np.ones(len(frame), dtype=bool)

    def _labels(self, frame: nw.DataFrame[Any], weight: Array | None) -> OneHot:
        return _one_hot(frame.get_column(str(self.target)), str(self.target), weight)

    def _weights(self, frame: nw.DataFrame[Any]) -> Array | None:
        if self.weight is None:
            return None
        try:
            weight = np.asarray(frame.get_column(self.weight).to_numpy(), dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the weights in column {self.weight!r} are not numbers ({error})") from error
        if not (np.isfinite(weight) & (weight >= 0)).all():
            raise ValueError(wrong_weights(self.weight))
        return weight


@dataclass(frozen=True)
class Unlabelled(Layout):
    """A layout without labels: all rows are of one class, and the column of the labels need not exist.

    >>> import pandas as pd
    >>> Layout("y").without_labels().batch(pd.DataFrame({"x": [1.5, 2.0], "y": ["a", None]})).Y.codes
    array([0, 0])
    """

    @property
    def beside(self) -> list[str]:
        return [] if self.weight is None else [self.weight]

    def check_labels(self) -> None:
        """No labels are needed."""

    def _known(self, frame: nw.DataFrame[Any]) -> Array:
        return np.ones(len(frame), dtype=bool)

    def _labels(self, frame: nw.DataFrame[Any], weight: Array | None) -> OneHot:
        return one_class(len(frame), weight)


def _one_hot(column: nw.Series[Any], called: str, weight: Array | None) -> OneHot:
    """Labels (n,), of which none is missing, with their weights."""
    if column.dtype.is_nested():
        raise ValueError(f"column {called!r} holds {column.dtype}, and labels are single values: take one out of each")
    native = column.to_native()
    if not len(column) or not hasattr(native, "dictionary_encode"):
        return OneHot.of(np.asarray(column.to_numpy()), weight)
    flat = _without_dictionary(native).combine_chunks()
    if str(flat.type).startswith(("int", "uint")):
        return OneHot.of_checked(flat.to_numpy(), weight)
    # Arrow finds the distinct labels many times as fast as NumPy.
    found = flat.dictionary_encode()
    values = found.dictionary.to_numpy(zero_copy_only=False)
    values = values.astype(str) if str(flat.type).endswith("string") else values  # as the commands have them
    # Repeated, because scikit-learn warns of labels that are nearly all different.
    distinct = OneHot.of(np.tile(values, 3))
    codes = looked_up(distinct.codes[: len(values)], found.indices.to_numpy())
    return OneHot(distinct.classes, codes, weight)


def one_class(n: int, weight: Array | None = None) -> OneHot:
    """Labels of n rows that are all of one class."""
    return OneHot(np.zeros(1), np.zeros(n, np.int8), weight)


def _without_dictionary(column: Any) -> Any:
    """A column of Arrow with plain values."""
    return column.cast(column.type.value_type) if str(column.type).startswith("dictionary") else column


def no_labels(give: str, who: str = "this data set") -> str:
    """The error of a data set without labels, with what to give."""
    return f"{who} has no labels to learn from: give {give}"


def warn_once(count: int, warned: list[bool]) -> None:
    """Warn that rows have no label, unless that was said before; `warned` remembers it."""
    if count and not warned:
        warned.append(True)
        emit(unlabelled(count))


def wrong_weights(called: str) -> str:
    """The error of a column with invalid weights."""
    return f"the weights in column {called!r} must be finite numbers of at least 0"


def check_apart(keys: Iterable[str], answers: Iterable[str]) -> None:
    """ValueError if a key has the name of an answer."""
    clash = sorted(set(keys).intersection(answers))
    if clash:
        raise ValueError(f"the key {clash[0]!r} is also the name of an answer: rename that column")


def names_of(f: Callable[[Any], Any]) -> tuple[str, ...]:
    """The names of the columns of f's answers; () if f has none."""
    return tuple(getattr(f, "names", ()) or ())


def answer_columns(values: Any, names: Sequence[str] = ()) -> dict[str, Array]:
    """Answers (n,) or (n, k) as columns by name.

    >>> answer_columns(np.array([[0.25, 0.75]]), ["p(a)", "p(b)"])
    {'p(a)': array([0.25]), 'p(b)': array([0.75])}
    """
    values = np.asarray(values)
    columns = [values] if values.ndim == 1 else list(values.T)
    names = names if len(names) == len(columns) else [f"answer {j}" for j in range(len(columns))]
    return dict(zip(names, columns, strict=True))
