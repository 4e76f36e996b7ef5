"""Distinct values and codes, against sorting."""

import numpy as np
import pytest
from joblib import parallel_config

from suffice._core.labels import OneHot
from suffice._runtime import factorize as _coding
from suffice._runtime.factorize import distinct, sorted_codes
from suffice.encoders import Categories

RNG = np.random.default_rng(0)
DRAWN = RNG.integers(-3, 4, size=(400, 3))
WORDS = np.array(["", "a", "ab", "abc", "b", "ba", "Å"])[DRAWN + 3]
COLUMNS = {
    "whole numbers": DRAWN,
    "with gaps": 7 * DRAWN,
    "far apart": 10**12 * DRAWN,
    "large": (DRAWN + 3).astype(np.uint64) + np.uint64(2**63),
    "of one byte": DRAWN.astype(np.int8),
    "truth values": DRAWN > 0,
    "floats that are whole": DRAWN.astype(np.float32),
    "fractions": 0.1 * DRAWN,
    "signed zeros": np.where(DRAWN > 0, 0.0, -0.0),
    "in the other byte order": DRAWN.astype(">i4"),
    "columns next to each other": np.asfortranarray(DRAWN),
    "strings": WORDS,
    "objects that are shared": np.array(["", "a", "ab", "abc", "b", "ba", "Å"], dtype=object)[DRAWN + 3],
    "objects of their own": np.array([["".join(list(word)) for word in row] for row in WORDS.tolist()], dtype=object),
    "dates": np.datetime64("2024-01-01") + DRAWN,
    "durations": DRAWN.astype("m8[s]"),
    "bytes": np.char.mod("%d", DRAWN).astype("S"),
    "many": RNG.permutation(3 * 400).reshape(400, 3) * 10**9,
    "mixed": np.column_stack([DRAWN[:, 0], 10**12 * DRAWN[:, 1], np.arange(400)]),
}


@pytest.fixture(params=["in one piece", "in pieces"])
def pieces(request, monkeypatch):
    if request.param == "in pieces":
        monkeypatch.setattr(_coding, "ENTRIES", 120)
        monkeypatch.setattr(_coding, "MAX_VALUES", (4, 300))
    with parallel_config(n_jobs=2):
        yield


@pytest.mark.parametrize("X", COLUMNS.values(), ids=COLUMNS.keys())
@pytest.mark.usefixtures("pieces")
def test_codes_and_values_give_the_column_back(X):
    found = distinct(X)
    for j, values in enumerate(found.values):
        if values is None:
            continue
        assert len(values) >= len(np.unique(X[:, j]))
        assert (values[found.codes[:, j]] == X[:, j]).all()


@pytest.mark.parametrize("X", COLUMNS.values(), ids=COLUMNS.keys())
@pytest.mark.usefixtures("pieces")
def test_categories_are_those_of_sorting(X):
    encoded = Categories()(X)
    for j, own in enumerate(encoded.features.categories):
        values, codes = np.unique(X[:, j], return_inverse=True)
        assert own.tolist() == values.tolist()
        assert (encoded.values[:, j] == codes).all()


@pytest.mark.parametrize("X", COLUMNS.values(), ids=COLUMNS.keys())
@pytest.mark.usefixtures("pieces")
def test_sorted_codes_are_those_of_sorting(X):
    values, codes = sorted_codes(X[:, 0])
    expected, places = np.unique(X[:, 0], return_inverse=True)
    assert values.dtype == expected.dtype
    assert (values == expected).all()
    assert (codes == places).all()


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u8"])
@pytest.mark.parametrize("gap", [1, 3])
@pytest.mark.parametrize("end", ["least", "greatest", "both"])
def test_whole_numbers_at_the_ends_of_their_type(kind, gap, end):
    dtype = np.dtype(kind)
    least, greatest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    near = {"least": [least + gap * i for i in range(5)], "greatest": [greatest - gap * i for i in range(5)]}
    y = np.tile(np.array(near.get(end, near["least"] + near["greatest"]), dtype=dtype), 300)
    values, codes = sorted_codes(y)
    assert values.dtype == dtype
    assert (values == np.unique(y)).all()
    assert (values[codes] == y).all()


@pytest.mark.usefixtures("pieces")
def test_what_is_missing_has_no_code():
    X = np.where(DRAWN == 1, np.nan, DRAWN)
    X[:, 2] = np.nan
    for table in (X, 0.1 * X, np.where(np.isnan(X), None, X.astype(object))):
        codes = Categories()(table).values
        assert ((codes < 0) == np.isnan(X)).all()


def test_infinity_is_refused_without_ado():
    for y in (np.full(2000, np.inf), np.tile([1.0, -np.inf], 1000)):
        with pytest.raises(ValueError, match="contains infinity"):
            OneHot.of(y)
        with pytest.raises(ValueError, match="column 0 contains infinity"):
            Categories()(y[:, None])


def test_codes_are_of_the_smallest_type():
    sizes = [Categories()(np.arange(n)[:, None]).values.dtype for n in (2, 128, 129, 30_000, 60_000)]
    assert sizes == [np.int8, np.int8, np.int16, np.int16, np.int32]


def test_no_rows_have_no_categories():
    for X in (np.empty((0, 2)), np.empty((0, 2), dtype="U3"), np.empty((0, 2), dtype=object)):
        encoded = Categories()(X)
        assert encoded.values.shape == (0, 2)
        assert [len(own) for own in encoded.features.categories] == [0, 0]
