"""Two values are alike if they hold the same, in whatever process, and others are not."""

import datetime
import operator
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from suffice import CategoricalNB, GaussianNB
from suffice._runtime.fingerprint import Content
from suffice._runtime.random import generator, seeded
from suffice.data.fingerprint import digest
from suffice.learners import Observed
from suffice.models import Categorical, FullGaussian, TiedFullGaussian


@dataclass(frozen=True)
class Point:
    x: object
    y: object = None


class Pair(NamedTuple):
    x: object
    y: object = None


DIFFERENT = [
    None,
    0,
    False,
    1,
    "",
    "0",
    b"0",
    0.5,
    -0.5,
    float("nan"),
    float("inf"),
    float("-inf"),
    [],
    (),
    [0],
    [[0], []],
    [[], [0]],
    ["ab", "c"],
    ["a", "bc"],
    {},
    {"a": 1},
    {"a": 2},
    {1, 2},
    {1, 3},
    Point(1),
    Point(2),
    Pair(1),
    Point,
    Pair,
    np.arange(3),
    np.arange(3.0),
    np.arange(3.0).reshape(1, 3),
    np.arange(3.0)[::-1],
    np.array([1.0, np.nan]),
    np.array([np.nan, 1.0]),
    np.array(["u", "v"]),
    np.array(["u", None], dtype=object),
    np.array(["v", None], dtype=object),
    np.array(["2020-01-01"], dtype="M8[D]"),
    np.array([1.0 + 2.0j]),
    np.array([1.0 - 2.0j]),
    np.float32(0.5),
    datetime.date(2020, 1, 1),
    datetime.date(2020, 1, 2),
    partial(operator.add, 1),
    partial(operator.add, 2),
    operator.add,
    np.add,
    np.multiply,
    csr_array(np.eye(2)),
    csr_array(np.eye(3)),
    np.random.RandomState(0),
    np.random.RandomState(1),
    "u".join,
    "v".join,
    Observed(FullGaussian()),
    Observed(TiedFullGaussian()),
    Observed(replace(FullGaussian(), class_prior="uniform")),
    Observed(Categorical()),
]


def test_values_that_differ():
    found = [Content.of(value) for value in DIFFERENT]
    alike = [(DIFFERENT[i], DIFFERENT[j]) for i, a in enumerate(found) for j in range(i) if a.alike(found[j])]
    single = [pair for pair in alike if any(isinstance(one, np.float32) for one in pair)]
    assert alike == single  # a number is the same in any precision
    assert all(a.alike(a) for a in found)


def test_another_process_finds_the_same():
    value = "({'u', 'v', 'w'}, partial(np.add, 1), Observed(FullGaussian()), np.arange(3.0), {'a': ('b', None)})"
    code = (
        "from functools import partial; import numpy as np; from suffice._runtime.fingerprint import Content;"
        f"from suffice.learners import Observed; from suffice.models import FullGaussian; print(Content.of({value}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(Content.of(eval(value)))  # noqa: S307 - of the line above


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.integers(0, 2**31))
def test_rounding_does_not_matter_and_else_numbers_do(values, seed):
    x = np.array(values)
    rounded = x * (1.0 + 1e-12 * np.random.default_rng(seed).normal(size=len(x)))
    assert Content.of(Point(x)).alike(Content.of(Point(rounded)))
    moved = x.copy()
    moved[seed % len(x)] += 1e-2 * (1.0 + abs(x).sum())
    assert not Content.of(Point(x)).alike(Content.of(Point(moved)))


def test_sharing_does_not_matter():
    one = np.arange(3.0)
    assert Content.of((one, one)) == Content.of((one, one.copy()))
    assert Content.of(np.asfortranarray(np.eye(3) + 1.0)) == Content.of(np.eye(3) + 1.0)


def test_a_fitted_estimator_is_more_than_its_settings():
    X = np.array([[0.0], [2.0], [7.0], [9.0]])
    first, second = (GaussianNB().fit(rows, [0, 0, 1, 1]) for rows in (X, -X))
    assert Content.of(first.predict) != Content.of(second.predict)
    Content.of(CategoricalNB())  # has no fitted attributes yet


def test_sums_of_huge_numbers():
    huge = Content.of(np.array([1e308, 1e308]))
    assert np.isfinite(huge.numbers).all()


def test_rows_have_digests():
    frames = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = np.random.default_rng(0).normal(size=(5, 2))
    for make in (np.array, np.asfortranarray, csr_array, *(frame.DataFrame for frame in frames)):
        assert digest(make(X)) == digest(make(X.copy()))
        assert digest(make(X)) != digest(make(X[::-1]))
        assert digest(make(X)) != digest(make(X + 1e-15))
    words = frames[0].DataFrame({"a": ["u", None], "b": [1, 2]})
    assert digest(words) == digest(words.copy())
    assert digest(words) != digest(words.rename(columns={"a": "c"}))
    assert digest(words) != digest(words.assign(a=["u", "v"]))


def test_seeds_within_seeds():
    with seeded(1):
        first = generator(None).randint(1000)
        with seeded(2):
            assert generator(None).randint(1000) == np.random.RandomState(2).randint(1000)
        assert generator(3).randint(1000) == np.random.RandomState(3).randint(1000)
    assert first == np.random.RandomState(1).randint(1000)
    assert generator(None) is np.random.mtrand._rand
