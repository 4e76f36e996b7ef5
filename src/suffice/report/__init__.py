"""Pages about fitted models, and the building blocks of all pages."""

from suffice.report.model_page import explain

__all__ = ["explain"]
