"""A fit that ends before its time goes on where it was, and ends as it would have."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification

import suffice
from suffice import (
    AdditiveTables,
    CheckpointError,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    ModelClassifier,
    NaiveBayes,
    TabularClassifier,
)
from suffice.data import Memory
from suffice.learners import GradientDescent, RiskCalibration
from suffice.persistence import checkpoint as checkpoints
from suffice.persistence import digest
from suffice.persistence.schema import _imported, _own, answer_classes, class_name
from suffice.testing import PickledPartitions
from tests.persistence.mortal import Mortal, estimator, parts
from tests.strangers.lazy import Lazy
from tests.strangers.poisson import Poisson as Stranger
from tests.zoo import every

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

IRIS = load_iris(return_X_y=True)
RC = GaussianNB(learner=RiskCalibration(0.1, max_iter=6, stop=None))


def learned(model):
    """All that a fit has learned, to the bit."""
    return digest((model.statistics_, model.parameters_, model.n_iter_, model.converged_))


class Interrupted(Memory):
    """Rows that can be read so often, and then not any more; their parts count with them."""

    left = float("inf")

    def sum(self, f):
        if type(self).left < 1:
            raise KeyboardInterrupt
        type(self).left -= 1
        return super().sum(f)

    def _like(self, X, Y):
        return Interrupted(X, Y, batch_size=self.batch_size)


def interrupted(model, data, folder, sums):
    """A fit that is interrupted after so many sums, again and again until it ends; how often it began."""
    for begun in range(1, 100):
        Interrupted.left = sums
        try:
            return model.fit(data, checkpoint=folder), begun
        except KeyboardInterrupt:
            assert not hasattr(model, "statistics_")
        finally:
            Interrupted.left = float("inf")
    raise AssertionError("it never ends")


@every(lambda entry: not entry.out_of_sample and "evidence" not in entry.name)  # whose sums are those of others
def test_every_interrupted_fit_ends_as_it_would_have(entry, tmp_path):
    X, y = entry.draw(0)
    model = entry.estimator()
    if hasattr(model.learner, "max_iter"):
        model.set_params(learner__max_iter=4)
    whole = learned(model.fit(Memory(X, y)))
    again, begun = interrupted(entry.estimator().set_params(**model.get_params()), Interrupted(X, y), tmp_path, 2)
    assert learned(again) == whole
    assert begun > 1 or entry.adds
    replayed, once = interrupted(model, Interrupted(X, y), tmp_path, 0)
    assert (learned(replayed), once) == (whole, 1)


def run(folder, *how):
    code = [sys.executable, "-m", "tests.persistence.mortal", str(folder / "kept"), str(folder / "m.suffice"), *how]
    return subprocess.Popen(code, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)


def entries(folder):
    return len(list(folder.glob("*.answer")))


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_killed_process_goes_on_where_it_was(tmp_path):
    kept = tmp_path / "kept"
    for how, left in ((("sum", "2"), 2), (("write", "3"), 4)):  # with the number of parts of a split
        assert run(tmp_path, *how).wait() == -signal.SIGKILL
        assert entries(kept) == left
    aside = list(kept.glob(".*.tmp"))
    assert len(aside) == 1
    assert aside[0].stat().st_size
    slow = run(tmp_path, "slow", "0.2")
    while entries(kept) < 8:
        assert slow.poll() is None
        time.sleep(0.02)
    with pytest.raises(CheckpointError, match=rf"in use by process {slow.pid} on .*two fits cannot share a folder"):
        estimator().fit(Mortal(parts()), checkpoint=kept)
    slow.kill()
    slow.wait()
    done = run(tmp_path)
    read = int(done.communicate()[0])
    assert done.returncode == 0
    assert 0 < read < entries(kept) - 6
    assert not list(kept.glob(".*.tmp"))
    resumed = suffice.load(tmp_path / "m.suffice")
    seed = json.loads((kept / "about.json").read_text())["seed"]
    model = estimator()
    model.set_params(learner__random_state=np.random.RandomState(seed))  # what it has drawn
    assert learned(resumed) == learned(model.fit(PickledPartitions(parts())))


TABLE = pd.DataFrame(IRIS[0], columns=list("abcd")).assign(e=np.where(IRIS[0][:, 0] > 5.5, "u", None))
FITS = {
    "closed form": (GaussianNB(), IRIS[0]),
    "RC": (RC, IRIS[0]),
    "minibatches": (GaussianNB(learner=RiskCalibration(max_iter=3, batch_size=40)), IRIS[0]),
    "random starts": (GaussianNB(learner=RiskCalibration(max_iter=3, init="random", n_init=2)), IRIS[0]),
    "gradient": (GaussianNB(learner=GradientDescent(max_iter=5, init="random")), IRIS[0]),
    "Newton": (LogisticRegression(), IRIS[0]),
    "pairs of classes": (LogisticRegression(multi_class="ovo"), IRIS[0]),
    "canonical": (LinearDiscriminantAnalysis(n_components=1), IRIS[0]),
    "weights of classes": (GaussianNB(class_weight="balanced", learner=RC.learner), IRIS[0]),
    "mixed": (NaiveBayes(), TABLE),
    "table": (TabularClassifier(n_trees=4), TABLE),
    "pairs of columns": (AdditiveTables(), TABLE),
}


@pytest.mark.parametrize(("model", "X"), FITS.values(), ids=FITS)
def test_a_finished_fit_is_had_again_without_reading(model, X, tmp_path, monkeypatch):
    y = IRIS[1]
    first = learned(model.fit(X, y, checkpoint=tmp_path))
    names = getattr(model, "feature_names_in_", None)
    total = Memory.sum

    def of_answers(self, f):
        assert np.ndim(self.X) == 3  # scores that were gathered before, and no rows
        return total(self, f)

    monkeypatch.setattr(Memory, "sum", of_answers)
    monkeypatch.setattr(Memory, "map", None)
    assert learned(model.fit(X, y, checkpoint=tmp_path)) == first
    assert names is None or names.tolist() == list("abcde")


@pytest.mark.parametrize(("model", "X"), [FITS[name] for name in ("minibatches", "Newton", "mixed", "table")])
def test_partitions_have_checkpoints_too(model, X, tmp_path):
    cut = [np.arange(150)[i::3] for i in range(3)]
    data = PickledPartitions(
        [(np.asarray(X, dtype=object if X is TABLE else float)[rows], IRIS[1][rows]) for rows in cut]
    )
    first = learned(model.fit(data, checkpoint=tmp_path))
    sent = len(data.sent)
    assert learned(model.fit(data, checkpoint=tmp_path)) == first
    assert len(data.sent) == sent


def test_answers_are_those_of_a_fit_without_a_checkpoint(tmp_path):
    X, y = make_classification(500, 8, random_state=0)
    weight = np.arange(500.0) % 3
    model = RC.fit(X, y, weight, checkpoint=tmp_path)
    assert learned(model) == learned(RC.fit(X, y, weight))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"learner__rate": 0.2}, "learner__rate was 0.1 and is 0.2"),
        ({"learner__anchor": 0.0}, "learner__anchor was 0.1 and is 0.0"),
        ({"prior": None}, "prior was 'default' and is None"),
        ({"tied": True}, "tied was False and is True"),
        ({"class_prior": [0.2, 0.3, 0.5]}, r"class_prior was None and is a list \("),
    ],
)
def test_another_fit_is_refused(other, said, tmp_path):
    RC.fit(*IRIS, checkpoint=tmp_path)
    model = suffice.GaussianNB(learner=RiskCalibration(0.1, max_iter=6, stop=None)).set_params(**other)
    with pytest.raises(CheckpointError, match=f"of another fit, from sum . on: {said}") as error:
        model.fit(*IRIS, checkpoint=tmp_path)
    assert str(error.value).endswith("To begin again, give another folder, or delete this one")
    assert str(tmp_path) in str(error.value)
    with pytest.raises(CheckpointError, match="estimator was GaussianNB and is LogisticRegression"):
        LogisticRegression().fit(*IRIS, checkpoint=tmp_path)


def test_settings_that_lead_to_the_same_sums_go_on(tmp_path):
    data = PickledPartitions([IRIS])
    GaussianNB(learner=RiskCalibration(0.1, max_iter=4, stop=None)).fit(data, checkpoint=tmp_path)
    sent = len(data.sent)
    longer = GaussianNB(learner=RiskCalibration(0.1, max_iter=6, stop=None)).fit(data, checkpoint=tmp_path)
    assert len(data.sent) - sent == 2
    assert learned(longer) == learned(RC.fit(data))
    GaussianNB(learner=RiskCalibration(0.1, max_iter=2, stop=None)).fit(data, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match=r"max_iter was 6 and is 7, learner__rate was 0\.1 and is 0\.3"):
        GaussianNB(learner=RiskCalibration(0.3, max_iter=7, stop=None)).fit(data, checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (IRIS[0][:-1], IRIS[1][:-1], "rows was 150 and is 149"),
        (IRIS[0][:, :-1], IRIS[1], "columns was 4 and is 3"),
        (IRIS[0] + 1e-12, IRIS[1], "values was .* and is .*"),
        (IRIS[0], IRIS[1] % 2, "labels was .* and is .*"),
        (TABLE, IRIS[1], "columns was 4 and is 5"),
    ],
)
def test_other_rows_are_refused(X, y, said, tmp_path):
    GaussianNB().fit(*IRIS, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match=f"is of other rows: {said}"):
        GaussianNB().fit(X, y, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="is of another kind of data set"):
        GaussianNB().fit(Lazy([IRIS]), checkpoint=tmp_path)


def test_of_many_files_the_one_that_differs_is_named(tmp_path):
    whole, cut = PickledPartitions([IRIS, IRIS]), PickledPartitions([IRIS, (IRIS[0][:90], IRIS[1][:90])])
    GaussianNB().fit(whole, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="is of other rows: rows was 150 and is 90, values was"):
        GaussianNB().fit(cut, checkpoint=tmp_path)


def test_rows_without_a_fingerprint_are_warned_of(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianNB().fit(Lazy([IRIS]), checkpoint=tmp_path)
    with pytest.warns(UserWarning, match="has no fingerprint, so that its rows cannot be compared with those of"):
        GaussianNB().fit(Lazy([IRIS]), checkpoint=tmp_path)
    changed = PickledPartitions([IRIS]).map(labels=None)
    assert changed.fingerprint().keys() == {"rows", "values", "change"}


def test_another_version_is_refused(tmp_path, monkeypatch):
    GaussianNB().fit(*IRIS, checkpoint=tmp_path)
    monkeypatch.setattr(checkpoints, "__version__", "99.0")
    with pytest.raises(CheckpointError, match=r"was written by suffice .*, and this is 99\.0: sums may differ\. To"):
        GaussianNB().fit(*IRIS, checkpoint=tmp_path)


def test_foreign_files_are_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    (tmp_path / ".letter.tmp").touch()
    with pytest.raises(
        CheckpointError, match=r"that are not a checkpoint \(\.letter\.tmp, letter\.txt\): give a new or"
    ):
        GaussianNB().fit(*IRIS, checkpoint=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {".letter.tmp", "letter.txt", "lock"}
    with pytest.raises(CheckpointError, match=r"a checkpoint is a folder, but .*letter\.txt' is a file"):
        GaussianNB().fit(*IRIS, checkpoint=tmp_path / "letter.txt")


def test_settings_that_only_one_fit_has_are_told_apart():
    assert (
        checkpoints._differences({"a": "None"}, {"b": "None"})
        == "a was None and is not there, b was not there and is None"
    )


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="cannot create the folder of the checkpoint"):
        GaussianNB().fit(*IRIS, checkpoint=tmp_path / "file" / "kept")


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    def full(file, members):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("suffice.persistence.archive._fill", full)
        with pytest.raises(OSError, match="the checkpoint was not saved: No space left"):
            GaussianNB().fit(*IRIS, checkpoint=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"about.json", "lock"}
    assert learned(GaussianNB().fit(*IRIS, checkpoint=tmp_path)) == learned(GaussianNB().fit(*IRIS))


@pytest.mark.parametrize("damage", ["cut", "flip"])
@pytest.mark.parametrize("at", [2, 6])
def test_damaged_entries(damage, at, tmp_path):
    whole = learned(RC.fit(*IRIS, checkpoint=tmp_path))
    assert entries(tmp_path) == 7
    path = tmp_path / f"{at:06}.answer"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data if damage == "flip" else data[: len(data) // 2])
    if (damage, at) == ("cut", 6):  # the last one, which was being written
        assert learned(RC.fit(*IRIS, checkpoint=tmp_path)) == whole
        return
    with pytest.raises(CheckpointError, match=rf"{path.name}' is damaged .*or delete this file and all later ones"):
        RC.fit(*IRIS, checkpoint=tmp_path)
    for later in range(at, 7):
        (tmp_path / f"{later:06}.answer").unlink()
    assert learned(RC.fit(*IRIS, checkpoint=tmp_path)) == whole


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}'])
def test_a_damaged_description(text, tmp_path):
    (tmp_path / "about.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"about\.json' is damaged, or not a checkpoint of this version"):
        GaussianNB().fit(*IRIS, checkpoint=tmp_path)


def test_one_process_has_one_fit_in_a_folder(tmp_path):
    class Within(PickledPartitions):
        def sum(self, f):
            GaussianNB().fit(*IRIS, checkpoint=tmp_path)
            return super().sum(f)

    with pytest.raises(CheckpointError, match=r"is in use by this process"):
        GaussianNB().fit(Within([IRIS]), checkpoint=tmp_path)
    GaussianNB().fit(PickledPartitions([IRIS]), checkpoint=tmp_path)


def test_what_cannot_be_kept_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match=r"cannot have a checkpoint: a sum.* not of this library.* without one"):
        ModelClassifier(Stranger()).fit(*IRIS, checkpoint=tmp_path / "stranger")
    honest = GaussianNB(learner=RiskCalibration(out_of_sample=True))
    with pytest.raises(TypeError, match=r"needs rows in memory, .* and no checkpoint"):
        honest.fit(*IRIS, checkpoint=tmp_path / "honest")


def test_every_kind_of_sum_has_a_name_of_its_own():
    known = answer_classes()
    assert all(known.get(class_name(c), c) is c for c in _own(_imported()))
    assert {
        "learners.Leads",
        "encoders.Survey",
        "encoders.Sample",
        "encoders.Growth",
        "encoders.TreeRows",
    } <= known.keys()


def test_random_numbers_are_not_touched(tmp_path):
    np.random.seed(3)  # noqa: NPY002 - that of None
    model = GaussianNB(learner=RiskCalibration(max_iter=2, stop=None, init="random"))
    first = model.fit(*IRIS, checkpoint=tmp_path / "a").predict_proba(IRIS[0])
    np.random.seed(4)  # noqa: NPY002
    assert (model.fit(*IRIS, checkpoint=tmp_path / "a").predict_proba(IRIS[0]) == first).all()
    assert (model.fit(*IRIS, checkpoint=tmp_path / "b").predict_proba(IRIS[0]) != first).any()
    np.random.seed(3)  # noqa: NPY002
    assert (model.fit(*IRIS, checkpoint=tmp_path / "c").predict_proba(IRIS[0]) == first).all()
