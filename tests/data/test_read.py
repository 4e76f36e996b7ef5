"""Tables as people save them: what is read, what is said of it, and what is refused."""

from __future__ import annotations

import datetime
import gzip
import re

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import NaiveBayes
from suffice.data.files.formulas import quoted, unquoted
from suffice.data.files.reading import MISSING, Reading, TableError
from suffice.data.files.table import read

QUOTED = "'-x"
ROWS = "size,colour,label\n1.5,red,a\n2,blüe,b\n?,NA,a\n"
AS_READ = {"size": [1.5, 2.0, None], "colour": ["red", "blüe", None], "label": ["a", "b", "a"]}


def sheet(tmp_path, content, how=None, learned=None, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(str(path), how, learned)


def notes(tmp_path, *args, **more):
    """What is said, without the folder."""
    return [note.replace(f"{tmp_path}/", "") for note in sheet(tmp_path, *args, **more).notes]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (ROWS.encode(), None),
        (ROWS.replace(",", ";").encode(), None),
        (ROWS.replace(",", "\t").encode(), None),
        (ROWS.replace(",", "|").encode(), None),
        (ROWS.replace("\n", "\r\n").encode(), None),
        (ROWS.replace("\n", "\r").encode(), None),
        (("\n\n" + ROWS + "\n\n").encode(), None),
        (ROWS.encode("utf-8-sig"), None),
        (gzip.compress(ROWS.encode(), mtime=0), None),
        (ROWS.encode("utf-16"), "t.csv is UTF-16, not UTF-8, and is read as that"),
        (ROWS.encode("utf-16-le"), "t.csv is UTF-16, not UTF-8, and is read as that"),
        (ROWS.encode("utf-16-be"), "t.csv is UTF-16, not UTF-8, and is read as that"),
        (ROWS.encode("latin-1"), "t.csv, line 3: the file is not UTF-8; it is read as Windows-1252 (Latin-1)"),
        (gzip.compress(ROWS.encode("cp1252"), mtime=0), "t.csv, line 3: the file is not UTF-8"),
        (ROWS.replace(",", ", ").encode(), "spaces around the values of 'colour', 'label' are left out"),
        ((ROWS + f'3,"{"x" * 3_000_000}",a\n').encode(), None),
    ],
    ids=lambda v: None if v is None else repr(v[:20]),
)
def test_text_in_any_dress_is_the_same_table(tmp_path, content, said):
    got = sheet(tmp_path, content)
    assert got.table.slice(0, 3).to_pydict() == AS_READ
    assert len(got.notes) == (said is not None)
    assert said is None or said in got.notes[0]


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])  # what is in a file counts, not its name
def test_files_with_types(tmp_path, name):
    table = pa.table(AS_READ)
    pq.write_table(table, tmp_path / name)
    assert read(str(tmp_path / name)).table.to_pydict() == AS_READ
    for options in ({"compression": "uncompressed"}, {"compression": "zstd"}):
        feather.write_feather(table, tmp_path / name, **options)
        assert read(str(tmp_path / name)).table.to_pydict() == AS_READ
    with pa.ipc.new_stream(tmp_path / name, table.schema) as stream:
        stream.write_table(table)
    assert read(str(tmp_path / name)).table.to_pydict() == AS_READ


