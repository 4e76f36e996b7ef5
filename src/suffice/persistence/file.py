"""Saving a fitted model to a file, and loading it."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from suffice._core.vector import Array
from suffice._runtime.atomic_file import ANY, check_local
from suffice._runtime.messages import Notice, emit
from suffice._runtime.version import __version__
from suffice.persistence import archive as _archive
from suffice.persistence.archive import DOCUMENT, ModelFileError, from_bytes, to_bytes
from suffice.persistence.schema import check_all
from suffice.persistence.values import HUGE, Reader, Writer


def to_members(document: Mapping[str, Any], arrays: Sequence[Array]) -> dict[str, bytes]:
    """Members by name."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    members = {DOCUMENT: text.encode("utf-8", "surrogatepass")}
    return members | {_member(i): to_bytes(array) for i, array in enumerate(arrays)}


def from_members(members: Mapping[str, bytes]) -> tuple[Any, list[Array]]:
    """The document, and the arrays in order."""
    document = _parsed(members[DOCUMENT])
    return document, [from_bytes(members[_member(i)], _member(i)) for i in range(len(members) - 1)]


def _member(i: int) -> str:
    return f"arrays/{i}.npy"


def _parsed(data: bytes) -> Any:
    """JSON, with no key twice and no number that is none."""
    return json.loads(
        data.decode("utf-8", "surrogatepass"),
        object_pairs_hook=_without_doubles,
        parse_int=_whole,
        parse_constant=_no_number,
    )


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ModelFileError("its document has a key twice")
    return made


def _whole(digits: str) -> int:
    if len(digits) > 21 or abs(int(digits)) >= HUGE:
        raise ModelFileError("a whole number in it is beyond 64 bits")
    return int(digits)


def _no_number(text: str) -> Any:
    raise ModelFileError(f"its document has {text}, which is no number")


FORMAT = (1, 1)  # files of another first number cannot be read; the second rises when something is added
ROUNDING = 1e-6  # of a sum of probabilities
KEYS = {"format", "library", "arrays", "objects", "model"}
NOTES = "notes"  # which a file may have besides

Place = str | os.PathLike[str]


class Loaded(NamedTuple):
    """A model from a file, the notes that were saved with it, and the version of the library that wrote it."""

    model: Any
    notes: dict[str, Any]
    library: str


def save(model: Any, path: Place, notes: Mapping[str, Any] | None = None, seen: str | None = ANY) -> None:
    """Save a fitted estimator of this library, or a pipeline of such, to a file; `load` gives it back to the bit.

    The file holds settings, sums, parameters and how learning went, so that a model that was loaded can be merged,
    updated and made to forget as before. It is a zip archive of arrays and one JSON document, without pickle. It is
    written aside and then takes the place of an older one at once: whatever happens, one of the two is there.

    Parameters
    ----------
    model : estimator
        Classifier or transformer of this library, or a scikit-learn `Pipeline` of these, fitted.
    path : str or path
        Where to, say "model.suffice".
    notes : mapping, default=None
        What else is to be known of the model, as JSON can have it; `load_noted` gives it back.
    seen : str or None, default=ANY
        The `mark` of the file that may be replaced, None if there is none: another is kept, and an error.

    Examples
    --------
    >>> import suffice, tempfile, pathlib
    >>> model = suffice.GaussianNB().fit([[0.0], [1.0], [5.0], [7.0]], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/m.suffice")
    ...     suffice.load(f"{folder}/m.suffice").predict([[6.0]])
    array(['high'], dtype='<U4')
    """
    _check_place(path, "written")
    if hasattr(model, "best_estimator_"):
        raise ModelFileError(
            f"a {type(model).__name__} cannot be saved, what it has found can: save its best_estimator_"
        )
    if not _is_model(model):
        raise ModelFileError(f"only fitted estimators are saved, got {type(model).__name__}")
    for one in _steps(model):
        check_is_fitted(one)
    writer = Writer()
    root = writer.value(model, type(model).__name__)
    document = {
        "format": list(FORMAT),
        "library": __version__,
        "arrays": len(writer.arrays),
        "objects": writer.objects,
        "model": root,
    } | ({} if notes is None else {NOTES: dict(notes)})
    _archive.write(path, to_members(document, writer.arrays), seen=seen)


def load(path: Place) -> Any:
    """Load a model that `save` has written.

    Nothing in a file is run or imported, and what does not fit together is refused; see the page on model files for
    what that protects from. A file that is missing is a FileNotFoundError, anything wrong with it a `ModelFileError`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : estimator
        As it was saved.
    """
    return load_noted(path).model


def load_noted(path: Place) -> Loaded:
    """Load a model as `load` does, with the notes that were saved with it, of which there may be none."""
    _check_place(path, "read")
    called, source = os.fspath(path), Path(path)
    if source.exists() and not source.is_file():  # a pipe would be waited for
        what = "it is a folder" if source.is_dir() else "it is not a regular file but a pipe or a device"
        raise ModelFileError(f"cannot load {called!r}: {what}")
    with source.open("rb") as file:
        try:
            found, notices = _loaded(file)
        except ModelFileError as error:
            raise ModelFileError(f"cannot load {called!r}: {error}") from None
        except Exception as error:  # whatever a hostile file may lead to, it is the file that is wrong
            said = f"{type(error).__name__}: {error}"[:300]
            raise ModelFileError(f"cannot load {called!r}: its parts do not fit together ({said})") from None
    emit(notices)
    return found


