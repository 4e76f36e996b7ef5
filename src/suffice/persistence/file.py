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
from suffice.persistence.values import MAX_INTEGER, Reader, Writer


def to_members(document: Mapping[str, Any], arrays: Sequence[Array]) -> dict[str, bytes]:
    """Return the members of an archive, by name."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    members = {DOCUMENT: text.encode("utf-8", "surrogatepass")}
    return members | {_member(i): to_bytes(array) for i, array in enumerate(arrays)}


def from_members(members: Mapping[str, bytes]) -> tuple[Any, list[Array]]:
    """Return the document, and the arrays in order."""
    document = _parse(members[DOCUMENT])
    return document, [from_bytes(members[_member(i)], _member(i)) for i in range(len(members) - 1)]


def _member(i: int) -> str:
    return f"arrays/{i}.npy"


def _parse(data: bytes) -> Any:
    """Parse JSON; a key that is there twice, NaN and infinity are errors."""
    return json.loads(
        data.decode("utf-8", "surrogatepass"),
        object_pairs_hook=_unique_keys,
        parse_int=_integer,
        parse_constant=_refuse_number,
    )


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ModelFileError("its document has a key twice")
    return made


def _integer(digits: str) -> int:
    if len(digits) > 21 or abs(int(digits)) >= MAX_INTEGER:
        raise ModelFileError("a whole number in it is beyond 64 bits")
    return int(digits)


def _refuse_number(text: str) -> Any:
    raise ModelFileError(f"its document has {text}, which is not a number")


FORMAT = (1, 1)  # files with another first number cannot be read; the second rises when something is added
PROBABILITY_ROUNDING = 1e-6  # of their sum
KEYS = {"format", "library", "arrays", "objects", "model"}
NOTES = "notes"  # the one optional key

Place = str | os.PathLike[str]


class Loaded(NamedTuple):
    """A model from a file, the notes that were saved with it, and the version of the library that wrote it."""

    model: Any
    notes: dict[str, Any]
    library: str


def save(model: Any, path: Place, notes: Mapping[str, Any] | None = None, seen: str | None = ANY) -> None:
    """Save a fitted estimator of this library, or a pipeline of these, to a file; `load` restores it bit for bit.

    The file holds settings, sums, parameters and how learning went, so that a model that was loaded can be merged,
    updated and made to forget as before. It is a zip archive of arrays and one JSON document, without pickle. It
    replaces an older file atomically: whatever happens, one of the two is there.

    Parameters
    ----------
    model : estimator
        Classifier or transformer of this library, or a scikit-learn `Pipeline` of these, fitted.
    path : str or path
        Path of the file, such as "model.suffice".
    notes : mapping, default=None
        Further facts about the model, as JSON values; `load_noted` returns them.
    seen : str or None, default=ANY
        The `mark` of the file that may be replaced, None if there is none; any other file is an error, and stays.

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
        raise ModelFileError(f"a {type(model).__name__} cannot be saved: save its best_estimator_ instead")
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

    Nothing in a file is run or imported, and parts that do not fit together are refused; the page on model files says
    what that protects from. A missing file is a FileNotFoundError, any other problem a `ModelFileError`.

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
    """Load a model as `load` does, with the notes that were saved with it (an empty dict if there are none)."""
    _check_place(path, "read")
    called, source = os.fsdecode(path), Path(os.fsdecode(path))
    if source.exists() and not source.is_file():  # opening a pipe would block
        what = "it is a folder" if source.is_dir() else "it is not a regular file but a pipe or a device"
        raise ModelFileError(f"cannot load {called!r}: {what}")
    try:
        file = source.open("rb")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelFileError(f"cannot load {called!r}: {error.strerror}") from error
    with file:
        try:
            found, notices = _loaded(file)
        except ModelFileError as error:
            raise ModelFileError(f"cannot load {called!r}: {error}") from None
        except Exception as error:  # whatever error a hostile file causes, the file is to blame
            why = f"{type(error).__name__}: {error}"[:300]
            raise ModelFileError(f"cannot load {called!r}: its parts do not fit together ({why})") from None
    emit(notices)
    return found


