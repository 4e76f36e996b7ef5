"""The laws of the library, for testing models, learners and engines of your own.

Each check raises AssertionError, which says which law is broken and how to reproduce it.
"""

from suffice.testing.engines import PickledPartitions, check_engine
from suffice.testing.learners import check_learner
from suffice.testing.models import check_model
from suffice.testing.traffic import Traffic, traffic

__all__ = ["PickledPartitions", "Traffic", "check_engine", "check_learner", "check_model", "traffic"]
