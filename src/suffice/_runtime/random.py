"""Random numbers where no seed is given: those of NumPy, or of a seed that was drawn once and kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_DRAWN: ContextVar[np.random.RandomState | None] = ContextVar("_DRAWN", default=None)


def generator(random_state: Any) -> np.random.RandomState:
    """A generator from a seed, a generator, or None, as scikit-learn takes them; see `seeded` for None."""
    drawn = _DRAWN.get()
    return drawn if random_state is None and drawn is not None else check_random_state(random_state)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within it, None stands for the numbers that begin with this seed.

    >>> with seeded(7):
    ...     drawn = generator(None).randint(100)
    >>> drawn == np.random.RandomState(7).randint(100)
    True
    """
    token = _DRAWN.set(np.random.RandomState(seed))
    try:
        yield
    finally:
        _DRAWN.reset(token)
