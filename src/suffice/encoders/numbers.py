"""Columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from suffice._domain import Encoded, Features
from suffice.encoders._base import Encoder, frame_of, names_of

_TEXT = (nw.String, nw.Categorical, nw.Enum)


@dataclass(frozen=True)
class Numbers(Encoder):
    """Every column is a number: an array (n, d) of floats; float32 stays what it is.

    Parameters
    ----------
    missing : bool, default=False
        Whether NaN stands for a missing value; if not, it is refused.
    who : str, default="This model"
        Whom messages speak of.

    Examples
    --------
    >>> Numbers()([[1, 2], [3, 4]]).values
    array([[1., 2.],
           [3., 4.]])
    """

    missing: bool = False
    who: str = "This model"

    def encode(self, X: Any) -> Encoded:
        frame = frame_of(X)
        text = [] if frame is None else [column.name for column in frame.iter_columns() if column.dtype in _TEXT]
        if text:
            raise ValueError(
                f"{self.who} takes numbers, but the columns {text} hold none: encode them, or use CategoricalNB"
            )
        values = check_array(
            X,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if self.missing else True,
            ensure_min_samples=0,
            estimator=self.who,
            input_name="X",
        )
        return Encoded(Features(values.shape[1], None if frame is None else names_of(frame)), values)
