"""A model that was saved and loaded is the same to the bit, and goes on as before."""

import datetime
import inspect
import json
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice
from suffice import (
    AdditiveTables,
    CategoricalNB,
    DesignedDiscriminant,
    GaussianNB,
    KernelMPM,
    LinearDiscriminantAnalysis,
    ModelClassifier,
    ModelFileError,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TabularClassifier,
)
from suffice.features import FSCL, RBF, Bins, Partitions
from suffice.model_selection import GridSearch
from suffice.persistence.schema import class_name, classes, shapes
from tests.persistence.alike import difference, outputs
from tests.zoo import ZOO, every

STRANGE = ("designed", "toy")  # with a function, and a model, of the tests' own


def again(model, folder):
    path = folder / "m.suffice"
    suffice.save(model, path)
    assert [p.name for p in folder.iterdir()] == ["m.suffice"], "nothing else stays in the folder"
    return suffice.load(path)


def same(model, folder, X):
    loaded = again(model, folder)
    assert difference(model, loaded) is None
    assert outputs(model, X).tobytes() == outputs(loaded, X).tobytes()
    return loaded


def entry_of(name):
    return next(entry for entry in ZOO if entry.name == name)


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    frame = pd.DataFrame(rng.normal(size=(n, 2)) + y[:, None], columns=["a", "b"])
    frame["word"] = np.where(rng.random(n) < 0.3, None, np.array(["u", "v", "w"])[y])
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(90, size=n), unit="D")
    frame["yes"] = rng.random(n) < 0.5
    frame.loc[::7, "a"] = np.nan
    return frame, np.array(["p", "q", "r"])[y]


@pytest.mark.filterwarnings("ignore")
@every(lambda entry: entry.name not in STRANGE)
def test_every_classifier_is_the_same_to_the_bit(entry, tmp_path):
    X, y = entry.draw(0)
    model = entry.estimator().fit(X, y)
    loaded = same(model, tmp_path, X)
    assert difference(model.get_params(), loaded.get_params()) is None
    assert difference(model.classes_, loaded.classes_) is None
    assert difference(model.history_, loaded.history_) is None
    assert difference(model.statistics_.leaves(), loaded.statistics_.leaves()) is None
    assert not shapeless(tmp_path / "m.suffice"), "declare their shapes at the fields"


def shapeless(path):
    """Return the arrays in a file without a declared shape, except labels, which have a rule of their own."""
    with ZipFile(path) as archive:
        nodes = json.loads(archive.read("model.json"))["objects"]
    known, out = classes(everything=True), set()
    for one in nodes:
        declared = shapes(known[one["is"]]) if one["is"] != "objects" else {}
        arrays = {name for name, value in one.get("fields", {}).items() if isinstance(value, dict) and "array" in value}
        out |= {f"{one['is']}.{name}" for name in arrays - declared.keys()}
    return out - {"Domain.classes"}


@pytest.mark.filterwarnings("ignore")
@every(lambda entry: entry.adds and entry.name not in STRANGE)
def test_pieces_merging_and_forgetting_go_on_from_a_file(entry, tmp_path):
    X, y = entry.draw(1)
    first = entry.estimator().partial_fit(X[:30], y[:30], classes=np.unique(y))
    loaded = again(first, tmp_path)  # without parameters yet
    assert difference(first, loaded) is None
    for model in (first, loaded):
        model.partial_fit(X[30:], y[30:]).forget(X[:5], y[:5])
    other = clone(first)
    if hasattr(other, "encoder"):
        other.encoder = first.encoder_
    other.partial_fit(X[:5], y[:5], classes=np.unique(y))
    both, from_files = first + other, again(first, tmp_path).merge(again(other, tmp_path))
    assert difference(first.predict_proba(X), loaded.predict_proba(X)) is None
    assert difference(both.predict_proba(X), from_files.predict_proba(X)) is None
    assert difference(both.statistics_.leaves(), from_files.statistics_.leaves()) is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [TabularClassifier(random_state=0, n_trees=4), AdditiveTables(), AdditiveTables(pairs=2), NaiveBayes()],
    ids=["tabular", "additive", "pairs", "naive-bayes"],
)
def test_tables_with_names_dates_and_holes(model, tmp_path):
    X, y = table()
    loaded = same(model.fit(X, y), tmp_path, X)
    assert list(loaded.feature_names_in_) == list(X.columns)
    assert loaded.loo_log_proba(X, y).tobytes() == model.loo_log_proba(X, y).tobytes()
    if hasattr(model, "recalibrate"):
        for one in (model, loaded):
            one.forget(X[:9], y[:9]).recalibrate(X[9:], y[9:])
        assert difference(model, loaded) is None


