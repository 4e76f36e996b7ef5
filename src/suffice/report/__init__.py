"""Reports: classifiers compared on a table of one's own, and pages about fitted models."""

from suffice.report.model_page import explain

__all__ = ["explain"]
