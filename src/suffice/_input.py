"""Reading features: arrays and data frames into numbers, or into tables of categories."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from suffice._domain import Coded
from suffice._vector import Array

_TEXT = (nw.String, nw.Categorical, nw.Enum)


def _frame(X: Any) -> nw.DataFrame[Any] | None:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def numbers(X: Any, who: str, missing: bool = False) -> Array:
    """Features as an array (n, d) of floats; NaN only where a missing value has a meaning."""
    frame = _frame(X)
    text = [] if frame is None else [column.name for column in frame.iter_columns() if column.dtype in _TEXT]
    if text:
        raise ValueError(f"{who} takes numbers, but the columns {text} hold none: encode them, or use CategoricalNB")
    finite = "allow-nan" if missing else True
    return np.asarray(check_array(X, dtype=np.float64, ensure_all_finite=finite, estimator=who, input_name="X"))


def categories(X: Any, who: str) -> Coded:
    """Features as a table of categories: every distinct value of a column is one, a missing value is none."""
    frame = _frame(X)
    if frame is None:
        array = check_array(X, dtype=None, ensure_all_finite=False, estimator=who, input_name="X", order="F")
        return Coded.of(array.T)
    return Coded.of((_values(column) for column in frame.iter_columns()), tuple(map(str, frame.columns)))


def _values(column: nw.Series[Any]) -> Array:
    null = column.is_null().to_numpy()
    if not null.any():
        return np.asarray(column.to_numpy())
    values = np.full(len(null), None, dtype=object)  # whole numbers stay whole beside a missing one
    values[~null] = column.drop_nulls().to_numpy()
    return values