def test_types_of_a_file_stay_and_ways_of_storing_them_do_not(tmp_path):
    from decimal import Decimal

    table = pa.table(
        {
            "digits": ["1", "2", "?"],
            "words": pa.array(["u", "v", "u"]).dictionary_encode(),
            "money": pa.array([Decimal("1.5"), None, Decimal("2.5")]),
            "large": pa.array(["a ", "b", None], pa.large_string()),
            "day": pa.array([datetime.date(2024, 1, 1), None, None]),
            "far": [1.0, np.inf, -np.inf],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    got = read(str(tmp_path / "t.parquet"))
    assert {name: str(got.table[name].type) for name in table.column_names} == {
        "digits": "string",
        "words": "string",
        "money": "double",
        "large": "string",
        "day": "timestamp[us]",
        "far": "double",
    }
    assert got.table["digits"].to_pylist() == ["1", "2", None]
    assert got.table["large"].to_pylist() == ["a", "b", None]
    assert got.table["far"].to_pylist() == [1.0, None, None]
    assert "2 values of 'far' are infinite, and count as missing" in got.notes


def test_what_is_missing(tmp_path):
    lines = "".join(f"{word},{i}\n" for i, word in enumerate([*MISSING, "none", " ? "]))
    got = sheet(tmp_path, f"a,i\n{lines}", Reading(na=("none",))).table
    assert got["a"].null_count == got.num_rows
    assert sheet(tmp_path, f"a,i\n{lines}").table["a"].to_pylist() == [*([None] * len(MISSING)), "none", None]


def test_decimal_commas(tmp_path):
    text = "a;b;c\n1,5;2,5;1,5\n2;x,y;-3,25\n;1;1e3\n"
    got = sheet(tmp_path, text)
    assert got.table["a"].to_pylist() == [1.5, 2.0, None]
    assert got.table["b"].to_pylist() == ["2,5", "x,y", "1"]
    assert notes(tmp_path, text) == ["'a' has decimal commas, as in '1,5', and is read as numbers"]
    assert sheet(tmp_path, text, Reading(decimal=",")).table["c"].to_pylist() == [1.5, -3.25, 1000.0]
    assert notes(tmp_path, text, Reading(decimal=",")) == []
    assert sheet(tmp_path, text, Reading(decimal=".")).table["a"].to_pylist() == ["1,5", "2", None]


@pytest.mark.parametrize(
    ("values", "way", "first"),
    [
        (["31.12.2024", "1.2.2024"], "dd.mm.yyyy", datetime.datetime(2024, 12, 31)),
        (["01.02.2024", "03.04.2024"], "dd.mm.yyyy", datetime.datetime(2024, 2, 1)),
        (["01/02/2024", "13/02/2024"], "dd/mm/yyyy", datetime.datetime(2024, 2, 1)),
        (["01/02/2024", "02/13/2024"], "mm/dd/yyyy", datetime.datetime(2024, 1, 2)),
        (["2.991,45", "12", "-1.000"], "1.234,5", 2991.45),
        (["2,991.45", "12", "-1,000"], "1,234.5", 2991.45),
        (["1.234.567", "1.000"], "1.234,5", 1234567),
        (["$24,070.32", "-$5", "$1,234"], "$1,234.50", 24070.32),
        (["24.070,32 €", "-5€", "1.234 €"], "1.234,50 €", 24070.32),
        (["$24", "$5"], "$1,234.50", 24),
        (["23.3%", "4 %", "-1%"], "12.5%", 23.3),
        (["23,3%", "4%"], "12,5%", 23.3),
    ],
)
def test_ways_to_write_dates_and_numbers(tmp_path, values, way, first):
    text = "a;b\n" + "".join(f"{value};x\n" for value in [*values, "?"])
    got = sheet(tmp_path, text)
    assert got.table["a"].to_pylist()[0] == first
    assert got.table["a"].null_count == 1
    assert got.written == {"a": way}
    kind = "numbers" if isinstance(first, (int, float)) else "dates"
    assert len(got.notes) == 1
    assert got.notes[0].startswith(f"'a' is read as {kind} ({way}")
    alone = sheet(
        tmp_path, f"a;b\n{values[-1]};x\n", Reading(written={"a": way})
    )  # read as the others, by the way alone
    assert alone.table["a"][0].as_py() == got.table["a"][len(values) - 1].as_py()
    assert alone.notes == ()
    assert sheet(tmp_path, text, Reading(categorical=("a",))).table["a"].to_pylist() == [*values, None]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["01/02/2024", "03/04/2024"], "'a' is read as text, but looks like dates: write yyyy-mm-dd"),
        (["31/12/2024", "12/31/2024"], "'a' is read as text, but looks like dates: write yyyy-mm-dd"),
        (["31.02.2024", "01.02.2024"], "'a' is read as text, but looks like dates: write yyyy-mm-dd"),
        (["2.991,45", "2,991.45"], "'a' is read as text, but looks like numbers: write them in one way, as 1234.5"),
        (["31.12.2024", "soon"], None),
        (["$5", "€5"], None),
        (["$5", "7"], None),
        (["1.2.3", "1.10.3"], None),
    ],
)
def test_what_only_looks_like_dates_and_numbers_stays_text_with_a_note(tmp_path, values, said):
    got = sheet(tmp_path, "a;b\n" + "".join(f"{value};x\n" for value in values))
    assert got.table["a"].to_pylist() == values
    assert got.notes == (() if said is None else (said,))


