"""Which classes may be in a model file, and what they are called there."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from suffice._domain import Domain, Features
from suffice._vector import Vector
from suffice.encoders._base import Encoder
from suffice.models import rules
from suffice.models._base import Model
from suffice.models._statistics import Statistics, Sums

Function: TypeAlias = Callable[..., Any]

APART = (
    "cli",
    "commands",
    "compare",
    "data",
    "files",
    "model_selection",
    "plotting",
    "report",
    "tables",
    "testing",
)  # whose values are no part of a model
KINDS = (BaseEstimator, Model, Statistics, Sums, Encoder, Features, Domain)  # what a fitted estimator keeps,
PARTS = frozenset(  # with parameters, and what all these are made of
    {
        *("Notice", "learners.Fit"),
        *(f"encoders.{name}" for name in ("Coarse", "Range", "Role", "Trees")),
        *(f"models.{name}" for name in ("Contest", "Designed", "Level", "Margins", "Source", "Tree")),
        *(
            f"models.{name}"
            for name in ("Chances", "Diagonal", "Factors", "Full", "Linear", "Plane", "Rates", "Tables")
        ),
        "models.WordProbabilities",
    }
)
ANSWERS = frozenset(  # sums that are no vectors
    {"learners.Leads", *(f"encoders.{name}" for name in ("Counted", "Growth", "Rows", "Sample", "Survey"))}
)
LATER = ("suffice.features",)  # which `import suffice` leaves out
FUNCTIONS: dict[str, Function] = {
    f"models.{f.__name__}": f
    for f in (
        rules.fisher,
        rules.scatter,
        rules.minimax,
        rules.quasi_bayes,
        rules.minimum_error,
        rules.linear_bayes,
    )
}


def class_name(cls: type) -> str:
    """What a class of the library is called in a file: by its package, so that it may move within that.

    >>> from suffice.models import Moments
    >>> class_name(Moments)
    'models.Moments'
    """
    package = cls.__module__.split(".")[1]
    return cls.__name__ if package.startswith("_") else f"{package}.{cls.__name__}"


def is_named_tuple(cls: type) -> bool:
    """Whether a class is a tuple with named fields."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _storable(cls: type) -> bool:
    kept = issubclass(cls, KINDS) or class_name(cls) in PARTS
    made = is_dataclass(cls) or is_named_tuple(cls) or issubclass(cls, BaseEstimator)
    return kept and made and not inspect.isabstract(cls)


def _own() -> Iterator[type]:
    """The classes that the modules of the library define, of those modules that are imported."""
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        if parts[0] == "suffice" and len(parts) > 1 and parts[1] not in APART:
            yield from (c for c in vars(module).values() if isinstance(c, type) and c.__module__ == name)


def classes(everything: bool = False) -> dict[str, type]:
    """By its name in a file, each class that a fitted estimator keeps; nothing else is ever made from a file.

    What is not imported yet is left out, unless `everything` is asked for: no name in a file imports anything else.
    """
    for name in LATER if everything else ():
        import_module(name)
    return {"sklearn.Pipeline": Pipeline} | {class_name(c): c for c in _own() if _storable(c)}


def answer_classes() -> dict[str, type]:
    """By its name in a file, each class that a sum over rows may be of: a checkpoint holds these."""
    return classes() | {class_name(c): c for c in _own() if issubclass(c, Vector) or class_name(c) in ANSWERS}


def warning_classes() -> dict[str, type[Warning]]:
    """By its name in a file, each kind of warning that a fit may have kept."""
    own = {class_name(c): c for c in _own() if issubclass(c, Warning)}
    return {"UserWarning": UserWarning, "ConvergenceWarning": ConvergenceWarning} | own
