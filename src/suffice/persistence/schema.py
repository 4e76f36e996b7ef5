"""What a model file may hold: the classes, the types of their fields, the shapes of their arrays.

A file may come from anybody. So only the classes found here are ever made from one, and each object is checked before
it is used. All of it follows from declarations: a class is storable if it is a kind of value that estimators keep, if
one of its fields declares the shape of an array, or if it is the declared type of a field of a storable class.

The shape of an array is declared at its field, as `mean: Annotated[Array, "k d"]`:

- k is the number of classes, d that of columns, c that of cells of all columns. Other letters are any number, which is
  the same within an object. `|` separates alternatives.
- Numbers are finite, unless a word comes first: `inf` (may be infinite), `nan` (may be anything), `int` or `bool`;
  `nonneg` numbers are finite and not below 0. With numbers that are not finite, LAPACK may never return.
"""

from __future__ import annotations

import datetime
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from suffice._core.features import CategoricalFeatures, Domain, Features
from suffice._core.vector import Array
from suffice.encoders.base import Encoder
from suffice.encoders.pairs import Pairs
from suffice.encoders.table import BlockFeatures
from suffice.encoders.trees.partitions import LeafFeatures, Trees
from suffice.models.base import Model
from suffice.models.compose.blocks import Factors, Parts
from suffice.models.compose.contests import Contest
from suffice.models.gaussian.full import Full
from suffice.models.gaussian.moments import Moments
from suffice.models.gaussian.patterns import Entries, Patterns
from suffice.models.networks.families import Families, FamilyFeatures, GraphSearch, ordered
from suffice.models.networks.network import Network
from suffice.models.planes import planes
from suffice.models.planes.pencil import Source
from suffice.models.statistics import Statistics, Sums
from suffice.models.tables.binned import BinFeatures
from suffice.models.tables.categorical import PooledFeatures
from suffice.models.tables.histogram import Histogram
from suffice.models.tables.interactions import Margins
from suffice.models.tables.nested import Tree
from suffice.persistence.archive import ModelFileError

KINDS = (
    BaseEstimator,
    Model,
    Statistics,
    Sums,
    Encoder,
    GraphSearch,
    Features,
    Domain,
)  # what a fitted estimator keeps
# Packages whose values are never part of a model.
APART = ("cli", "compare", "data", "model_selection", "persistence", "plotting", "report", "testing")
LATER = ("suffice.features",)  # packages that `import suffice` does not import
FUNCTIONS: dict[str, Callable[..., Any]] = {  # the rules of planes: all functions from a Pencil to a Plane
    f"models.{name}": f
    for name, f in vars(planes).items()
    if inspect.isfunction(f) and f.__annotations__ == {"pencil": "Pencil", "return": "Plane"}
}
DATES: dict[str, Any] = {"date": datetime.date, "datetime": datetime.datetime, "time": datetime.time}
KEYS = (str, int, float, bool, type(None), np.generic, *DATES.values())
MAX_KEY_DEPTH = 3  # tuples in tuples


def class_name(cls: type) -> str:
    """Return the name of a class in files: its package and its own name, so that it may move within the package.

    >>> from suffice.models import Moments
    >>> class_name(Moments)
    'models.Moments'
    """
    package = cls.__module__.split(".")[1]
    return cls.__name__ if package.startswith("_") else f"{package}.{cls.__name__}"