@pytest.mark.parametrize("model", [FSCL(3, random_state=0), RBF(3, random_state=0), Bins(), Partitions(4)], ids=str)
def test_transformers(model, tmp_path):
    X, y = entry_of("qda").draw(0)
    same(model.fit(X, y), tmp_path, X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        KernelMPM(),
        make_pipeline(RBF(4, random_state=0), LinearDiscriminantAnalysis()),
        make_pipeline("passthrough", make_pipeline(Bins(n_bins=4), CategoricalNB())),
        Pipeline([("none", None), ("bins", Bins(n_bins=4)), ("nb", CategoricalNB())]),
        make_pipeline(RBF(4, random_state=0), GaussianNB()).set_output(transform="default"),
        make_pipeline(RBF(4, random_state=0), GaussianNB()).set_output(transform="pandas"),
    ],
    ids=["kernel", "pipeline", "nested", "none", "default", "pandas"],
)
def test_kernels_and_pipelines(model, tmp_path):
    X, y = entry_of("qda").draw(0)
    same(model.fit(X, y), tmp_path, X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [QuadraticDiscriminantAnalysis(), LinearDiscriminantAnalysis()], ids=["qda", "lda"])
def test_sums_by_pattern_of_missing_entries(model, tmp_path):
    entry = entry_of("qda")
    X, y = entry.draw(0)
    holes = entry.holed(X, 0)
    loaded = same(model.fit(holes, y), tmp_path, holes)
    for one in (model, loaded):
        one.forget(holes[:4], y[:4])
    assert difference(model.predict_proba(holes), loaded.predict_proba(holes)) is None


