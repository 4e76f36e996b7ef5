"""Linear scores: logistic regression."""