def is_named_tuple(cls: type) -> bool:
    """True for a tuple with named fields."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_estimator(cls: type) -> bool:
    """True for a class that has settings and learned attributes instead of fields."""
    return issubclass(cls, BaseEstimator)


def is_key(v: Any, depth: int = 0) -> bool:
    """True if a value may be a key in a file: a plain value, or a tuple of plain values.

    >>> is_key("a"), is_key((1, None)), is_key(frozenset())
    (True, True, False)
    """
    if type(v) is tuple:
        return depth < MAX_KEY_DEPTH and all(is_key(one, depth + 1) for one in v)
    return isinstance(v, KEYS)


def classes(everything: bool = False) -> dict[str, type]:
    """Return the classes that a fitted estimator keeps, by their names in files. Nothing else is made from a file.

    A name in a file imports nothing: only modules that are imported already count, and with `everything` those of the
    library that `import suffice` leaves out.
    """
    for name in LATER if everything else ():
        import_module(name)
    return {"sklearn.Pipeline": Pipeline} | _stored(_imported())


def answer_classes() -> dict[str, type]:
    """Return the classes that a sum over rows may be made of, by name: checkpoints hold these."""
    return classes() | _summed(_imported())


def warning_classes() -> dict[str, type[Warning]]:
    """Return the kinds of warnings that a fit may keep, by name."""
    own = {class_name(c): c for c in _own(_imported()) if issubclass(c, Warning)}
    return {"UserWarning": UserWarning, "ConvergenceWarning": ConvergenceWarning} | own


Imported = tuple[tuple[str, int], ...]


# Looking through the modules takes longer than writing a small model. What the functions below return follows from the
# modules that are imported, and from how many names these define so far; so they keep their last answer.
def _imported() -> Imported:
    own = [(name, module) for name, module in list(sys.modules.items()) if name.startswith("suffice.")]
    return tuple((name, len(vars(module))) for name, module in own if _holds_parts_of_models(name))


@lru_cache(maxsize=1)
def _own(imported: Imported) -> tuple[type, ...]:
    """Return the classes that these modules define."""
    named = ((name, vars(sys.modules[name])) for name, _ in imported)
    return tuple(c for name, names in named for c in names.values() if isinstance(c, type) and c.__module__ == name)


@lru_cache(maxsize=1)
def _stored(imported: Imported) -> dict[str, type]:
    return _with_parts(c for c in _own(imported) if _storable(c))


@lru_cache(maxsize=1)
def _summed(imported: Imported) -> dict[str, type]:
    return _with_parts(c for c in _own(imported) if is_dataclass(c) and hasattr(c, "__add__"))


def _holds_parts_of_models(module: str) -> bool:
    return module.startswith("suffice.") and module.split(".", 2)[1] not in APART


def _is_record(cls: Any) -> bool:
    return isinstance(cls, type) and (is_dataclass(cls) or is_named_tuple(cls))


def _storable(cls: type) -> bool:
    if inspect.isabstract(cls) or not (_is_record(cls) or is_estimator(cls)):
        return False
    # The text of the annotations is enough here: evaluating those of the whole library would take a tenth of a second.
    return issubclass(cls, KINDS) or any("Annotated[" in str(hint) for hint in inspect.get_annotations(cls).values())


def _with_parts(roots: Iterable[type]) -> dict[str, type]:
    """Return classes by name, with the records that their fields are declared to hold, and so on."""
    found: set[type] = set()
    left = list(roots)
    while left:
        cls = left.pop()
        if cls not in found:
            found.add(cls)
            hints = [hint for hint, _ in declared(cls).values()] if _is_record(cls) else []
            left += [part for hint in hints for part in _records(hint)]
    return {class_name(c): c for c in found}


def _records(hint: Any) -> Iterator[type]:
    """Yield the records of the library that a declared type names."""
    kind = get_origin(hint) or hint
    if _is_record(kind) and not inspect.isabstract(kind) and _holds_parts_of_models(kind.__module__):
        yield kind
    for one in get_args(hint):
        yield from _records(one)


OUTPUT = "_sklearn_output_config"  # where scikit-learn keeps the argument of set_output
SHARED_ATTRIBUTES = {"n_features_in_": int, "feature_names_in_": Array, OUTPUT: dict[str, str]}  # of any estimator


@cache
def attributes(cls: type) -> dict[str, Any]:
    """Return the types of the attributes that an estimator may have beyond its settings: those that it annotates."""
    hints = {name: hint for name, hint in get_type_hints(cls).items() if get_origin(hint) is not ClassVar}
    return {name: hint for name, hint in (SHARED_ATTRIBUTES | hints).items() if name not in parameters(cls)}


@cache
def parameters(cls: type) -> dict[str, Any]:
    """Return the defaults of an estimator's parameters (or `inspect.Parameter.empty`)."""
    return {p.name: p.default for p in inspect.signature(cls).parameters.values()}


@cache
def declared(cls: type) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field of a record, and whether the field has a default."""
    hints, record = get_type_hints(cls), cast(Any, cls)
    if is_named_tuple(cls):
        return {name: (hints[name], name in record._field_defaults) for name in record._fields}
    return {
        f.name: (hints[f.name], f.default is not MISSING or f.default_factory is not MISSING) for f in fields(record)
    }


@cache
def shapes(cls: type) -> dict[str, str]:
    """Return the declared shapes of a class's arrays, by field."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}


