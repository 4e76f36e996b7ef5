"""How good a classifier is on rows that it has not learned, from sums that are read once."""

from suffice.model_selection.search import GridSearch
from suffice.model_selection.validation import cross_validate

__all__ = ["GridSearch", "cross_validate"]
