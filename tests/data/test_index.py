"""The index of a pandas data frame in a file says which row is which: a model learns from it only if it is named."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from suffice import GaussianNB, NaiveBayes, load
from suffice.compare.race.table import read_table as compared
from suffice.data import Files
from suffice.data.files.table import read
from tests.cli.conftest import call  # noqa: F401 - a fixture

N = 120
Y = np.arange(N) // (N // 2)
FRAME = pd.DataFrame({"a": np.random.default_rng(0).normal(size=N) + Y, "y": Y})
INDEX = {  # each of them gives the label away, except the last
    "whole numbers": np.arange(N) * 3,
    "floats": np.arange(N) * 0.5,
    "dates": pd.date_range("2020", periods=N),
    "text": [f"u{i // 4:04d}" for i in range(N)],
    "categories": pd.CategoricalIndex(np.where(Y == 0, "u", "v")),
    "a name": pd.Index(np.arange(N) // 2, name="customer"),
    "the name of a column": pd.Index(np.arange(N) // 2, name="a"),
    "two levels": pd.MultiIndex.from_arrays([Y, np.arange(N)], names=[None, "customer"]),
    "a range": pd.RangeIndex(5, 5 + N),
}
FORMATS = {
    "t.parquet": lambda table, path: pq.write_table(table, path),
    "t.arrow": lambda table, path: feather.write_feather(table, path),
}


@pytest.fixture(params=FORMATS)
def stored(request, tmp_path):
    """A function that writes the frame with an index, and says where."""

    def write(index, folder="."):
        path = tmp_path / folder / request.param
        path.parent.mkdir(exist_ok=True, parents=True)
        FORMATS[request.param](pa.Table.from_pandas(FRAME.set_axis(index)), path)
        return str(path)

    return write


@pytest.mark.parametrize("kind", INDEX)
@pytest.mark.parametrize("model", [GaussianNB, NaiveBayes])
def test_a_model_of_a_file_is_that_of_the_columns(stored, kind, model):
    path, ours = stored(INDEX[kind]), model()
    ours.fit(path, y="y")
    assert ours.feature_names_in_.tolist() == ["a"]
    theirs = model().fit(FRAME[["a"]], FRAME["y"]).predict_proba(FRAME[["a"]])
    np.testing.assert_allclose(np.asarray(ours.predict_proba(path)), theirs, rtol=1e-10)


@pytest.mark.parametrize("kind", INDEX)
def test_every_command_leaves_an_index_out(stored, call, kind):  # noqa: F811 - the fixture
    path = stored(INDEX[kind])
    said = call("fit", path, "--target", "y", "-m", "nb", "-o", "m.suffice")
    assert ("is the index of a data frame" in said) == (kind not in ("a range", "two levels"))
    assert ("are the index of a data frame" in said) == (kind == "two levels")
    assert load("m.suffice").feature_names_in_.tolist() == ["a"]
    for words in (("predict", "-o", "p.csv"), ("evaluate",), ("update", "-o", "u.suffice")):
        call(words[0], "m.suffice", path, *words[1:])
    assert compared(path, "y").data.names == ("a",)


def test_a_comparison_leaves_an_index_out(stored, call):  # noqa: F811 - the fixture
    path = stored(INDEX["whole numbers"])
    said = call("compare", path, "--target", "y", "--methods", "LDA", "--folds", 2, "--max-time", 30)
    assert "1 column (1 of numbers" in said


@pytest.mark.parametrize("kind", ["a name", "two levels"])
def test_an_index_that_is_named_is_a_column(stored, call, kind):  # noqa: F811 - the fixture
    path = stored(INDEX[kind])
    assert GaussianNB().fit(Files(path, "y", columns=["a", "customer"])).n_features_in_ == 2
    said = GaussianNB().fit(path, y="y").predict(Files(path, columns=["a"], keys="customer")).to_table()
    assert said.column_names == ["customer", "prediction"]
    assert NaiveBayes().fit(path, y="customer").feature_names_in_.tolist() == ["a", "y"]
    call("fit", path, "--target", "customer", "-m", "nb", "--many-classes", "-o", "m.suffice")
    assert load("m.suffice").feature_names_in_.tolist() == ["a", "y"]
    call("fit", path, "--target", "y", "-m", "nb", "-o", "n.suffice")
    call("predict", "n.suffice", path, "--keep", "customer", "-o", "p.parquet")
    assert pq.read_table("p.parquet").column_names == ["customer", "prediction"]
    call("fit", path, "--target", "y", "--categorical", "customer", "-m", "nb", "-o", "c.suffice")
    assert load("c.suffice").n_features_in_ == 2


def test_files_of_which_only_some_have_an_index_are_one_table(stored, tmp_path):
    for kind in ("a range", "whole numbers", "a name"):
        stored(INDEX[kind], f"all/{kind}")
    model = GaussianNB().fit(str(tmp_path / "all"), y="y")
    assert model.feature_names_in_.tolist() == ["a"]
    assert model.class_count_.sum() == 3 * N


@pytest.mark.parametrize(
    "said", [b"", b"{", b"[]", b"\xff", b'{"index_columns": 3}', b'{"index_columns": ["gone", {}]}']
)
def test_a_description_that_makes_no_sense_is_no_index(tmp_path, said):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table(FRAME.to_dict("list")).replace_schema_metadata({b"pandas": said}), path)
    assert GaussianNB().fit(path, y="y").n_features_in_ == 1
    assert read(path).table.column_names == ["a", "y"]


UNNAMED = {
    "t.csv": lambda path: FRAME.sample(frac=1, random_state=0).to_csv(path),
    "again.csv": lambda path: FRAME.reset_index(names="Unnamed: 0").to_csv(path, index=False),
    "t.parquet": lambda path: pq.write_table(pa.table({**FRAME, "__index_level_0__": np.arange(N) * 3}), path),
}


@pytest.mark.parametrize("name", UNNAMED)
def test_an_index_that_only_its_name_shows_is_left_out_with_a_warning(tmp_path, call, name):  # noqa: F811
    path = str(tmp_path / name)
    UNNAMED[name](path)
    with pytest.warns(UserWarning, match="looks like the index of a data frame, and is left out") as said:
        model = GaussianNB().fit(path, y="y")
    assert model.feature_names_in_.tolist() == ["a"]
    assert len(said) == 1
    assert model.predict(path).to_table().num_rows == N
    index = read(path, keep=["", "Unnamed: 0", "__index_level_0__"]).kept.column_names[0]
    assert GaussianNB().fit(Files(path, "y", columns=["a", index])).n_features_in_ == 2
    for kind in ("nb", "logistic"):
        assert "is the index of a data frame, left out" in call(
            "fit", path, "--target", "y", "-m", kind, "-o", f"{kind}.suffice"
        )
        assert load(f"{kind}.suffice").feature_names_in_.tolist() == ["a"]


def test_a_column_without_a_name_that_does_not_number_rows_is_a_feature(tmp_path):
    path = str(tmp_path / "t.csv")
    FRAME.rename(columns={"a": ""}).to_csv(path, index=False)
    assert GaussianNB().fit(path, y="y").feature_names_in_.tolist() == [""]


def test_a_frame_in_memory_keeps_its_columns_with_a_warning():
    table = pa.Table.from_pandas(FRAME[["a"]].set_axis(np.arange(N) * 3))
    with pytest.warns(UserWarning, match="'__index_level_0__' looks like the index .* learned from: leave it out"):
        GaussianNB().fit(table, Y)
