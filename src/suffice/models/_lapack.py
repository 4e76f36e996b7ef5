"""LAPACK's routines without the lock of the interpreter, which SciPy's own calls hold: threads work side by side."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack

from suffice._vector import Array


@cache
def _routine(name: str) -> Any:
    """A routine that takes pointers and returns nothing; ctypes frees the interpreter while it runs."""
    capsule = cython_lapack.__pyx_capi__[name]
    called, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    called.restype, called.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(pointer(capsule, called(capsule)))


def _call(name: str, *arguments: bytes | int | Array) -> int:
    """Call a routine with letters, whole numbers and arrays, and give back its last argument, `info`."""
    info = ctypes.c_int(0)
    kept = [ctypes.c_int(one) if isinstance(one, int) else one for one in arguments]  # alive as long as the call
    _routine(name)(*(_pointer(one) for one in kept), ctypes.byref(info))
    if info.value < 0:
        raise ValueError(f"argument {-info.value} of {name} makes no sense")
    return info.value


def _pointer(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.byref(value)


def relative(a: Array, root: Array) -> Array:
    """L^-1 A L'^-1 (d, d), in its lower half, of a symmetric A and a lower triangular L = `root`."""
    found, lower = np.array(a, dtype=float, order="F"), np.asfortranarray(root, dtype=float)
    _call("dsygst", 1, b"L", len(found), found, len(found), lower, len(found))
    return found


def tridiagonal(lower: Array) -> tuple[Array, Array, Array, Array]:
    """Q'AQ of a symmetric A (d, d), of which the lower half is given: its diagonal (d,) and the entries beside it.

    Before these what is left of A, with the reflections of Q below the diagonal; after them their scales (d - 1,).
    """
    found, n = np.array(lower, dtype=float, order="F"), len(lower)
    diagonal, beside, scales, work = np.empty(n), np.empty(n - 1), np.empty(n - 1), np.empty(64 * n)
    _call("dsytrd", b"L", n, found, n, diagonal, beside, scales, work, len(work))
    return found, diagonal, beside, scales


def eigen_tridiagonal(diagonal: Array, beside: Array) -> tuple[Array, Array, bool]:
    """Eigenvalues (d,) in rising order and eigenvectors (d, d) of a tridiagonal matrix, and whether they were found."""
    n = len(diagonal)
    values, vectors = np.array(diagonal, dtype=float), np.empty((n, n), order="F")
    work, whole = np.empty(1 + 4 * n + n * n), np.empty(3 + 5 * n, dtype=np.intc)
    sizes = len(work), whole, len(whole)
    info = _call("dstevd", b"V", n, values, np.array(beside, dtype=float), vectors, n, work, *sizes)
    return values, vectors, info == 0