def digest(value: Any) -> str:
    """Return a digest of a value that can be saved, such as the sums of a model; equal values have equal digests."""
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
        raise ModelFileError("it does not hold an estimator")
    reader.check_used()
    check_all(reader.objects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in {id(one): one for one in _steps(model)}.values():
            check_is_fitted(one)
            if getattr(one, "n_features_in_", 0) > reader.values:
                raise ModelFileError("it says that it has more columns than it has values")
            _try(one)
    return Loaded(model, notes, str(document["library"])), notices


def _try(model: Any) -> None:
    """Predict a row of zeros, or of missing entries alone: a model whose parts fit together has an answer."""
    if getattr(model, "_learned", model) is None:  # parameters are computed later
        return
    one, d = copy.copy(model), model.n_features_in_  # a copy, as predicting may set attributes
    ask = getattr(one, "predict_proba", None) or one.transform
    try:
        out = ask(np.zeros((1, d)))
    except (TypeError, ValueError):
        out = ask(np.full((1, d), np.nan, dtype=object))
    k = len(model.classes_) if hasattr(model, "predict_proba") else out.shape[1]
    if out.shape != (1, k) or (hasattr(model, "predict_proba") and not abs(out.sum() - 1.0) < PROBABILITY_ROUNDING):
        raise ModelFileError("its answers for a row are not probabilities of its classes")


def _check_place(path: Place, done: str) -> None:
    check_local(path, done, ModelFileError)
    if "\0" in os.fsdecode(path):
        raise ModelFileError(f"{os.fsdecode(path)!r} cannot be the name of a file: it has a zero byte in it")


def _is_model(model: Any) -> bool:
    """True for an estimator that learns from rows. Learners and priors do not: they are settings."""
    return isinstance(model, BaseEstimator) and hasattr(model, "fit")


def _steps(model: Any) -> list[Any]:
    """Return the estimators of a pipeline, or the estimator itself."""
    if isinstance(model, Pipeline):
        real = (step for _, step in model.steps if step is not None and not isinstance(step, str))
        return [one for step in real for one in _steps(step)]
    return [model]


def _check_versions(document: Any) -> list[Notice]:
    """Raise ModelFileError if this version cannot read the file; return a notice if a newer version has written it."""
    version, library = document["format"], document["library"]
    if not (isinstance(version, list) and len(version) == 2 and all(type(n) is int for n in version)):
        raise ModelFileError("its format is not a version number")
    if tuple(version) > FORMAT:
        raise ModelFileError(
            f"it is of format {version[0]}.{version[1]}, written by suffice {str(library)[:40]}, and this is suffice "
            f"{__version__}, which reads up to {FORMAT[0]}.{FORMAT[1]}: update suffice"
        )
    if version[0] < FORMAT[0]:
        raise ModelFileError(f"it is of format {version[0]}, which this version no longer reads")
    if _numbers(library) > _numbers(__version__):
        what = f"the model file was written by suffice {library}, which is newer than this one ({__version__})"
        return [Notice(f"{what}: update suffice if something is wrong")]
    return []


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


class Savable:
    """Mixin of estimators that can be saved to a file."""

    def save(self, path: Place) -> None:
        """Save this fitted estimator to a file; `suffice.load` restores it bit for bit.

        Parameters
        ----------
        path : str or path
            Path of the file, such as "model.suffice". An existing file is replaced atomically.
        """
        save(self, path)

    def to_sklearn(self) -> Any:
        """Return an estimator of scikit-learn with the same probabilities, if there is one.

        They agree to about 1e-16 times the distance of the rows from 0 in standard deviations: scikit-learn keeps no
        origin near the rows.
        """
        raise TypeError(
            f"{type(self).__name__} has no counterpart in scikit-learn: GaussianNB, CategoricalNB, MultinomialNB, "
            "BernoulliNB, discriminant analysis, LogisticRegression and planes between two classes have one. "
            "save() writes any estimator"
        )
