"""Names of columns where rows are in memory, and what answers look like when they are printed."""

import numpy as np
import pandas as pd
import pytest

from suffice import AdditiveTables, GaussianNB, NaiveBayes, TabularClassifier
from suffice.data import Files, Memory

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60), "label": np.tile(["u", "v"], 30)})


@pytest.mark.parametrize(
    "X", [FRAME, FRAME.to_numpy(), ["rows.parquet", "more.parquet"]], ids=["frame", "array", "list"]
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_name_for_y_needs_a_data_set(X, method):
    with pytest.raises(ValueError, match=r"y is a name, 'label', but X is a .* in memory: give the labels themselves"):
        getattr(GaussianNB(), method)(X, "label")
    assert GaussianNB().fit(Memory(FRAME, target="label")).n_features_in_ == 2


def test_answers_of_files_say_how_they_are_read(tmp_path):
    FRAME.to_parquet(tmp_path / "rows.parquet", index=False)
    answers = GaussianNB().fit(Files(tmp_path, "label")).predict(Files(tmp_path, "label"))
    assert "rows.parquet" in repr(answers)
    assert ".to_pandas()" in repr(answers)


def test_zeros_among_many_numbers_are_called_zero():
    values = np.where(RNG.random(20_000) < 0.5, 0.0, RNG.lognormal(size=20_000))
    model = NaiveBayes().fit(values[:, None], RNG.integers(2, size=20_000))
    said = str(model.columns_)
    assert "0 on its own" in said
    assert "e-3" not in said


@pytest.mark.parametrize("make", [lambda: TabularClassifier(random_state=0), AdditiveTables], ids=["trees", "tables"])
def test_weights_of_experts_are_learned_in_one_pass_over_files(tmp_path, monkeypatch, make):
    frame = pd.DataFrame(RNG.normal(size=(600, 4)), columns=list("abcd"))
    frame["label"] = np.where(frame["a"] + RNG.normal(size=600) > 0, "u", "v")
    for i in range(9):
        frame.iloc[i::9].to_parquet(tmp_path / f"{i}.parquet", index=False)
    monkeypatch.setattr("suffice.data.files.cache.MAX_MEMORY", 0)
    passes, total = [], Files.sum
    monkeypatch.setattr(Files, "sum", lambda self, f: (passes.append(f), total(self, f))[1])
    found = make().fit(Files(tmp_path, "label"))
    assert len(passes) <= 8
    X = frame.drop(columns="label")
    np.testing.assert_allclose(found.predict_proba(X), make().fit(X, frame["label"]).predict_proba(X), rtol=1e-8)
