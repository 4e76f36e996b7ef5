"""Sums by query: the sums that the rows of a database offer, and how a function of batches uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from suffice._core.vector import Array


class Power(NamedTuple):
    """Sums of weights, of x - o and of its squares by class; squares are matrices (k, d, d) or diagonals (k, d)."""

    origin: Array  # (k, d)
    weight: Array  # (k, d), or (k, 1) with matrices
    first: Array  # (k, d)
    second: Array


if TYPE_CHECKING:
    from suffice.data.sql import SQLRows

    DatabaseRows: TypeAlias = SQLRows
else:
    DatabaseRows = Any  # importing the rows of a database would import its package


def queried(f: Any, rows: DatabaseRows) -> Any:
    """The sum of f over all rows, by query; TypeError if f has none."""
    query = getattr(f, "query", None)
    if query is None:
        name = getattr(f, "__name__", type(f).__name__)
        raise TypeError(
            f"this cannot be learned in a database ({name} has no query): tables, normal densities, planes and "
            "NaiveBayes can, with learner=ClosedForm() or RiskCalibration(); or take the rows into memory"
        )
    return query(rows)


def changed(change: Any, rows: DatabaseRows) -> DatabaseRows:
    """The rows after a change of each batch; TypeError if SQL cannot express it."""
    columns = getattr(change, "sql_columns", None)
    if columns is None:
        raise TypeError(
            f"{type(change).__name__} changes or draws single rows, which SQL cannot do here: use a "
            "learner without minibatches, samples or splits, or take the rows into memory"
        )
    found: DatabaseRows = columns(rows)
    return found
