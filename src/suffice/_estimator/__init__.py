"""The base estimator."""