def suits(value: Any, hint: Any) -> bool:
    """True if a value is of a declared type, as far as the declaration says.

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


# The types of numbers by the first word of a shape.
TYPES = {"int": ("i4", "i8", "u8"), "bool": ("b1",), "inf": ("f8",), "nan": ("f8",), "nonneg": ("f8",), "": ("f8",)}


def sizes(domain: Domain) -> dict[str, int]:
    """Return the numbers of classes, columns and cells, by their letters in shapes."""
    found = {"k": len(domain.classes), "d": domain.width}
    if isinstance(domain.features, CategoricalFeatures):
        found["c"] = int(cast(Any, domain.features).starts[-1])
    return found


def check_arrays(made: Any, known: Mapping[str, int]) -> None:
    """Raise ModelFileError unless the arrays of an object have their declared shapes and types."""
    bound, cls = dict(known), cast(Any, type(made))
    for name, spec in shapes(cls).items():
        array = getattr(made, name, None)
        if array is None:
            continue
        where = f"{name} of a {cls.__name__}"
        first, _, rest = spec.partition(" ")
        kind, shape = (first, rest) if first in TYPES else ("", spec)
        if not any(_bind(array.shape, one.split(), bound) for one in shape.split("|")):
            sized = ", ".join(f"{letter} = {n}" for letter, n in bound.items())
            raise ModelFileError(f"{where} has the shape {array.shape}, not ({shape}) with {sized}")
        if array.dtype.str[1:] not in TYPES[kind]:
            raise ModelFileError(f"{where} holds values of the type {array.dtype}")
        if (kind == "inf" and np.isnan(array).any()) or (kind in ("", "nonneg") and not np.isfinite(array).all()):
            raise ModelFileError(f"{where} holds NaN or infinite numbers")
        if kind == "nonneg" and (array < 0).any():
            raise ModelFileError(f"{where} holds numbers below 0")


def _bind(shape: tuple[int, ...], letters: list[str], bound: dict[str, int]) -> bool:
    """True if a shape fits the letters; letters that were free are bound to its sizes."""
    trial = dict(bound)
    if len(shape) != len(letters):
        return False
    for n, letter in zip(shape, letters, strict=True):
        if n != (int(letter) if letter.isdigit() else trial.setdefault(letter, n)):
            return False
    bound.update(trial)
    return True


OUTPUTS = {"default", "pandas", "polars"}
NEEDED = ("statistics_", "n_features_in_", "_encoder", "_declared")  # attributes of every fitted classifier


def check_object(made: Any) -> None:
    """Raise ModelFileError unless learning may have made this object. Its parts have been checked before it."""
    domain = getattr(getattr(made, "statistics", made), "domain", None)  # that of a fit is the one of its statistics
    if isinstance(domain, Domain):
        check_arrays(made, sizes(domain))
    elif is_estimator(type(made)):
        check_arrays(made, {"d": made.n_features_in_} if hasattr(made, "n_features_in_") else {})
        _check_estimator(made)
    # Sums do not know their domain: they are checked with the statistics that have both.
    elif _is_record(type(made)) and not isinstance(made, Sums):
        check_arrays(made, {})
    for base in type(made).__mro__:
        if base in RULES:
            RULES[base](made)


def check_all(objects: Iterable[Any]) -> None:
    """Raise ModelFileError unless all leaves belong to trees in the file, which they refer to by a number alone."""
    made = list(objects)
    leaves = {one.digest: one.sizes for one in made if isinstance(one, Trees)}
    for one in made:
        if isinstance(one, LeafFeatures):
            _need(one.trees in leaves and np.array_equal(leaves[one.trees], one.sizes), "leaves are of unknown trees")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(otherwise)


def _need_indices(array: Array, low: int, high: int, called: str, size: int | None = None) -> None:
    """Require an array (m,) of integers from low to high - 1."""
    ok = array.ndim == 1 and array.dtype.kind == "i" and (size is None or len(array) == size)
    _need(ok and (not len(array) or bool(low <= array.min() and array.max() < high)), f"{called} are out of range")


def _distinct(values: Array) -> bool:
    """True if values (m,) are sorted and all different; objects, which may have no order, need only be different."""
    if values.ndim != 1:
        return False
    if values.dtype.kind == "O":
        return all(map(is_key, values.tolist())) and len(set(values.tolist())) == len(values)
    return bool((values[:-1] < values[1:]).all()) and not (values.dtype.kind in "fMm" and np.isnan(values).any())


def _check_estimator(made: Any) -> None:
    lacks = [name for name in NEEDED if hasattr(made, "_learned") and not hasattr(made, name)]
    _need(not lacks, f"a {type(made).__name__} lacks {lacks}")
    names = getattr(made, "feature_names_in_", None)
    _need(names is None or names.shape == (made.n_features_in_,), "the number of names is not that of columns")
    output = getattr(made, OUTPUT, {})
    _need(output.keys() <= {"transform"} and set(output.values()) <= OUTPUTS, f"set_output had the argument {output}")
    s = getattr(made, "statistics_", None)
    if s is None:
        return
    _need(_distinct(s.domain.classes), "the classes are not sorted")
    # Only in the sums of the rows themselves: statistics that a learner has moved may be negative.
    _need(all((n >= 0).all() for n in (s.mass, *_counts(s.sums))), "a class or a cell has less than no rows")
    if hasattr(made, "_encoder"):
        got, width = made.n_features_in_, made._encoder.inputs(s.domain.features).width
        _need(got == width, f"it says that it has {got} columns, and learned from {width}")


def _counts(value: Any) -> Iterator[Array]:
    """Yield the arrays among sums and their parts that add up weights alone."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _counts(part)
    elif isinstance(value, Sums):
        yield from (getattr(value, name) for name in value.counts)
        for name, part in vars(value).items():
            yield from () if name in value.counts else _counts(part)


