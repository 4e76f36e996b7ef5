"""Tables of every library and type are read as the same rows."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from suffice import CategoricalNB, NaiveBayes, load
from suffice._core.labels import OneHot
from suffice.data import Memory
from suffice.encoders.categories import coded, entries_of, values_of
from suffice.encoders.table import Table


def read(X, **settings):
    """Rows as a prepared encoder reads them."""
    n = X.shape[0]
    encoder = Table.of(settings.pop("columns", None), settings.pop("numeric", "bins"), False, "NaiveBayes")
    encoder = encoder.prepare(Memory(X, OneHot(np.zeros(1), np.zeros(n, dtype=int), np.ones(n))))
    return encoder, encoder(X)


def kinds(X, **settings):
    return {role.name: (role.kind, role.holds) for role in read(X, **settings)[0].roles}


FRAME = pd.DataFrame(
    {
        "age": pd.array([39, None, 53], dtype="Int64"),
        "pay": [1.5, np.nan, 2.5],
        "job": ["clerk", None, "cook"],
        "left": pd.array([True, None, False], dtype="boolean"),
        "when": pd.to_datetime(["2024-01-01 00:00", None, "2024-01-03 12:00"]),
    }
)


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME.convert_dtypes(dtype_backend="pyarrow"),
        FRAME.astype({"job": "category", "age": float}),
        FRAME.astype(object),
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME, preserve_index=False),
    ],
    ids=["pandas", "pandas-arrow", "pandas-category", "pandas-object", "polars", "arrow"],
)
def test_every_library_and_type_gives_the_same_rows(frame):
    encoder, X = read(frame)
    assert [role.kind for role in encoder.roles] == ["bins", "bins", "category", "category", "bins"]
    days = (np.datetime64("2024-01-01") - np.datetime64("1970-01-01")).astype(int)
    assert_allclose(X.values.parts["bins"], [[39, 1.5], [np.nan, np.nan], [53, 2.5]])
    assert_allclose(X.values.parts["bins, kept"], [[days], [np.nan], [days + 2.5]])
    assert X.values.parts["category"].tolist() == [[0, 1], [-1, -1], [1, 0]]
    assert [c.tolist() for c in X.features.parts["category"].categories] == [["clerk", "cook"], [False, True]]


def test_kinds_by_type():
    found = kinds(FRAME)
    assert found["age"] == ("bins", "whole numbers")
    assert found["pay"] == ("bins", "numbers")
    assert found["job"] == ("category", "text")
    assert found["left"] == ("category", "booleans")
    assert found["when"] == ("bins", "dates")


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.array([1, 2, 3]), "bins"),
        (np.array([True, False, True]), "category"),
        (np.array(["a", "b", "a"]), "category"),
        (np.array([1.5, None, 2], dtype=object), "bins"),
        (np.array([True, None, False], dtype=object), "category"),
        (np.array(["a", None, np.nan], dtype=object), "category"),
        (np.array([None, None, None], dtype=object), "category"),
        (np.array([datetime.date(2024, 1, 1), None, pd.Timestamp("2025-01-01")], dtype=object), "bins"),
        (np.array(["2024-01-01", "NaT", "2025-01-01"], dtype="M8[D]"), "bins"),
        (np.array([1, 2, "NaT"], dtype="m8[h]"), "bins"),
    ],
)
def test_kinds_of_array_columns(column, kind):
    assert kinds(column[:, None])[0][0] == kind


def test_kinds_of_objects():
    X = pd.DataFrame(
        {
            "zoned": pd.Series([pd.Timestamp("2024-01-02 01:00+01:00"), pd.Timestamp("2024-07-01")], dtype=object),
            "money": [Decimal("1.5"), None],
            "clock": [datetime.time(6, 30), None],
            "month": pd.period_range("2024-01", periods=2, freq="M"),
            "span": pd.Series([datetime.timedelta(hours=36), None], dtype=object),
            "text": ["12%", "3.5%"],
            "day": ["2024-01-01", "2024-02-01"],
        }
    )
    encoder, encoded = read(X.astype({"zoned": object}))
    assert [role.kind for role in encoder.roles] == ["bins"] * 7
    assert [role.holds for role in encoder.roles[-2:]] == ["numbers", "dates"]
    kept = encoded.values.parts["bins, kept"]
    assert_allclose(kept[0], [19724.0, 6.5, 19723.0, 1.5, 19723.0])
    assert_allclose(encoded.values.parts["bins"], [[1.5, 12.0], [np.nan, 3.5]])


def test_columns_go_by_name_or_number():
    X = pd.DataFrame(np.arange(6.0).reshape(3, 2))
    assert kinds(X, columns={1: "gaussian"})["1"][0] == "gaussian"
    assert kinds(FRAME, columns={0: "drop"})["age"][0] == "drop"
    with pytest.raises(ValueError, match="`columns` has 7, which is no"):
        read(FRAME, columns={7: "drop"})


def test_times_are_numbers_of_days_and_hours():
    X = np.array([["2024-01-02"], ["NaT"]], dtype="M8[D]")
    assert_allclose(read(X)[1].values.parts["bins, kept"][:, 0], [19724.0, np.nan])
    spans = np.array([[36], [12]], dtype="m8[h]")
    assert_allclose(read(spans)[1].values.parts["bins, kept"][:, 0], [1.5, 0.5])
    zoned = pd.DataFrame({"t": pd.to_datetime(["2024-01-02 01:00"]).tz_localize("Europe/Paris")})
    assert_allclose(read(zoned)[1].values.parts["bins, kept"][:, 0], [19724.0])
    clock = pd.DataFrame({"t": [datetime.time(6, 30), None]})
    assert_allclose(
        read(pa.Table.from_pandas(clock), columns={"t": "bins"})[1].values.parts["bins, kept"][:, 0], [6.5, np.nan]
    )


def test_columns_override_their_kinds():
    X = pd.DataFrame({"zip": [1, 2, 3], "id": [7, 8, 9], "n": ["1.5", "2", None]})
    encoded = read(X, columns={"zip": "category", "id": "drop", "n": "gaussian"})[1]
    assert encoded.features.parts.keys() == {"gaussian", "category, kept"}
    assert_allclose(encoded.values.parts["gaussian"][:, 0], [1.5, 2.0, np.nan])
    assert encoded.shape == (3, 3)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"agee": "bins"}, r"`columns` has 'agee', which is no.* column: the columns are \['age'"),
        ({"age": "number"}, "must be one of .*'drop'.*, got 'number'"),
        (["age"], "columns must be None or a dict of column: kind"),
        ({"job": "gaussian"}, "column 'job' is to be read as numbers, but holds 'clerk'"),
        (dict.fromkeys(FRAME.columns, "drop"), "every column is left out"),
    ],
)
def test_wrong_columns_are_refused(columns, said):
    with pytest.raises(ValueError, match=said):
        read(FRAME, columns=columns)


def test_nested_and_mixed_values_are_refused_by_name():
    with pytest.raises(TypeError, match=r"column 'a' holds List.* values, but an entry of a table is one value"):
        read(pl.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(ValueError, match="column 1 mixes numbers and strings"):
        read(np.array([[1, "u"], [2, 3]], dtype=object))
    with pytest.raises(ValueError, match="contains infinity, in column 'a'"):
        read(pd.DataFrame({"a": [1.0, np.inf]}))


def test_other_columns_are_refused_after_the_first_rows():
    encoder, _ = read(FRAME)
    with pytest.raises(ValueError, match="X has 4 features, but NaiveBayes is expecting 5 features"):
        encoder(FRAME.drop(columns="job"))
    with pytest.raises(ValueError, match=r"feature names should match.*the same names in another order"):
        encoder(FRAME[FRAME.columns[::-1]])
    with pytest.raises(ValueError, match="column 'age' is to be read as numbers, but holds 'young'"):
        encoder(FRAME.assign(age=["young", "old", "old"]))


def test_rows_are_cut_and_hashed_by_their_values():
    _, X = read(FRAME)
    assert X[1:].values.parts["bins"].shape == (2, 2)
    again = pd.concat([FRAME, FRAME], ignore_index=True)
    identity = read(again)[1]
    marks = identity.features.identity(identity.values)
    np.testing.assert_array_equal(marks[:3], marks[3:])
    assert len(np.unique(marks, axis=0)) == 3


LISTED = [
    ["b", "a", "d", "c"],
    [3, 1, 7, 2],
    [1.5, -2.0, 9.0, 0.5],
    pd.to_datetime(["2024-02-01", "2023-01-01", "2022-01-01"]),
]


@pytest.mark.parametrize("known", LISTED)
@pytest.mark.parametrize("gone", [0, -1])
def test_coded_columns_have_the_categories_of_their_values(known, gone):
    codes = np.arange(40) % (len(known) - 1)  # the last of them has no row
    codes[::7] = gone
    column = nw.from_native(pd.Series(pd.Categorical.from_codes(codes, pd.Index(known))), series_only=True)
    numbered, plain = coded([entries_of(column)]), coded([values_of(column)])
    assert numbered.features.categories[0].tolist() == plain.features.categories[0].tolist()
    assert numbered.values.dtype == plain.values.dtype
    assert numbered.values.tolist() == plain.values.tolist()


ODD = {
    "intervals": pd.cut(pd.Series(range(60)), 3),
    "complex numbers": pd.Series([1j, 2j, 3 + 1j] * 20),
    "bytes": pd.Series([b"u", b"v", None] * 20),
    "names": pd.Series([uuid.UUID(int=i % 3) for i in range(60)]),
    "times": pd.Series([datetime.time(i % 3) for i in range(60)]),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("model", [NaiveBayes, CategoricalNB])
def test_values_of_other_types_are_categories_by_their_text(tmp_path, kind, model):
    rows, y = pd.DataFrame({"q": ODD[kind]}), ["a", "b", "b"] * 10 + ["a", "a", "b"] * 10
    fitted = model().fit(rows, y)
    want = fitted.predict_proba(rows)
    fitted.save(tmp_path / "m")
    assert_allclose(load(tmp_path / "m").predict_proba(rows.iloc[::-1]), want[::-1])
    assert_allclose(fitted.predict_proba(rows.astype(object)), want)
    if kind != "times":
        text = pd.DataFrame({"q": [None if v is None else str(v) for v in ODD[kind]]})
        assert_allclose(model().fit(text, y).predict_proba(text), want)
