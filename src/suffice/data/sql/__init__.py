"""Tables of a database: answers by query, and sums by query."""

from suffice.data.sql._engine import SQL, Query
from suffice.data.sql._scoring import Scoring

__all__ = ["SQL", "Query", "Scoring"]
