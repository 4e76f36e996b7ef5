"""The shapes that arrays have in objects, which hold whatever a file says."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from suffice._core.features import CategoricalFeatures, Domain, Features
from suffice._core.vector import Array, Vector
from suffice.encoders.base import Encoder
from suffice.models.base import Model
from suffice.models.planes import rules
from suffice.models.statistics import Statistics, Sums
from suffice.persistence.archive import ModelFileError

Function: TypeAlias = Callable[..., Any]

APART = (
    "cli",
    "compare",
    "data",
    "model_selection",
    "persistence",
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
    {"learners.Leads", *(f"encoders.{name}" for name in ("Counted", "Growth", "TreeRows", "Sample", "Survey"))}
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


OUTPUT = "_sklearn_output_config"  # where scikit-learn keeps what set_output was told
EVERY = {"n_features_in_": int, "feature_names_in_": Array, OUTPUT: dict[str, str]}  # what it keeps of any estimator


@cache
def attributes(cls: type) -> dict[str, Any]:
    """What an estimator may have besides its settings, with types: all that its classes annotate."""
    hints = {name: hint for name, hint in get_type_hints(cls).items() if get_origin(hint) is not ClassVar}
    return {name: hint for name, hint in (EVERY | hints).items() if name not in parameters(cls)}


@cache
def parameters(cls: type) -> dict[str, Any]:
    """The parameters of an estimator, with defaults (or `inspect.Parameter.empty`)."""
    found = inspect.signature(cls).parameters.values()
    return {p.name: p.default for p in found}


@cache
def declared(cls: type) -> dict[str, tuple[Any, bool]]:
    """The type of each field of a class of values, and whether it may be left out."""
    hints = get_type_hints(cls)
    if is_named_tuple(cls):
        names: Any = cls
        return {name: (hints[name], name in names._field_defaults) for name in names._fields}
    values: Any = cls
    return {
        f.name: (hints[f.name], f.default is not MISSING or f.default_factory is not MISSING) for f in fields(values)
    }


def suits(value: Any, hint: Any) -> bool:
    """Whether a value is of a declared type, as far as the declaration says.

    >>> suits((1, 2), tuple[int, ...]), suits([1.5], list[float]), suits("1", int | None), suits(True, int)
    (True, True, False, False)
    """
    kind = get_origin(hint) or hint
    args = get_args(hint)
    if kind in (Union, UnionType):
        return any(suits(value, one) for one in args)
    if isinstance(hint, TypeVar):
        return hint.__bound__ is None or suits(value, hint.__bound__)
    for base, check in _CONTAINERS.items():
        if kind is base:
            return check(value, args)
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and (kind is bool or not isinstance(value, bool | np.bool_))
    if kind is None or kind is NoneType:
        return value is None
    if not isinstance(kind, type) or kind in (Any, object) or Protocol in kind.__mro__:
        return True
    return isinstance(value, kind)


def _mapping(value: Any, args: Sequence[Any]) -> bool:
    if not isinstance(value, Mapping):
        return False
    return not args or all(suits(k, args[0]) and suits(v, args[1]) for k, v in value.items())


def _items(kind: Any) -> Callable[[Any, Sequence[Any]], bool]:
    return lambda value, args: isinstance(value, kind) and all(suits(one, args[0]) for one in value if args)


def _tuple(value: Any, args: Sequence[Any]) -> bool:
    if not isinstance(value, tuple):
        return False
    if not args or args[-1] is Ellipsis:
        return all(suits(one, args[0]) for one in value if args)
    return len(value) == len(args) and all(map(suits, value, args))


_NUMBERS: dict[Any, Any] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
}
_CONTAINERS: dict[Any, Callable[[Any, Sequence[Any]], bool]] = {
    Mapping: _mapping,
    dict: _mapping,
    tuple: _tuple,
    list: _items(list),
    frozenset: _items(frozenset),
    type: lambda value, args: isinstance(value, type) and (not args or issubclass(value, args[0])),
    Callable: lambda value, _: callable(value),
}


def is_estimator(cls: type) -> bool:
    """Whether a class has settings and learned attributes, instead of fields."""
    return issubclass(cls, BaseEstimator)


# By class and field: alternatives of sizes. k: classes, d: columns, c: cells of all columns; other letters are free,
# but the same within an object. Finite numbers, unless it begins with i (whole numbers), b (truth values), ~ (numbers
# that may be infinite) or ? (numbers that may be NaN). Where numbers are not finite, LAPACK may never end.
SHAPES: Mapping[str, Mapping[str, str]] = {
    "models.Statistics": {"mass": "k"},
    "models.Moments": {"origin": "k d", "count": "k d|k 1", "first": "k d", "second": "k d|k d d", "reach": "k d"},
    "models.Totals": {"count": "k d|k 1", "total": "k d"},
    "models.Words": {"table": "k d"},
    "models.Counts": {"table": "k c"},
    "models.Histogram": {"table": "k m"},
    "learners.Fit": {"level": "~k"},
    "models.Tables": {"class_log_prob": "~k", "log_probability": "~c k"},
    "models.WordProbabilities": {"class_log_prob": "~k", "log_probability": "~k d"},
    "models.Chances": {"class_log_prob": "~k", "present": "~k d", "absent": "~k d", "nothing": "~k", "always": "k"},
    "models.Rates": {"class_log_prob": "~k", "rate": "k d", "log_rate": "~k d", "expected": "k"},
    "models.Diagonal": {"class_log_prob": "~k", "origin": "k d", "mean": "k d", "variance": "k d|1 d"},
    "models.Full": {
        "class_log_prob": "~k",
        "origin": "k d",
        "mean": "k d",
        "covariance": "k d d|1 d d",
        "whiten": "k d d|1 d d",
        "log_det": "k|1",
    },
    "models.Linear": {"origin": "d", "coef": "k d", "intercept": "k"},
    "models.Plane": {"class_log_prob": "~k", "origin": "d", "coef": "d", "point": "?d", "distances": "~k"},
    "models.Factors": {"class_log_prob": "~k"},
    "models.Gaussian": {"origin": "k d", "centre": "d", "spread": "d"},
    "models.TangentPlane": {"origin": "k d", "spread": "d"},
    "models.Shrunk": {"amount": "k|1"},
    "models.Categorical": {"believed": "k c|1 c"},
    "models.Binned": {"extent": "?d 2", "single": "bd"},
    "models.Pooled": {"often": "v"},
    "models.Poisson": {"overall": "d"},
    "models.Experts": {"shift": "k"},
    "encoders.Trees": {
        "ordered": "bd",
        "seeds": "it",
        "limits": "it",
        "feature": "in",
        "threshold": "?n",
        "missing_left": "bn",
        "left": "in",
    },
    "features.FSCL": {"cluster_centers_": "m d", "labels_": "in", "counts_": "im"},
    "features.RBF": {"centers_": "m d", "sigma_": "m"},
    "kernel.KernelMPM": {"_rows": "n d", "_root": "n n"},
}
TYPES = {"i": ("i4", "i8", "u8"), "b": ("b1",), "~": ("f8",), "?": ("f8",), "": ("f8",)}


@cache
def _specs(cls: type) -> dict[str, str]:
    """The shapes of a class's fields, with those that it inherits."""
    own = [SHAPES.get(class_name(base), {}) for base in cls.__mro__ if base.__module__.startswith("suffice.")]
    return {name: spec for shapes in reversed(own) for name, spec in shapes.items()}