def digest(value: Any) -> str:
    """A digest of a value that can be saved, such as the sums of a model: equal values have equal ones."""
    writer = Writer()
    root = writer.value(value, "the value")
    found = hashlib.sha256(json.dumps([root, writer.objects]).encode("utf-8", "surrogatepass"))
    for array in writer.arrays:
        found.update(to_bytes(array))
    return found.hexdigest()


def _loaded(file: BinaryIO) -> tuple[Loaded, list[Notice]]:
    members = _archive.read(file)
    document, arrays = from_members(members)
    notices = _check_versions(document)
    notes = document.pop(NOTES, {})
    if (
        document.keys() != KEYS
        or type(notes) is not dict
        or document["arrays"] != len(arrays)
        or type(document["objects"]) is not list
    ):
        raise ModelFileError("its document is not that of a model")
    reader = Reader(arrays)
    for node in document["objects"]:
        reader.add(node)
    model = reader.value(document["model"])
    if not _is_model(model):
        raise ModelFileError("it holds no estimator")
    reader.check_used()
    check_all(reader.objects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in {id(one): one for one in _steps(model)}.values():
            check_is_fitted(one)
            if getattr(one, "n_features_in_", 0) > reader.values:
                raise ModelFileError("it says that it has more columns than there are values in it")
            _try(one)
    return Loaded(model, notes, str(document["library"])), notices


def _try(model: Any) -> None:
    """Ask a model about a row of zeros, or of nothing but missing entries: what fits together has an answer."""
    if getattr(model, "_learned", model) is None:  # parameters are still to come
        return
    one, d = copy.copy(model), model.n_features_in_  # which may note that it was asked
    ask = getattr(one, "predict_proba", None) or one.transform
    try:
        out = ask(np.zeros((1, d)))
    except (TypeError, ValueError):
        out = ask(np.full((1, d), np.nan, dtype=object))
    k = len(model.classes_) if hasattr(model, "predict_proba") else out.shape[1]
    if out.shape != (1, k) or (hasattr(model, "predict_proba") and not abs(out.sum() - 1.0) < ROUNDING):
        raise ModelFileError("what it says of a row are no probabilities of its classes")


def _check_place(path: Place, done: str) -> None:
    check_local(path, done, ModelFileError)
    if "\0" in os.fspath(path):
        raise ModelFileError(f"no file can be called {os.fspath(path)!r}: it has a zero byte in it")


def _is_model(model: Any) -> bool:
    """Whether it is an estimator that learns from rows; learners and priors are settings of such."""
    return isinstance(model, BaseEstimator) and hasattr(model, "fit")


def _steps(model: Any) -> list[Any]:
    """The estimators of a pipeline, or the one that it is."""
    if isinstance(model, Pipeline):
        real = (step for _, step in model.steps if step is not None and not isinstance(step, str))
        return [one for step in real for one in _steps(step)]
    return [model]


def _check_versions(document: Any) -> list[Notice]:
    """Whether this version can read the file; and a notice if a newer one has written it."""
    version, library = document["format"], document["library"]
    if not (isinstance(version, list) and len(version) == 2 and all(type(n) is int for n in version)):
        raise ModelFileError("its format has no number")
    if tuple(version) > FORMAT:
        raise ModelFileError(
            f"it is of format {version[0]}.{version[1]}, written by suffice {str(library)[:40]}, and this is suffice "
            f"{__version__}, which reads up to {FORMAT[0]}.{FORMAT[1]}: update suffice"
        )
    if version[0] < FORMAT[0]:
        raise ModelFileError(f"it is of format {version[0]}, which this version no longer reads")
    if _numbers(library) > _numbers(__version__):
        said = f"the model file was written by suffice {library}, which is newer than this one ({__version__})"
        return [Notice(f"{said}: update suffice if something is amiss")]
    return []


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


class Savable:
    """An estimator that can be saved to a file."""

    def save(self, path: Place) -> None:
        """Save this fitted estimator to a file, which `suffice.load` gives back to the bit.

        Parameters
        ----------
        path : str or path
            Where to, say "model.suffice". What stands there is replaced at once, or stays as it is.
        """
        save(self, path)

    def to_sklearn(self) -> Any:
        """An estimator of scikit-learn with the same probabilities, where there is one.

        They agree to about 1e-16 times the distance of the rows from 0 in standard deviations: scikit-learn keeps no
        origin near the rows.
        """
        raise TypeError(
            f"{type(self).__name__} has no equal in scikit-learn: GaussianNB, CategoricalNB, MultinomialNB, "
            "BernoulliNB, discriminant analysis, LogisticRegression and planes between two classes have one. "
            "save() keeps any"
        )
