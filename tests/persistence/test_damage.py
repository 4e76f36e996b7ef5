"""Files that were damaged, or made to do harm: a sentence, and nothing else."""

import io
import json
import os
import random
import re
import stat
import subprocess
import sys
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy

import suffice
from suffice import ModelFileError
from suffice._runtime.atomic_file import mark
from suffice.learners import RiskCalibration
from suffice.persistence import archive as _archive
from suffice.persistence import file as _file
from tests.persistence import fuzz


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Good files by name, each with rows; and where to put bad ones."""
    path, out = tmp_path_factory.mktemp("files") / "m.suffice", {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of learners that are stopped early
        originals = fuzz.originals()
    for name, (model, X, y) in originals.items():
        suffice.save(model, path)
        out[name] = path.read_bytes(), X, y
    return path, out


@pytest.fixture
def plain(files):
    """The document of a good file and its other members."""
    members = dict(fuzz.unpacked(files[1]["gaussian-nb-own"][0]))
    return json.loads(members.pop("model.json")), members


def refused(path, data, words):
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=words):
        suffice.load(path)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=50 * settings().max_examples)
@given(seed=st.integers(0, 2**32))
def test_changed_files_are_refused_or_hold_a_model(files, seed):
    path, good = files
    rng = random.Random(seed)  # noqa: S311 - no secret
    data, X, y = good[rng.choice(list(good))]
    new, fits = fuzz.changed(data, rng)
    path.write_bytes(new)
    came = fuzz.verdict(path, X, y)
    assert fits or new == data or came == "refused", "an altered byte was not noticed"


def test_every_altered_byte_is_noticed(files):
    path, good = files
    data = good["poisson"][0]
    for at in range(0, len(data), 7):
        new = bytearray(data)
        new[at] ^= 0x10
        refused(path, bytes(new), "altered or damaged|not a model file")
    for size in range(0, len(data), 97):
        refused(path, data[:size], "not a model file, or its end is missing")


def with_document(plain, **changes):
    document, members = plain
    return fuzz.packed([("model.json", json.dumps(document | changes)), *members.items()])


def test_versions(files, plain):
    path, _ = files
    refused(path, with_document(plain, format=[1, 9], library="9.1"), r"format 1\.9, written by suffice 9\.1.*update")
    refused(path, with_document(plain, format=[2, 0]), "update suffice")
    refused(path, with_document(plain, format=[0, 3]), "no longer reads")
    refused(path, with_document(plain, format="1.0"), "format is not a version number")
    path.write_bytes(with_document(plain, library="99.0.0"))
    with pytest.warns(UserWarning, match=r"written by suffice 99\.0\.0, which is newer") as caught:
        suffice.load(path)
    assert caught[0].filename == __file__
    path.write_bytes(with_document(plain, library="0.1.0"))
    suffice.load(path)


def node(document, name):
    return next(one for one in document["objects"] if one["is"] == name)


def test_values_that_no_model_has(files, plain):
    path, (document, members) = files[0], plain
    text = json.dumps(document)
    for old, new, words in [
        ('"library"', '"format": [1, 0], "library"', "a key twice"),
        ('"arrays": ', '"arrays": 1', "not that of a model"),
        ('"is": "models.Moments"', '"is": "subprocess.Popen"', "'subprocess.Popen', which this version does not know"),
        ('"is": "models.Moments"', '"is": "cli.app"', "which this version does not know"),
        ('"n_features_in_": 3', '"n_features_in_": 4', "it has 4 columns, and learned from 3"),
        ('"n_features_in_": 3', '"n_features_in_": ' + "9" * 5000, "beyond 64 bits"),
        ('"n_features_in_": 3', '"n_features_in_": "3"', "n_features_in_ of a .* is str"),
        ('"n_features_in_": 3', '"evil": 3', r"\['evil'\], which are unknown"),
        ('"converged": true', '"converged": NaN', "NaN, which is not a number"),
        ('"converged": true', '"converged": ' + "[" * 900 + "]" * 900, "deep|fit together"),
        ('"converged": true', '"converged": ' + "[" * 10**5 + "]" * 10**5, "RecursionError"),
        ('"converged": true', '"converged": {"function": "os.system"}', "fit together"),
        ('"converged": true', '"converged": {"object": 999999}', "object 999999, which does not exist"),
        ('"converged": true', '"converged": {"pickle": "x"}', "unknown kind"),
        ('"n_iter": 1', '"n_iter": {"scalar": ["|O", "00"]}', "fit together|type object"),
        ('"width": 3', '"width": -1', "below 0|names"),
        ('"width": 3', '"width": 2', "shape|names"),
    ]:
        assert old in text, old
        refused(path, fuzz.packed([("model.json", text.replace(old, new)), *members.items()]), words)
    made = with_document(plain, model={"object": 0})
    refused(path, made, "does not hold an estimator")


def test_a_file_says_no_more_columns_than_it_has(files):
    """Asking about a row of that many would take all memory."""
    path, good = files
    for name, (data, X, _) in good.items():
        members = dict(fuzz.unpacked(data))
        text = members.pop("model.json").decode()
        said = f'"n_features_in_":{X.shape[1]}'
        assert said in text, name
        for wide in (10**8, 10**15):
            one = text.replace(said, f'"n_features_in_":{wide}')
            for new in (one, re.sub(r'"width":[0-9]+', f'"width":{wide}', one)):
                refused(path, fuzz.packed([("model.json", new), *members.items()]), "columns|shape|names|categories")


def nested(document, depth):
    """A document whose model has a prior, that has another one twice, and so on."""
    new = json.loads(json.dumps(document))
    model, first = new["objects"].pop(), len(new["objects"])
    for i in range(depth):
        mean = {"tuple": [{"object": first + i - 1}] * 2} if i else 0.0
        new["objects"].append({"is": "priors.GaussianPrior", "settings": {"mean": mean}, "state": {}})
    model["settings"]["prior"] = {"object": first + depth - 1}
    return new | {"objects": [*new["objects"], model], "model": {"object": first + depth}}


def test_parts_that_double_at_every_step(files, plain):
    """A short file can say very much."""
    path, (document, members) = files[0], plain
    for depth in (22, 60, 400):
        made = fuzz.packed([("model.json", json.dumps(nested(document, depth))), *members.items()])
        assert len(made) < 10**4
        refused(path, made, "far more parts than it holds")


def test_pipelines_that_double_at_every_step(files, plain, monkeypatch):
    """Each estimator is asked once, however often it is a step; and many more are refused."""
    path, (document, members) = files[0], plain
    asked, ask = [], _file._try
    monkeypatch.setattr(_file, "_try", lambda one: (asked.append(one), ask(one)))
    for depth in (3, 30):
        new = json.loads(json.dumps(document))
        for _ in range(depth):
            steps = [{"tuple": [name, {"object": len(new["objects"]) - 1}]} for name in "ab"]
            new["objects"].append({"is": "sklearn.Pipeline", "settings": {"steps": steps}, "state": {}})
        new["model"] = {"object": len(new["objects"]) - 1}
        path.write_bytes(fuzz.packed([("model.json", json.dumps(new)), *members.items()]))
        if depth == 3:
            suffice.load(path)
    assert len(asked) == 1
    refused(path, path.read_bytes(), "far more parts than it holds")


def test_what_is_no_part_of_the_model(files, plain):
    path, (document, members) = files[0], plain
    idle = {"is": "objects", "shape": [1], "items": [1]}
    refused(path, with_document(plain, objects=[*document["objects"], idle]), "not part of the model")
    more = members | {f"arrays/{len(members)}.npy": as_npy(np.zeros(2))}
    text = json.dumps(document | {"arrays": len(more)})
    refused(path, fuzz.packed([("model.json", text), *more.items()]), "not part of the model")


@pytest.mark.parametrize(
    "key", [{"object": 0}, {"array": 0}, {"frozenset": []}, {"tuple": [{"tuple": [{"tuple": [{"tuple": []}]}]}]}, [1]]
)
def test_only_plain_values_are_keys(files, plain, key):
    path, (document, members) = files[0], plain
    for box in ({"dict": [[key, 1]]}, {"frozenset": [key]}):
        new = json.loads(json.dumps(document))
        new["objects"][-1]["settings"]["class_weight"] = box
        refused(path, fuzz.packed([("model.json", json.dumps(new)), *members.items()]), "only plain values may be keys")


@pytest.mark.parametrize("name", ["learners._Several", "learners.Ask", "Asked", "Rule", "learners.Without", "Encoded"])
def test_only_what_models_keep_is_made(files, plain, name):
    new = {"is": name, "fields": {}}
    refused(files[0], with_document(plain, objects=[new, *plain[0]["objects"]]), "which this version does not know")


def as_npy(array):
    out = io.BytesIO()
    npy.write_array(out, np.asarray(array), allow_pickle=True)
    return out.getvalue()


def test_arrays_that_no_model_has(files, plain):
    path, (document, members) = files[0], plain
    at = f"arrays/{node(document, 'models.Moments')['fields']['first']['array']}.npy"
    huge = io.BytesIO()
    npy.write_array_header_1_0(huge, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    for new, words in [
        (as_npy(np.array([[1, "x", None]], dtype=object)), "type object, which no model has"),
        (as_npy(np.zeros((3, 4))), r"first of a Moments has the shape \(3, 4\), not \(k d\)"),
        (as_npy(np.zeros((3, 3), dtype=np.float32)), "values of the type float32"),
        (as_npy(np.full((3, 3), np.nan)), "first of a Moments holds NaN or infinite numbers"),
        (as_npy(np.full((3, 3), np.inf)), "NaN or infinite numbers"),
        (as_npy(np.zeros((3, 3), dtype=">f8")), "another byte order"),
        (as_npy(np.zeros((3, 3), dtype=[("a", "f8")])), "which no model has"),
        (huge.getvalue(), r"the shape \(100000000000000,\) by its header, but it has 0 bytes"),
        (b"", "fit together"),
        (as_npy(np.zeros((3, 3)))[:-1], "but it has 71 bytes"),
    ]:
        data = fuzz.packed([("model.json", json.dumps(document)), *(members | {at: new}).items()])
        refused(path, data, words)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_no_model_has(files, plain, monkeypatch):
    path, (document, members) = files[0], plain
    good = [("model.json", json.dumps(document)), *members.items()]
    for name in ("../x", "/etc/passwd", "arrays/../x.npy", "arrays/01.npy", "C:\\x", "arrays/", "model.json\0.npy"):
        refused(path, fuzz.packed([*good, (name, b"")]), "which no model file has|no member twice|is not a file")
    refused(path, fuzz.packed([*good, good[1]]), "no member twice")
    refused(path, fuzz.packed(good[1:]), "one model.json")
    link = zipfile.ZipInfo("arrays/99.npy")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    refused(path, fuzz.packed([*good, (link, b"/etc/passwd")]), "is not a file")
    packed = zipfile.ZipInfo("arrays/99.npy")
    packed.compress_type = zipfile.ZIP_LZMA
    refused(path, fuzz.packed([*good, (packed, b"x")]), "packed in an unknown way")
    monkeypatch.setattr(_archive, "ROOM", 1 << 20)
    refused(path, fuzz.packed([*good, ("arrays/99.npy", bytes(1 << 24))]), "unpacks to far more")
    monkeypatch.setattr(_archive, "TEXT_ROOM", 1 << 16)
    refused(path, fuzz.packed([("model.json", b" " * (1 << 18)), *good[1:]]), "unpacks to far more")


def test_a_member_that_lies_about_its_size(files, plain):
    """The archive's list says little, the member holds much."""
    path, (document, members) = files[0], plain
    big = as_npy(np.zeros(1 << 16))
    data = fuzz.packed([("model.json", json.dumps(document)), *members.items(), ("arrays/99.npy", big)])
    said = len(big).to_bytes(4, "little")
    new = data.replace(said, (100).to_bytes(4, "little"))
    assert new != data
    refused(path, fuzz.seal(new), "fit together|does not have the size")