def test_thousands_where_the_decimal_point_is_known(tmp_path):
    points, commas = "a;b\n1,234;x\n999;x\n", "a;b\n1.234;x\n999;x\n"
    assert sheet(tmp_path, points, Reading(decimal=".")).table["a"].to_pylist() == [1234, 999]
    assert sheet(tmp_path, commas, Reading(decimal=",")).table["a"].to_pylist() == [1234, 999]
    assert sheet(tmp_path, commas).table["a"].to_pylist() == [1.234, 999.0]


def test_values_that_are_not_written_as_they_were_learned(tmp_path):
    how = Reading(written={"a": "dd/mm/yyyy"})
    said = r"t.csv, line 3, column 'a': '12/31/2024' is not of dates \(dd/mm/yyyy\), as which the model has learned"
    with pytest.raises(TableError, match=said):
        sheet(tmp_path, "a;b\n01/02/2024;x\n12/31/2024;x\n", how)
    assert str(sheet(tmp_path, "a;b\n2024-02-01;x\n", how).table["a"][0]) == "2024-02-01 00:00:00"
    assert sheet(tmp_path, "a;b\n?;x\n", how, {"a": "moment"}).table["a"].null_count == 1


def test_a_number_that_is_none_is_noticed(tmp_path):
    text = "a,b\n" + "".join(f"{i},{i}\n" for i in range(20)) + '"unknown\n",1\n7,2\nunknown,3\n'
    said = "t.csv, line 22: 'a' is read as text, as 'unknown' is not a number, as 1 other; if it marks a missing value"
    assert notes(tmp_path, text)[0].startswith(said)
    assert not notes(tmp_path, text, Reading(na=("unknown",)))[1:]
    assert sheet(tmp_path, text, Reading(na=("unknown",))).table["a"].null_count == 2


@pytest.mark.parametrize("number", ["$12,007.50", "12.007,50 €", "(1,234.50)", "23.5%", "-£7", "1,234.5"])
def test_a_mark_among_amounts_is_noticed(tmp_path, number):
    rows = [number] * 30 + ["-"] + [number] * 19
    text = "a;b\n" + "".join(f"{value};{i}\n" for i, value in enumerate(rows))
    assert "t.csv, line 32: 'a' is read as text, as '-' is not a number; if it" in notes(tmp_path, text)[0]


def test_amounts_in_two_ways_are_noticed(tmp_path):
    text = "a;b\n" + "1,234.50;1\n(1,007.00);2\n" * 5
    assert notes(tmp_path, text) == ["'a' is read as text, but looks like numbers: write them in one way, as 1234.5"]


@pytest.mark.parametrize("values", [["-x", "'-x", "b"], ["'-x", "''-x", "-x"], ["=a", "'=b"]])
def test_text_with_and_without_a_quote_stays_two_values(tmp_path, values):
    got = sheet(tmp_path, "a,y\n" + "".join(f"{value},u\n" for value in values))
    assert got.table["a"].to_pylist() == values
    assert got.notes == ()


def test_names_with_and_without_a_quote_stay_two_columns(tmp_path):
    assert sheet(tmp_path, "-x,'-x,y\n1,2,u\n").table.column_names == ["-x", "'-x", "y"]


