"""Model files with something changed, by accident or on purpose: python -m tests.persistence.fuzz [how many] [seed].

Each must raise `ModelFileError`, or load a model that can be asked: an array, or an error in words, nothing else.
"""

import contextlib
import copy
import faulthandler
import hashlib
import io
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from numpy.lib import format as npy
from sklearn.pipeline import make_pipeline

import suffice
from suffice.features import RBF, Bins, Partitions
from suffice.persistence.archive import DIGEST, MARK
from tests.zoo import ZOO

NAMES = (
    "categorical-vectors",
    "gaussian-nb-own",
    "qda",
    "lda-tm",
    "logistic-ovo",
    "fisher",
    "nested",
    "naive-bayes-rc",
    "experts",
    "multinomial",
    "bernoulli",
    "poisson",
    "additive",
)
VALUES = (None, True, -1, 0, 1, 3, 10**18, 2**63, 1e308, -0.0, "", "x", "nan", [], {}, {"float": "nan"}, {"tuple": []})


def originals():
    """Fitted models of many kinds, each with rows to ask it about."""
    out = {}
    for entry in ZOO:
        if entry.name in NAMES:
            X, y = entry.draw(0)
            X = entry.holed(X, 0) if entry.missing else X
            out[entry.name] = entry.estimator().fit(X, y), X, y
    X, y = next(entry for entry in ZOO if entry.name == "experts").draw(0)
    out["tabular"] = suffice.TabularClassifier(n_trees=2, random_state=0).fit(X, y), X, y
    out["pairs"] = suffice.AdditiveTables(pairs=2).fit(X, y), X, y
    numbers, labels = next(entry for entry in ZOO if entry.name == "qda").draw(0)
    for name, model in {
        "kernel": suffice.KernelMPM(),
        "bins": Bins(),
        "partitions": Partitions(2, random_state=0),
        "pipeline": make_pipeline(RBF(3, random_state=0), suffice.GaussianNB()),
    }.items():
        out[name] = model.fit(numbers, labels), numbers, labels
    return out


def seal(data):
    """The same bytes with the digest that belongs to them."""
    return data[:-DIGEST] + hashlib.sha256(data[:-DIGEST]).hexdigest().encode() if len(data) > DIGEST else data