LABELS = {
    "text": np.array(["ä", "", "c" * 40]),
    "objects": np.array(["x", "yy", "z"], dtype=object),
    "dates": np.array(["2024-01-01", "2024-02-01", "1999-12-31"], dtype="M8[D]"),
    "truth": np.array([True, False, True]),
    "float32": np.array([0.0, 1.0, 2.0], dtype=np.float32),
    "whole": np.array([2**53 + 1, -5, 0]),
    "broken": np.array(["\ud800", "b", "c"]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_and_categories_of_every_type(labels, tmp_path):
    y = np.repeat(labels, 4)
    words = np.tile(np.array(["a", "b", None], dtype=object), 4)
    days = np.repeat(np.array([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], dtype=object), 6)
    X = np.column_stack([words, days, y.astype(object)])
    loaded = same(CategoricalNB().fit(X, y), tmp_path, X)
    assert loaded.classes_.dtype == np.unique(y).dtype


SETTINGS = [
    GaussianNB(class_prior={0: 0.2, 1: 0.3, 2: 0.5}),
    GaussianNB(class_prior=np.array([0.2, 0.3, 0.5]), class_weight={0: np.float32(2.0)}),
    GaussianNB(class_weight={0: 1, 1: np.int64(3), 2: 1}, prior=suffice.GaussianPrior(1, 2, mean=(0.0, 1.0, 2.0))),
    LinearDiscriminantAnalysis(learner=suffice.learners.RiskCalibration(0.1, 3, random_state=7)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", SETTINGS, ids=range(len(SETTINGS)))
def test_settings_keep_their_types(model, tmp_path):
    X, y = entry_of("qda").draw(0)
    loaded = same(model.fit(X, y), tmp_path, X)
    assert difference(model.get_params(deep=False), loaded.get_params(deep=False)) is None


def test_empty_text(tmp_path):
    weights = {np.str_(""): 2.0, np.str_("b"): np.str_("")}
    model = GaussianNB(class_weight={"": 2.0}).fit([[0.0], [1.0], [5.0], [7.0]], ["", "", "b", "b"])
    model.class_weight = weights
    loaded = again(model, tmp_path)
    assert difference(weights, loaded.class_weight) is None
    assert [type(key) for key in loaded.class_weight] == [np.str_, np.str_]


@pytest.mark.filterwarnings("ignore")
def test_equal_models_are_equal_files_and_shared_parts_stay_shared(tmp_path):
    X, y = entry_of("qda").draw(0)
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    model.save(tmp_path / "a")
    suffice.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    loaded = suffice.load(tmp_path / "a")
    assert loaded._learned.statistics is loaded.statistics_
    assert loaded._learned.parameters.domain is loaded._learned.model.domain


def criterion(mu1, mu2, var1, var2):
    return (mu2 - mu1) ** 2 / (var1 + var2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (DesignedDiscriminant(criterion), "DesignedDiscriminant.criterion cannot be saved: a function"),
        (
            entry_of("toy").prototype,
            r"ModelClassifier.model cannot be saved: a tests\.toy\.Unit is not of this library",
        ),
        (TabularClassifier(n_trees=2, random_state=np.random.RandomState(0)), "Give a whole number as random_state"),
        (make_pipeline(StandardScaler(), GaussianNB()), r"steps\[0\]\[1\] cannot be saved: a sklearn.*StandardScaler"),
        (GaussianNB(class_prior=pd.Series([0.2, 0.3, 0.5])), "GaussianNB.class_prior cannot be saved: a pandas"),
    ],
    ids=["function", "model", "random", "scaler", "series"],
)
def test_what_is_not_ours_is_refused_by_name(model, words, tmp_path):
    X, y = entry_of("qda").draw(0)
    model = clone(model).fit(X, y)
    with pytest.raises(ModelFileError, match=words):
        suffice.save(model, tmp_path / "m.suffice")
    assert not list(tmp_path.iterdir())


class Unhashable:
    """A criterion that cannot be looked up."""

    __hash__ = None

    def __call__(self, mu1, mu2, var1, var2):
        return criterion(mu1, mu2, var1, var2)


@pytest.mark.filterwarnings("ignore")
def test_a_function_without_a_hash_is_refused_by_name(tmp_path):
    X, y = entry_of("qda").draw(0)
    model = DesignedDiscriminant(criterion).fit(X, y)
    model.criterion = Unhashable()
    with pytest.raises(ModelFileError, match=r"DesignedDiscriminant.criterion cannot be saved: a function"):
        model.save(tmp_path / "m")


def test_searches_say_what_to_save(tmp_path):
    X, y = entry_of("qda").draw(0)
    for search in (GridSearch, GridSearchCV):
        with pytest.raises(ModelFileError, match=f"a {search.__name__} cannot be saved.*save its best_estimator_"):
            suffice.save(search(GaussianNB(), {"tied": [True, False]}).fit(X, y), tmp_path / "m")


def test_requests_of_metadata_are_refused_in_words(tmp_path):
    X, y = entry_of("qda").draw(0)
    with config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True).fit(X, y)
    with pytest.raises(ModelFileError, match=r"requests of metadata .*set them again after loading"):
        model.save(tmp_path / "m")


def test_what_was_not_fitted_is_refused(tmp_path):
    for model in (GaussianNB(), Bins(), KernelMPM(), make_pipeline(Bins(), CategoricalNB())):
        with pytest.raises(NotFittedError):
            suffice.save(model, tmp_path / "m")


def test_names_of_classes_in_files_are_unique():
    """Two classes of one name could be taken for each other."""
    known = classes(everything=True)
    assert all(cls.__module__.startswith("sklearn") or class_name(cls) == name for name, cls in known.items())
    for cls in vars(suffice).values():
        if inspect.isclass(cls) and hasattr(cls, "get_params"):
            assert class_name(cls) in known
    assert known["features.Partitions"] is not known["encoders.TreePartitions"]
    assert ModelClassifier in known.values()