def _check_sums(sums: Any, domain: Domain) -> None:
    _need(isinstance(sums, Sums), f"sums are expected, got a {type(sums).__name__}")
    check_arrays(sums, sizes(domain))
    for base in type(sums).__mro__:
        if base in SUMS_RULES:
            SUMS_RULES[base](sums, domain)


# Rules that shapes cannot express, each for objects of one class.


def _domain(made: Domain) -> None:
    labels = made.classes  # those of contests need not be sorted
    plain = labels.ndim == 1 and (labels.dtype.kind != "O" or all(map(is_key, labels.tolist())))
    _need(plain and len(set(labels.tolist())) == len(labels), "the classes are not a list, or one is there twice")


def _features(made: Features) -> None:
    _need(made.width >= 0, "a number of columns is below 0")
    named = made.names is None or (made.names.shape == (made.width,) and made.names.dtype.kind in "OU")
    _need(named, "the number of names is not that of columns")


def _categories(made: CategoricalFeatures) -> None:
    _need(len(made.categories) == made.width and len(made.declared) in (0, made.width), "columns lack categories")
    _need(all(map(_distinct, made.categories)), "the categories are not sorted, or one is there twice")


def _bins(made: BinFeatures) -> None:
    _need(all(cells.dtype == np.float64 for cells in made.categories), "the bounds of cells are not numbers")


def _pooled(made: PooledFeatures) -> None:
    _need(len(made.values) == len(made.cell) == made.width, "columns lack values")
    for values, cell, cells in zip(made.values, made.cell, made.categories, strict=True):
        _need(_distinct(values), "the values of a column are not sorted, or one is there twice")
        _need_indices(cell, -1, len(cells), "the cells of values", len(values))


def _blocks(made: BlockFeatures) -> None:
    for at in made.at.values():
        _need_indices(at, 0, made.width, "the columns of a block")


def _statistics(made: Statistics[Any]) -> None:
    _check_sums(made.sums, made.domain)
    _need(all(np.isfinite(leaf).all() for leaf in made.leaves()), "sums are not finite")


