"""Models that are not better than chance: a note and an exit code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pytest
from sklearn.metrics import log_loss

from suffice.model_selection.measures import gains_over_chance, no_better_than_chance


def noise(n, seed):
    """Columns that say nothing about the label."""
    rng = np.random.default_rng(seed)
    columns = {"x": rng.normal(size=n), "z": rng.normal(size=n), "town": rng.choice(list("uvw"), n).tolist()}
    return pa.table({**columns, "y": np.where(rng.random(n) < 0.5, "yes", "no").tolist()})


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_no_better_than_chance(tmp_path, call, seed):
    pcsv.write_csv(noise(200, seed), tmp_path / "t.csv")
    pcsv.write_csv(noise(2000, seed + 100), tmp_path / "new.csv")
    words = ("fit", "t.csv", "--target", "y", "--out", "m.suffice", "--model")
    said = call(*words, "auto", "--max-time", 0, code=1)
    assert "no model does clearly better than chance on rows that it has not learned: the best has log loss" in said
    call(*words, "qda", "--force")
    assert "the model is not better than chance on 2,000 rows of new.csv" in call(
        "evaluate", "m.suffice", "new.csv", code=1
    )


@pytest.mark.parametrize("model", ["gaussian-nb", "qda"])
def test_a_fit_that_is_no_better_than_chance_on_its_own_rows_says_so(tmp_path, call, model):
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.1).astype(int)
    z = rng.normal(size=(300, 1)) + 0.3 * y[:, None]
    X = np.repeat(z, 10, 1) + 0.01 * rng.normal(size=(300, 10))  # ten times the same: overconfident
    pcsv.write_csv(pa.table({**{f"x{j}": X[:, j] for j in range(10)}, "y": y}), tmp_path / "corr.csv")
    words = ("corr.csv", "--target", "y", "--out", "m.suffice", "--model", model)
    assert "the model is not better than chance on the rows that it has learned" in call("fit", *words, code=1)
    assert "the model is not better than chance on 300 rows" in call("evaluate", "m.suffice", "corr.csv", code=1)
    said = call("fit", "corr.csv", "--like", "m.suffice", "--out", "other.suffice", code=1)
    assert "the model is not better than chance on the rows that it has learned" in said


def test_an_overconfident_model_that_is_right_is_better_than_chance():
    classes, truth = np.array(["a", "b"]), np.array(["a", "b"] * 50)
    p = np.where((truth == "a")[:, None], [1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9])
    p[:10] = p[:10, ::-1]  # all but certain, and wrong: the log loss is far above that of chance
    gain = gains_over_chance(p, classes, truth, np.array([0.5, 0.5]))
    np.testing.assert_allclose(gain.mean(axis=0), [np.log(2) - log_loss(truth, p), 0.4], rtol=1e-6)
    assert gain.mean(axis=0)[0] < 0
    assert not no_better_than_chance(gain)
    assert no_better_than_chance(gain[:10])