def sizes(domain: Domain) -> dict[str, int]:
    """How many classes, columns and cells there are."""
    found = {"k": len(domain.classes), "d": domain.width}
    if isinstance(domain.features, CategoricalFeatures):
        found["c"] = int(cast(Any, domain.features).starts[-1])
    return found


def check_arrays(made: Any, known: Mapping[str, int]) -> None:
    """ModelFileError unless the arrays of an object have the shapes that they should have."""
    bound = dict(known)
    cls: Any = type(made)
    for name, spec in _specs(cls).items():
        array = getattr(made, name, None)
        if array is None:
            continue
        kind, shapes = (spec[0], spec[1:]) if spec[0] in "ib~?" else ("", spec)
        fits = [s for s in shapes.split("|") if _bind(array.shape, s.split(), bound)]
        if not fits:
            got, where = array.shape, f"{name} of a {type(made).__name__}"
            raise ModelFileError(f"{where} has the shape {got}, not ({shapes}) with {_said(bound)}")
        if array.dtype.str[1:] not in TYPES[kind]:
            raise ModelFileError(f"{name} of a {type(made).__name__} holds values of the type {array.dtype}")
        if (kind == "~" and np.isnan(array).any()) or (kind == "" and not np.isfinite(array).all()):
            raise ModelFileError(f"{name} of a {type(made).__name__} has NaN in it, or what is not finite")


def _bind(shape: tuple[int, ...], letters: list[str], bound: dict[str, int]) -> bool:
    """Whether a shape is that of some letters; free ones stand for what they are from now on."""
    trial = dict(bound)
    if len(shape) != len(letters):
        return False
    for n, letter in zip(shape, letters, strict=True):
        if n != (int(letter) if letter.isdigit() else trial.setdefault(letter, n)):
            return False
    bound.update(trial)
    return True


def _said(bound: Mapping[str, int]) -> str:
    return ", ".join(f"{letter} = {n}" for letter, n in bound.items())
