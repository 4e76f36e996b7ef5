"""The laws of the library, for testing models, learners and engines of your own.

Each check raises AssertionError, which says which law is broken and how to reproduce it.
"""

from suffice.testing.engines import PickledPartitions, Traffic, check_engine, traffic
from suffice.testing.learners import check_learner
from suffice.testing.models import check_model

__all__ = ["PickledPartitions", "Traffic", "check_engine", "check_learner", "check_model", "traffic"]