@pytest.mark.parametrize("far", [1, 400_000])
def test_a_quote_before_every_formula_is_left_out_with_a_note(tmp_path, far):
    rows = ["'-x", "''-x", "-1.5", "'\uff1dcmd"] + ["b"] * far
    text = "a,y\n" + "".join(f"{value},u\n" for value in rows)
    got = sheet(tmp_path, text)
    assert got.table["a"].to_pylist()[:4] == ["-x", "'-x", "-1.5", "\uff1dcmd"]
    assert got.notes == ("'a' is read without the quote before formulas",)
    assert sheet(tmp_path, text + "-x,u\n").table["a"].to_pylist()[:4] == rows[:4]


def test_a_file_with_both_forms_of_a_label_has_both_classes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 7},{('-x', QUOTED, 'b')[i % 3]}\n" for i in range(60)))
    assert NaiveBayes().fit(path, y="y").classes_.tolist() == [QUOTED, "-x", "b"]


def test_columns_to_read_as_text_and_to_leave_out(tmp_path):
    got = sheet(tmp_path, "zip,x,id\n01234,1,u\n00501,2,v\n", Reading(categorical=("zip",), drop=("id",)))
    assert got.table.to_pydict() == {"zip": ["01234", "00501"], "x": [1, 2]}


def test_columns_are_read_as_they_were_learned(tmp_path):
    learned = {"code": "text", "x": "number", "when": "moment", "gone": "number", "yes": "boolean"}
    text = "x,code,more,when,gone,yes\n1,007,z,2024-01-01,,true\n2,8,z,2024-01-02 10:00:00,NA,false\n"
    got = sheet(tmp_path, text, learned=learned).table
    assert got["code"].to_pylist() == ["007", "8"]
    assert [str(got[name].type) for name in learned] == ["string", "double", "timestamp[us]", "double", "bool"]
    with pytest.raises(TableError, match=r"t.csv, line 6, column 'x': 'many' is not a number, as .* --na 'many'"):
        sheet(tmp_path, 'x,code\n1,2\n\n3,"u\nv"\nmany,3\n', learned={"x": "number"})


@pytest.mark.parametrize(
    ("content", "how", "message"),
    [
        (b"", {}, "t.csv is empty"),
        (b" \n\n", {}, "t.csv is empty"),
        (b"\xef\xbb\xbf", {}, "t.csv is empty"),
        (b"\xff\xfe", {}, "t.csv is empty"),
        (b"a,b\n", {}, "t.csv has a header and no rows"),
        (b"a,b\n1,2\n3\n", {}, "cannot be read as a table: line 3 has 1 value and the header 2 names: '3'"),
        (b'a,b\n1,"2\n3"\n\n4,5,6\n', {}, "line 5 has 3 values and the header 2 names: '4,5,6'"),
        (b'a,b\n1,2\n3,"4\n5,6\n', {}, "line 3 opens a quote that is never closed"),
        (b"a,b,a\n1,2,3\n", {}, "line 1: more than one column is called a (columns 1, 3): give every column a name"),
        (b"5.1,3.5,5.1\n1,2,3\n", {}, "is called 5.1 (columns 1, 3).* Is the first line a row instead of a header"),
        (b"a,,\n1,2,3\n", {}, "more than one column has no name"),
        (b"a,b,c\n1,2,3\n", {"separator": ";"}, "one column only if split at ';', 'a,b,c': is --separator ',' meant"),
        (b"a b c\n1 2 3\n", {}, "has one column only, 'a b c': is --separator ' ' meant"),
        (b"a,b\n1,\0\n", {}, "line 2 has a NUL byte, so it is not a text file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", {}, "has a NUL byte"),
        (b"PK\x03\x04\x14\0", {}, "it is a workbook or a zip archive: save the sheet as CSV"),
        (b"PAR1 and nothing else", {}, "cannot be read as a table: "),
        (b"ARROW1 and nothing else", {}, "cannot be read as a table: "),
        (b"\x1f\x8b\x08 and nothing else", {}, "cannot be read as a table: "),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], {}, "cannot be read as a table: "),
        (b"\xff\xfea", {}, "looks like UTF-16 but is not"),
        (b"a,b\n1,2\n", {"drop": ("c",)}, "there is no column 'c'. The columns are: a, b"),
        (b"a,b\n1,2\n", {"categorical": ("B",)}, "there is no column 'B'. Did you mean 'b'?"),
    ],
    ids=lambda v: repr(v)[:24],
)
def test_what_is_no_table_is_refused_with_its_place(tmp_path, content, how, message):
    with pytest.raises(TableError) as error:
        sheet(tmp_path, content, Reading(**how))
    assert all(part in str(error.value) for part in message.split(".* "))
    assert str(tmp_path / "t.csv") in str(error.value) or "there is no column" in message