def _trees(made: Trees) -> None:
    """Every row must reach a leaf that exists: a child comes after its node, and within the tree."""
    nodes, starts = len(made.left), made.starts
    _need_indices(starts, 0, nodes + 1, "the first nodes of trees", len(made.seeds) + 1)
    _need(starts[0] == 0 and starts[-1] == nodes and bool((np.diff(starts) > 0).all()), "a tree has no nodes")
    for first, last in pairwise(starts.tolist()):
        left, feature = made.left[first:last].astype(np.int64), made.feature[first:last]
        inner, n = np.flatnonzero(left >= 0), last - first
        _need(bool((left[inner] > inner).all() and (left[inner] + 1 < n).all()), "the nodes of a tree are not in order")
        _need_indices(feature[inner], 0, len(made.ordered), "the columns of a tree")
        _need(bool((-1 - left[left < 0] < (n + 1) // 2).all()), "a tree has a leaf too many")


def _tree(made: Tree) -> None:
    cells, above = int(made.features.starts[-1]), made.features.width
    for level in made.levels:
        m = len(level.parent)
        _need_indices(level.of, 0, m, "the cells of a level", cells)
        _need_indices(level.parent, 0, above, "the cells above a level", m)
        above = m


def _margins(made: Margins) -> None:
    n = len(made.weight)
    _need_indices(made.owner, 0, n, "the pairs of cells")
    for side, pair, pseudo in zip(made.sides, made.pairs, made.pseudo, strict=True):
        _need_indices(pair, 0, n, "the pairs of columns", len(pseudo))
        _need_indices(side, 0, len(pair), "the cells of columns", len(made.owner))


def _pairs(made: Pairs) -> None:
    size = dict(zip(made.coarse.columns.tolist(), made.coarse.sizes.tolist(), strict=True))
    _need(all(i in size and j in size for i, j in made.chosen), "a pair is of unknown columns")
    sides = tuple((size[i], size[j]) for i, j in made.chosen)
    counts = [a * b for a, b in sides]
    _need(made.features.sides == sides and made.features.sizes.tolist() == counts, "pairs lack cells")


def _families(made: FamilyFeatures) -> None:
    _need(len(made.parents) == len(made.intervals) == made.width, "columns lack parents")
    for up in made.parents:
        _need_indices(np.array(up, dtype=int), 0, made.width, "the parents of columns")
    try:
        ordered(made.parents)
    except ValueError as error:
        raise ModelFileError(str(error)) from error


def _structure(made: Families) -> None:
    if made.known is not None:
        _need_indices(
            np.array(made.known.columns, dtype=int), 0, len(made.inner.roles or ()), "the columns of a structure"
        )
        same = len(made.known.parents) == len(made.known.columns)
        _need(same and made.known.extent.keys() == made.known.bins.keys(), "the columns of a structure lack parents")


def _network(made: Network) -> None:
    if made.chain is not None and made.domain is not None:
        features: Any = made.domain.features
        known = isinstance(features, FamilyFeatures)
        _need(known and made.chain.weight.shape == (features.width, features.links.shape[1] + 1), "tables lack weights")
        _need(len(made.chain.base) == int(features.lengths.sum()), "categories lack shares")


def _contest(made: Contest) -> None:
    _need_indices(made.group, -1, 2, "the sides of classes")


def _source(made: Source) -> None:
    if made.group is not None:
        _need_indices(made.group, -1, 2, "the sides of classes", len(made.whole.mass))


def _full(made: Full) -> None:
    _need(bool((np.diagonal(made.covariance, axis1=1, axis2=2) >= 0).all()), "a variance is below 0")


def _factors(made: Factors) -> None:
    same = all(len(one.class_log_prob) == len(made.class_log_prob) for one in made.parts.values())
    _need(same, "the blocks have other classes")


RULES: dict[type, Callable[[Any], None]] = {
    Domain: _domain,
    Features: _features,
    CategoricalFeatures: _categories,
    BinFeatures: _bins,
    PooledFeatures: _pooled,
    BlockFeatures: _blocks,
    Statistics: _statistics,
    Trees: _trees,
    Tree: _tree,
    Margins: _margins,
    Pairs: _pairs,
    FamilyFeatures: _families,
    Families: _structure,
    Network: _network,
    Contest: _contest,
    Source: _source,
    Factors: _factors,
    Full: _full,
}


# Rules for sums, which need the domain of their statistics.


def _parts(sums: Parts, domain: Domain) -> None:
    features: Any = domain.features
    known = isinstance(features, BlockFeatures) and sums.parts.keys() <= features.parts.keys()
    _need(known, "sums are of an unknown block")
    for name, one in sums.parts.items():
        _check_sums(one, replace(domain, features=features.parts[name]))


def _moments(sums: Moments, _: Domain) -> None:
    _need(sums.reach is None or bool((sums.reach >= 0).all()), "a bound of sums of squares is below 0")


def _patterns(sums: Patterns, domain: Domain) -> None:
    _need(sums.width == domain.width, "sums are of other columns")
    for lacks, one in sums.parts.items():
        _need_indices(np.array(lacks, dtype=int), 0, sums.width, "the columns that rows lack")
        _need(len(set(lacks)) == len(lacks), "a column is missing twice")
        _check_sums(one, replace(domain, features=Features(sums.width - len(lacks))))


def _histogram(sums: Histogram, domain: Domain) -> None:
    _need(len(sums.keys) == len(sums.shift) == domain.width, "histograms are of other columns")
    _need(all(keys.dtype == np.int64 and _distinct(keys) for keys in sums.keys), "cells are not sorted")
    _need(all(0 <= shift < 64 for shift in sums.shift), "a histogram is of an unknown grid")
    _need(sums.table.shape[1] == sum(map(len, sums.keys)), "histograms lack cells")


SUMS_RULES: dict[type, Callable[[Any, Domain], None]] = {
    Parts: _parts,
    Moments: _moments,
    Patterns: _patterns,
    Histogram: _histogram,
    Entries: lambda sums, domain: _check_sums(sums.columns, domain),
}