def packed(members):
    """An archive of (name, bytes), sealed."""
    out = io.BytesIO()
    with warnings.catch_warnings(), ZipFile(out, "w", ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        archive.comment = MARK + b"0" * DIGEST
        for name, data in members:
            archive.writestr(name, data)
    return seal(out.getvalue())


def unpacked(data):
    with ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def bytes_changed(data, rng):
    """Some bytes turned, put in, taken out, said twice, or the end cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 3, 20))):
        at, size = rng.randrange(len(out) + 1), rng.choice((1, 1, 4, 100))
        how = rng.randrange(5)
        if how == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            out[at : at + size] = rng.randbytes(size)
        elif how == 2:
            del out[at : at + size]
        elif how == 3:
            out[at:at] = out[max(0, at - size) : at]
        else:
            del out[at:]
    return bytes(out)


def json_changed(text, rng):
    """A value of the document replaced, taken out, moved or said twice."""
    document = json.loads(text)
    places = list(_places(document))
    for _ in range(rng.choice((1, 1, 2, 5))):
        box, key = rng.choice(places)
        if key not in box if isinstance(box, dict) else key >= len(box):
            continue  # it has gone
        how, old = rng.randrange(6), box[key]
        if how == 0:
            box[key] = copy.deepcopy(rng.choice(VALUES))
        elif how == 1:
            del box[key]
        elif how == 2 and isinstance(old, int | float):
            box[key] = rng.choice((old + 1, old - 1, -old, old * 2, old * 1e9))
        elif how == 3:
            other, name = rng.choice(places)
            found = other.get(name) if isinstance(other, dict) else (other[name] if name < len(other) else None)
            box[key] = copy.deepcopy(found)
        elif how == 4 and isinstance(box, list):
            box.insert(key, copy.deepcopy(old))
        elif isinstance(old, str):
            box[key] = rng.choice((old + "x", old[:-1], "models.Moments", "encoders.Trees", "os.system"))
    return json.dumps(document).encode()


def _places(node):
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield node, key
        yield from _places(value)


def array_changed(data, rng):
    """An array with another shape, another type, other numbers, or a header that lies."""
    array = npy.read_array(io.BytesIO(data), allow_pickle=False).copy()
    how, flat = rng.randrange(7), array.reshape(-1)
    if how == 0 and flat.size:
        values = (0, -1, 2**31 - 1, -(2**31), 3, 10**6) if array.dtype.kind in "iu" else (np.nan, np.inf, -1, 1e300)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                flat[rng.randrange(flat.size)] = rng.choice(values)
            except (OverflowError, ValueError):
                flat[:] = flat[::-1].copy()
    elif how == 1:
        array = array[..., :-1] if array.ndim else array[None]
    elif how == 2:
        array = np.concatenate([array, array]) if array.ndim else array
    elif how == 3:
        array = array.T[None]
    elif how == 4:
        with warnings.catch_warnings(), contextlib.suppress(TypeError, ValueError):
            warnings.simplefilter("ignore")
            array = array.astype(rng.choice(("f4", "i2", "U3", "c16", "b1", ">f8", "S2", "i8")))
    elif how == 5:
        return bytes_changed(data, rng)
    else:
        out = io.BytesIO()
        shape = rng.choice(((10**15,), (-1, 3), (2**62, 4), array.shape, (0,) * 3))
        header = {"descr": rng.choice(("|O", "<f8", "|V8")), "fortran_order": rng.random() < 0.5, "shape": shape}
        npy.write_array_header_1_0(out, header)
        return out.getvalue() + flat.tobytes()[: rng.randrange(200)]
    out = io.BytesIO()
    npy.write_array(out, array, allow_pickle=False)
    return out.getvalue()


def members_changed(members, rng):
    """A member more, less, twice, or under another name."""
    out, at = list(members), rng.randrange(len(members))
    name, data = out[at]
    how = rng.randrange(4)
    if how == 0:
        out.append((rng.choice(("../../etc/x", "/var/x", "arrays/007.npy", "arrays\\0.npy", "x.pkl", name)), data))
    elif how == 1:
        del out[at]
    elif how == 2:
        out[at] = (rng.choice(("model.json", "arrays/0.npy", "arrays/99.npy", "..")), data)
    else:
        out[at] = (name, rng.choice(members)[1])
    return out


def changed(data, rng):
    """A changed file, and whether its digest fits."""
    how = rng.randrange(10)
    if how < 2:
        return bytes_changed(data, rng), False
    if how == 2:
        return seal(bytes_changed(data, rng)), True
    members = unpacked(data)
    at = 0 if how < 7 else rng.randrange(1, len(members))
    if how == 9:
        members = members_changed(members, rng)
    else:
        name, content = members[at]
        members[at] = name, json_changed(content, rng) if at == 0 else array_changed(content, rng)
    return packed(members), True


def verdict(path, X, y):
    """What comes of a changed file: "refused", or what the model that it holds says of rows."""
    try:
        model = suffice.load(path)
    except suffice.ModelFileError:
        return "refused"
    for ask in ("predict_proba", "transform", "partial_fit", "loo_log_proba", "predict"):
        try:
            if hasattr(model, ask):
                getattr(model, ask)(X, *((y,) if ask in ("partial_fit", "loo_log_proba") else ()))
        except (KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:  # in words, as of a model whose settings make no sense
            return f"loaded, {ask}: {type(error).__name__}: {str(error)[:90]}"
    return "loaded"


def main(count, seed):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    rng, tally, begin = random.Random(seed), Counter(), time.time()  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.suffice"
        files = {}
        for name, (model, X, y) in originals().items():
            suffice.save(model, path)
            files[name] = path.read_bytes(), X, y
        for i in range(count):
            name = rng.choice(list(files))
            data, X, y = files[name]
            new, fits = changed(data, rng)
            path.write_bytes(new)
            start = time.time()
            try:
                came = verdict(path, X, y)
            except BaseException:
                print("file", i, "of", name, "is kept as /tmp/bad.suffice")
                Path("/tmp/bad.suffice").write_bytes(new)  # noqa: S108 - to look at
                raise
            if time.time() - start > 2:
                print(f"file {i} of {name} took {time.time() - start:.1f} s: {came}")
            assert fits or new == data or came == "refused", "an altered byte was not noticed"
            tally["digest recomputed" if fits else "digest as it was", came] += 1
    for (kind, came), n in sorted(tally.items()):
        print(f"{n:7}  {kind}: {came}")
    print(f"{count} files in {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
