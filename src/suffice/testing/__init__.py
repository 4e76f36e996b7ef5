"""The laws of the library, importable: a model, a learner or an engine of your own can be held to them.

Each check raises AssertionError with a sentence that says which law is broken and how to see it again.
"""

from suffice.testing.engines import PickledPartitions, check_engine
from suffice.testing.learners import check_learner
from suffice.testing.models import check_model
from suffice.testing.traffic import Traffic, traffic

__all__ = ["PickledPartitions", "Traffic", "check_engine", "check_learner", "check_model", "traffic"]