def test_a_column_that_holds_several_values_in_one(tmp_path):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"a": [1, 2], "b": [[1, 2], [3]]}), path)
    said = r"t.parquet, row 1: 'b' holds list<.*> values, but is to be read as text: convert the column"
    with pytest.raises(TableError, match=said):
        read(path, Reading(categorical=("b",)))
    with pytest.raises(TableError, match=said):
        read(path, learned={"b": "text"})


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(TableError, match="there is no file"):
        read(str(tmp_path / "none.csv"))
    with pytest.raises(TableError, match="is a folder, not a file that can be read"):
        read(str(tmp_path))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"decimal": "x"}, "the decimal point is '.' or ',', got 'x'"),
        ({"separator": "tab"}, "the separator is one character"),
        ({"separator": ",", "decimal": ","}, "cannot be both"),
    ],
)
def test_ways_to_read_that_are_none(how, message):
    with pytest.raises(TableError, match=message):
        Reading(**how)


def test_a_first_line_that_is_a_row(tmp_path):
    said = "line 1: '5.1, 3.5, setosa' looks like a row, not like names of columns"
    assert said in notes(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n")[0]
    assert not notes(tmp_path, "0,1,label\n4.9,3.0,setosa\n")  # as a data frame calls columns that have no names


PIECES = (*'ab1,;\t\n\r"? é\0', "2.5", "1,5", "NA", "inf", "2024-01-01", "true", "1.2.2024", "1/2/2024", "1.234,5")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]),
    st.binary(max_size=3),
    st.sampled_from([None, {"a": "number", "b": "text"}, {"b": "moment"}]),
)
def test_anything_is_a_table_or_refused_in_words(tmp_path_factory, text, encoding, end, learned):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(text.encode(encoding) + end)
    try:
        found = read(str(path), learned=learned).table
    except TableError:
        return
    assert found.num_rows > 0
    assert len(set(found.column_names)) == found.num_columns


def test_a_small_file_cannot_fill_the_memory(tmp_path):
    rows = b"1,a\n" * (1 << 18)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"x,y\n" + 40 * rows))
    with pytest.raises(TableError, match=r"t.csv.gz unpacks to more than 32 MB, over 100 times its size: .* unpack it"):
        read(str(tmp_path / "t.csv.gz"))
    (tmp_path / "u.csv.gz").write_bytes(gzip.compress(b"x,y\n" + rows))  # a small table may be of equal rows
    assert read(str(tmp_path / "u.csv.gz")).table.num_rows == 1 << 18


TEXTS = st.text(alphabet="'=+-@\t\r\n1.,ex ", max_size=6)


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_text_is_read_as_it_was_before_it_was_quoted(texts):
    column = pa.chunked_array([texts], pa.string())
    written = quoted(column)
    assert unquoted(written).to_pylist() == texts
    for text, safe in zip(texts, written.to_pylist(), strict=True):
        assert safe in (text, "'" + text)
        computed = len(safe) > 1 and safe[0] in "=+-@\t\r\n"
        assert not computed or re.fullmatch(r"[-+][\d.,]*\d[\d.,]*(e[-+]?\d+)?", safe)
