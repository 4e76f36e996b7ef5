"""The index of a data frame in a file: pandas stores it as columns, and says in the schema which ones."""

from __future__ import annotations

import json
from typing import Any


def index_columns(schema: Any) -> list[str]:
    """The columns of an Arrow schema that are the index of a pandas data frame, whatever they are called.

    They number or name rows, so they are features only where somebody asks for them by name. An index that counts the
    rows is not a column. A description that cannot be read is taken for none.

    >>> import pandas as pd, pyarrow as pa
    >>> index_columns(pa.Schema.from_pandas(pd.DataFrame({"a": [1]}, index=pd.Index(["u"], name="id"))))
    ['id']
    """
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except ValueError:
        return []
    levels = said.get("index_columns") if isinstance(said, dict) else None
    return [name for name in schema.names if isinstance(levels, list) and name in levels]
