"""Tables of a database: answers by query, and sums by query."""

from suffice.data.sql._engine import SQL, Query, Scoring

__all__ = ["SQL", "Query", "Scoring"]