def test_a_model_of_zeros_is_no_bomb(tmp_path, monkeypatch):
    """What compresses too well is stored as it is."""
    monkeypatch.setattr(_archive, "ROOM", 1 << 10)
    monkeypatch.setattr(_archive, "TIMES", 2)
    X = np.zeros((4, 3000))
    X[:2] = 1.0
    model = suffice.MultinomialNB().fit(X, [0, 0, 1, 1])
    model.save(tmp_path / "m")
    assert zipfile.ZipFile(tmp_path / "m").infolist()[0].compress_type == zipfile.ZIP_STORED
    assert suffice.load(tmp_path / "m").predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        suffice.load(tmp_path / "none")
    with pytest.raises(ModelFileError, match="it is a folder"):
        suffice.load(tmp_path)
    for content in (b"", b"PK\x03\x04", b"\x80\x04K\x01.", b"x" * 1000):
        (tmp_path / "m").write_bytes(content)
        with pytest.raises(ModelFileError, match="not a model file"):
            suffice.load(str(tmp_path / "m"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ModelFileError, match=r"cannot load '.*loop': Too many levels of symbolic links"):
        suffice.load(tmp_path / "loop")


def test_paths_as_bytes_are_those_of_their_text(tmp_path):
    model = suffice.GaussianNB().fit([[0.0], [1.0]], [0, 1])
    model.save(os.fsencode(tmp_path / "m"))
    assert suffice.load(os.fsencode(tmp_path / "m")).predict([[0.0]]) == [0]
    for act in (model.save, suffice.load):
        with pytest.raises(ModelFileError, match="'s3://bucket/m' is an address"):
            act(b"s3://bucket/m")


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="others have no such files")
def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    """A pipe would be waited for, and a device has no end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "link", "/dev/zero"):
        with pytest.raises(ModelFileError, match="it is not a regular file but a pipe or a device"):
            suffice.load(path)
    assert mark(tmp_path / "pipe") is None
    for words in (["inspect", "pipe"], ["update", "pipe", "t.csv"], ["predict", "pipe", "t.csv"]):
        done = subprocess.run(
            [sys.executable, "-m", "suffice", *words], cwd=tmp_path, timeout=60, check=False, capture_output=True
        )
        assert done.returncode == 2, done.stderr


def arrays_of(node):
    """The numbers of the arrays that a piece of JSON refers to."""
    if isinstance(node, dict):
        return [node["array"]] if node.keys() == {"array"} else [at for one in node.values() for at in arrays_of(one)]
    return [at for one in node for at in arrays_of(one)] if isinstance(node, list) else []


COUNTS = {"models.Statistics": "mass", "models.Moments": "count", "models.Counts": "table", "models.Words": "table"}
COUNTS |= {"models.Histogram": "table", "models.Totals": "count", "models.Presences": "count"}


def test_less_than_no_rows(files):
    """Counts of rows are never negative, in any model; those that a learner has moved may be."""
    path, good = files
    found = set()
    for name, (data, *_) in good.items():
        members = dict(fuzz.unpacked(data))
        document = json.loads(members["model.json"])
        for one in document["objects"]:
            for at in arrays_of(one.get("fields", {}).get(COUNTS.get(one["is"]), [])):
                array = np.load(io.BytesIO(members[f"arrays/{at}.npy"]))
                new = array.copy()
                new.flat[0] = -1e-3
                path.write_bytes(fuzz.packed({**members, f"arrays/{at}.npy": as_npy(new)}.items()))
                try:
                    suffice.load(path)
                except ModelFileError as error:
                    if "less than no rows" in str(error):
                        found.add((name, one["is"]))
    kinds = {name: {kind for own, kind in found if own == name} for name, _ in found}
    assert kinds["gaussian-nb-own"] == kinds["qda"] == {"models.Statistics", "models.Moments"}
    assert kinds["categorical-vectors"] == {"models.Statistics", "models.Counts"}
    assert kinds["multinomial"] == {"models.Statistics", "models.Words"}
    assert kinds["poisson"] == {"models.Statistics", "models.Totals"}
    assert {"models.Counts", "models.Moments"} <= kinds["experts"] | kinds["tabular"]
    for name in ("naive-bayes-rc", "additive", "pairs", "nested", "pipeline", "bernoulli"):
        assert "models.Statistics" in kinds[name], name


SIGNED = {  # fields that are declared as not below 0, and files that have them
    ("gaussian-nb-own", "models.Diagonal", "variance"): "variance of a Diagonal holds numbers below 0",
    ("qda", "models.Full", "covariance"): "a variance is below 0",
    ("poisson", "models.Rates", "rate"): "rate of a Rates holds numbers below 0",
    ("poisson", "models.Rates", "expected"): "expected of a Rates holds numbers below 0",
    ("nested", "models.Level", "weight"): "weight of a Level holds numbers below 0",
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("where", "words"), SIGNED.items(), ids=[f"{kind}.{name}" for _, kind, name in SIGNED])
def test_numbers_below_zero_that_no_model_has(files, where, words):
    path, good = files
    file, kind, name = where
    members = dict(fuzz.unpacked(good[file][0]))
    at = node(json.loads(members["model.json"]), kind)["fields"][name]["array"]
    array = np.load(io.BytesIO(members[f"arrays/{at}.npy"])).copy()
    array.flat[0] = -1e-3
    refused(path, fuzz.packed({**members, f"arrays/{at}.npy": as_npy(array)}.items()), words)


def test_a_small_file_cannot_fill_the_memory(files, plain):
    path, (document, members) = files[0], plain
    data = fuzz.packed([("model.json", json.dumps(document)), *members.items(), ("arrays/99.npy", bytes(100 << 20))])
    assert len(data) < 1 << 18
    refused(path, data, "unpacks to far more")


def test_nothing_is_imported(files, plain):
    """A name in a file is looked up among what is there."""
    path, (document, members) = files[0], plain
    text = json.dumps(document).replace("models.Moments", "antigravity.Moments")
    refused(path, fuzz.packed([("model.json", text), *members.items()]), "does not know")
    assert "antigravity" not in sys.modules


def test_shares_of_other_classes_are_refused(tmp_path):
    model = suffice.GaussianNB(learner=RiskCalibration(0.1, 2, stop=None))
    model.fit([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
    model._learned = model._before = replace(model._learned, level=np.zeros(3))
    model.save(tmp_path / "m.suffice")
    with pytest.raises(ModelFileError, match=r"level of a Fit has the shape \(3,\), not \(k\) with k = 2"):
        suffice.load(tmp_path / "m.suffice")
