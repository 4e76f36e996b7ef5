"""Whether the parts of an object fit together, so that what is computed from it is computed within its arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from suffice._domain import CategoricalFeatures, Domain, Features
from suffice._vector import Array
from suffice.encoders.blocks import BlockFeatures
from suffice.encoders.pairs import Pairs
from suffice.encoders.trees import LeafFeatures, Trees
from suffice.files._error import ModelFileError
from suffice.files._hints import OUTPUT
from suffice.files._shapes import check_arrays, sizes
from suffice.files._write import is_key
from suffice.models._blocks import Factors, Parts
from suffice.models._statistics import Statistics, Sums
from suffice.models.cells import BinFeatures
from suffice.models.contests import Contest
from suffice.models.histogram import Histogram
from suffice.models.interactions import Margins
from suffice.models.patterns import Entries, Patterns
from suffice.models.pencil import Source
from suffice.models.pooled import PooledFeatures
from suffice.models.tree import Tree

OUTPUTS = {"default", "pandas", "polars"}
NEEDED = ("statistics_", "n_features_in_", "_encoder", "_declared")  # by a classifier that has learned


def check_object(made: Any) -> None:
    """ModelFileError unless an object is one that learning may have made; its parts have been checked before."""
    domain = getattr(getattr(made, "statistics", made), "domain", None)  # a fit has those of its statistics
    if isinstance(domain, Domain):
        check_arrays(made, sizes(domain))
    elif hasattr(made, "get_params"):
        known = {"d": made.n_features_in_} if hasattr(made, "n_features_in_") else {}
        check_arrays(made, known)
        _estimator(made)
    for base in type(made).__mro__:
        if base in RULES:
            RULES[base](made)


def check_all(objects: Iterable[Any]) -> None:
    """ModelFileError unless leaves are those of trees that are there: they are told by a number alone."""
    made = list(objects)
    leaves = {one.digest: one.sizes for one in made if isinstance(one, Trees)}
    for one in made:
        if isinstance(one, LeafFeatures):
            _need(one.trees in leaves and np.array_equal(leaves[one.trees], one.sizes), "leaves are of unknown trees")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(otherwise)


def _whole(array: Array, low: int, high: int, called: str, size: int | None = None) -> None:
    """Whole numbers (m,) from low to below high."""
    ok = array.ndim == 1 and array.dtype.kind == "i" and (size is None or len(array) == size)
    _need(ok and (not len(array) or bool(low <= array.min() and array.max() < high)), f"{called} are out of range")


def _distinct(values: Array) -> bool:
    """Whether values (m,) are in order, or at least no two of them equal where they have none."""
    if values.ndim != 1:
        return False
    if values.dtype.kind == "O":
        return all(map(is_key, values.tolist())) and len(set(values.tolist())) == len(values)
    return bool((values[:-1] < values[1:]).all()) and not (values.dtype.kind in "fMm" and np.isnan(values).any())


def _estimator(made: Any) -> None:
    """What every fitted classifier has, what scikit-learn keeps, and the order of the classes."""
    lacks = [name for name in NEEDED if hasattr(made, "_learned") and not hasattr(made, name)]
    _need(not lacks, f"a {type(made).__name__} lacks {lacks}")
    names = getattr(made, "feature_names_in_", None)
    _need(names is None or names.shape == (made.n_features_in_,), "the names of columns are not as many as these")
    output = getattr(made, OUTPUT, {})
    _need(output.keys() <= {"transform"} and set(output.values()) <= OUTPUTS, f"set_output was told {output}")
    s = getattr(made, "statistics_", None)
    _need(s is None or _distinct(s.domain.classes), "the classes are in no order")
    if s is not None and hasattr(made, "_encoder"):
        width = made._encoder.inputs(s.domain.features).width
        _need(
            made.n_features_in_ == width, f"it says that it has {made.n_features_in_} columns, and learned from {width}"
        )


def _domain(made: Domain) -> None:
    labels = made.classes  # of contests in no order
    plain = labels.ndim == 1 and (labels.dtype.kind != "O" or all(map(is_key, labels.tolist())))
    _need(plain and len(set(labels.tolist())) == len(labels), "the classes are no list, or one stands twice")


def _features(made: Features) -> None:
    _need(made.width >= 0, "a number of columns is below 0")
    named = made.names is None or (made.names.shape == (made.width,) and made.names.dtype.kind in "OU")
    _need(named, "the names of columns are not as many as these")


def _categories(made: CategoricalFeatures) -> None:
    _need(len(made.categories) == made.width and len(made.declared) in (0, made.width), "columns lack categories")
    _need(all(map(_distinct, made.categories)), "the categories are not sorted, or one stands twice")


def _bins(made: BinFeatures) -> None:
    _need(all(cells.dtype == np.float64 for cells in made.categories), "the bounds of cells are no numbers")


def _pooled(made: PooledFeatures) -> None:
    _need(len(made.values) == len(made.cell) == made.width, "columns lack values")
    for values, cell, cells in zip(made.values, made.cell, made.categories, strict=True):
        _need(_distinct(values), "the values of a column are not sorted, or one stands twice")
        _whole(cell, -1, len(cells), "the cells of values", len(values))


def _blocks(made: BlockFeatures) -> None:
    for at in made.at.values():
        _whole(at, 0, made.width, "the columns of a block")


def _statistics(made: Statistics[Any]) -> None:
    _sums(made.sums, made.domain)
    ok = all(np.isfinite(leaf).all() for leaf in made.leaves())
    _need(ok, "sums are not finite")


def _sums(sums: Any, domain: Domain) -> None:
    """Sums as they should be on a domain, which they do not know themselves."""
    _need(isinstance(sums, Sums), f"where sums should stand there is a {type(sums).__name__}")
    check_arrays(sums, sizes(domain))
    inside = OF_SUMS.get(type(sums))
    if inside is not None:
        inside(sums, domain)


def _parts(sums: Parts, domain: Domain) -> None:
    features: Any = domain.features
    _need(isinstance(features, BlockFeatures) and sums.parts.keys() <= features.parts.keys(), "sums are of no block")
    for name, one in sums.parts.items():
        _sums(one, replace(domain, features=features.parts[name]))


def _patterns(sums: Patterns, domain: Domain) -> None:
    _need(sums.width == domain.width, "sums are of other columns")
    for lacks, one in sums.parts.items():
        _whole(np.array(lacks, dtype=int), 0, sums.width, "the columns that rows lack")
        _need(len(set(lacks)) == len(lacks), "a column is missing twice")
        _sums(one, replace(domain, features=Features(sums.width - len(lacks))))


def _histogram(sums: Histogram, domain: Domain) -> None:
    _need(len(sums.keys) == len(sums.shift) == domain.width, "histograms are of other columns")
    _need(all(keys.dtype == np.int64 and _distinct(keys) for keys in sums.keys), "cells are not sorted")
    _need(all(0 <= shift < 64 for shift in sums.shift), "a histogram is of no grid")
    _need(sums.table.shape[1] == sum(map(len, sums.keys)), "histograms lack cells")


def _trees(made: Trees) -> None:
    """Every row must come to a leaf that is there: a child stands after its node, and within the tree."""
    check_arrays(made, {})
    nodes, starts = len(made.left), made.starts
    _whole(starts, 0, nodes + 1, "the beginnings of trees", len(made.seeds) + 1)
    _need(starts[0] == 0 and starts[-1] == nodes and bool((np.diff(starts) > 0).all()), "a tree has no nodes")
    for first, last in pairwise(starts.tolist()):
        left, feature = made.left[first:last].astype(np.int64), made.feature[first:last]
        inner, n = np.flatnonzero(left >= 0), last - first
        _need(bool((left[inner] > inner).all() and (left[inner] + 1 < n).all()), "the nodes of a tree are in no order")
        _whole(feature[inner], 0, len(made.ordered), "the columns of a tree")
        _need(bool((-1 - left[left < 0] < (n + 1) // 2).all()), "a tree has a leaf too many")


def _tree(made: Tree) -> None:
    cells, above = int(made.features.starts[-1]), made.features.width
    for level in made.levels:
        m = len(level.parent)
        _whole(level.of, 0, m, "the cells of a level", cells)
        _whole(level.parent, 0, above, "the cells above a level", m)
        _need(level.pseudo.shape == level.weight.shape == (m,), "a level lacks weights")
        above = m


def _margins(made: Margins) -> None:
    n = len(made.weight)
    _whole(made.owner, 0, n, "the pairs of cells")
    for side, pair, pseudo in zip(made.sides, made.pairs, made.pseudo, strict=True):
        _whole(pair, 0, n, "the pairs of columns", len(pseudo))
        _whole(side, 0, len(pair), "the cells of columns", len(made.owner))


def _pairs(made: Pairs) -> None:
    size = dict(zip(made.coarse.columns.tolist(), made.coarse.sizes.tolist(), strict=True))
    _need(all(i in size and j in size for i, j in made.chosen), "a pair is of unknown columns")
    sides = tuple((size[i], size[j]) for i, j in made.chosen)
    counts = [a * b for a, b in sides]
    _need(made.features.sides == sides and made.features.sizes.tolist() == counts, "pairs lack cells")


def _contest(made: Contest) -> None:
    _whole(made.group, -1, 2, "the sides of classes")


def _source(made: Source) -> None:
    if made.group is not None:
        _whole(made.group, -1, 2, "the sides of classes", len(made.whole.mass))


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
    Contest: _contest,
    Source: _source,
    Factors: _factors,
}
OF_SUMS: dict[type, Callable[[Any, Domain], None]] = {
    Parts: _parts,
    Patterns: _patterns,
    Histogram: _histogram,
    Entries: lambda sums, domain: _sums(sums.columns, domain),
}
