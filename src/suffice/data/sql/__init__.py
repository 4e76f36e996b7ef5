"""Tables of a database: answers by query, and sums by query."""

from suffice.data.sql._engine import SQL, Query, Scoring
from suffice.data.sql._rows import SQLRows

__all__ = ["SQL", "Query", "SQLRows", "Scoring"]
